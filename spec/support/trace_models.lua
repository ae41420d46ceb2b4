-- Processes that wait for all that a process can wait for: people, messages, triggers, timers,
-- called processes, runs that failed. `$J` stands for options by which a word begins or ends in a
-- job; they are drawn. What a process does depends on its inputs, not on the order of its jobs.
local trace_models = {}

local texts = {
  tasks = [[p.parallel { join = { $J id = "met" },
    { p.task "t1" { $J }, p.step "s1" { $J run = "note" } },
    { p.step "s2" { $J run = "note" }, p.task "t2" { $J } },
    { p.task "t3" {} } },
    p.step "last" { $J run = "note" }]],
  turns = [[p.parallel {
    { p.each "one" { $J times = 3, p.task "t1" { $J }, p.step "s1" { $J run = "note" } } },
    { p.each "all" { times = 4, parallel = true, stop = "${nrOfCompletedInstances >= 2}",
      p.task "t2" { $J }, p.step "s2" { $J run = "note" } } },
    { p.step "s3" { $J run = "note", each = { $J times = 5, parallel = true } } },
    { p.task "t4" { $J each = { $J times = 3, parallel = true } } } }]],
  nested = [[p.each "outer" { times = 2, parallel = true,
    p.each "inner" { $J times = 3, parallel = true, p.step "s1" { $J run = "note" } },
    p.sub "part" { p.receive "r1" { $J }, p.step "s2" { $J run = "note" },
      within = { "PT5H", p.step "late" { $J run = "note" } } } }]],
  timers = [[p.parallel {
    { p.sub "part" { p.receive "r1" { $J },
      within = { "PT5H30M", p.step "late" { $J run = "note" } },
      every = { "R3/PT1H", p.step "hurry" { $J run = "note" } } } },
    { p.wait "w1" { $J after = "PT2H30M" }, p.step "s1" { $J run = "note" },
      p.wait "w2" { $J after = "PT17H15M" } } }]],
  first = [[p.parallel {
    { p.first { { p.wait "m1" { message = "first_m1" }, p.step "s1" { $J run = "note" } },
      { p.wait "m2" { message = "first_m2" }, p.task "t1" { $J } },
      { p.wait "w1" { after = "PT2H30M" }, p.step "s2" { $J run = "note" } } } },
    { p.receive "m3" { $J message = "first_m3" }, p.step "s3" { $J run = "note" } } }]],
  events = [[p.task "t1" { $J },
    p.handle "beside" { message = "events_m1", interrupting = false,
      p.step "s1" { $J run = "note" }, p.task "t2" { $J } },
    p.sub "part" { p.task "t3" { $J },
      p.handle "instead" { message = "events_m2", p.step "s2" { $J run = "note" },
        p.task "t4" {} } },
    p.task "t5" { on_message = { "events_m3", p.step "s3" { $J run = "note" } } }]],
  calls = [[p.parallel {
    { p.call "c1" { $J process = "calls_below", each = { $J times = 3, parallel = true } } },
    { p.call "c2" { $J process = "other_below",
      within = { "PT2H30M", p.step "late" { $J run = "note" } } } } },
    p.step "last" { $J run = "note" }]],
  calls_below = [[p.step "b1" { $J run = "note" }, p.task "b2" { $J },
    p.step "b3" { $J run = "note" }]],
  other_below = [[p.parallel { { p.task "d1" { $J } }, { p.step "d2" { $J run = "note" } } },
    p.receive "d3" { $J }]],
  fails = [[p.parallel {
    { p.step "dead" { run = "fails", async = true, retry = "R2/PT1H30M" } },
    { p.step "once" { run = "fails_once", async = true, retry = "R3/PT1H" }, p.task "t1" { $J } },
    { p.step "thrice" { run = "fails", async = true } },
    { p.sub "part" { on_error = { "E1", p.step "caught" { $J run = "note" } },
      p.parallel { { p.task "t2" { $J }, p.step "throws" { run = "throws" } },
        { p.task "t3" { each = { times = 2, parallel = true } } } } } } }]],
  ends = [[p.parallel {
    { p.step "s1" { $J run = "note" }, p.task "t1" { $J } },
    { p.task "t2" { $J }, p.step "s2" { $J run = "note" } },
    { p.task "t3" {}, p.finish "all" { $J terminate = true } } }]],
  chosen = [[p.inclusive { join = { $J id = "met" },
    { when = "${pick > 0}", p.task "t1" { $J }, p.step "s1" { $J run = "note" } },
    { when = "${pick > 1}", p.step "s2" { $J run = "note" } },
    { when = "${pick > 2}", p.receive "r1" { $J } },
    { otherwise = true } },
    p.choose { { when = "${pick % 2 == 0}", p.step "s3" { $J run = "note" } },
      { otherwise = true, p.task "t2" { $J }, p.step "s4" { $J run = "note" } } }]],
  again = [[p.task "t1" { $J }, p.step "s1" { $J run = "count" },
    p.gateway "enough" { kind = "exclusive",
      to = { { "t1", when = "${times < 3}" }, { "done", default = true } } },
    p.finish "done" {}]],
}

-- What calls which other process.
local called = { calls = { "calls_below", "other_below" } }

-- note: is called, and sets a variable. fails: never succeeds.
local HANDLER = [[
return function(job)
  local file <close> = assert(io.open(%q, "a"))
  file:setvbuf("full")
  file:write(job.process, " ", job.activity, "\n")
  file:close()
  job.variables["seen_" .. job.activity] = true
  %s
end
]]

local DEEDS = {
  note = "",
  count = "job.variables.times = (job.variables.times or 0) + 1",
  fails = 'error("no", 0)',
  fails_once = 'if job.attempt == 1 then error("not yet", 0) end',
  throws = 'job:throw("E1")',
}

-- Options of jobs: none, before, behind, both; exclusive or not.
local function jobs()
  return ("async = %s, async_after = %s, exclusive = %s,"):format(math.random(2) == 1,
    math.random(3) == 1, math.random(3) > 1)
end

-- files(log) -> the files of a folder, with jobs drawn anew. Each call is a line of the file `log`.
function trace_models.files(log)
  local files = { ["moonshift.lua"] = "return { failed_job_wait = 'PT0S' }\n" }
  for name, deed in pairs(DEEDS) do
    files["handlers/" .. name .. ".lua"] = HANDLER:format(log, deed)
  end
  for _, key in ipairs(trace_models.keys(texts)) do
    local text = 'local p = require "moonshift.process"\nreturn { ' .. texts[key] .. " }\n"
    files["processes/" .. key .. ".lua"] = (text:gsub("%$J", jobs))
  end
  return files
end

-- keys(t) -> the keys of a table, sorted.
function trace_models.keys(t)
  local keys = {}
  for key in pairs(t) do
    keys[#keys + 1] = key
  end
  table.sort(keys)
  return keys
end

-- all() -> the processes to start: lists of keys, the first of which is its own.
function trace_models.all()
  local list = {}
  for _, key in ipairs(trace_models.keys(texts)) do
    if not key:find "_below$" then
      list[#list + 1] = { key, table.unpack(called[key] or {}) }
    end
  end
  return list
end

return trace_models
