-- Runs one shell command. Payload:
--   command  the text of the command
--   shell    the program that reads it, as `shell -c command`; /bin/sh unless given
--   cwd      the directory it runs in; "~" is the user's home
--   env      a table of variables
--   stdin    a text that it reads; else there is nothing to read
--   user     as whom it runs; another one than the executor's needs root
--   accept   exit statuses that are no failure, beside 0: a number or a list
-- The output of both streams is kept line by line with the attempt. Any other exit status is a
-- failure. An activity of a process says the same with its inputs, or with its fields, which may
-- have the names of Flowable:
--   arg1 … arg9       words behind the command, whatever they hold
--   directory         as cwd
--   cleanEnv          true: the command sees no variable but those of env
--   redirectError     false: of both streams the variable gets the output alone
--   outputVariable    the variable that gets what the command writes
--   errorCodeVariable the variable that gets its exit status, which is no failure then.
-- The handler timeout (5 minutes unless the setting `timeout` says otherwise) ends the
-- command and everything it started. It runs once: only the creator of the job knows whether the
-- command may run again (`retries`).
local KEYS = { command = "string", shell = "string", cwd = "string", env = "table",
  stdin = "string", user = "string", accept = true }
local FIELDS = { directory = "cwd", outputVariable = "output", errorCodeVariable = "status" }
local ARGUMENTS = 9

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

-- The environment has only what `env` says.
local function only(env)
  local words = { 'set -- "$@" env -i' }
  for _, line in ipairs(exports(env)) do
    words[#words + 1] = line:sub(#"export " + 1)
  end
  return table.concat(words, " ")
end

-- What /bin/sh does before the command, and with it. `how` is what only an activity says.
local function script(payload, how)
  local lines = { how.apart and "set --" or "exec 2>&1; set --" }
  if payload.user then
    lines[#lines + 1] = "as=" .. quote(payload.user) .. "\n" .. AS_USER
  end
  if payload.shell then
    lines[#lines + 1] = "export SHELL=" .. quote(payload.shell)
  end
  for _, line in ipairs(how.clean and { only(payload.env) } or exports(payload.env)) do
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

-- ---- activities ----

local function is_true(value)
  return tostring(value):lower() == "true"
end

-- The command of an activity, with its words.
local function command_of(fields)
  local words = { fields.command and tostring(fields.command) }
  for i = 1, ARGUMENTS do
    local word = fields["arg" .. i]
    words[#words + 1] = word ~= nil and quote(tostring(word)) or nil
  end
  return table.concat(words, " ")
end

-- The fields of an activity as a payload, and what only they say.
local function from_fields(fields)
  local payload = {}
  for name, value in pairs(fields) do
    payload[FIELDS[name] or name] = value
  end
  for i = 1, ARGUMENTS do
    payload["arg" .. i] = nil
  end
  local how = { output = payload.output, status = payload.status,
    clean = is_true(payload.cleanEnv),
    apart = payload.output ~= nil and not is_true(payload.redirectError) }
  for _, name in ipairs { "output", "status", "cleanEnv", "redirectError", "wait" } do
    payload[name] = nil
  end
  payload.command = fields.command ~= nil and command_of(fields) or nil
  payload.accept = tonumber(payload.accept) or payload.accept
  return payload, how
end

local function asked_of(job)
  if type(job) == "table" and next(job.fields) then -- an activity
    return from_fields(job.fields)
  end
  return job.payload, {}
end

-- ---- the run ----

-- Tells the attempt each line -> all of them, if a variable `keeps` them: they may be many.
local function read(pipe, job, keeps)
  local parts = {}
  for line in pipe:lines "L" do
    job:log((line:gsub("\n$", "")))
    parts[#parts + 1] = keeps and line or nil
  end
  return table.concat(parts)
end

local function run(job)
  local payload, how = asked_of(job)
  check(payload)
  local accept = accepted(payload.accept)
  local pipe = assert(io.popen(script(payload, how)))
  local output = read(pipe, job, how.output)
  local fine, what, number = pipe:close()
  local exits = what == "exit"
  if not fine and not (exits and (accept[number] or how.status)) then
    error(("command ended with %s %d"):format(exits and "status" or what, number), 0)
  elseif how.output then
    job.variables[how.output] = output
  end
  if how.status then
    job.variables[how.status] = tostring(number)
  end
end

return { retries = 1, run = run }
