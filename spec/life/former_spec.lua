-- What instances of an earlier version call when the folder has it no longer.
local engines = require "spec.support.engines"
local program = require "spec.support.program"
local testing = require "moonshift.testing"

local WORDS = 'local process = require "moonshift.process"\n'
  .. "local step, task, choose = process.words()\n"

local files = {
  ["processes/sale.lua"] = WORDS .. [[
    local limits = require "lib.limits"
    return {
      task "order" {},
      step "tax" { run = "tax", result = "tax", async = true },
      choose "large" {
        { when = function(v) return v.tax > limits.small end, step "audit" { run = "audit" } },
        { otherwise = true },
      },
      process.script "count" { script = 'return require("lib.limits").small', result = "small" },
      step "print" { expression = "${words.loud(name)}", result = "said" },
    }]],
  ["handlers/tax.lua"] = 'return function() return require("lib.limits").small + 1 end',
  ["handlers/audit.lua"] = 'return { run = function(job) job.variables.audited = "first" end }',
  ["beans/words.lua"] = "return { loud = function(_, name) return name .. '!' end }",
  ["lib/limits.lua"] = "return { small = 10 }",
}

local RESULT = { name = "ann", tax = 11, audited = "first", said = "ann!", small = 10 }

local LATER = WORDS .. 'return { task "order" {} }'

describe("an instance whose version is no longer the newest", function()
  local place

  before_each(function()
    place = program.place(files)
  end)

  after_each(function()
    engines.clean()
    place.clean()
  end)

  local function write(name, text)
    local file = assert(io.open(place.path .. "/" .. name, "wb"))
    file:write(text)
    file:close()
  end

  local function open()
    return testing.engine { scripts = place.path, store = "sqlite:" .. place.store }
  end

  -- The second version calls nothing, so nothing is there any longer.
  local function replace()
    for _, name in ipairs { "handlers/tax", "handlers/audit", "beans/words", "lib/limits" } do
      assert(os.remove(("%s/%s.lua"):format(place.path, name)))
    end
    write("processes/sale.lua", LATER)
  end

  local function complete(engine)
    return assert(engine:complete(engine:tasks():one().id, { name = "ann" }))
  end

  it("calls the handlers, modules and beans that came with its version", function()
    local engine = open()
    local id = assert(engine:start "sale")
    replace()
    assert(engine:reload())
    complete(engine)
    engine:drain()
    assert.same(RESULT,
      engine:past_instances({ id = id }):one().variables)
    assert(engine:start "sale")
    assert.equal(2, engine:instances():one().version)
  end)

  it("calls the newest handler if there is one", function()
    local engine = open()
    local id = assert(engine:start "sale")
    replace()
    write("handlers/audit.lua", 'return function(job) job.variables.audited = "second" end')
    assert(engine:reload())
    complete(engine)
    engine:drain()
    assert.equal("second", engine:past_instances({ id = id }):one().variables.audited)
  end)

  it("is tried again as its version says", function()
    write("processes/sale.lua", WORDS .. [[return {
      task "order" {}, step "tax" { run = "tax", retry = "R3/PT7S", async = true } }]])
    write("handlers/tax.lua", 'return function() error "closed" end')
    local engine = open()
    local id = assert(engine:start "sale")
    replace()
    assert(engine:reload())
    complete(engine)
    engine:drain()
    local job = engine:jobs({ instance = id }):one()
    assert.same({ 2, "2026-01-01T00:00:07.000Z" }, { job.retries, job.due })
  end)

  it("ends on the workers of an executor that never saw the folder of its version", function()
    local engine = open()
    local id = assert(engine:start "sale")
    complete(engine)
    engine:close()
    replace()
    local status, _, errors = place.run("run", ".", "--drain", "--store",
      "sqlite:" .. place.store)
    assert.equal(0, status, errors)
    local ended = open():past_instances({ id = id }):one()
    assert.same(RESULT, ended.variables)
  end)
end)
