-- What is given is never left out: each option of each method, with a value of each type that it
-- is not, is refused with its name, the value and what is expected.
local kinds = require "moonshift.kinds"
local moonshift = require "moonshift"
local options = require "moonshift.options"
local show = require "moonshift.show"
local testing = require "moonshift.testing"

local VALUES = { {}, { 1 }, { x = 1 }, true, false, 1.5, -1, 5, "high", "", function() end }

-- The arguments before the options of each method that has some; false: the method has none.
local ENGINE = {
  activate = { 1 }, activate_instance = { "x" }, activate_process = { "p" }, cancel = { 1 },
  cancel_instance = { 1 }, complete = { 1, {} }, conditions = { {} }, correlate = { "m" },
  dead_letter = { 1 },
  delete = { 1 }, delete_deployment = { 1 }, drain = {},
  escalate = { 1, "c" }, execute = { 1 }, executors = {},
  recalculate_due = { 1 }, register = { 1 }, resolve = { 1 }, retry = { 1 },
  set_cycle = { 1, "R/PT1H" },
  set_due = { 1, "2030-01-01" }, set_priority = { 1, 5 }, set_retries = { 1, 2 },
  instance_picture = { 1 }, process_picture = { "p" },
  migrate_instance = { 1, {} }, migration_plan = { "p", 1, 2 }, modify_instance = { 1, {} },
  receive = { "hook" }, restart_instance = { 1, {} }, signal = { "s", {} },
  set_variables = { 1, {} }, start = { "p" }, suspend = { 1 }, suspend_instance = { "x" },
  suspend_process = { "p" }, throw = { 1, "c" }, unregister = { 1 },
}
local BATCH = { delete = {}, suspend = {} }
local DEFINITION = {
  activate = {}, clear_limit = {}, clear_override = {}, clear_rate = {}, override_limit = { 1 },
  override_priority = { 1 }, override_rate = { "1/1m" }, set_retries = { 1 }, suspend = {},
}

describe("an option of a method", function()
  local engine, known
  local only = options.only

  before_each(function()
    engine = testing.engine { handlers = { a = function() end } }
    known = nil
    options.only = function(given, what, kinds_of, level)
      known = kinds_of
      return only(given, what, kinds_of, (level or 3) + 1)
    end
  end)

  after_each(function()
    options.only = only
  end)

  -- What the method says to these options: the message of its error.
  local function answer(object, method, arguments, given)
    local all = table.pack(table.unpack(arguments))
    all[all.n + 1] = given
    local fine, result, message = pcall(object[method], object, table.unpack(all))
    return not fine and result or result == nil and message or nil
  end

  local function tell(said, name, value, expected)
    assert.is_string(said, ("%s = %s is left out"):format(name, show(value)))
    for _, part in ipairs { name, show(value), expected } do
      assert.truthy(said:find(part, 1, true), ("%q does not say %s"):format(said, part))
    end
  end

  local function refuses_all(object, methods)
    local count = 0
    for method, arguments in pairs(methods) do
      known = nil
      answer(object, method, arguments, {})
      assert.is_table(known, method .. " reads no options")
      for name, kind in pairs(known) do
        for _, value in ipairs(VALUES) do
          local fine, expected = kinds.read(kind, value)
          if not fine then
            tell(answer(object, method, arguments, { [name] = value }), name, value, expected)
            count = count + 1
          end
        end
      end
    end
    return count
  end

  -- The names of the methods whose sources have options: `given` is their last parameter.
  local function with_options(class)
    local found = {}
    for name, method in pairs(class) do
      local info = type(method) == "function" and debug.getinfo(method, "u") or { nparams = 0 }
      if info.nparams > 0 and debug.getlocal(method, info.nparams) == "given"
        and not name:find("^enqueue") then
        found[#found + 1] = name
      end
    end
    table.sort(found)
    return found
  end

  local function names_of(methods)
    local names = {}
    for name in pairs(methods) do
      names[#names + 1] = name
    end
    table.sort(names)
    return names
  end

  it("of another type is refused by an engine", function()
    assert.same(with_options(getmetatable(engine).__index), names_of(ENGINE))
    assert.is_true(refuses_all(engine, ENGINE) > 300)
  end)

  it("of another type is refused by a definition", function()
    engine:enqueue("a")
    local definition = engine:definition("a")
    assert.same(with_options(getmetatable(definition)), names_of(DEFINITION))
    assert.is_true(refuses_all(definition, DEFINITION) > 50)
  end)

  it("of another type is refused by a batch", function()
    local id = engine:enqueue("a", nil, { after = "P1D" })
    local batch = engine:batch(assert(engine:batch { type = "suspend", ids = { id } }))
    assert.same(with_options(getmetatable(batch)), names_of(BATCH))
    assert.is_true(refuses_all(batch, BATCH) > 15)
  end)

  it("of another type is refused by dates", function()
    local function dates(_, ...)
      return moonshift.dates(...)
    end
    assert.is_true(refuses_all({ dates = dates }, { dates = { "@daily" } }) > 20)
  end)

  it("that is unknown is refused", function()
    for method, arguments in pairs(ENGINE) do
      assert.matches("unknown key", answer(engine, method, arguments, { nothing_like_it = 1 }))
    end
  end)
end)

-- Creations are read by the store's list of fields; a value of the type may still be a bad one.
describe("an option of a creation", function()
  local TYPES = {
    at = "string", after = "span", priority = "integer", lane = "string", exclusive = "boolean",
    instance = "string", root = "string", activity = "string", retries = "integer",
    tenant = "string", category = "string", unique = "string", on_conflict = "string",
    unique_for = "span", cycle = "string", zone = "string", misfire = "string",
    unchecked = "boolean", request = "string", trace = "string",
  }

  local function is(kind, value)
    return type(value) == kind or math.type(value) == kind
      or kind == "span" and (type(value) == "number" or type(value) == "string")
  end

  local function documented()
    local file <close> = assert(io.open("lua/moonshift/meta.lua"))
    local names = {}
    local text = file:read("a"):match("%-%-%-@class moonshift%.creation\n(.-)\n\n")
    for name in text:gmatch("%-%-%-@field ([%w_]+)") do
      names[name] = true
    end
    return names
  end

  it("of another type is refused, with its name", function()
    local engine = testing.engine { handlers = { a = function() end } }
    for name in pairs(documented()) do
      local kind = assert(TYPES[name], name)
      for _, value in ipairs(VALUES) do
        if not is(kind, value) then
          local fine, id, message = pcall(engine.enqueue, engine, "a", nil, { [name] = value })
          local said = fine and message or id
          assert.truthy(type(said) == "string" and said:find(name, 1, true),
            ("%s = %s: %s"):format(name, show(value), tostring(said)))
        end
      end
    end
    assert.equal(0, engine:jobs():count())
  end)
end)

describe("a filter", function()
  it("of another type is refused, with its name", function()
    local engine = testing.engine { handlers = { a = function() end } }
    local _, filters = require("moonshift.core").columns()
    local METHODS = { past = "past_instances" }
    for kind, names in pairs(filters) do
      for name in pairs(engine[METHODS[kind] or kind] and names or {}) do
        for _, value in ipairs { 1.5, function() end, { { 1 } } } do
          local rows, message = engine[METHODS[kind] or kind](engine, { [name] = value }):list()
          assert.is_nil(rows, ("%s: %s = %s is left out"):format(kind, name, show(value)))
          assert.truthy(message:find(name, 1, true), message)
        end
      end
    end
  end)

  it("takes an integer as its text where it is one", function()
    local engine = testing.engine { handlers = { a = function() end } }
    engine:enqueue("a", nil, { lane = "5" })
    engine:enqueue("a", nil, { lane = "6" })
    assert.equal(1, engine:jobs({ lane = 5 }):count())
    assert.equal(2, engine:jobs({ lane = { 5, "6" } }):count())
  end)
end)

describe("the retries of a batch", function()
  it("are refused as any wrong value, under both names", function()
    local engine = testing.engine { handlers = { a = function() end } }
    local id = engine:enqueue("a")
    for _, name in ipairs { "job_retries", "job_priority" } do
      for _, value in ipairs { false, true, 1.5, "high", {} } do
        local batch, message = engine:batch { type = "suspend", ids = { id }, [name] = value }
        assert.is_nil(batch, name .. " = " .. show(value))
        assert.is_string(message)
      end
    end
  end)
end)
