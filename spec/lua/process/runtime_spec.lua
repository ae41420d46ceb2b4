local engines = require "spec.support.engines"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local WORDS = "local step, _, _, parallel = require 'moonshift.process'.words()\n"

describe("the runtime of the walk", function()
  local folder

  before_each(function()
    folder = process.folder {
      ["processes/fail.lua"] = WORDS .. 'return { step "book" { run = "book", async = true } }',
      ["processes/meant.lua"] = WORDS .. 'return { step "book" { async = true, '
        .. 'expression = "${books.book()}" } }',
      ["handlers/book.lua"] = "local function reserve()\n  error 'no seat'\nend\n"
        .. "return function()\n  reserve()\n  return 1\nend",
      ["beans/books.lua"] = "return { book = function()\n  local n = nil + 1\n  return n\nend }",
      ["processes/both.lua"] = WORDS .. [[
        local how = { run = "one", async = true, exclusive = false }
        return { parallel { { step "a" (how) }, { step "b" (how) } } }]],
      ["handlers/other.lua"] = "return function() end",
      -- Each waits until the other one runs, too: so one of both units is behind.
      ["handlers/one.lua"] = [[
        local function has(path)
          local file = io.open(path)
          return file and file:close()
        end
        return function(job)
          local own, other = job.activity, job.activity == "a" and "b" or "a"
          assert(io.open(os.getenv "HERE" .. "/" .. own, "a")):write("x"):close()
          while not has(os.getenv "HERE" .. "/" .. other) do end
          job.variables[own] = job:enqueue("other", { from = own }, { due = "2099-01-01" })
        end]],
    }
  end)

  after_each(function()
    engines.clean()
    process.remove(folder)
  end)

  local function stack_of(key)
    local engine = testing.engine { scripts = folder }
    assert(engine:start(key))
    local job = engine:jobs():one().id
    engine:drain()
    return engine:job(job).stack
  end

  it("shows in the stack of a failure where the handler stood", function()
    local stack = stack_of "fail"
    assert.truthy(stack:find("handlers/book.lua:2: in", 1, true), stack)
    assert.truthy(stack:find("handlers/book.lua:5: in", 1, true), stack)
  end)

  it("shows in the stack where a bean stood", function()
    local stack = stack_of "meant"
    assert.truthy(stack:find("beans/books.lua:2: in", 1, true), stack)
  end)

  it("gives a job the id that the handler was told, also if the unit was behind", function()
    local function run(...)
      local status, output, errors = process.run(("HERE=%s %s"):format(process.quote(folder),
        process.command(...)))
      assert.equal(0, status, errors)
      return output
    end
    run("process", "start", "both", "-C", folder)
    run("run", folder, "--drain", "--workers", "2", "--log-level", "error")
    local ids = {}
    for id in run("job", "list", "--handler", "other", "--json", "--columns", "id", "-C", folder)
      :gmatch "%d+" do
      ids[id] = true
    end
    local ended = run("instance", "show", "1", "--json", "-C", folder)
    for _, name in ipairs { "a", "b" } do
      local id = ended:match('"' .. name .. '":(%d+)')
      assert.is_true(ids[id], id)
      assert.equal("x", process.read(folder .. "/" .. name))
    end
  end)
end)
