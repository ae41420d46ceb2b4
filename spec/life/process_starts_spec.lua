-- Processes that start by a condition, and messages that are given to all, by commands and where
-- several executors work.
local engines = require "spec.support.engines"
local executors = require "spec.support.executors"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local WORDS = 'local process = require "moonshift.process"\nreturn '

local files = {
  ["processes/low.lua"] = WORDS .. [[{ process.start "s" { when = "${stock < 5}" },
    process.task "a" {} }]],
  ["processes/none.lua"] = WORDS .. [[{ process.start "s" { when = "${stock == 0}" },
    process.step "f" { async = true, run = "nothing" }, process.task "b" {} }]],
  ["processes/two.bpmn"] = [[<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
    targetNamespace="t"><process id="two" isExecutable="true">
      <startEvent id="s1"><conditionalEventDefinition><condition>${x &gt; 1}</condition>
        </conditionalEventDefinition></startEvent>
      <sequenceFlow id="f1" sourceRef="s1" targetRef="c"/>
      <startEvent id="s2"><conditionalEventDefinition><condition>${y &gt; 1}</condition>
        </conditionalEventDefinition></startEvent>
      <sequenceFlow id="f2" sourceRef="s2" targetRef="c"/><userTask id="c"/>
    </process></definitions>]],
  ["processes/fails.lua"] = WORDS .. [[{ process.start "s" { when = "${stock == 1}" },
    process.step "no" { run = function() error("no", 0) end } }]],
  ["processes/waits.lua"] = WORDS .. [[{ process.wait "w" { message = "M", key = "${key}" },
    process.step "f" { async = true, run = "nothing" }, process.task "d" {} }]],
  ["processes/begins.lua"] = WORDS .. [[{ process.start "s" { message = "M" },
    process.task "e" {} }]],
  ["processes/beside.lua"] = WORDS .. [[{ process.task "g" {
    on_message = { "M", interrupting = false, process.task "h" {} } } }]],
  ["handlers/nothing.lua"] = "return function() end",
}

local function only(...)
  local some = { ["handlers/nothing.lua"] = files["handlers/nothing.lua"] }
  for _, name in ipairs { ... } do
    local path = "processes/" .. name .. ".lua"
    path = files[path] and path or "processes/" .. name .. ".bpmn"
    some[path] = files[path]
  end
  return some
end

local engine, folder

local function open(...)
  folder = process.folder(only(...))
  engine = testing.engine { scripts = folder }
end

local function close()
  engines.clean()
  process.remove(folder)
end

-- The tasks that are open, as a text.
local function tasks()
  local found = {}
  for i, row in ipairs(engine:tasks():list()) do
    found[i] = row.activity
  end
  table.sort(found)
  return table.concat(found, " ")
end

describe("what starts a process that the folder has no longer", function()
  after_each(close)

  local TIMED = WORDS .. [[{ process.start "s" { every = "R/PT1H" }, process.task "t" {} }]]

  -- Loads the folder with these processes, of all that it may have.
  local function load(...)
    local has = {}
    for _, name in ipairs { ... } do
      has[name] = true
    end
    for _, name in ipairs { "timed", "begins", "low", "beside" } do
      local path = ("%s/processes/%s.lua"):format(folder, name)
      os.remove(path)
      if has[name] then
        local file <close> = assert(io.open(path, "w"))
        file:write(name == "timed" and TIMED or files["processes/" .. name .. ".lua"])
      end
    end
    assert(engine:reload())
  end

  -- The starts that wait: jobs of timers, receivers of the message, starts by the condition.
  local function starts()
    local told = engine:correlate("M", { all = true }) or {}
    return { engine:jobs({ handler = "process/timed/s:timer" }):count(), #told,
      #(engine:conditions { stock = 3 } or {}) }
  end

  it("ends with its file, and is there again with it", function()
    open "beside"
    load("timed", "begins", "low", "beside")
    assert.same({ 1, 1, 1 }, starts())
    load "beside"
    assert.same({ 0, 0, 0 }, starts())
    load("timed", "begins", "low", "beside")
    assert.same({ 1, 1, 1 }, starts())
    load("begins", "low", "beside")
    load "beside"
    load("timed", "begins", "low", "beside")
    assert.same({ 1, 1, 1 }, starts())
    engine:advance "PT90M"
    engine:drain()
    assert.equal(1, engine:instances({ process = "timed" }):count())
  end)

  it("leaves what runs, and what is started by hand", function()
    open "beside"
    load("timed", "beside")
    engine:advance "PT1H"
    engine:drain()
    load "beside"
    engine:advance "PT5H"
    engine:drain()
    assert.equal("t", tasks())
    assert(engine:start("timed"))
    assert.equal("t t", tasks())
    assert(engine:complete(engine:tasks():list()[1].id))
    assert.equal(1, engine:instances({ process = "timed" }):count())
  end)
end)

describe("a condition that starts a process", function()
  after_each(close)

  it("starts each whose condition holds, with the variables", function()
    open("low", "none", "two")
    local ids = assert(engine:conditions({ stock = 3 }, { key = "k", tenant = "one" }))
    local one = engine:instance(ids[1])
    assert.same({ 1, "low", "k", "one" }, { #ids, one.process, one.key, one.tenant })
    assert.same({ stock = 3 }, one.variables)
    assert.equal(2, #assert(engine:conditions { stock = 0 }))
    assert.same({}, assert(engine:conditions { stock = 9 }))
    assert.same({}, assert(engine:conditions()))
    assert.equal(2, #assert(engine:conditions { x = 2, y = 2 }))
    assert.equal(1, #assert(engine:conditions { x = 2 }))
    engine:drain()
    assert.equal("a a b c c c", tasks())
    local entry = engine:operations({ verb = "conditions" }):list()[6]
    assert.same({ "processes", '{"x":2}', "started 1" }, { entry.entity, entry.old, entry.new })
    assert.equal(4, engine:subscriptions({}):count())
  end)

  it("may be asked for of one process, and is refused where none has one", function()
    open("low", "none", "begins")
    assert.equal(1, #assert(engine:conditions({ stock = 0 }, { process = "none" })))
    assert.same({ 'no process "begins" is started by a condition', "not_found" },
      { select(2, engine:conditions({ stock = 0 }, { process = "begins" })) })
    assert(engine:suspend_process("low"))
    assert.equal(1, #assert(engine:conditions { stock = 0 }))
    assert.has_error(function()
      engine:conditions({}, { proces = "low" })
    end, 'conditions: unknown key "proces" (did you mean "process"?)')
  end)

  it("is that of the newest version alone", function()
    open "low"
    local file = assert(io.open(folder .. "/processes/low.lua", "w"))
    file:write((files["processes/low.lua"]:gsub("< 5", "< 2")))
    file:close()
    assert(engine:reload())
    assert.same({}, assert(engine:conditions { stock = 3 }))
    assert.equal(2, engine:instance(assert(engine:conditions { stock = 1 })[1]).version)
  end)

  it("starts nothing where one of them fails", function()
    open("low", "fails")
    local started, message = engine:conditions { stock = 1 }
    assert.is_nil(started)
    assert.truthy(message:find("no", 1, true), message)
    assert.equal(0, engine:instances():count())
    assert.is_nil(engine:conditions { stock = {} })
  end)
end)

describe("a message to all", function()
  after_each(close)

  it("reaches every one that waits for it, and starts what it starts", function()
    open("waits", "begins", "beside")
    for i = 1, 3 do
      assert(engine:start("waits", { key = "b" .. i, variables = { key = "k" .. i % 2 } }))
    end
    local beside = assert(engine:start "beside")
    local ids = assert(engine:correlate("M", { all = true, key = "k1", variables = { v = 1 } }))
    assert.equal(4, #ids)
    engine:drain()
    assert.equal("d d e g h", tasks())
    assert.equal(1, engine:instance(beside).variables.v)
    assert.same({}, assert(engine:correlate("N", { all = true })))
    local entries = engine:operations({ verb = "correlate" }):list()
    assert.same({ 'message "M"', "received by 4" }, { entries[1].entity, entries[1].new })
    assert.same({ 'message "N"', "received by 0" }, { entries[2].entity, entries[2].new })
  end)

  it("is for instances with a business key, and passes by what is suspended", function()
    open("waits")
    for i = 1, 3 do
      assert(engine:start("waits", { key = "b" .. i, variables = { key = "k" } }))
    end
    local one = engine:instances({ key = "b1" }):one().id
    assert.same({ one }, assert(engine:correlate("M", { all = true, key = "k",
      business_key = "b1" })))
    assert(engine:suspend_instance(tostring(engine:instances({ key = "b2" }):one().id)))
    assert.equal(1, #assert(engine:correlate("M", { all = true, key = "k" })))
  end)

  it("goes with a key and variables alone, and not in a list", function()
    open("waits")
    assert.has_error(function()
      engine:correlate("M", { all = true, starts = true })
    end, "correlate: all goes with key, business_key and variables alone")
    local fine, message, code = engine:correlate { { "M", { all = true } } }
    assert.is_nil(fine)
    assert.equal("entry 1 of the list: all true: expected no message to all in a list", message)
    assert.equal("invalid", code)
  end)

  it("goes to many by jobs, each once", function()
    open("waits", "begins")
    local list = {}
    for i = 1, 1000 do
      list[i] = { "waits", { variables = { key = "k" } } }
    end
    assert(engine:start(list))
    assert.same({ {}, "jobs" }, { engine:correlate("M", { all = true, key = "k" }) })
    engine:drain()
    assert.equal(1001, engine:tasks():count())
    assert.equal(0, engine:jobs():count())
  end)
end)

describe("from the command line, with several workers", function()
  it("messages go to all, and conditions start, each once", function()
    local place = executors.place {}
    for path, text in pairs(only("low", "none", "waits", "begins")) do
      place.write(path, text)
    end
    place.write("waiting", ('{"variables":{"key":"k"}}\n'):rep(150))
    place.moonshift("process", "start", "waits", "--from", place.path .. "/waiting", "-C",
      place.path)
    assert.equal("each that waits for the message gets it by a job\n",
      place.moonshift("message", "M", "--all", "--key", "k", "-C", place.path))
    local ids = place.moonshift("conditions", "stock=0", "--key", "k", "-C", place.path)
    assert.equal(2, select(2, ids:gsub("%d+\n", "")))
    assert.equal("", place.moonshift("conditions", "stock=9", "-C", place.path))
    place.moonshift("run", place.path, "--drain", "--workers", "4")
    local function count(activity)
      return select(2, place.moonshift("task", "list", "--activity", activity, "--limit", "1000",
        "--json", "-C", place.path):gsub('"id"', ""))
    end
    assert.same({ 150, 1, 1, 1 }, { count "d", count "e", count "a", count "b" })
    assert.truthy(place.moonshift("conditions", "stock=3"):find "^job %d+ does it")
    assert.equal("1 instance has the message\n", place.moonshift("message", "M", "--all", "-C",
      place.path))
    place.moonshift("run", place.path, "--drain", "--workers", "4")
    assert.same({ 2, 2 }, { count "a", count "e" })
    place.moonshift("check", "--store", "-C", place.path)
    place.remove()
  end)
end)

describe("a process that two folders have had", function()
  it("goes on to begin by itself for the one that has it still", function()
    local place = executors.place {}
    for _, dir in ipairs { "one/", "two/" } do
      for path, text in pairs(only("begins", "none")) do
        place.write(dir .. path, text)
      end
    end
    local function deploy(name)
      place.moonshift("deploy", place.path .. "/" .. name)
    end
    local function reached()
      return place.moonshift("message", "M", "--all")
    end
    deploy "one"
    deploy "two"
    os.remove(place.path .. "/one/processes/begins.lua")
    deploy "one"
    assert.matches("^job %d+ does it", reached())
    os.remove(place.path .. "/two/processes/begins.lua")
    deploy "two"
    assert.equal("0 instances have the message\n", reached())
    place.remove()
  end)
end)
