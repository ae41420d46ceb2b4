-- Tenants, or lanes, that take turns: the setting `fair_by`.
local engines = require "spec.support.engines"

describe("fair share", function()
  after_each(engines.clean)

  local FILES = { ["handlers/note.lua"] = "return function() end" }

  local function engine(settings)
    return engines.private(FILES, settings or { fair_by = "tenant" })
  end

  local function enqueue(at, count, options)
    local drafts = {}
    for i = 1, count do
      drafts[i] = { "note", nil, options }
    end
    return assert(at:enqueue_many(drafts))
  end

  -- The tenants of the jobs in the order in which they ran.
  local function order(at, key)
    local ran, tenants = {}, {}
    for _, job in ipairs(at:jobs():list()) do
      tenants[job.id] = job[key or "tenant"] or "-"
    end
    at:drain()
    for _, entry in ipairs(at:log { outcome = "successful" }:list()) do
      if tenants[entry.job] then -- the log begins with the latest
        table.insert(ran, 1, tenants[entry.job])
      end
    end
    return table.concat(ran)
  end

  it("lets tenants take turns, whoever came first", function()
    local at = engine()
    enqueue(at, 4, { tenant = "a" })
    enqueue(at, 2, { tenant = "b" })
    enqueue(at, 3, { tenant = "c" })
    assert.equal("abcabcaca", order(at))
  end)

  it("is off unless it is asked for", function()
    local at = engine {}
    enqueue(at, 2, { tenant = "a" })
    enqueue(at, 2, { tenant = "b" })
    assert.equal("aabb", order(at))
  end)

  it("takes turns by lane as well", function()
    local at = engine { fair_by = "lane", lane_run = 1 }
    enqueue(at, 3, { lane = "x" })
    enqueue(at, 2, { lane = "y" })
    assert.equal("xyxyx", order(at, "lane"))
  end)

  it("counts jobs without a tenant as those of one", function()
    local at = engine()
    enqueue(at, 3, {})
    enqueue(at, 2, { tenant = "a" })
    assert.equal("-a-a-", order(at))
  end)

  it("looks at the priority first", function()
    local at = engine()
    enqueue(at, 2, { tenant = "a" })
    enqueue(at, 2, { tenant = "a", priority = 5 })
    enqueue(at, 2, { tenant = "b" })
    assert.equal("aaabab", order(at))
  end)

  it("counts the turns of each priority for itself", function()
    local at = engine()
    enqueue(at, 3, { tenant = "a" })
    enqueue(at, 5, { tenant = "a", priority = 5 })
    local job = at:jobs { min_priority = 5 }:list()
    for _, found in ipairs(job) do
      at:execute(found.id)
    end
    enqueue(at, 2, { tenant = "b" })
    assert.equal("ababa", order(at))
  end)

  it("begins with who comes late where the others are", function()
    local at = engine()
    enqueue(at, 4, { tenant = "a" })
    at:turn()
    enqueue(at, 3, { tenant = "a" })
    enqueue(at, 3, { tenant = "b" })
    assert.equal("ababab", order(at))
  end)

  it("gives a timer its turn when it is due", function()
    local at = engine()
    enqueue(at, 2, { tenant = "a", after = "PT10S" })
    enqueue(at, 3, { tenant = "b" })
    at:advance "PT10S"
    assert.equal("ababb", order(at))
  end)

  it("is the store's: who opens it without the setting goes by it too", function()
    local folder = engines.folder(FILES)
    local given = { store = "sqlite:" .. folder .. "/jobs.db", scripts = folder,
      fair_by = "tenant" }
    local moonshift = require "moonshift"
    assert(moonshift.open(given)):close()
    given.fair_by = nil
    local at = assert(moonshift.open(given))
    enqueue(at, 2, { tenant = "a" })
    enqueue(at, 1, { tenant = "b" })
    assert.equal("aba", order(at))
    at:close()
    given.fair_by = "off"
    at = assert(moonshift.open(given))
    enqueue(at, 2, { tenant = "a" })
    enqueue(at, 1, { tenant = "b" })
    assert.equal("aab", order(at))
    at:close()
  end)

  it("leaves what waits where it stands when it is asked for", function()
    local folder = engines.folder(FILES)
    local moonshift = require "moonshift"
    local given = { store = "sqlite:" .. folder .. "/jobs.db", scripts = folder }
    local at = assert(moonshift.open(given))
    enqueue(at, 3, { tenant = "a" })
    at:close()
    given.fair_by = "tenant"
    at = assert(moonshift.open(given))
    enqueue(at, 2, { tenant = "a" })
    enqueue(at, 2, { tenant = "b" })
    assert.equal("aaaabab", order(at))
    at:close()
  end)

  it("does not go with aging", function()
    local ok, message = pcall(engine, { fair_by = "tenant", aging = "PT1S" })
    assert.same({ false, "aging: does not go with fair_by (expected one of the two)" },
      { ok, (message:gsub("^.-:%d+: ", "")) })
  end)

  it("refuses an executor with aging where the store has it #file", function()
    local folder = engines.folder(FILES)
    local moonshift = require "moonshift"
    local given = { store = "sqlite:" .. folder .. "/jobs.db", scripts = folder,
      fair_by = "tenant" }
    assert(moonshift.open(given)):close()
    given.fair_by, given.aging = nil, "PT1S"
    local at = assert(moonshift.open(given))
    local _, message = at:turn()
    assert.equal(("aging: does not go with fair_by, which store %q has (expected one of the two)")
      :format(folder .. "/jobs.db"), message)
    at:close()
  end)
end)
