-- docs/reference.md and the annotations that editors read: complete, true and not stale.
local reference = require "docs.reference"
local core = require "moonshift.core"
local moonshift = require "moonshift"
local pages = require "spec.support.pages"
local program = require "spec.support.program"
local source = require "spec.support.source"
local testing = require "moonshift.testing"

local classes = reference.read()

local function names(list)
  local set = {}
  for _, one in ipairs(list) do
    set[one.name:gsub("%?$", "")] = true
  end
  return set
end

-- What can be called on a real object: the functions of its class, without the private ones.
local function methods(object)
  local set = {}
  for name, value in pairs(object) do
    if type(value) == "function" and not name:find("^_") then
      set[name] = true
    end
  end
  return set
end

local function index(object)
  return debug.getmetatable(object).__index
end

describe("docs/reference.md", function()
  it("is what the annotations say (else: make reference)", function()
    assert.equal(reference.page(), pages.read("docs/reference.md").text)
  end)

  it("has a text, each parameter and each result of every function", function()
    local offenders = {}
    local silent = { ["moonshift.job"] = { snooze = true, log = true },
      ["moonshift.activity"] = { set_local = true, set_transient = true, throw = true,
        correlate = true, signal = true } }
    for _, class in ipairs(classes) do
      for _, made in ipairs(class.functions) do
        local args = {}
        for i, param in ipairs(made.params) do
          args[i] = param.name:gsub("%?$", "")
        end
        for _, one in ipairs(made.returns) do
          args[#args + 1] = not one.name:find("^[%l_]+$") and "a result without a name" or nil
        end
        local fine = #made.text > 0 and table.concat(args, ",") == table.concat(made.args, ",")
          and (#made.returns > 0 or silent[class.name] and silent[class.name][made.name])
        if not fine then
          offenders[#offenders + 1] = class.name .. "." .. made.name
        end
      end
    end
    assert.same({}, offenders)
    assert.is_true(#classes > 20)
  end)

  it("names types that are there", function()
    local offenders = {}
    local function look(list, where)
      for _, one in ipairs(list) do
        for name in one.type:gmatch("moonshift%.[%w_.]*%w") do
          if not classes[name] then
            offenders[#offenders + 1] = where .. ": " .. name
          end
        end
      end
    end
    for _, class in ipairs(classes) do
      look(class.fields, class.name)
      for _, made in ipairs(class.functions) do
        look(made.params, class.name .. "." .. made.name)
        look(made.returns, class.name .. "." .. made.name)
      end
    end
    assert.same({}, offenders)
  end)
end)

describe("the annotations", function()
  local engine, objects

  setup(function()
    local event
    engine = testing.engine { handlers = { show = function() end } }
    local tell = function(told) event = told end
    require("moonshift.hooks").call({ ended = tell }, "ended", {}, { handler = "show" })
    objects = {
      ["moonshift.engine"] = index(engine),
      ["moonshift.query"] = index(engine:jobs()),
      ["moonshift.definition"] = index(engine:definition("show")),
      ["moonshift.batch"] = index(engine:batch(engine:batch { type = "suspend", ids = { 1 } })),
      ["moonshift.executor"] = index(moonshift.executor { engines = { engine } }),
      ["moonshift.testing"] = testing,
      ["moonshift.clocks"] = moonshift.clock,
      ["moonshift.clock"] = index(moonshift.clock.system()),
      ["moonshift.job"] = require("moonshift.job").methods {},
      ["moonshift.job.engine"] = index(require("moonshift.job").engine {} {}),
      ["moonshift.event"] = index(event),
    }
  end)

  teardown(function()
    engine:close()
  end)

  it("are of every method that an object has, and of no other", function()
    for name, object in pairs(objects) do
      assert.same(methods(object), names(classes[name].functions), name)
    end
  end)

  it("are of everything in the module", function()
    local said = names(classes["moonshift"].functions)
    for name in pairs(names(classes["moonshift"].fields)) do
      said[name] = true
    end
    local there = { testing = true }
    for name in pairs(moonshift) do
      there[name] = true
    end
    assert.same(there, said)
  end)

  it("are of every field of a job, as users see it", function()
    local place = program.place { ["handlers/show.lua"] = "return function() end\n" }
    place.run("enqueue", "show")
    local _, output = place.run("job", "show", "1", "--json")
    local there = {}
    for name in pairs(core.rules.decode(output)) do
      there[name] = true
    end
    place.clean()
    assert.same(there, names(classes["moonshift.job_row"].fields))
  end)

  it("are of every field of a job, as its handler sees it", function()
    local said, seen, there = names(classes["moonshift.job"].fields), nil, { engine = true }
    local own <close> = testing.engine {
      handlers = {
        show = function(job)
          seen = function(name)
            return pcall(function() return job[name] end)
          end
          for name in pairs(names(classes["moonshift.job_row"].fields)) do
            local fine, value = seen(name)
            there[name] = fine and type(value) ~= "function" or nil
          end
          assert(not seen("nonsense"))
        end,
      },
    }
    own:enqueue("show")
    assert.equal(0, own:drain().failed)
    assert.same(there, said)
  end)

  it("are of every field and method of an activity, as its handler sees it", function()
    local text = source.read("lua/moonshift/process/calls.lua")
    local own, said = { Fields = {}, Methods = {} }, classes["moonshift.activity"]
    for kind, name in text:gmatch("\nfunction (%u%l+)%.(%l[%l_]*)%(call") do
      own[kind][name] = true
    end
    own.Methods.throw = true
    local inherited = names(classes["moonshift.job"].fields)
    local fields = names(said.fields)
    for name in pairs(own.Fields) do
      assert.is_true(fields[name] or inherited[name], name)
      fields[name] = nil
    end
    assert.same({}, fields)
    for name in pairs(names(classes["moonshift.job"].functions)) do
      own.Methods[name] = nil
    end
    assert.same(own.Methods, names(said.functions))
  end)

  it("are of every field of an instance", function()
    local there = { at = true, state = true, variables = true, types = true, remembered = true }
    local columns = core.columns()
    for _, kind in ipairs { "instances", "past" } do
      for _, column in ipairs(columns[kind]) do
        there[column[1]] = true
      end
    end
    assert.same(there, names(classes["moonshift.instance_row"].fields))
  end)

  it("are of every word of a process", function()
    local process = require "moonshift.process"
    assert.same(methods(process), names(classes["moonshift.process"].functions))
  end)

  it("are of every option of a word", function()
    local options = require "moonshift.process.words.options"
    local function gather(class, set)
      for name in pairs(names(class.fields)) do
        set[name] = true
      end
      for parent in (class.parent or ""):gmatch("[%w_.]+") do
        gather(classes[parent], set)
      end
      return set
    end
    local step, block = "step", "block"
    local shared = { send = step, rule = step, script = step, manual = "activity",
      pass = "activity", choose = block, parallel = block, inclusive = block, first = block }
    local function look(word)
      local said, there = gather(classes["moonshift.words." .. (shared[word] or word)], {}), {}
      for _, name in ipairs(options.names()) do
        there[name] = options.has(word, name) or nil
      end
      assert.same(there, said, word)
    end
    for name in pairs(require "moonshift.process") do
      if name ~= "words" and name ~= "is_item" then
        look(name)
      end
    end
    for _, name in ipairs { "process", "branch", "on", "to" } do
      look(name)
    end
    local turns = source.read("lua/moonshift/process/words/hosts.lua"):match('TURNS = "(.-)"')
    local there = {}
    for name in turns:gmatch("%S+") do
      there[name] = true
    end
    assert.same(there, names(classes["moonshift.words.turns"].fields))
  end)

  it("are of every key that a file of a folder may have", function()
    local definition = require "moonshift.definition"
    local odd, report = { run = function() end, handler = "show", ["?"] = true }, nil
    local known = {
      handler = function() definition.read(odd, report) end,
      batch_type = function() definition.read(odd, report, true) end,
      listener = function() definition.listener(odd, report) end,
      hooks = function() require("moonshift.hooks").read("x", odd, report) end,
      schedule = function() require("moonshift.schedule").read("x", "x", odd, {}, report) end,
    }
    for name, read in pairs(known) do
      local there = {}
      report = function(message)
        for key in (message:match('^unknown key "%?" %(known: (.*)%)$') or ""):gmatch("[%w_]+") do
          there[key] = true
        end
      end
      pcall(read)
      assert.same(there, names(classes["moonshift." .. name].fields), name)
    end
  end)

  it("are of every count of a turn and of an executor", function()
    local said = names(classes["moonshift.turn"].fields)
    engine:enqueue("show")
    for name in pairs(engine:turn()) do
      assert.is_true(said[name], name)
      said[name] = nil
    end
    assert.same({}, said)
    said = names(classes["moonshift.executor_status"].fields)
    for name in pairs(moonshift.executor({ engines = { engine } }):status()) do
      assert.is_true(said[name], name)
      said[name] = nil
    end
    assert.same({ error = true }, said) -- of one that has failed
  end)

  it("are of every setting", function()
    local there = {}
    for _, setting in ipairs(engine:settings()) do
      there[setting.name] = true
    end
    assert.same(there, names(classes["moonshift.settings"].fields))
  end)

  it("are of options that a creation takes", function()
    local function is_known(name)
      local _, first, second = pcall(engine.enqueue, engine, "show", {}, { [name] = {} })
      return not tostring(second or first):find("unknown", 1, true)
    end
    local offenders = {}
    for name in pairs(names(classes["moonshift.creation"].fields)) do
      if not is_known(name) then
        offenders[#offenders + 1] = name
      end
    end
    assert.same({}, offenders)
    assert.is_false(is_known("nonsense"))
  end)

  it("are of every filter of a question", function()
    local kinds = {
      job = "jobs", definition = "definitions", incident = "incidents", log = "log",
      cause = "incident_causes",
      operation = "operations", instance = "suspended_instances", batch = "batches",
      process = "processes", version = "versions", process_instance = "instances", past = "past",
      trail = "trail", task = "tasks", subscription = "subscriptions",
    }
    local _, filters = core.columns()
    for name, kind in pairs(kinds) do
      local class = ("moonshift.%s_filters"):format(name)
      assert.same(filters[kind], names(classes[class].fields), class)
    end
  end)

  it("travel in no program: they are for editors", function()
    local embedded = source.read((os.getenv("BUILD") or "build") .. "/gen/embedded.c")
    assert.truthy(embedded:find("moonshift/job.lua", 1, true))
    assert.is_nil(embedded:find("moonshift/meta.lua", 1, true))
  end)
end)
