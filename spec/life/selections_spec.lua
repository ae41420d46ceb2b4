-- What a verb would touch, without touching it.
local engines = require "spec.support.engines"
local process = require "spec.support.process"

describe("a dry run #file", function()
  local engine, folder

  before_each(function()
    engine, folder = engines.durable {
      ["handlers/mail.lua"] = "return function() end\n",
      ["handlers/bill.lua"] = "return function() end\n",
    }
    for i = 1, 4 do
      engine:enqueue("mail", { n = i }, { instance = i < 3 and "a" or "b", priority = i })
    end
    engine:enqueue("bill")
    engine:set_retries({ 1, 2 }, 0)
    engine:suspend(4)
  end)

  after_each(function()
    engine:close()
    engines.clean()
  end)

  local function log_size()
    local file = assert(io.open(folder .. "/jobs.db-wal", "rb"))
    local size = file:seek("end")
    file:close()
    return size
  end

  local function everything()
    return process.sql(folder .. "/jobs.db", "SELECT * FROM job")
  end

  it("says how many jobs each verb on jobs would touch, and writes nothing", function()
    local size, before, dry = log_size(), everything(), { dry_run = true }
    local mail = engine:jobs({ handler = "mail" })
    assert.same({ 4, 4, 4, 4 }, { engine:set_retries(mail, 5, dry), engine:retry(mail, dry),
      engine:set_priority(mail, 9, dry), engine:set_due(mail, "2030-01-01T00:00:00Z", dry) })
    assert.same({ 4, 4, 4, 4 }, { engine:suspend(mail, dry), engine:activate(mail, dry),
      engine:delete(mail, dry), engine:cancel(mail, dry) })
    assert.same({ 1, 2, 1 }, { engine:dead_letter(3, dry), engine:delete({ 1, 5 }, dry),
      engine:delete(engine:jobs({ payload = { n = 2 } }), dry) })
    assert.equal(size, log_size())
    assert.same(before, everything())
    assert.equal(2, engine:operations():count())
  end)

  it("says how many a verb on a definition would touch", function()
    local size, mail = log_size(), engine:definition("mail")
    assert.equal(2, mail:set_retries(3, { dry_run = true }))
    assert.equal(3, mail:override_priority(4, { cascade = true, dry_run = true }))
    assert.equal(0, mail:override_priority(4, { dry_run = true }))
    assert.equal(0, mail:clear_override { dry_run = true })
    assert.equal(4, mail:suspend { include_jobs = true, dry_run = true })
    assert.equal(0, mail:activate { include_jobs = true, dry_run = true })
    assert.equal(0, mail:suspend { dry_run = true })
    assert.equal(size, log_size())
    assert.is_false(engine:definition("mail").suspended)
  end)

  it("says how many a verb on an instance would touch", function()
    local size = log_size()
    assert.equal(2, (engine:suspend_instance("a", { dry_run = true })))
    assert.equal(2, (engine:suspend_instance("b", { dry_run = true })))
    assert.equal(0, (engine:activate_instance("b", { dry_run = true })))
    assert.equal(size, log_size())
    assert.equal(1, engine:jobs({ suspended = true }):count())
  end)

  it("refuses what the verb would refuse", function()
    assert.same({ nil, "no job 77", "not_found" }, { engine:delete({ 1, 77 }, { dry_run = true }) })
    assert.same({ nil, 'unknown filter "handlr" (did you mean "handler"?)', "invalid" },
      { engine:delete(engine:jobs({ handlr = "x" }), { dry_run = true }) })
    assert.has_error(function()
      engine:delete(1, { dry_run = 1 })
    end, "delete: dry_run is 1 (expected true or false)")
    assert.has_error(function()
      engine:delete(1, { dryrun = true })
    end, 'delete: unknown key "dryrun" (did you mean "dry_run"?)')
  end)
end)
