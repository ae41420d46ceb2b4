-- Short workloads for the crash points: what the handlers do, which commands are given, and
-- what must have become of everything at the end.
local life = require "spec.support.life"
local process = require "spec.support.process"
local shop = require "spec.support.shop"

-- Every handler tells the outside log what it does, one write a line, and then what its payload
-- says.
local WORK = [[
local function tell(what, job)
  local file = assert(io.open(os.getenv("RUNS"), "a"))
  file:setvbuf("full")
  file:write(("%s %d %d %s %s %s\n"):format(what, io.open("/proc/self/stat"):read("n"), job.id,
    job.payload.label or "-", job.payload.parent or 0, job.lane or "-"))
  file:close()
end

local function signal(name)
  os.execute("kill -" .. name .. " " .. io.open("/proc/self/stat"):read("n"))
end

local function exists(path)
  local file = io.open(path)
  return file and file:close()
end

local function write(path, text)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end

-- A file that a folder has is there whole, whoever dies.
local function replace(path, text)
  write(os.getenv("RUNS") .. ".new", text)
  assert(os.rename(os.getenv("RUNS") .. ".new", path))
end

-- Once, however often it is run.
local function once(job)
  local path = os.getenv("RUNS") .. "-" .. job.id
  return not exists(path) and (write(path, "") or true)
end

local deeds = {}

function deeds.kill(job)
  if job.payload.kill == "always" or once(job) then
    signal("KILL")
  end
end

function deeds.stop(job)
  if once(job) then
    signal("TERM")
  end
end

function deeds.slow(job)
  os.execute("sleep " .. job.payload.slow)
end

function deeds.talk(job)
  job:log("a line")
  job:progress(0.5, "half")
  job:extend("PT1M")
end

function deeds.snooze(job)
  if once(job) then
    job:snooze(0.02)
  end
end

function deeds.clash(job)
  job:enqueue("work", { label = "never" }, { unique = "kept", on_conflict = "refuse" })
end

function deeds.operate(job)
  job:operate { verb = "activate_definition", definition = "work" }
end

function deeds.drain()
  os.execute(os.getenv("PROGRAM") .. " executor drain crash --store " .. os.getenv("STORE"))
end

function deeds.reload(job)
  local folder = os.getenv("FOLDER")
  replace(folder .. "/handlers/more_" .. job.id .. ".lua", "return function() end\n")
  replace(folder .. "/schedules/tick.lua", "return { handler = 'tick', cycle = 'R3/PT0.03S',\n"
    .. "  misfire = 'all', overlap = 'queue',\n"
    .. "  payload = { label = 'tick', version = " .. job.id .. " } }\n")
  signal("HUP")
  for _ = 1, 40 do
    os.execute("sleep 0.02")
    if io.open(os.getenv("LOG")):read("a"):find("folder loaded") then
      return
    end
  end
end

return function(job)
  local payload = job.payload
  tell("run", job)
  for name, deed in pairs(deeds) do
    if payload[name] then
      deed(job)
    end
  end
  if job.attempt <= (payload.fails or 0) then
    tell("fail", job)
    error("not yet", 0)
  end
  for i = 1, payload.children or 0 do
    job:enqueue("work", { label = "child", parent = job.id, n = i }, { lane = job.lane })
  end
  tell("end", job)
end
]]

local function lines(list)
  return table.concat(list, "\n") .. "\n"
end

local function work(label, payload, options)
  return ('{"handler":"work","payload":{"label":"%s"%s}%s}'):format(label,
    payload and "," .. payload or "", options and "," .. options or "")
end

local function handler()
  return { ["handlers/work.lua"] = WORK,
    ["moonshift.lua"] = "return { failed_job_wait = 'PT0S' }\n" }
end

local workloads = {}

-- Plain jobs: priorities, retries, follow-ups, unique keys, incidents, a job that kills.
workloads.jobs = {}

function workloads.jobs.files()
  local files = handler()
  files["jobs.jsonl"] = lines {
    work("plain", nil, '"priority":1'), work("plain", nil, '"priority":7'),
    work("plain", nil, '"priority":-3'), work("plain"), work("plain"), work("plain"),
    work("fails", '"fails":1'), work("fails", '"fails":1', '"priority":2'),
    work("hopeless", '"fails":9', '"retries":2'), work("parent", '"children":2'),
    work("mother", '"children":2,"fails":1'), work("clash", '"clash":true', '"retries":1'),
    work("unique", nil, '"unique":"mine","unique_for":60,"on_conflict":"keep"'),
    work("talk", '"talk":true'), work("poison", '"kill":"always"', '"priority":3'),
  }
  return files
end

function workloads.jobs.live(one)
  one:command("file", "enqueue", "--from", one.dir .. "/jobs.jsonl", "--ids", "-C", one.dir)
  one:together("crowd", "enqueue", "work", '{"label":"crowd"}', "-C", one.dir)
  one:command("held", "enqueue", "work", '{"label":"held"}', "--unique", "kept", "--in", "P1D",
    "-C", one.dir)
  one:command("held", "enqueue", "work", '{"label":"replaced"}', "--unique", "kept", "--in", "P2D",
    "--on-conflict", "replace", "-C", one.dir)
  one:command("single", "enqueue", "work", '{"label":"stubborn","fails":3}', "--retries", "2",
    "-C", one.dir)
  one:drain()
  one:command("retry", "job", "retry", one.answers.single.ids[1], "--retries", "2")
  one:drain()
end

function workloads.jobs.check(one)
  one:created("file", {
    plain = { n = 6 }, fails = { n = 2, attempt = 2 }, parent = { n = 1, children = 2 },
    mother = { n = 1, children = 2, attempt = 2 },
    hopeless = { n = 1, attempt = 2, dead = "failedJob" },
    clash = { n = 1, dead = "failedJob", ran = true },
    talk = { n = 1 }, poison = { n = 1, dead = "workerDied" },
  })
  one:created("crowd", { crowd = { n = 1 } })
  local held = process.sql(one.store, "SELECT count(*), max(json_extract(payload, '$.label'))"
    .. " FROM job WHERE unique_key='kept'")[1]
  if held ~= "1|replaced" then
    one:problem("of the unique job there is %s, expected 1|replaced", held)
  end
end

-- Lanes, follow-ups in them, timers, snoozes, a lease that is renewed, an executor that is told to
-- stop and one that dies; on a store of an earlier version.
workloads.lanes = {}

function workloads.lanes.files()
  local files = handler()
  for _, name in ipairs { "fine", "broken" } do
    files["handlers/" .. name .. ".lua"] = WORK
  end
  files["v1.sql"] = process.read("spec/core/store/sqlite/golden/v1.sql")
  files["jobs.jsonl"] = lines {
    work("slow", '"slow":0.35', '"priority":9'), work("chain", '"children":2', '"lane":"a"'),
    work("chain", '"children":2', '"lane":"a"'), work("link", nil, '"lane":"a"'),
    work("link", nil, '"lane":"b"'), work("link", nil, '"lane":"b","priority":4'),
    work("weak", '"fails":1', '"lane":"b"'), work("timer", nil, '"after":0.05'),
    work("timer", nil, '"after":0.1,"lane":"a"'), work("nap", '"snooze":true'),
    work("killer", '"kill":"once"', '"priority":1'), work("stop", '"stop":true', '"priority":-1'),
  }
  return files
end

function workloads.lanes.live(one)
  process.run(("sqlite3 %s <%s/v1.sql"):format(one.store, one.dir))
  one:command("file", "enqueue", "--from", one.dir .. "/jobs.jsonl", "--ids", "-C", one.dir)
  one:drain("--lock-time", "PT0.9S", "--lane-run", "2")
end

function workloads.lanes.check(one)
  one:created("file", {
    slow = { n = 1 }, chain = { n = 2, children = 2 }, link = { n = 3 }, timer = { n = 2 },
    weak = { n = 1, attempt = 2 }, nap = { n = 1 }, killer = { n = 1 }, stop = { n = 1 },
  })
  one:overlaps()
end

-- A batch, a cycle, a schedule that is loaded anew, operators' verbs, history that goes.
workloads.batches = {}

-- The last job waits once, so that the batch is looked after before it is over.
local MARK = [[
return function(job, ids)
  local waited = os.getenv("RUNS") .. "-waited"
  local file = io.open(waited)
  if ids[#ids] == 10 and not file then
    io.open(waited, "w"):close()
    job:snooze(0.04)
  elseif file then
    file:close()
  end
  return ids
end
]]

function workloads.batches.files()
  local files = handler()
  files["batches/mark.lua"] = MARK
  files["handlers/tick.lua"], files["handlers/over.lua"] = WORK, "return function() end\n"
  files["schedules/tick.lua"] = "return { handler = 'tick', cycle = 'R2/PT0.03S', misfire = 'all',"
    .. " overlap = 'queue', payload = { label = 'tick' } }\n"
  files["moonshift.lua"] = "return { name = 'crash', failed_job_wait = 'PT0S',"
    .. " batch_poll_time = 'PT0.02S', history_ttl = 'PT0.001S' }\n"
  files["jobs.jsonl"] = lines {
    work("cycle", nil, '"cycle":"R3/PT0.02S","misfire":"all"'),
    work("killer", '"kill":"once"', '"priority":1'), work("reload", '"reload":true'),
    work("drain", '"drain":true'), work("operate", '"operate":true'),
  }
  return files
end

-- Each batch has done each of its ten ids once, and what follows it.
local BATCHES = [[
SELECT count(*)||' batches, '
  ||sum(state=4 AND total=4 AND made=4 AND open=0 AND failed=0)||' whole, '
  ||(SELECT count(*) FROM (SELECT 1 FROM ended e JOIN json_each(e.result) WHERE e.batch NOT NULL
    AND e.outcome=1 GROUP BY e.batch HAVING count(*)=10 AND count(DISTINCT value)=10))||' done, '
  ||(SELECT count(*) FROM ended e JOIN stream s ON s.id=e.stream JOIN definition d
    ON d.id=s.definition WHERE d.name='over' AND e.outcome=1)||' over'
  FROM batch WHERE state<>0;]]

local function check_batches(one)
  local found = process.sql(one.store, BATCHES)[1]
  local answer, count = one.answers.batch, tonumber(found:match("^%d+"))
  if found ~= ("%d batches, %d whole, %d done, %d over"):format(count, count, count, count)
    or count < answer.told or count > answer.told + answer.untold then
    one:problem("%s (%d answers, %d lost)", found, answer.told, answer.untold)
  end
end

local function check_schedule(one)
  local found = process.sql(one.store, "SELECT count(*), count(job), (SELECT count(*)>=3 FROM ended"
    .. " e JOIN stream s ON s.id=e.stream JOIN definition d ON d.id=s.definition WHERE"
    .. " d.name='tick' AND outcome=1) FROM schedule")[1]
  if found ~= "1|0|1" then
    one:problem("of the schedule there is %s, expected 1|0|1", found)
  end
end

function workloads.batches.live(one)
  one:command("batch", "batch", "create", "mark", "--ids", "1,2,3,4,5,6,7,8,9,10", "--per-seed",
    "2", "--invocations", "3", "--on-complete", "over", "-C", one.dir)
  one:command("file", "enqueue", "--from", one.dir .. "/jobs.jsonl", "--ids", "-C", one.dir)
  one:drain()
  one:created("file", {
    cycle = { n = 3 }, killer = { n = 1 }, reload = { n = 1 }, drain = { n = 1 },
    operate = { n = 1 },
  })
  check_batches(one)
  check_schedule(one)
  one:command("cleanup", "history", "clean", "-C", one.dir)
  one:drain()
end

-- Nothing is left of what ended before.
function workloads.batches.check(one)
  local ids = table.concat(one.answers.file.ids, ",")
  local left = process.sql(one.store, "SELECT count(*) FROM ended WHERE job IN (" .. ids .. ")")[1]
  if left ~= "0" then
    one:problem("%s jobs are in the history that was cleaned", left)
  end
end

-- Jobs that are written in steps and released at once, asked for under a key; a backup, and back.
workloads.intakes = {}

function workloads.intakes.files()
  local files = handler()
  files["jobs.jsonl"] = lines {
    work("plain"), work("plain", nil, '"priority":3'), work("timer", nil, '"after":0.01'),
    work("unique", nil, '"unique":"mine","on_conflict":"refuse"'),
    work("never", nil, '"unique":"mine","on_conflict":"refuse"'),
  }
  return files
end

function workloads.intakes.live(one)
  one:command("file", "enqueue", "--from", one.dir .. "/jobs.jsonl", "--skip-bad", "--ids",
    "--request", "once", "-C", one.dir)
  local status = one:start("enqueue", "work", '{"label":"never"}', "--count", "1001", "--unique",
    "kept", "--on-conflict", "refuse", "-C", one.dir)
  if status == 0 then
    one:problem("what is refused was created")
  end
  one:drain()
  one:command("backup", "backup", one.dir .. "/copy.db", "--force")
  one:command("restore", "restore", one.dir .. "/copy.db")
end

-- However often it was asked for, and answered, it was done once.
function workloads.intakes.check(one)
  one.answers.file.told, one.answers.file.untold = 1, 0
  one:created("file", { plain = { n = 2 }, timer = { n = 1 }, unique = { n = 1 } })
  local found = process.sql(one.store, "SELECT (SELECT count(*) FROM ended), (SELECT count(*) FROM"
    .. " intake), (SELECT count(*) FROM unique_key), (SELECT count(*) FROM request)")[1]
  if found ~= "4|0|0|1" then
    one:problem("there are %s, expected 4|0|0|1", found)
  end
end

-- An instance that a timer starts: a fork and a join, a boundary timer that is removed, a task that
-- nobody does in time. Its last activity sends a message that is kept until the instance waits for
-- it, and then a signal that starts another one. One variable is large.
workloads.processes = {}

local ORDER = [[
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
    xmlns:camunda="http://camunda.org/schema/1.0/bpmn" targetNamespace="shop">
  <message id="paper" name="paper"/>
  <signal id="written" name="written"/>
  <process id="told">
    <startEvent id="begin"><signalEventDefinition signalRef="written"/></startEvent>
    <sequenceFlow id="f0" sourceRef="begin" targetRef="end"/>
    <endEvent id="end"/>
  </process>
  <process id="order">
    <startEvent id="start"><timerEventDefinition><timeDuration>PT0.02S</timeDuration>
      </timerEventDefinition></startEvent>
    <sequenceFlow id="f1" sourceRef="start" targetRef="fork"/>
    <parallelGateway id="fork"/>
    <sequenceFlow id="f2" sourceRef="fork" targetRef="pack"/>
    <sequenceFlow id="f3" sourceRef="fork" targetRef="bill"/>
    <serviceTask id="pack" camunda:class="note" camunda:asyncBefore="true"/>
    <serviceTask id="bill" camunda:class="note" camunda:asyncBefore="true"
      camunda:exclusive="false"/>
    <boundaryEvent id="late" attachedToRef="pack"><timerEventDefinition>
      <timeDuration>P1D</timeDuration></timerEventDefinition></boundaryEvent>
    <sequenceFlow id="f4" sourceRef="pack" targetRef="join"/>
    <sequenceFlow id="f5" sourceRef="bill" targetRef="join"/>
    <sequenceFlow id="f6" sourceRef="late" targetRef="never"/>
    <endEvent id="never"/>
    <parallelGateway id="join"/>
    <sequenceFlow id="f7" sourceRef="join" targetRef="ask"/>
    <userTask id="ask"/>
    <boundaryEvent id="gone" attachedToRef="ask"><timerEventDefinition>
      <timeDuration>PT0.03S</timeDuration></timerEventDefinition></boundaryEvent>
    <sequenceFlow id="f8" sourceRef="ask" targetRef="never"/>
    <sequenceFlow id="f9" sourceRef="gone" targetRef="last"/>
    <serviceTask id="last" camunda:class="note" camunda:asyncBefore="true"/>
    <sequenceFlow id="f10" sourceRef="last" targetRef="tell"/>
    <intermediateThrowEvent id="tell"><signalEventDefinition signalRef="written"
      camunda:async="true"/></intermediateThrowEvent>
    <sequenceFlow id="f12" sourceRef="tell" targetRef="receive"/>
    <receiveTask id="receive" messageRef="paper"/>
    <sequenceFlow id="f11" sourceRef="receive" targetRef="over"/>
    <endEvent id="over"/>
  </process>
</definitions>]]

function workloads.processes.files()
  local files = handler()
  files["processes/order.bpmn"] = ORDER
  files["handlers/note.lua"] = [[return function(job)
    job.variables.n = (job.variables.n or 0) + 1
    job.variables.big = ("x"):rep(5000 + job.variables.n)
    if job.activity == "last" then
      job:correlate("paper", { keep = "PT1H", variables = { read = true } })
    end
  end]]
  return files
end

function workloads.processes.live(one)
  one:drain()
end

-- Each of the three activities has counted once, and the message and the signal came once.
function workloads.processes.check(one)
  local found = process.sql(one.store, "SELECT (SELECT count(*) FROM instance), count(*), max(how),"
    .. " max(json_extract(variables, '$.n')), max(json_extract(variables, '$.read')),"
    .. " (SELECT count(*) FROM kept_message), (SELECT sum(length(data)) FROM large_value)"
    .. " FROM past")[1]
  local expected = "0|2|completed|3|1|0|5005"
  if found ~= expected then
    one:problem("of the instance there is %s, expected %s", found, expected)
  end
end

-- Instances with one of everything, started by commands, on two executors. A job kills one of them,
-- the other may die as planned. The second instance cannot pay.
workloads.instances = {}

function workloads.instances.files()
  local files = shop.files()
  files["handlers/work.lua"] = WORK
  return files
end

-- Sends the message to each instance that waits for it; the last command may have died meanwhile.
local function deliver(one)
  for _ = 1, 3 do
    local waiting = process.sql(one.store, "SELECT json_object('key', key) FROM subscription"
      .. " WHERE name='delivered'")
    if #waiting == 0 then
      return
    end
    local file = assert(io.open(one.dir .. "/told.jsonl", "w"))
    file:write(lines(waiting))
    file:close()
    one:start("message", "delivered", "--from", one.dir .. "/told.jsonl", "-C", one.dir)
  end
  one:problem("the message was not delivered")
end

function workloads.instances.live(one)
  one:command("killer", "enqueue", "work", '{"kill":"once"}', "-C", one.dir)
  for _, key in ipairs { "1", "3" } do
    one:command("start", "process", "start", "order", "--key", key, "-C", one.dir)
  end
  local beside = one:beside("run", one.dir, "--drain")
  one:drain()
  process.await_end(beside, 20)
  deliver(one)
  one:drain()
end

-- A handler is called again where its process was killed, and nowhere else.
function workloads.instances.check(one)
  local answer, runs, killed = one.answers.start, process.read(one.runs), {}
  for pid in runs:gmatch("run (%d+) ") do
    killed[tonumber(pid)] = true
  end
  for pid in (one.plan and process.read(one.passes) or ""):gmatch("(%d+) ") do
    killed[tonumber(pid)] = true
  end
  local problems, instances = shop.check(function(sql)
    return process.sql(one.store, sql)
  end, runs, killed)
  table.move(problems, 1, #problems, #one.problems + 1, one.problems)
  local begun = #process.sql(one.store, "SELECT id FROM past WHERE parent IS NULL")
  for _, id in ipairs(answer.ids) do
    if not (instances[tostring(id)] or {}).how then
      one:problem("instance %d was acknowledged and has not ended", id)
    end
  end
  if begun < answer.told or begun > answer.told + answer.untold then
    one:problem("%d instances began, answered %d times and %d times not", begun, answer.told,
      answer.untold)
  end
end

-- Bodies whose turns stand outside of the frame: one becomes full, and a timer ends the other one.
workloads.bodies = {}

function workloads.bodies.files()
  local files = handler()
  local text = [[local p = require "moonshift.process"
    return { p.start "start" { after = "PT0.02S" }, %s }]]
  files["processes/full.lua"] = text:format(
    'p.step "turn" { run = "note", async = true, each = { times = 70, parallel = true } }')
  files["processes/cut.lua"] = text:format('p.task "turn" { each = { times = 70, parallel = true },'
    .. ' within = { "PT0.03S", p.step "late" { run = "note", async = true } } }')
  files["handlers/note.lua"] = "return function() end"
  return files
end

function workloads.bodies.live(one)
  one:drain()
end

function workloads.bodies.check(one)
  local found = process.sql(one.store, "SELECT (SELECT count(*) FROM past WHERE how='completed'),"
    .. " (SELECT count(*) FROM instance), (SELECT count(*) FROM body),"
    .. " (SELECT count(*) FROM body_turn), (SELECT count(*) FROM user_task)")[1]
  if found ~= "2|0|0|0|0" then
    one:problem("of bodies there is %s, expected 2|0|0|0|0", found)
  end
end

-- What cannot go on: a job of no definition, and an instance that waits for a token which never
-- comes, with the one that called it. `check --store` tells of the latter.
workloads.troubles = { unsound = true }

local STARVED = [[
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
    xmlns:camunda="http://camunda.org/schema/1.0/bpmn" targetNamespace="shop">
  <process id="starved">
    <startEvent id="start"/>
    <sequenceFlow id="f1" sourceRef="start" targetRef="first"/>
    <serviceTask id="first" camunda:class="note" camunda:asyncBefore="true"/>
    <sequenceFlow id="f2" sourceRef="first" targetRef="choice"/>
    <exclusiveGateway id="choice" default="f3"/>
    <sequenceFlow id="f3" sourceRef="choice" targetRef="join"/>
    <sequenceFlow id="f4" sourceRef="choice" targetRef="join">
      <conditionExpression>${false}</conditionExpression></sequenceFlow>
    <parallelGateway id="join"/>
    <sequenceFlow id="f5" sourceRef="join" targetRef="over"/>
    <endEvent id="over"/>
  </process>
</definitions>]]

function workloads.troubles.files()
  local files = handler()
  files["processes/starved.bpmn"] = STARVED
  files["processes/caller.lua"] = [[
    local process = require "moonshift.process"
    return { process.call "below" { process = "starved" } }]]
  files["handlers/note.lua"] = "return function() end"
  files["handlers/gone.lua"] = "return function() end"
  return files
end

function workloads.troubles.live(one)
  one:command("gone", "enqueue", "gone", "-C", one.dir)
  process.run(("sqlite3 -cmd '.timeout 60000' %s %s"):format(process.quote(one.store),
    process.quote "UPDATE job SET stream=999 WHERE id IN (SELECT id FROM ready)"))
  one:command("caller", "process", "start", "caller", "-C", one.dir)
  one:drain()
end

-- One incident each, though an executor died as it was opened.
function workloads.troubles.check(one)
  local found = process.sql(one.store, "SELECT sum(type='failedJob'), sum(type='instanceStuck')"
    .. " FROM incident WHERE ended IS NULL")[1]
  local expected = process.sql(one.store, "SELECT (SELECT count(*) FROM job WHERE stream=999),"
    .. " (SELECT count(*) FROM instance)")[1]
  if found ~= expected then
    one:problem("of incidents there are %s, expected %s", found, expected)
  end
end

local all = {}

-- All of it: what was wrong, and whether the planned death has come.
function all.run(name, plan)
  local workload = workloads[name]
  local one = life.new(workload.files(), "testing", plan)
  workload.live(one)
  if not workload.unsound then
    one:sound()
  end
  workload.check(one)
  local result = { problems = one.problems, died = one:died(), passed = one:passed(),
    recovering = one:passed(true),
    deaths = one.deaths, told = process.read(one.runs) .. process.read(one.log) }
  one:close()
  return result
end

all.names = { "jobs", "lanes", "batches", "intakes", "processes", "instances", "bodies",
  "troubles" }

return all
