-- Runs one shell command. Payload:
--   command  the text of the command
--   shell    the program that reads it, as `shell -c command`; /bin/sh unless given
--   cwd      the directory it runs in; "~" is the user's home
--   env      a table of variables
--   stdin    a text that it reads; else there is nothing to read
--   user     as whom it runs; another one than the executor's needs root
--   accept   exit statuses that are no failure, beside 0: a number or a list
-- The output of both streams is kept line by line with the attempt. Any other exit status is a
-- failure. The handler timeout (5 minutes unless the setting `timeout` says otherwise) ends the
-- command and everything it started. It runs once: only the creator of the job knows whether the
-- command may run again (`retries`).
local KEYS = { command = "string", shell = "string", cwd = "string", env = "table",
  stdin = "string", user = "string", accept = true }

local function refuse(key, expected)
  error({ message = ("payload.%s: expected %s"):format(key, expected), permanent = true })
end

local function check(payload)
  for key, value in pairs(payload) do
    local wanted = KEYS[key]
    if not wanted then
      error({ permanent = true, message = ("payload.%s: unknown (known: command, shell, cwd, env,"
        .. " stdin, user, accept)"):format(key) })
    elseif wanted ~= true and type(value) ~= wanted then
      refuse(key, wanted == "table" and "a table of texts by name" or "a text")
    elseif type(value) == "string" and value:find("\0", 1, true) then
      refuse(key, "a text without a zero byte")
    end
  end
  if not payload.command then
    refuse("command", "a text")
  end
end

-- One word of the shell, whatever it holds.
local function quote(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

local function exports(env)
  local lines = {}
  for name, value in pairs(env or {}) do
    if type(name) ~= "string" or not name:find("^[%a_][%w_]*$") then
      refuse("env", "names of letters, digits and underscores")
    elseif type(value) ~= "string" and type(value) ~= "number" then
      refuse("env." .. name, "a text")
    end
    lines[#lines + 1] = ("export %s=%s"):format(name, quote(tostring(value)))
  end
  table.sort(lines)
  return lines
end

-- What follows begins in the environment of the user `as`.
local AS_USER = [[
if [ "$(id -un)" != "$as" ]; then
  [ "$(id -u)" = 0 ] || { echo "user $as: the executor is $(id -un), not root"; exit 126; }
  id -u "$as" >/dev/null || exit 126
  HOME=$(getent passwd "$as" | cut -d: -f6) USER=$as LOGNAME=$as
  export HOME USER LOGNAME
  set -- runuser -u "$as" --
fi]]

-- What /bin/sh does before the command, and with it.
local function script(payload)
  local lines = { "exec 2>&1", "set --" }
  if payload.user then
    lines[#lines + 1] = "as=" .. quote(payload.user) .. "\n" .. AS_USER
  end
  if payload.shell then
    lines[#lines + 1] = "export SHELL=" .. quote(payload.shell)
  end
  for _, line in ipairs(exports(payload.env)) do
    lines[#lines + 1] = line
  end
  if payload.cwd then
    local cwd = payload.cwd == "~" and '"${HOME:-.}"' or quote(payload.cwd)
    lines[#lines + 1] = ("cd -- %s || exit 126"):format(cwd)
  end
  local run = ('"$@" %s -c %s'):format(quote(payload.shell or "/bin/sh"), quote(payload.command))
  if payload.stdin then
    lines[#lines + 1] = ("printf %%s %s | %s"):format(quote(payload.stdin), run)
  else
    lines[#lines + 1] = "exec " .. run .. " </dev/null"
  end
  return table.concat(lines, "\n")
end

local function accepted(accept)
  local list, set = type(accept) == "table" and accept or { accept }, {}
  for _, status in ipairs(list) do
    if math.type(status) ~= "integer" or status < 0 or status > 255 then
      refuse("accept", "exit statuses from 0 to 255")
    end
    set[status] = true
  end
  return set
end

local function run(job)
  check(job.payload)
  local accept = accepted(job.payload.accept)
  local pipe = assert(io.popen(script(job.payload)))
  for line in pipe:lines() do
    job:log(line)
  end
  local fine, how, number = pipe:close()
  if not fine and not (how == "exit" and accept[number]) then
    error(("command ended with %s %d"):format(how == "exit" and "status" or how, number), 0)
  end
end

return { retries = 1, run = run }
