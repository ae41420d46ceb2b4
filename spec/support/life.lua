-- One life of a store: the commands of a workload one after another, with one planned death, until
-- nothing is left to do. What it was like is in the outside log of the handlers, in the answers of
-- the commands, and in the store, which is read with the database's own tool.
local process = require "spec.support.process"

local life = {}
life.__index = life

local KILLED = 137
local ROUNDS = 15 -- starts of an executor until it must have come to an end

local root = io.popen("pwd"):read("l")
local programs = {
  delivered = os.getenv("SPEC_PROGRAM") or root .. "/build/moonshift",
  testing = os.getenv("SPEC_TESTING") or root .. "/build/testing/moonshift",
}

-- `plan`: { point, hit, after }: dies at its hit-th pass of the point in a process that is started
-- when so many have died already. Without one nobody dies but by the workload's own hand. `build`:
-- "testing", or "delivered", which has no such points.
function life.new(files, build, plan)
  local dir = process.folder(files)
  return setmetatable({
    program = process.quote(programs[build]),
    dir = dir, store = dir .. "/jobs.db", runs = dir .. "/runs", log = dir .. "/log",
    passes = dir .. "/passes", plan = plan, deaths = 0, answers = {}, problems = {},
  }, life)
end

function life:close()
  process.remove(self.dir)
end

function life:problem(...)
  self.problems[#self.problems + 1] = string.format(...)
end

-- The planned death has come.
function life:died()
  return self.plan ~= nil and process.read(self.passes) ~= ""
end

function life:environment()
  local plan, words = self.plan, { "RUNS=" .. self.runs, "LOG=" .. self.log,
    "FOLDER=" .. self.dir, "STORE=sqlite:" .. self.store, "PROGRAM=" .. self.program }
  if not plan then
    words[#words + 1] = "CRASH_LOG=" .. self.passes
  elseif self.deaths >= plan.after and not self:died() then
    words[#words + 1] = ("CRASH_LOG=%s CRASH_AT=%s:%d"):format(self.passes, plan.point, plan.hit)
  end
  return table.concat(words, " ")
end

function life:line(...)
  local words = { "env", self:environment(), self.tracer or "", self.program }
  for _, word in ipairs { ... } do
    words[#words + 1] = process.quote(word)
  end
  words[#words + 1] = ("--store sqlite:%s 2>>%s </dev/null"):format(self.store, self.log)
  return table.concat(words, " ")
end

function life:note_death(status)
  if status == KILLED then
    self.first_death = self.first_death or #process.read(self.passes)
    self.deaths = self.deaths + 1
  end
end

-- One process, under self.tracer if that is set: status, standard output.
function life:start(...)
  local status, output = process.run(self:line(...))
  self:note_death(status)
  return status, output
end

function life:keep_answer(name, status, output)
  local answer = self.answers[name] or { ids = {}, told = 0, untold = 0 }
  self.answers[name] = answer
  local told = false
  for id in output:gmatch("%d+") do
    answer.ids[#answer.ids + 1], told = tonumber(id), true
  end
  told = told or status == 0
  answer.told = answer.told + (told and 1 or 0)
  answer.untold = answer.untold + (told and 0 or 1)
end

-- The same command by three clients at once. The store is locked until all are there, so that the
-- first one, which may die as planned, has something to do for the others.
local TOGETHER = [[
cd %s
sqlite3 -cmd ".timeout 60000" %s "BEGIN IMMEDIATE" ".system touch held; sleep 0.2" "COMMIT" &
until [ -e held ]; do sleep 0.01; done
for i in 1 2 3; do
  { if [ $i = 1 ]; then %s; else %s; fi >told$i; echo $? >status$i; } 2>/dev/null &
  sleep 0.04
done
wait
rm held]]

-- The line of a process that does not die as planned.
function life:other(...)
  local plan = self.plan
  self.plan = plan and { point = "none", hit = 1, after = 0 }
  local line = self:line(...)
  self.plan = plan
  return line
end

-- Starts one that does not die as planned beside what comes next: its pid.
function life:beside(...)
  local pipe = io.popen(("sh -c %s >/dev/null & echo $!"):format(
    process.quote("exec " .. self:other(...))))
  local pid = pipe:read("n")
  pipe:close()
  return pid
end

function life:together(name, ...)
  local first, other = self:line(...), self:other(...)
  process.run(TOGETHER:format(self.dir, self.store, first, other))
  for i = 1, 3 do
    local status = tonumber(process.read(self.dir .. "/status" .. i))
    self:note_death(status)
    self:keep_answer(name, status, process.read(self.dir .. "/told" .. i))
    if status == KILLED then
      self:command(name, ...)
    elseif status ~= 0 then
      self:problem("%s ended with %d", name, status)
    end
  end
end

-- A command that a client gives again until it knows that it is done. What it was told is in
-- answers[name]: the ids of each answer, and how many answers never came.
function life:command(name, ...)
  for _ = 1, 3 do
    local status, output = self:start(...)
    self:keep_answer(name, status, output)
    if status == 0 then
      return
    elseif status ~= KILLED then
      return self:problem("%s ended with %d", name, status)
    end
  end
  self:problem("%s was killed three times", name)
end

-- Jobs that are due within a minute.
function life:waiting()
  return process.sql(self.store, "SELECT count(*) FROM job WHERE retries>0 AND suspended=0 AND"
    .. " coalesce(due, 0)<(julianday('now')-2440587.5)*86400000+60000")[1] ~= "0"
end

-- Executors, until there is nothing to do.
function life:drain(...)
  for _ = 1, ROUNDS do
    local status = self:start("run", self.dir, "--drain", ...)
    if status == 0 and not self:waiting() then
      return
    elseif status ~= 0 and status ~= KILLED then
      return self:problem("the executor ended with %d", status)
    end
    if status == 0 then
      process.pause(0.02)
    end
  end
  self:problem("there is no end")
end

-- ---- what an independent reader finds ----

local SOUND = [[
SELECT 'integrity: '||integrity_check FROM pragma_integrity_check WHERE integrity_check<>'ok';
SELECT 'job '||id||' waits in '||count(*)||' places' FROM (SELECT id FROM ready UNION ALL
  SELECT id FROM timer UNION ALL SELECT id FROM parked) GROUP BY id HAVING count(*)>1;
SELECT 'job '||id||' is locked for ever' FROM locked;
SELECT 'lane '||id||' is held for ever' FROM lane;
SELECT 'job '||id||' is parked for ever' FROM parked;
SELECT 'job '||id||' waits nowhere' FROM job WHERE retries>0 AND suspended=0
  AND id NOT IN (SELECT id FROM ready UNION SELECT id FROM timer);
SELECT 'job '||p.id||' waits without a row' FROM (SELECT id FROM ready UNION
  SELECT id FROM timer) p LEFT JOIN job j ON j.id=p.id WHERE j.id IS NULL;
SELECT 'job '||job||' ended '||count(*)||' times' FROM ended GROUP BY job HAVING count(*)>1;
SELECT 'job '||id||' has ended and is there' FROM job WHERE id IN (SELECT job FROM ended);
SELECT 'dead job '||id||' has not one open incident' FROM job j WHERE retries=0
  AND (SELECT count(*) FROM incident i WHERE i.job=j.id AND i.ended IS NULL)<>1;
SELECT 'incident '||id||' is open for a job that lives' FROM incident WHERE ended IS NULL
  AND job IS NOT NULL AND job NOT IN (SELECT id FROM job WHERE retries=0);
SELECT 'executor '||id||' is not gone' FROM executor WHERE state<>0;]]

function life:sound()
  for _, line in ipairs(process.sql(self.store, SOUND)) do
    self:problem("%s", line)
  end
  local status, output, errors = process.run(("env -u CRASH_AT %s check --store sqlite:%s")
    :format(self.program, self.store))
  if status ~= 0 then
    self:problem("check ended with %d: %s%s", status, output, errors)
  end
end

-- The job's life, from the outside log and the store: { label, parent, starts, ends, attempt (of
-- its end), dead (its incident), left (its row is there) }, by id.
function life:jobs()
  local jobs = setmetatable({}, { __index = function(all, id)
    all[id] = { starts = 0, ends = 0 }
    return all[id]
  end })
  for what, id, label, parent in process.read(self.runs):gmatch("(%a+) %d+ (%d+) (%S+) (%S+)") do
    local job = jobs[tonumber(id)]
    job.label, job.parent = label, tonumber(parent)
    job.starts = job.starts + (what == "run" and 1 or 0)
    job.ends = job.ends + (what == "end" and 1 or 0)
  end
  for _, row in ipairs(process.sql(self.store, "SELECT job, attempt FROM ended WHERE outcome=1")) do
    local id, attempt = row:match("^(%d+)|(%d+)$")
    jobs[tonumber(id)].attempt = tonumber(attempt)
  end
  for _, row in ipairs(process.sql(self.store, "SELECT j.id, json_extract(j.payload, '$.label'),"
    .. " i.type FROM job j LEFT JOIN incident i ON i.job=j.id AND i.ended IS NULL")) do
    local id, label, dead = row:match("^(%d+)|([^|]*)|([^|]*)$")
    local job = jobs[tonumber(id)]
    job.label, job.left = label ~= "" and label or job.label, true
    job.dead = dead ~= "" and dead or nil
  end
  return setmetatable(jobs, nil)
end

-- Results that came too late: their jobs have been begun again.
function life:refused()
  local _, count = process.read(self.log):gsub("stale outcome refused", "")
  return count
end

-- No two runs of one lane at once. Whoever died takes along what it ran.
function life:overlaps()
  local open, last = {}, nil
  for what, pid, id, lane in process.read(self.runs):gmatch("(%a+) (%d+) (%d+) %S+ %S+ (%S+)\n") do
    if pid ~= last then
      open, last = {}, pid
    end
    if what == "run" and lane ~= "-" then
      if open[lane] then
        self:problem("jobs %s and %s of lane %s ran at once", open[lane], id, lane)
      end
      open[lane] = id
    elseif lane ~= "-" then
      open[lane] = nil
    end
  end
end

-- What a command has created: `wanted` { label = { n, attempt, dead, ran, children, left } }, n for
-- each time that it was done: as often as it was answered, or more by the untold ones, but whole.
function life:created(name, wanted)
  local jobs, by_label, answer = self:jobs(), {}, self.answers[name]
  for id, job in pairs(jobs) do
    if job.label and wanted[job.label] then
      by_label[job.label] = by_label[job.label] or {}
      table.insert(by_label[job.label], id)
    end
  end
  for _, id in ipairs(answer.ids) do
    if not jobs[id] then
      self:problem("job %d was acknowledged by %s and is lost", id, name)
    end
  end
  local times
  for label, want in pairs(wanted) do
    local ids = by_label[label] or {}
    times = times or #ids / want.n
    if #ids ~= times * want.n or times < answer.told or times > answer.told + answer.untold then
      self:problem("%s: %d jobs %q, answered %d times and %d times not", name, #ids, label,
        answer.told, answer.untold)
    end
    for _, id in ipairs(ids) do
      self:check_job(jobs, id, want)
    end
  end
end

function life:check_job(jobs, id, want)
  local job, children = jobs[id], {}
  local function expect(what, wanted, found)
    if wanted ~= found then
      self:problem("job %d (%s): %s is %s, expected %s", id, job.label, what, tostring(found),
        tostring(wanted))
    end
  end
  local ends = not (want.dead or want.left)
  expect("its incident", want.dead, job.dead)
  expect("the attempt of its end", ends and (want.attempt or 1) or nil, job.attempt)
  expect("its row there", not ends or nil, job.left)
  expect("having run to its end", want.ran or ends, job.ends > 0)
  local most = (want.attempt or 1) + self.deaths + self:refused()
  if job.starts > most then
    expect("its number of starts", most, job.starts)
  end
  for child, other in pairs(jobs) do
    if other.parent == id then
      children[#children + 1] = child
      expect("the end of its child", true, other.attempt ~= nil)
    end
  end
  expect("its number of children", want.children or 0, #children)
end

-- The most passes of each point in one process, if nobody was to die; `recovering`: only of those
-- that began when somebody had died.
function life:passed(recovering)
  local counts, most, text = {}, {}, process.read(self.passes)
  if recovering then
    text = text:sub((self.first_death or #text) + 1)
  end
  for pid, point in text:gmatch("(%d+) (%S+)\n") do
    local key = pid .. " " .. point
    counts[key] = (counts[key] or 0) + 1
    most[point] = math.max(most[point] or 0, counts[key])
  end
  return most
end

return life
