-- Real processes for the fault specs: start, signal, wait, read. Everything is started through the
-- shell; nothing here knows how moonshift works inside.
local stores = require "spec.support.stores"

local statuses = {} -- by pid: the folder in which it will stand
local births = {} -- by pid: when the process was started that has it here, false: it had ended
local process = { environment = "" } -- environment: "NAME=value" words for what is started

local root = io.popen("pwd"):read("l")
process.program = os.getenv("SPEC_PROGRAM") or root .. "/build/moonshift"
-- The one with crash points.
process.testing = os.getenv("SPEC_TESTING") or root .. "/build/testing/moonshift"

-- Quotes one word for the shell.
function process.quote(word)
  return "'" .. tostring(word):gsub("'", "'\\''") .. "'"
end

-- A command line of the program; arguments are quoted. Stores are where the specs have theirs.
function process.command(...)
  local words = { process.quote(process.program) }
  for _, word in ipairs({ ... }) do
    words[#words + 1] = process.quote(stores.url(word))
  end
  return table.concat(words, " ")
end

-- True: a sanitizer is in the program. It wants to be the first library itself: none is preloaded.
function process.is_sanitized()
  return process.run("ldd " .. process.command() .. " | grep -q 'lib[at]san'") == 0
end

-- The URL of the store of this path, for the shell.
function process.store(path)
  return process.quote(stores.url("sqlite:" .. path))
end

-- Runs a shell command to its end: exit status (128 + n for signal n), standard output, standard
-- error.
function process.run(command)
  local errors = os.tmpname()
  local pipe = io.popen("{ " .. command .. "\n} 2>" .. errors, "r")
  local output = pipe:read("a")
  local _, how, status = pipe:close()
  local file = io.open(errors)
  local text = file:read("a")
  file:close()
  os.remove(errors)
  return how == "signal" and 128 + status or status or 0, output, text
end

-- Runs the program with these arguments to its end.
function process.moonshift(...)
  return process.run(process.command(...))
end

-- Of a process that is there: its state, the number of its threads, and when it was started.
local function stat(pid)
  local file = io.open(("/proc/%d/stat"):format(pid))
  local text = file and file:read("a")
  if file then
    file:close()
  end
  local state, rest = (text or ""):match("^%d+ %b() (%a) (.*)")
  if state then
    local threads, birth = rest:match(("%S+ "):rep(16) .. "(%d+) %S+ (%d+)")
    return state, tonumber(threads), birth
  end
end

-- Starts the program in the background; output goes to `log`. Returns its pid.
function process.start(log, ...)
  local line = ("exec env %s %s >>%s 2>&1 </dev/null"):format(process.environment,
    process.command(...), process.quote(log))
  local pipe = io.popen(("sh -c %s & echo $!"):format(process.quote(line)))
  local pid = pipe:read("n")
  pipe:close()
  births[pid] = select(3, stat(pid)) or false
  return pid
end

-- The same, with a shell that waits for its end: process.await_status tells how it ended.
function process.start_watched(log, ...)
  local folder = process.quote(process.folder())
  local line = ("env %s %s >>%s 2>&1 </dev/null & echo $! >%s/pid; wait $!; echo $? >%s/status")
    :format(process.environment, process.command(...), process.quote(log), folder, folder)
  os.execute(("sh -c %s >/dev/null 2>&1 &"):format(process.quote(line)))
  local name = folder:match("^'(.*)'$")
  local pid = process.await("a process", 5, function()
    return tonumber(process.read(name .. "/pid"))
  end)
  statuses[pid] = name
  births[pid] = select(3, stat(pid)) or false
  return pid
end

-- The exit status of a process from process.start_watched, once it has ended.
function process.await_status(pid, seconds)
  local status = process.await("the status of process " .. pid, seconds, function()
    return tonumber(process.read(statuses[pid] .. "/status"))
  end)
  process.remove(statuses[pid])
  return status
end

-- No other process is struck that has the pid of one that was started here and has ended.
function process.kill(pid, signal)
  if births[pid] == nil or process.alive(pid) then
    os.execute(("kill -%s %d 2>/dev/null"):format(signal or "KILL", pid))
  end
end

-- A command line that runs another one while nobody else writes to the store of this path.
function process.holding(store, command)
  return stores.holding(store, command)
    or ("sqlite3 -cmd '.timeout 60000' %s 'BEGIN IMMEDIATE' %s COMMIT"):format(process.quote(store),
      process.quote(".system " .. command))
end

-- A process that has the store open gets STOP while another one may write: so it is in no
-- transaction, in which it would keep everybody waiting. No thread of it goes on any more.
local FREEZE = "kill -STOP %d ;"
  .. " while grep -qs ^State:.[^TZX] /proc/%d/task/*/status ; do sleep 0.01 ; done"

function process.freeze(pid, store)
  local status, output, errors = process.run(process.holding(store, FREEZE:format(pid, pid)))
  assert(status == 0, output .. errors)
end

-- True while a thread of the process is there. The first one may be a zombie already while another
-- one still holds the files. Another process may have got the pid since.
function process.alive(pid)
  local state, threads, birth = stat(pid)
  return state ~= nil and (births[pid] == nil or births[pid] == birth)
    and (state ~= "Z" or threads > 1)
end

function process.pause(seconds)
  os.execute(("sleep %.3f"):format(seconds))
end

-- A busy machine takes so many times longer than an idle one before a wait is given up.
local PATIENCE = 12

-- Asks `condition` every 20 ms until it answers: its answer, or an error after about PATIENCE
-- times `seconds`, which is what an idle machine needs at most.
function process.await(what, seconds, condition)
  for _ = 1, math.ceil(PATIENCE * seconds / 0.02) do
    local answer = condition()
    if answer then
      return answer
    end
    process.pause(0.02)
  end
  error(("waited %g s for %s"):format(PATIENCE * seconds, what), 2)
end

function process.await_end(pid, seconds)
  return process.await("the end of process " .. pid, seconds, function()
    return not process.alive(pid)
  end)
end

-- A fresh folder with these files { ["handlers/x.lua"] = text }.
function process.folder(files)
  local words, made = { "" }, {}
  for name in pairs(files or {}) do
    local inner = name:match("^(.*)/")
    if inner and not made[inner] then
      words[#words + 1], made[inner] = '"$path"/' .. process.quote(inner), true
    end
  end
  local pipe = io.popen("path=$(mktemp -d) && echo $path"
    .. (#words > 1 and " && mkdir -p" .. table.concat(words, " ") or ""))
  local path = pipe:read("l")
  pipe:close()
  for name, text in pairs(files or {}) do
    local file = assert(io.open(path .. "/" .. name, "wb"))
    file:write(text)
    file:close()
  end
  return path
end

function process.remove(path)
  os.execute("rm -rf " .. process.quote(path))
end

-- The file's text, "" if it is not there.
function process.read(path)
  local file = io.open(path, "rb")
  if not file then
    return ""
  end
  local text = file:read("a")
  file:close()
  return text
end

-- Statements for the database that say nothing, by its own command line tool.
function process.change(store, statements)
  local said = stores.sql(store, statements)
  local status, output, errors = 0, table.concat(said or {}, "\n"), ""
  if not said then
    status, output, errors = process.run(("sqlite3 -cmd '.timeout 60000' %s %s"):format(
      process.quote(store), process.quote(statements)))
  end
  assert(status == 0 and output == "", output .. errors)
end

-- Rows of a question put to the database by its own command line tool, not by our code.
function process.sql(store, question)
  local there = stores.sql(store, question)
  if there then
    return there
  end
  local _, output = process.run(("sqlite3 -cmd '.timeout 60000' -readonly %s %s"):format(
    process.quote(store), process.quote(question)))
  local rows = {}
  for line in output:gmatch("[^\n]+") do
    rows[#rows + 1] = line
  end
  return rows
end

return process
