local testing = require "moonshift.testing"

describe("job:operate", function()
  local engine, ask

  before_each(function()
    engine = testing.engine {
      handlers = {
        boss = function(job)
          return ask(job)
        end,
        work = function() end,
        costly = {
          priority = function()
            error("asked", 0)
          end,
          run = function() end,
        },
      },
    }
  end)

  local function boss(fn, options)
    ask = fn
    local id = engine:enqueue("boss", nil, options or { retries = 1 })
    return engine:drain(), id
  end

  it("does an operator's verb with the job's success", function()
    local id = engine:enqueue("work", nil, { after = 60 })
    local run = boss(function(job)
      assert.is_true(job:operate { verb = "set_priority", ids = id, priority = 7 })
      assert.equal(0, engine:job(id).priority)
    end)
    assert.same({ done = 1, failed = 0 }, run)
    assert.equal(7, engine:job(id).priority)
  end)

  it("does it for a query too", function()
    engine:enqueue_many { { "work", nil, { after = 60 } }, { "work", nil, { after = 60 } } }
    boss(function(job)
      job:operate { verb = "delete", query = { handler = "work" } }
    end)
    assert.equal(0, engine:jobs():count())
  end)

  it("does several in their order, behind what the job creates", function()
    boss(function(job)
      local id = job:enqueue("work", nil, { after = 60 })
      job:operate { verb = "set_priority", ids = { id }, priority = 7 }
      job:operate { verb = "suspend", ids = { id } }
    end)
    local job = engine:jobs():one()
    assert.equal(7, job.priority)
    assert.equal("suspended", job.state)
  end)

  it("does nothing when the job fails", function()
    local id = engine:enqueue("work", nil, { after = 60 })
    boss(function(job)
      job:operate { verb = "set_priority", ids = id, priority = 7 }
      error("no luck", 0)
    end)
    assert.equal(0, engine:job(id).priority)
    assert.equal(0, engine:operations():count())
  end)

  it("fails the job when it is refused, with all that the job did", function()
    local id = engine:enqueue("work", nil, { after = 60 })
    local run, job = boss(function(one)
      one:enqueue("work", nil, { after = 60 })
      one:operate { verb = "suspend", ids = id }
      one:operate { verb = "suspend", ids = 99 }
    end)
    assert.same({ done = 0, failed = 1 }, run)
    assert.equal("no job 99", engine:job(job).message)
    assert.equal("dead", engine:job(job).state)
    assert.equal("scheduled", engine:job(id).state)
    assert.equal(1, engine:jobs({ handler = "work" }):count())
  end)

  it("does not undo the jobs that are settled beside one that is refused", function()
    ask = function(job)
      job:operate { verb = "suspend", ids = 99 }
    end
    for _ = 1, 3 do
      engine:enqueue("work")
      engine:enqueue("boss", nil, { retries = 1 })
    end
    assert.same({ done = 3, failed = 3 }, engine:drain())
    assert.equal(3, engine:incidents({ open = true }):count())
  end)

  it("raises where it is called for a verb, key or value that is none", function()
    local function refusal(order)
      local _, id = boss(function(job)
        job:operate(order)
      end)
      return engine:job(id).message:match("%d+: (.*)$")
    end
    assert.equal('job:operate: command: unknown verb "suspnd" (did you mean "suspend"?)',
      refusal { verb = "suspnd", ids = 1 })
    assert.equal('job:operate: suspend: unknown key "retries"',
      refusal { verb = "suspend", ids = 1, retries = 3 })
    assert.equal('job:operate: set_retries: unknown key "retrys" (did you mean "retries"?)',
      refusal { verb = "set_retries", ids = 1, retrys = 3 })
    assert.equal("job:operate: set_retries: retries is missing",
      refusal { verb = "set_retries", ids = 1 })
    assert.equal("job:operate: set_retries: retries -1: expected a whole number from 0",
      refusal { verb = "set_retries", ids = 1, retries = -1 })
    assert.equal("job:operate: delete: expected either ids or a query",
      refusal { verb = "delete" })
    assert.equal("job:operate: suspend_definition: definition is missing",
      refusal { verb = "suspend_definition" })
    assert.equal("job:operate: drain: a job cannot do it (expected a person)",
      refusal { verb = "drain", executor = "node" })
    assert.equal("job:operate: clean_history: a job cannot do it (expected a person)",
      refusal { verb = "clean_history" })
    assert.equal('job:operate: got the string "x" (expected { verb = "…", … })', refusal "x")
  end)

  it("names the job in the log of operations", function()
    local _, id = boss(function(job)
      job:operate { verb = "override_priority", definition = "work", priority = 5 }
    end)
    local entry = engine:operations():one()
    assert.equal("job " .. id, entry.who)
    assert.equal("override_priority", entry.verb)
    assert.equal("5", entry.new)
  end)

  it("may suspend its own definition, jobs included", function()
    local waiting = engine:enqueue("boss", nil, { after = 60 })
    boss(function(job)
      job:operate { verb = "suspend_definition", definition = "boss", include_jobs = true }
    end)
    assert.equal("suspended", engine:job(waiting).state)
  end)

  it("leaves a job that creates another without asking an overridden priority", function()
    engine:definition("costly"):override_priority(-3)
    boss(function(job)
      job:enqueue("costly", nil, { after = 60 })
    end)
    assert.equal(-3, engine:jobs({ handler = "costly" }):one().priority)
  end)
end)
