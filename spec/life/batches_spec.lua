-- Batches as programs meet them (rules §17): the cases are those of Camunda's batches.
local testing = require "moonshift.testing"

describe("a batch", function()
  local engine, runs, broken

  before_each(function()
    runs, broken = {}, {}
    engine = testing.engine {
      failed_job_wait = "PT0S",
      invocations_per_batch_job_by_type = { five = 5 },
      handlers = {
        work = function() end,
        told = function(job)
          runs.told = job.payload
        end,
        ["batch/note"] = function(_, ids, config)
          for _, id in ipairs(ids) do
            assert(not broken[id], ("%s is broken"):format(id))
            runs[#runs + 1] = { id, config.colour }
          end
        end,
        ["batch/five"] = function() end,
        ["batch/three"] = { invocations = 3, run = function() end },
      },
    }
  end)

  local function numbers(count)
    local ids = {}
    for i = 1, count do
      ids[i] = i
    end
    return ids
  end

  local function create(given)
    given.type = given.type or "note"
    given.ids = given.ids or numbers(13)
    return assert(engine:batch(given))
  end

  -- total, created, completed, remaining, failed
  local function counts(id)
    local batch = engine:batch(id)
    assert.equal(batch.total, batch.completed + batch.remaining)
    return { batch.total, batch.created, batch.completed, batch.remaining, batch.failed }
  end

  local function run_one(handler)
    engine:execute(engine:jobs({ handler = handler }):sort("id"):page(1, 1):one().id)
  end

  local function later(count)
    local list = {}
    for i = 1, count do
      list[i] = { "work", nil, { after = 60 } }
    end
    return assert(engine:enqueue_many(list))
  end

  describe("of 13 ids with 10 per seed", function()
    it("is seeded in two runs", function()
      local id = create { jobs_per_seed = 10 }
      assert.same({ 13, 0, 0, 13, 0 }, counts(id))
      run_one("moonshift/batch_seed")
      assert.same({ 13, 10, 0, 13, 0 }, counts(id))
      assert.equal(10, engine:jobs({ handler = "batch/note" }):count())
      assert.equal(1, engine:jobs({ handler = "moonshift/batch_seed" }):count())
      run_one("moonshift/batch_seed")
      assert.same({ 13, 13, 0, 13, 0 }, counts(id))
      assert.equal(0, engine:jobs({ handler = "moonshift/batch_seed" }):count())
      assert.equal(1, engine:jobs({ handler = "moonshift/batch_monitor" }):count())
    end)

    it("does every id once and ends", function()
      local id = create { jobs_per_seed = 10, config = { colour = "red" } }
      engine:drain()
      assert.same({ 13, 13, 13, 0, 0 }, counts(id))
      local batch = engine:batch(id)
      assert.equal("completed", batch.state)
      assert.equal("2026-01-01T00:00:00.000Z", batch["end"])
      table.sort(runs, function(a, b)
        return a[1] < b[1]
      end)
      assert.equal(13, #runs)
      assert.same({ { 1, "red" }, { 13, "red" } }, { runs[1], runs[13] })
      assert.equal(0, engine:jobs():count())
    end)
  end)

  describe("with failures", function()
    it("counts exhausted jobs as failed and remaining, and does not end", function()
      broken[4] = true
      local id = create {}
      engine:drain()
      assert.same({ 13, 13, 12, 1, 1 }, counts(id))
      engine:advance("PT10M")
      engine:drain()
      assert.equal("active", engine:batch(id).state)
    end)

    it("tells the ids that failed, with reasons", function()
      broken[4] = true
      local id = create { invocations = 2 }
      engine:drain()
      local job = engine:batch(id):jobs({ no_retries_left = true }):one().id
      assert.same({
        { id = 3, job = job, message = engine:job(job).message },
        { id = 4, job = job, message = engine:job(job).message },
      }, engine:batch(id):failures())
      assert.matches("4 is broken$", engine:job(job).message)
    end)

    it("goes on once they are retried", function()
      broken[4], broken[7] = true, true
      local id = create { on_complete = "told" }
      engine:drain()
      broken = {}
      assert.equal(2, engine:batch(id):retry_failed())
      assert.same({ 13, 13, 11, 2, 0 }, counts(id))
      engine:drain()
      assert.equal("completed", engine:batch(id).state)
      assert.equal(id, runs.told.batch)
      assert.equal(13, runs.told.total)
    end)

    it("does all ids of a job or none", function()
      local ids = later(2)
      create { type = "set-job-priority", ids = { ids[1], 77, ids[2] }, invocations = 3,
        config = { priority = 5 } }
      engine:drain()
      assert.same({ 1, 1, 0, 1, 1 }, counts(1))
      assert.equal(0, engine:jobs({ handler = "work", min_priority = 5 }):count())
    end)

    it("counts deleted jobs as completed", function()
      local id = create {}
      run_one("moonshift/batch_seed")
      assert.equal(3, engine:delete(engine:batch(id):jobs():sort("id"):page(1, 3)))
      assert.same({ 13, 13, 3, 10, 0 }, counts(id))
      assert.equal(10, engine:delete(engine:batch(id):jobs()))
      engine:drain()
      assert.equal("completed", engine:batch(id).state)
    end)

    it("counts a deleted one that had failed no more", function()
      broken[4] = true
      local id = create {}
      engine:drain()
      engine:delete(engine:batch(id):failures()[1].job)
      assert.same({ 13, 13, 13, 0, 0 }, counts(id))
      engine:drain()
      assert.equal("completed", engine:batch(id).state)
    end)
  end)

  describe("that is suspended", function()
    it("stands still, also in the middle of seeding", function()
      local id = create { jobs_per_seed = 5 }
      run_one("moonshift/batch_seed")
      assert.equal(6, engine:batch(id):suspend())
      assert.equal("suspended", engine:batch(id).state)
      assert.same({ done = 0, failed = 0 }, engine:drain())
      run_one("moonshift/batch_seed")
      assert.equal(11, engine:jobs({ suspended = true }):count())
      assert.same({ 13, 10, 0, 13, 0 }, counts(id))
    end)

    it("goes on once it is activated", function()
      local id = create { jobs_per_seed = 5 }
      engine:batch(id):suspend()
      assert.equal(1, engine:batch(id):activate())
      engine:drain()
      assert.equal("completed", engine:batch(id).state)
    end)
  end)

  it("has definitions with priorities that cascade", function()
    local id = create { jobs_per_seed = 10 }
    run_one("moonshift/batch_seed")
    assert.equal(10, engine:definition("batch/note"):override_priority(7, { cascade = true }))
    run_one("moonshift/batch_seed")
    assert.equal(13, engine:batch(id):jobs({ min_priority = 7 }):count())
    assert.equal(0, engine:jobs({ handler = "moonshift/batch_monitor" }):one().priority)
  end)

  it("has definitions that can be suspended", function()
    local id = create {}
    engine:definition("batch/note"):suspend()
    engine:drain()
    assert.equal(13, engine:batch(id):jobs({ suspended = true }):count())
    engine:definition("batch/note"):activate { include_jobs = true }
    engine:drain()
    assert.equal("completed", engine:batch(id).state)
  end)

  it("has the priority it was given", function()
    local id = create { priority = 40 }
    engine:turn()
    assert.equal(13, engine:batch(id):jobs({ min_priority = 40, max_priority = 40 }):count())
  end)

  describe("has as many ids in a job as", function()
    local function total(given)
      return engine:batch(create(given)).total
    end

    it("the setting says", function()
      assert.equal(13, total {})
    end)

    it("the setting says of its type", function()
      assert.equal(3, total { type = "five" })
    end)

    it("its file says", function()
      assert.equal(5, total { type = "three" })
    end)

    it("it was given", function()
      assert.equal(2, total { type = "five", invocations = 10 })
    end)
  end)

  describe("that is deleted", function()
    it("stays in the history", function()
      local id = create { jobs_per_seed = 5 }
      run_one("moonshift/batch_seed")
      engine:batch(id):delete()
      local batch = engine:batch(id)
      assert.equal("deleted", batch.state)
      assert.equal("2026-01-01T00:00:00.000Z", batch["end"])
      assert.equal(0, engine:jobs():count())
      assert.equal(1, engine:batches({ finished = true }):count())
    end)

    it("goes without a trace with its history", function()
      local id = create {}
      engine:turn()
      engine:batch(id):delete { history = true }
      local _, message, code = engine:batch(id)
      assert.equal("no batch 1", message)
      assert.equal("not_found", code)
      assert.equal(0, engine:jobs():count())
      assert.equal(0, engine:log({ batch = id }):count())
    end)

    it("is refused once it has ended, but for its history", function()
      local id = create {}
      engine:drain()
      local batch = engine:batch(id)
      local _, message, code = batch:delete()
      assert.equal("delete_batch: batch 1 is completed (only its history can go)", message)
      assert.equal("conflict", code)
      assert.truthy(batch:delete { history = true })
      assert.equal(0, engine:batches():count())
    end)
  end)

  describe("takes its ids", function()
    it("from a function, a part at a time", function()
      local asked = 0
      local id = create {
        invocations = 500,
        ids = function()
          asked = asked + 1
          return asked <= 2500 and asked or nil
        end,
      }
      assert.equal(2500, engine:batch(id).ids)
      assert.equal(2501, asked)
      engine:drain()
      assert.equal(2500, #runs)
    end)

    it("from a query, as it was when the batch was made", function()
      later(1200)
      local id = create { type = "set-job-priority", ids = engine:jobs { handler = "work" },
        config = { priority = 5 }, invocations = 100 }
      later(3)
      engine:drain()
      assert.equal(1200, engine:batch(id).ids)
      assert.equal(1200, engine:jobs({ min_priority = 5 }):count())
    end)

    it("from a page of a query", function()
      later(10)
      local id = create { type = "suspend", ids = engine:jobs({ handler = "work" }):page(2, 4) }
      engine:drain()
      assert.equal(4, engine:batch(id).completed)
      assert.equal(4, engine:jobs({ suspended = true }):count())
    end)

    it("and is not there if there are none", function()
      local function none(ids)
        local _, message, code = engine:batch { type = "note", ids = ids }
        assert.equal("no ids (a batch needs at least one)", message)
        assert.equal("invalid", code)
        assert.equal(0, engine:batches():count())
        assert.equal(0, engine:operations():count())
      end
      none {}
      none(function() end)
      none(engine:jobs { handler = "work" })
    end)

    it("and is not there if they break off", function()
      local n = 0
      assert.has_error(function()
        engine:batch {
          type = "note",
          ids = function()
            n = n + 1
            return n < 1500 and n or error("the list ends here", 0)
          end,
        }
      end, "the list ends here")
      assert.equal(0, engine:batches():count())
    end)

    it("and is not there if one is no number of a job where it must be", function()
      local jobs = later(1)
      local function refused(ids, place, shown)
        local fine, message = pcall(engine.batch, engine, { type = "delete-jobs", ids = ids })
        assert.is_false(fine)
        assert.equal(("batch: ids[%d] is %s (expected the number of a job)"):format(place, shown),
          message)
        assert.equal(0, engine:batches():count())
      end
      refused({ jobs[1], "2" }, 2, 'the string "2"')
      refused({ 1.5 }, 1, "1.5")
      refused({ 1.0 }, 1, "1.0")
      refused({ true }, 1, "true")
      local n = 0
      refused(function()
        n = n + 1
        return n < 1500 and n or "a"
      end, 1500, 'the string "a"')
      assert.equal(1, engine:jobs():count())
      assert(engine:batch { type = "note", ids = { "2" } })
      assert(engine:batch { type = "enqueue", config = { handler = "work" }, ids = { "2" } })
    end)

    it("and is not there if one cannot be kept", function()
      local _, message = engine:batch { type = "note", ids = { 1, print } }
      assert.equal("ids[2]: cannot store a function "
        .. "(expected nil, boolean, number, text or table)", message)
      assert.equal(0, engine:batches():count())
    end)
  end)

  describe("is refused", function()
    local function refused(title, given, expected, code)
      it(title, function()
        given.ids = given.ids or { 1 }
        local id, message, is = engine:batch(given)
        assert.is_nil(id)
        assert.equal(expected, message)
        assert.equal(code or "invalid", is)
        assert.equal(0, engine:batches():count())
      end)
    end

    refused("without a type", {}, 'batch: type is missing (expected one such as "set-job-retries")')
    refused("for a type that is meant otherwise", { type = "set-job-retrys" },
      'unknown type of batch "set-job-retrys" (did you mean "set-job-retries"?)', "not_found")
    refused("for a type that nobody knows", { type = "zzz" }, 'unknown type of batch "zzz" (known: '
      .. "activate, activate-instances, cancel-instances, cancel-jobs, correlate, dead-letter, "
      .. "delete-history, delete-instances, delete-jobs, enqueue, five, migrate, modify, note, "
      .. "recalculate-due-date, restart, set-cycle, set-due-date, set-external-retries, "
      .. "set-job-priority, set-job-retries, set-removal-time, set-variables, suspend, "
      .. "suspend-instances, three)", "not_found")
    refused("for an unknown key", { type = "note", invocation = 5 },
      'batch: unknown key "invocation" (did you mean "invocations"?)')
    refused("for a number that is none", { type = "note", invocations = 1001 },
      "invocations 1001: expected a whole number from 1 to 1000")
    refused("for a config that is none", { type = "note", config = 5 },
      "config 5: expected names with values")
    refused("for a key its type does not know", { type = "set-job-retries",
      config = { retrys = 1 } },
      'config of "set-job-retries": unknown key "retrys" (did you mean "retries"?)')
    refused("for a value its type does not take", { type = "set-job-priority",
      config = { priority = "high" } },
      'config of "set-job-priority": priority "high": expected a whole number of 64 bits')
    refused("without what its type needs", { type = "set-job-priority" },
      'config of "set-job-priority": priority is missing')
    refused("for a config of a type that takes none", { type = "suspend", config = { at = 1 } },
      'config of "suspend": unknown key "at"')
    refused("for an unknown handler of enqueue", { type = "enqueue", config = { handler = "wok" } },
      'config of "enqueue": unknown handler "wok" (did you mean "work"?)', "not_found")
    refused("for an unknown handler at its end", { type = "note", on_complete = "tolt" },
      'on_complete: unknown handler "tolt" (did you mean "told"?)', "not_found")
  end)

  describe("of a stock type", function()
    it("sets retries, or the configured ones", function()
      local ids = later(2)
      engine:set_retries(ids, 0)
      create { type = "set-job-retries", ids = { ids[1] }, config = { retries = 5 } }
      create { type = "set-job-retries", ids = { ids[2] } }
      engine:drain()
      assert.equal(5, engine:job(ids[1]).retries)
      assert.equal(3, engine:job(ids[2]).retries)
      assert.equal(0, engine:incidents({ open = true }):count())
    end)

    it("sets retries of jobs of topics alone", function()
      local plain = later(1)[1]
      local first, second = engine:enqueue("topic/ocr"), engine:enqueue("topic/ocr")
      engine:set_retries({ plain, first, second }, 0)
      create { type = "set-external-retries", ids = { first }, config = { retries = 5 } }
      create { type = "set-external-retries", ids = engine:jobs { topic = "ocr",
        no_retries_left = true, id = second } }
      local wrong = create { type = "set-external-retries", ids = { plain }, job_retries = 1 }
      engine:drain()
      assert.same({ 5, 3, 0 }, { engine:job(first).retries, engine:job(second).retries,
        engine:job(plain).retries })
      local failures = engine:batch(wrong):failures()
      assert.equal(plain, failures[1].id)
      assert.match("has no topic", failures[1].message, 1, true)
    end)

    it("takes what its type needs beside the type, its own jobs' apart", function()
      local ids = later(1)
      create { type = "set-job-retries", ids = ids, retries = 7, job_retries = 2 }
      local seed = engine:jobs({ handler = "moonshift/batch_seed" }):one()
      assert.equal(2, engine:batch(seed.batch).retries)
      create { type = "set-job-priority", ids = ids, priority = 9, job_priority = 4 }
      engine:drain()
      assert.equal(7, engine:job(ids[1]).retries)
      assert.equal(9, engine:job(ids[1]).priority)
    end)

    it("fails for a job that is gone, unless told to pass over it", function()
      local config = { priority = 5 }
      local fails = create { type = "set-job-priority", ids = { 77 }, config = config }
      config.ignore_missing = true
      local passes = create { type = "set-job-priority", ids = { 77 }, config = config }
      engine:drain()
      assert.equal("no job 77", engine:batch(fails):failures()[1].message)
      assert.equal("completed", engine:batch(passes).state)
    end)

    it("passes over a job that is gone where that is what was wanted", function()
      for _, kind in ipairs { "suspend", "activate", "delete-jobs", "cancel-jobs" } do
        local id = create { type = kind, ids = { 77 } }
        engine:drain()
        assert.equal("completed", engine:batch(id).state, kind)
      end
    end)

    it("sets due dates", function()
      local ids = later(3)
      create { type = "set-due-date", ids = ids, config = { due = "2030-01-01T00:00:00Z" } }
      engine:drain()
      assert.equal(3, engine:jobs({ due_after = "2029-12-31T00:00:00Z" }):count())
      create { type = "set-due-date", ids = ids }
      engine:drain()
      assert.equal(0, engine:jobs():count())
    end)

    it("deletes, cancels and gives up", function()
      local ids = later(6)
      create { type = "delete-jobs", ids = { ids[1], ids[2] } }
      create { type = "cancel-jobs", ids = { ids[3], ids[4] } }
      create { type = "dead-letter", ids = { ids[5], ids[6] } }
      engine:drain()
      assert.equal(2, engine:log({ outcome = "deleted", handler = "work" }):count())
      assert.equal(2, engine:log({ outcome = "cancelled" }):count())
      assert.equal(2, engine:jobs({ state = "dead" }):count())
    end)

    it("sets removal times, and deletes history", function()
      local ids = assert(engine:enqueue_many { { "work" }, { "work" } })
      engine:drain()
      create { type = "set-removal-time", ids = ids,
        config = { removal_time = "2030-01-01T00:00:00Z" } }
      create { type = "delete-history", ids = { ids[1] } }
      engine:drain()
      assert.equal(0, engine:log({ job = ids[1] }):count())
      assert.equal(2, engine:log({ job = ids[2] }):count())
    end)

    it("enqueues a job for each payload", function()
      create { type = "enqueue", ids = { { a = 1 }, { a = 2 }, "text" },
        config = { handler = "work", priority = 4, after = 60 } }
      engine:drain()
      local jobs = engine:jobs({ handler = "work" }):sort("id"):list()
      assert.equal(3, #jobs)
      assert.equal(4, jobs[1].priority)
      assert.equal(1, engine:jobs({ payload = { a = 2 } }):count())
    end)
  end)

  it("is seen by handlers", function()
    local seen
    local other <close> = testing.engine {
      handlers = {
        ["batch/x"] = function(job, ids)
          local batch = job.engine:batch(job.batch)
          seen = { job.batch, ids, batch.type, batch.remaining, batch["end"] }
        end,
      },
    }
    other:batch { type = "x", ids = { "a" } }
    other:drain()
    assert.same({ 1, { "a" }, "x", 1 }, seen)
  end)

  it("is made by a verb on more than a thousand jobs", function()
    later(1001)
    local id, what = engine:set_priority(engine:jobs { handler = "work" }, 5)
    assert.same({ 1, "batch" }, { id, what })
    local batch = engine:batch(id)
    assert.same({ "set-job-priority", 1001, 11 }, { batch.type, batch.ids, batch.total })
    engine:drain()
    assert.equal(1001, engine:jobs({ min_priority = 5 }):count())
  end)

  it("is not made by a verb on a thousand", function()
    local ids = later(1000)
    assert.equal(1000, engine:set_priority(ids, 5))
    assert.equal(1000, engine:suspend(engine:jobs { handler = "work" }))
    assert.equal(0, engine:batches():count())
  end)

  it("does every verb on jobs", function()
    local ids = later(1001)
    local function done(filters, id, what)
      assert.equal("batch", what)
      engine:drain()
      assert.equal("completed", engine:batch(id).state)
      assert.equal(1001, engine:jobs(filters):count())
    end
    done({ suspended = true }, engine:suspend(ids))
    done({ suspended = false }, engine:activate(ids))
    done({ due_after = "2029-12-31T00:00:00Z" }, engine:set_due(ids, "2030-01-01T00:00:00Z"))
    done({ due_before = "2026-01-02T00:00:00Z" }, engine:recalculate_due(ids))
    done({ state = "dead" }, engine:set_retries(ids, 0))
    done({ retries_left = true }, engine:retry(ids))
    done({ state = "dead" }, engine:dead_letter(engine:jobs { handler = "work" }))
    engine:definition("work"):set_retries(2)
    engine:drain()
    assert.equal(1001, engine:jobs({ retries_left = true }):count())
    engine:definition("work"):override_priority(8, { cascade = true })
    engine:drain()
    assert.equal(1001, engine:jobs({ min_priority = 8 }):count())
    engine:cancel(engine:jobs { handler = "work" })
    engine:drain()
    assert.equal(0, engine:jobs():count())
  end)

  it("follows a suspension of a definition that took effect at once", function()
    later(1500)
    local id, what = engine:definition("work"):suspend { include_jobs = true }
    assert.equal("batch", what)
    assert.equal("suspended", engine:job((engine:enqueue("work"))).state)
    assert.equal(1500, engine:batch(id).ids)
    engine:drain()
    assert.equal(1501, engine:jobs({ suspended = true }):count())
    engine:definition("work"):activate { include_jobs = true }
    assert.equal("ready", engine:job((engine:enqueue("work"))).state)
    engine:drain()
    assert.equal(0, engine:jobs({ suspended = true }):count())
  end)

  it("follows a suspension of an instance that took effect at once", function()
    local list = {}
    for i = 1, 1500 do
      list[i] = { "work", nil, { instance = "order-7", after = 60 } }
    end
    engine:enqueue_many(list)
    local _, what = engine:suspend_instance("order-7")
    assert.equal("batch", what)
    local job = engine:enqueue("work", nil, { instance = "order-7" })
    assert.equal("suspended", engine:job(job).state)
    engine:drain()
    assert.equal(1501, engine:jobs({ suspended = true }):count())
    assert.equal("batch", select(2, engine:activate_instance("order-7")))
    engine:drain()
    assert.equal(0, engine:jobs({ suspended = true }):count())
  end)

  it("raises for misuse", function()
    assert.has_error(function()
      engine:batch("1")
    end, 'batch is the string "1" (expected an id, or { type = …, ids = … })')
    assert.has_error(function()
      engine:batch { type = "note", ids = 5 }
    end, "batch: ids is 5 (expected a list, an iterator or a query)")
    assert.has_error(function()
      engine:batch { type = "note", ids = engine:incidents() }
    end, "batch: ids is a query of incidents (expected one of jobs or instances)")
    assert.has_error(function()
      engine:batch(create {}):delete { histroy = true }
    end, 'delete: unknown key "histroy" (did you mean "history"?)')
  end)
end)
