local program = require "spec.support.program"
local stores = require "spec.support.stores"

describe("the loss of many jobs", function()
  local place

  before_each(function()
    place = program.place { ["handlers/work.lua"] = "return function() end\n" }
    assert.equal(0, (place.run("enqueue", "work", "--count", "3")))
  end)

  after_each(function()
    place.clean()
  end)

  -- At a terminal, with what is typed there: status and what the terminal shows.
  local function typed(answer, words, env)
    return program.run(words, { dir = place.path, terminal = 100, stdin = answer, env = env })
  end

  local function left()
    local _, output = place.run("job", "list", "--json")
    return select(2, output:gsub('"id":', ""))
  end

  it("is asked about where a person sits, and done after a yes", function()
    for answer, status in pairs { ["n\n"] = 1, ["\n"] = 1, [""] = 1 } do
      local got, shown = typed(answer, { "job", "delete", "--handler", "work" })
      assert.equal(status, got)
      assert.truthy(shown:find(('delete 3 jobs of "%s"? [y/N]'):format(stores.shown(place.store)),
        1, true), shown)
      assert.truthy(shown:find("moonshift: nothing is done (expected y, or --yes)", 1, true), shown)
      assert.equal(3, left())
    end
    assert.equal(0, (typed("y\n", { "job", "cancel", "--handler", "work" })))
    assert.equal(0, left())
  end)

  it("is not asked about where the words or the environment say yes", function()
    for _, case in ipairs { { { "--yes" } }, { {}, { MOONSHIFT_YES = "1" } }, { { "--json" } },
      { { "--dry-run" }, nil, 3 } } do
      place.run("enqueue", "work", "--count", tostring(3 - left()))
      local words = { "job", "delete", "--handler", "work", table.unpack(case[1]) }
      local status, shown = typed("", words, case[2])
      assert.equal(0, status, shown)
      assert.is_nil(shown:find("[y/N]", 1, true), shown)
      assert.equal(case[3] or 0, left())
      if left() == 3 then
        place.run("job", "delete", "--handler", "work")
      end
    end
  end)

  it("is not asked about for jobs named by id, or for one", function()
    local status, shown = typed("", { "job", "delete", "1", "2" })
    assert.equal(0, status, shown)
    status, shown = typed("", { "job", "delete", "--handler", "work" })
    assert.equal(0, status, shown)
    assert.equal(0, left())
  end)

  it("is never asked about in a pipe", function()
    local status, output, errors = program.run({ "job", "delete", "--handler", "work" },
      { dir = place.path, stdin = "n\n" })
    assert.equal(0, status)
    assert.equal("3 jobs deleted\n", output)
    assert.equal("", errors)
  end)
end)
