-- Unique jobs: one job of a handler holds a key (rules §20).
local engines = require "spec.support.engines"
local scripts = require "spec.support.scripts"
local testing = require "moonshift.testing"

describe("a unique job", function()
  local engine, runs, breaks, inside

  before_each(function()
    runs, breaks, inside = {}, false, nil
    engine = testing.engine {
      retry = "R2/PT1M",
      handlers = {
        sync = function(job)
          runs[#runs + 1] = job.payload.n or 0
          if inside then
            inside(job)
          end
          if breaks then
            error("broken", 0)
          end
        end,
        other = function() end,
      },
    }
  end)

  after_each(function()
    engine:close()
    engines.clean()
  end)

  local function sync(n, options)
    options = options or {}
    options.unique = options.unique or "account-7"
    return engine:enqueue("sync", { n = n }, options)
  end

  it("is created once: the id of the one there comes back", function()
    assert.same({ 1, "created" }, { sync(1) })
    assert.same({ 1, "kept" }, { sync(2) })
    assert.equal("account-7", engine:job(1).unique)
    engine:drain()
    assert.same({ 1 }, runs)
  end)

  it("shares its key with no other key, and no other handler", function()
    assert.same({ 1, "created" }, { sync(1) })
    assert.same({ 2, "created" }, { sync(2, { unique = "account-8" }) })
    assert.same({ 3, "created" }, { engine:enqueue("other", nil, { unique = "account-7" }) })
  end)

  it("is never replaced by a job of another tenant, and never stands for one", function()
    local how = { unique = "t", on_conflict = "replace", tenant = "a" }
    local id = assert(engine:enqueue("sync", { n = 1 }, how))
    assert.same({ id, "replaced" }, { engine:enqueue("sync", { n = 2 }, how) })
    local others = { { "replace", "b" }, { "replace" }, { "keep", "b" }, { "refuse", "b" } }
    for _, other in ipairs(others) do
      how.on_conflict, how.tenant = table.unpack(other)
      local none, message, code = engine:enqueue("sync", { n = 3 }, how)
      assert.same({ nil, "conflict" }, { none, code })
      assert.matches("is held by a job of another tenant", message, 1, true)
    end
    how.on_conflict, how.tenant = "keep", "a"
    assert.same({ id, "kept" }, { engine:enqueue("sync", { n = 3 }, how) })
    how.unique = "shared" -- one of no tenant stands for any
    local shared = assert(engine:enqueue("sync", { n = 4 }, { unique = "shared" }))
    assert.same({ shared, "kept" }, { engine:enqueue("sync", { n = 5 }, how) })
    assert.same({ n = 2 }, engine:job(id).payload)
  end)

  -- By each rule a job is asked for by itself and in a list: what comes of it, and the message.
  local function ask(tenant, case)
    local found, told = {}, {}
    for i, rule in ipairs { "keep", "replace", "refuse" } do
      local how = { unique = "t", on_conflict = rule, tenant = tenant }
      local id, what, code = engine:enqueue("sync", { n = 9 }, how)
      local ids, outcomes, other = engine:enqueue_many { { "sync", nil,
        { unique = case, tenant = tenant } }, { "sync", { n = 9 }, how } }
      assert.same({ id or code, id and what or told[0] },
        { ids and ids[2] or other, ids and outcomes[2] or told[0] })
      found[i], told[i] = id and what or code, not id and what or ""
      assert.equal(told[i], ids and "" or outcomes)
    end
    return found, table.concat(told)
  end

  it("is known to its tenant alone: while it lives, and as long as its key lasts", function()
    local id = assert(sync(1, { unique = "t", tenant = "a", unique_for = "PT1H" }))
    local held = ('unique "t" of "sync" is held by job %d'):format(id)
    local cases = { { "living", function() end, "replaced", held },
      { "ended", function()
        engine:drain()
      end, "kept", held .. ", done, until 2026-01-01T01:00:00.000Z" },
      { "removed", function()
        assert(engine:delete_history(id))
      end, "kept", held .. ", done, until 2026-01-01T01:00:00.000Z" } }
    for _, case in ipairs(cases) do
      case[2]()
      local found, told = ask("b", case[1])
      assert.same({ "conflict", "conflict", "conflict" }, found)
      assert.equal(('unique "t" of "sync" is held by a job of another tenant (expected one of "b")')
        :rep(3), told)
      found, told = ask("a", case[1])
      assert.same({ "kept", case[3], "conflict" }, found)
      assert.equal(case[4], told)
    end
    engine:advance "PT1H"
    assert.equal("created", select(2, sync(1, { unique = "t", tenant = "b" })))
  end)

  it("of no tenant stands for that of any after its end, too", function()
    local id = assert(sync(1, { unique_for = "PT1H" }))
    engine:drain()
    assert.same({ id, "kept" }, { sync(2, { tenant = "a" }) })
  end)

  it("does not come back while another tenant has its key, of which it names nothing", function()
    local id = assert(sync(1, { tenant = "a" }))
    assert(engine:dead_letter(id))
    assert(sync(2, { tenant = "b" }))
    assert.same({ nil, 'unique "account-7" of "sync" is held by a job of another tenant'
      .. ' (expected one of "a")', "conflict" }, { engine:set_retries(id, 3) })
  end)

  it("gives its key up when it is done", function()
    sync(1)
    engine:drain()
    assert.same({ 2, "created" }, { sync(2) })
  end)

  it("holds its key while it runs", function()
    inside = function()
      inside = nil
      assert.same({ 1, "kept" }, { sync(2, { on_conflict = "replace" }) })
    end
    sync(1)
    engine:drain()
    assert.same({ 1 }, runs)
  end)

  it("holds its key between two runs, and while it is suspended", function()
    breaks = true
    sync(1)
    engine:drain()
    assert.same({ 1, "kept" }, { sync(2) })
    engine:suspend(1)
    assert.same({ 1, "kept" }, { sync(3) })
  end)

  it("gives its key up when it dies, is deleted or cancelled", function()
    sync(1, { retries = 1, unique_for = "P1D" })
    engine:dead_letter(1)
    assert.same({ 2, "created" }, { sync(2, { unique_for = "P1D" }) })
    engine:delete(2)
    assert.same({ 3, "created" }, { sync(3, { unique_for = "P1D" }) })
    engine:cancel(3)
    assert.same({ 4, "created" }, { sync(4) })
  end)

  it("is not redriven while another holds its key", function()
    sync(1)
    engine:dead_letter(1)
    sync(2)
    assert.same({ nil, 'unique "account-7" of "sync" is held by job 2', "conflict" },
      { engine:set_retries(1, 3) })
    engine:drain()
    assert.truthy(engine:set_retries(1, 3))
    assert.same({ 1, "kept" }, { sync(3) })
  end)

  it("holds its key for a time from its creation, longer than it lives", function()
    sync(1, { unique_for = "PT1H" })
    engine:drain()
    assert.same({ 1, "kept" }, { sync(2) })
    assert.same({ nil, 'unique "account-7" of "sync" is held by job 1, done, until '
      .. "2026-01-01T01:00:00.000Z", "conflict" }, { sync(2, { on_conflict = "refuse" }) })
    engine:advance("PT1H")
    assert.same({ 2, "created" }, { sync(2) })
  end)

  it("keeps its key beyond that time as long as it lives", function()
    sync(1, { unique_for = "PT1M", after = "PT1H" })
    engine:advance("PT5M")
    sync(2, { unique = "account-8", unique_for = "PT1M" })
    assert.same({ 1, "kept" }, { sync(3) })
    engine:advance("PT1H")
    engine:drain()
    assert.same({ 3, "created" }, { sync(4) })
  end)

  it("takes over payload, due date and priority where it is replaced", function()
    sync(1, { priority = 3, retries = 9 })
    assert.same({ 1, "replaced" },
      { sync(2, { on_conflict = "replace", priority = 8, after = "PT1H" }) })
    local job = engine:job(1)
    assert.same({ 2, 8, "2026-01-01T01:00:00.000Z", 9, "timer" },
      { job.payload.n, job.priority, job.due, job.retries, job.type })
    engine:drain()
    assert.same({}, runs)
    sync(3, { on_conflict = "replace" })
    engine:drain()
    assert.same({ 3 }, runs)
  end)

  it("takes over a cycle where it is replaced", function()
    sync(1, { cycle = "R/PT1H" })
    sync(2, { cycle = "R/PT2H", on_conflict = "replace" })
    engine:advance("PT2H")
    engine:drain()
    assert.same({ 2 }, runs)
    assert.equal("2026-01-01T04:00:00.000Z", engine:jobs():list()[1].due)
  end)

  it("refuses others where that is asked for", function()
    sync(1)
    assert.same({ nil, 'unique "account-7" of "sync" is held by job 1', "conflict" },
      { sync(2, { on_conflict = "refuse" }) })
  end)

  it("hands its key on to its next occurrence", function()
    assert.same({ 1, "created" }, { sync(1, { cycle = "R/PT1H" }) })
    engine:advance("PT1H")
    engine:drain()
    assert.same({ 2, "kept" }, { sync(2, { cycle = "R/PT1H" }) })
    engine:delete(2)
    assert.same({ 3, "created" }, { sync(3) })
  end)

  it("is handed on from occurrence to occurrence, however each of them ends", function()
    local dying = 4
    local kinds = { {}, { misfire = "all" }, { unique_for = "PT1M" }, { retries = 1 } }
    for _, options in ipairs(kinds) do
      options.cycle, options.unique = "R/PT1H", tostring(options)
      local id = engine:enqueue("sync", nil, options)
      for round = 1, 5 do
        engine:advance("PT1H")
        if round == dying then
          engine:set_retries(engine:jobs({ unique = options.unique }):one().id, 1)
        end
        engine:drain()
        local next = engine:jobs({ unique = options.unique }):list()
        assert.equal(1, #next, "round " .. round)
        assert.is_true(next[1].id > id)
        id = next[1].id
        assert.same({ id, "kept" }, { engine:enqueue("sync", nil, options) })
      end
      engine:execute(id)
      id = engine:jobs({ unique = options.unique }):one().id
      assert.same({ id, "kept" }, { engine:enqueue("sync", nil, options) })
    end
  end)

  it("is told apart in a list", function()
    local ids, outcomes = engine:enqueue_many {
      { "sync", nil, { unique = "a" } },
      { "sync", { n = 2 }, { unique = "a", on_conflict = "replace" } },
      { "sync", nil, { unique = "b" } },
      { "sync", nil, { unique = "b" } },
    }
    assert.same({ 1, 1, 2, 2 }, ids)
    assert.same({ "created", "replaced", "created", "kept" }, outcomes)
  end)

  it("is found by its key", function()
    sync(1)
    sync(2, { unique = "account-8" })
    assert.equal(2, engine:jobs({ unique = "account-8" }):list()[1].id)
  end)

  it("is refused as a list, whole", function()
    sync(1)
    assert.same({ nil, 'unique "account-7" of "sync" is held by job 1', "conflict" },
      { engine:enqueue_many {
        { "other" },
        { "sync", nil, { unique = "account-7", on_conflict = "refuse" } },
      } })
    assert.equal(1, engine:jobs():count())
  end)

  it("says what is wrong with its options", function()
    local function refused(options)
      local _, message, code = engine:enqueue("sync", nil, options)
      assert.equal("invalid", code)
      return message
    end
    assert.equal("unique: expected a text that is not empty", refused { unique = "" })
    assert.equal("unique 7: expected a text", refused { unique = 7 })
    assert.equal('on_conflict "drop": expected keep, replace or refuse',
      refused { unique = "a", on_conflict = "drop" })
    assert.equal("on_conflict: expected unique beside it", refused { on_conflict = "keep" })
    assert.equal("unique_for: expected unique beside it", refused { unique_for = 5 })
    assert.equal('unique_for 0: expected a duration longer than 0, such as "5m"',
      refused { unique = "a", unique_for = 0 })
  end)

  describe("of a running job", function()
    it("is created with its success, once", function()
      inside = function(job)
        inside = nil
        job:enqueue("other", nil, { unique = "x" })
        job:enqueue("other", nil, { unique = "x" })
      end
      sync(1)
      assert.equal(2, engine:drain().done)
    end)

    it("fails it where it is refused; its neighbours are not touched", function()
      engine:enqueue("other", nil, { unique = "x", after = "PT1H" })
      inside = function(job)
        if job.payload.n == 2 then
          job:enqueue("other", nil, { unique = "x", on_conflict = "refuse" })
        end
      end
      for n = 1, 3 do
        sync(n, { unique = tostring(n) })
      end
      assert.same({ 2, 1 }, { engine:drain().done, engine:jobs({ unique = "2" }):count() })
      assert.equal('unique "x" of "other" is held by job 1',
        engine:jobs({ unique = "2" }):list()[1].message)
    end)
  end)
end)

describe("a definition with a unique key", function()
  after_each(engines.clean)

  local function open(text)
    return engines.private { ["handlers/sync.lua"] = text }
  end

  it("gives each job its key", function()
    local engine = open [[
return {
  unique = function(job) return job.payload.account and "account-" .. job.payload.account end,
  on_conflict = "replace",
  unique_for = "PT1H",
  run = function(job) end,
}]]
    assert.same({ 1, "created" }, { engine:enqueue("sync", { account = 7 }) })
    assert.equal("account-7", engine:job(1).unique)
    assert.same({ 1, "replaced" }, { engine:enqueue("sync", { account = 7, new = true }) })
    assert.same({ 1, "kept" },
      { engine:enqueue("sync", { account = 7 }, { on_conflict = "keep" }) })
    assert.equal("created", select(2, engine:enqueue("sync")))
    engine:drain()
    assert.same({ 1, "kept" }, { engine:enqueue("sync", { account = 7 }) })
    engine:advance("PT1H")
    assert.equal("created", select(2, engine:enqueue("sync", { account = 7 })))
  end)

  it("is asked where a job creates others", function()
    local engine = open [[
return {
  unique = function(job) return job.payload.key end,
  run = function(job)
    if job.payload.parent then
      job:enqueue("sync", { key = "a" })
      job:enqueue("sync", { key = "a" })
    end
  end,
}]]
    engine:enqueue("sync", { parent = true })
    assert.equal(2, engine:drain().done)
  end)

  it("says what is wrong with the key", function()
    local engine = open "return { unique = function() return 7 end, run = function() end }"
    assert.same({ nil, 'unique of "sync": the function of handlers/sync.lua returned 7 '
      .. "(expected a text or nil)", "invalid" }, { engine:enqueue("sync") })
  end)

  it("is under a time limit", function()
    local engine = open "return { unique = function() while true do end end, run = print }"
    assert.same({ nil, 'unique of "sync": took longer than PT1S', "failed" },
      { engine:enqueue("sync") })
  end)

  it("is shown with its options", function()
    local engine = open [[
return { unique = function() end, on_conflict = "refuse", unique_for = 90, run = function() end }]]
    local shown = engine:definition("sync")
    assert.same({ "function", "refuse", "PT1M30S" },
      { shown.unique, shown.on_conflict, shown.unique_for })
  end)

  it("is refused where it makes no sense", function()
    local function problem(text)
      return scripts.problems { ["handlers/x.lua"] = "return { " .. text
        .. ", run = function() end }" }[1]
    end
    assert.equal('handlers/x.lua:1: unique: got the string "x" '
      .. "(expected a function that returns a job's key)", problem('unique = "x"'))
    assert.equal('handlers/x.lua:1: on_conflict: got the string "drop" '
      .. '(expected "keep", "replace" or "refuse")', problem('on_conflict = "drop"'))
    assert.equal("handlers/x.lua:1: unique_for: got 0 (expected more than 0 seconds)",
      problem("unique_for = 0"))
    assert.equal("handlers/x.lua:1: backlog: got 0 (expected a whole number from 1)",
      problem("backlog = 0"))
    assert.equal('handlers/x.lua:1: backlog: unknown key "max" (known: total, lane)',
      problem("backlog = { max = 1 }"))
  end)
end)
