-- Jobs of the product's own handlers are made by verbs, never by name.
local engines = require "spec.support.engines"
local program = require "spec.support.program"
local testing = require "moonshift.testing"

local RESERVED = { "moonshift/operate", "moonshift/batch_seed", "moonshift/x", "process/shop/pay" }

local function refusal(name)
  return ('handler "%s": names under %s/ are reserved (expected another handler)'):format(name,
    name:match("^%a+"))
end

describe("a reserved name", function()
  after_each(engines.clean)

  it("is refused by every way to create a job", function()
    local seen
    local engine = testing.engine {
      handlers = {
        work = function() end,
        make = function(job)
          seen = select(2, pcall(job.enqueue, job, job.payload, { verb = "delete", ids = { 1 } }))
        end,
        unchecked = function(job)
          seen = select(2, pcall(job.enqueue, job, job.payload, nil, { unchecked = true }))
        end,
      },
    }
    local kept = engine:enqueue("work", nil, { after = "P1D" })
    for _, name in ipairs(RESERVED) do
      local order = { verb = "delete", ids = { kept } }
      local ways = { {}, { unchecked = true }, { after = "PT1H" }, { cycle = "R/PT1H" } }
      for _, options in ipairs(ways) do
        assert.same({ nil, refusal(name), "invalid" }, { engine:enqueue(name, order, options) })
      end
      assert.same({ nil, refusal(name), "invalid" },
        { engine:enqueue_many { { "work" }, { name, order } } })
      for _, maker in ipairs { "make", "unchecked" } do
        engine:enqueue(maker, name)
        engine:drain()
        assert.matches("job:enqueue: " .. refusal(name), seen, 1, true)
      end
      assert.same({ nil, 'config of "enqueue": ' .. refusal(name), "invalid" },
        { engine:batch { type = "enqueue", ids = { 1 }, config = { handler = name } } })
      assert.same({ nil, ("on_complete: names under %s/ are reserved (expected another handler)")
        :format(name:match("^%a+")), "invalid" },
        { engine:batch { type = "delete-jobs", ids = { kept }, on_complete = name } })
    end
    assert.equal(1, engine:jobs():count())
  end)

  it("is refused in a schedule, with its line", function()
    for _, name in ipairs(RESERVED) do
      local folder = engines.folder {
        ["handlers/work.lua"] = "return function() end",
        ["schedules/x.lua"] = ("return {\n cycle = 'R/PT1H',\n handler = %q }"):format(name),
      }
      local fine, message = pcall(testing.engine, { scripts = folder })
      assert.is_false(fine)
      assert.matches("schedules/x.lua:3: ", message, 1, true)
    end
  end)

  it("is refused as a handler of a folder and of a host", function()
    for _, name in ipairs(RESERVED) do
      local path = ("handlers/%s.lua"):format(name)
      local expected = ("%s: handlers under %s/ are reserved (expected another name)"):format(path,
        name:match("^%a+"))
      local fine, message = pcall(testing.engine,
        { scripts = engines.folder { [path] = "return function() end" } })
      assert.is_false(fine)
      assert.matches(expected, message, 1, true)
      fine, message = pcall(testing.engine, { handlers = { [name] = function() end } })
      assert.is_false(fine)
      assert.matches(expected, message, 1, true)
    end
    testing.engine { handlers = { moonshift = function() end, process = function() end } }
  end)

  it("is refused on the command line, one job or a file of them", function()
    local place = program.place { ["handlers/work.lua"] = "return function() end" }
    for _, name in ipairs(RESERVED) do
      local status, _, errors = place.run("enqueue", name, '{"verb":"delete","ids":[1]}')
      assert.equal(2, status)
      assert.equal("moonshift: " .. refusal(name) .. "\n", errors)
      local lines = ('{"handler":"work"}\n{"handler":"%s","unchecked":true}\n'):format(name)
      status, _, errors = program.run({ "enqueue", "--from", "-" },
        { dir = place.path, stdin = lines })
      assert.is_true(status ~= 0)
      assert.matches(refusal(name), errors, 1, true)
    end
    assert.equal(0, #select(2, place.run("job", "list", "--json")):gsub("[%[%]%s]", ""))
    place.clean()
  end)

  it("is what verbs at a date and job:operate make", function()
    local engine = testing.engine {
      handlers = {
        work = function() end,
        stop = function(job)
          job:operate { verb = "suspend_definition", definition = "work",
            at = "2026-01-01T01:00:00Z" }
        end,
      },
    }
    engine:enqueue("work", nil, { after = "P1D" })
    engine:enqueue("stop")
    engine:drain()
    assert.equal("moonshift/operate", engine:jobs({ state = "scheduled" }):list()[2].handler)
    engine:advance("PT1H")
    assert.same({ done = 1, failed = 0 }, engine:drain())
    assert.is_true(engine:definition("work").suspended)
  end)
end)
