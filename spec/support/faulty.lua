-- Runs the program with one fault: the n-th call of a kind on the store's files fails, or kills the
-- process. Then other processes bring the same store to its end, without faults.
local life = require "spec.support.life"
local process = require "spec.support.process"

local faulty = {}

local WORK = [[
local function run(job)
  local file = assert(io.open(os.getenv("RUNS"), "a"))
  local function tell(what)
    file:write(("%s 0 %d %s %s -\n"):format(what, job.id, job.payload.label,
      job.payload.parent or 0))
    file:flush()
  end
  tell("run")
  if job.attempt <= (job.payload.fails or 0) then
    error("not yet", 0)
  end
  for _ = 1, job.payload.children or 0 do
    job:enqueue("work", { label = "child", parent = job.id })
  end
  tell("end")
end

return { retry = "R3/PT0S", run = run }
]]

local JOBS = [[
{"handler":"work","payload":{"label":"plain"}}
{"handler":"work","payload":{"label":"plain"},"priority":3}
{"handler":"work","payload":{"label":"fails","fails":1}}
{"handler":"work","payload":{"label":"parent","children":2},"lane":"a"}
{"handler":"work","payload":{"label":"later"},"lane":"a"}
{"handler":"work","payload":{"label":"hopeless","fails":9},"retries":2}
]]

local WANTED = {
  plain = { n = 2 }, fails = { n = 1, attempt = 2 }, parent = { n = 1, children = 2 },
  later = { n = 1 }, hopeless = { n = 1, attempt = 2, dead = "failedJob" },
}

-- What the system may answer, by call. KILL: it kills instead. Nobody waits for a lock: no EINTR.
faulty.answers = {
  pread64 = { "EIO", "EINTR", "KILL" }, pwrite64 = { "EIO", "ENOSPC", "EDQUOT", "EINTR", "KILL" },
  fdatasync = { "EIO", "ENOSPC", "EINTR", "KILL" }, mmap = { "ENOMEM", "KILL" },
  openat = { "EMFILE", "EACCES", "ENOSPC", "EROFS", "ENOMEM", "KILL" },
  ftruncate = { "EIO", "ENOSPC", "KILL" }, fcntl = { "EIO", "ENOLCK", "KILL" },
  fallocate = { "EIO", "ENOSPC", "KILL" }, newfstatat = { "EIO", "KILL" },
  statx = { "EIO", "KILL" }, access = { "EIO" },
  unlink = { "EIO", "KILL" }, close = { "EIO", "KILL" }, fchown = { "EPERM" },
}

-- Who meets the fault: an executor with work, a client that makes the store, a client of one that
-- is there.
faulty.victims = { "run", "first", "next" }

local function enqueue(one)
  return "enqueue", "--from", one.dir .. "/jobs.jsonl", "--ids", "-C", one.dir
end

-- A sanitizer cannot look for leaks under strace.
local function tracer(one, inject)
  local words = { "strace -E ASAN_OPTIONS=detect_leaks=0 -f -qq -o " .. one.dir .. "/trace" }
  for _, suffix in ipairs { "", "-wal", "-shm", "-gate", "-tray", "-slots-1", "-slots-2" } do
    words[#words + 1] = "-P " .. one.store .. suffix
  end
  words[#words + 1] = inject and "-e inject=" .. inject or ""
  return table.concat(words, " ")
end

local function victim(one, who, around)
  if who ~= "first" then
    one:command("before", enqueue(one))
  end
  one.tracer = around
  local status, output
  if who == "run" then
    status = one:start("run", one.dir, "--drain")
  else
    status, output = one:start(enqueue(one))
    local answer = { ids = {}, told = status == 0 and 1 or 0, untold = status == 0 and 0 or 1 }
    for id in output:gmatch("%d+") do
      answer.ids[#answer.ids + 1] = tonumber(id)
    end
    one.answers.victim = answer
  end
  one.tracer = nil
  one.deaths = one.deaths + (status == 0 and 0 or 1)
  return status
end

-- What all the commands together were told.
local function together(one)
  local all = { ids = {}, told = 0, untold = 0 }
  for _, answer in pairs(one.answers) do
    table.move(answer.ids, 1, #answer.ids, #all.ids + 1, all.ids)
    all.told, all.untold = all.told + answer.told, all.untold + answer.untold
  end
  one.answers.all = all
end

-- The process's status, what it said, whether the fault came and whether anything was synced after
-- it, and what is wrong with the store that it left behind.
function faulty.run(who, inject)
  local one = life.new({ ["handlers/work.lua"] = WORK, ["jobs.jsonl"] = JOBS }, "delivered")
  local status = victim(one, who, tracer(one, inject))
  local said, trace = process.read(one.log), process.read(one.dir .. "/trace")
  one:command("after", enqueue(one))
  one:drain()
  one:sound()
  together(one)
  one:created("all", WANTED)
  local after = trace:match("%(INJECTED%)(.*)")
  local result = { status = status, said = said, trace = trace, problems = one.problems,
    injected = after ~= nil or trace:find("killed by SIGKILL", 1, true) ~= nil,
    syncs = after and after:find("fdatasync(", 1, true) ~= nil,
    names = (said:match("moonshift: ([^\n]+)") or ""):find(one.store, 1, true) ~= nil,
    told = process.read(one.runs) .. process.read(one.log) }
  one:close()
  return result
end

-- ---- memory ----

-- A handler without memory fails as any other, so a job may be dead; but none is nowhere.
local NOWHERE = "SELECT count(*) FROM (SELECT value AS id FROM json_each('[%s]')) WHERE id NOT IN"
  .. " (SELECT job FROM ended WHERE outcome=1) AND id NOT IN (SELECT job FROM incident)"

-- Refuses `many` requests from the `at`-th on; `requests` tells how many there were.
function faulty.starved(who, library, at, many)
  local one = life.new({ ["handlers/work.lua"] = WORK, ["jobs.jsonl"] = JOBS }, "delivered")
  local status = victim(one, who, ("env LD_PRELOAD=%s REFUSE_AT=%d REFUSE_MANY=%d COUNT_TO=%s")
    :format(library, at, many, one.dir .. "/requests"))
  local said = process.read(one.log)
  local clear = status == 0 or said:find("out of memory", 1, true)
    or said:find("cannot allocate", 1, true)
  if not clear or not (status <= 1 or status == 134) then
    one:problem("it ended with %d, and not for want of memory", status)
  end
  one:command("after", enqueue(one))
  one:drain()
  one:sound()
  together(one)
  local lost = process.sql(one.store, NOWHERE:format(table.concat(one.answers.all.ids, ",")))[1]
  if lost ~= "0" then
    one:problem("%s acknowledged jobs are nowhere", lost)
  end
  local result = { status = status, said = said, problems = one.problems,
    requests = tonumber(process.read(one.dir .. "/requests")),
    told = process.read(one.runs) .. process.read(one.log) }
  one:close()
  return result
end

-- ---- calls ----

-- How often the victim calls what, if nothing fails.
function faulty.calls(who)
  local counts = {}
  for name in faulty.run(who).trace:gmatch("%d+ +(%w+)%(") do
    counts[name] = (counts[name] or 0) + 1
  end
  return counts
end

return faulty
