-- What happens to a job that fails, seen from outside: when it runs again, and how often.
local engines = require "spec.support.engines"
local moonshift = require "moonshift"
local testing = require "moonshift.testing"

describe("a failing job", function()
  after_each(engines.clean)

  local FAIL = "function() error('no luck', 0) end"

  local function engine_with(retry, files)
    files = files or {}
    files["handlers/fail.lua"] = ("return { retry = %s, run = %s }"):format(retry, FAIL)
    return engines.private(files)
  end

  -- Drains at every due date until the job is dead: the delays in seconds between its runs.
  local function delays(engine, id)
    local list = {}
    for _ = 1, 20 do
      engine:drain { max = 1 }
      local job = engine:job(id)
      if job.state == "dead" then
        return list
      end
      local now = moonshift.time(engine.clock:now())
      list[#list + 1] = (moonshift.time(job.due) - now) // 1000
      engine.clock:set(job.due)
    end
  end

  it("runs three times without a configuration, ten seconds apart, then is dead", function()
    local engine = testing.engine {
      handlers = {
        fail = function()
          error("no luck", 0)
        end,
      },
    }
    local id = engine:enqueue("fail")
    assert.same({ 10, 10 }, delays(engine, id))
    local job = engine:job(id)
    assert.equal("dead", job.state)
    assert.equal(0, job.retries)
    assert.equal("no luck", job.message)
  end)

  it("opens exactly one incident when it dies", function()
    local engine = engine_with('"R1/PT1M"')
    local id = engine:enqueue("fail")
    engine:drain()
    local incident = engine:incidents({ job = id }):one()
    assert.equal("failedJob", incident.type)
    assert.matches("no luck", incident.message, 1, true)
  end)

  it("keeps the stack", function()
    local engine = engines.private {
      ["handlers/fail.lua"] = "return function() error('no luck') end",
    }
    local id = engine:enqueue("fail")
    engine:drain()
    assert.matches("handlers/fail.lua:1: no luck", engine:job(id).message, 1, true)
    assert.matches("traceback", engine:job(id).stack, 1, true)
  end)

  it("waits failed_job_wait without a configuration", function()
    local files = { ["handlers/fail.lua"] = "return " .. FAIL }
    local engine = engines.private(files, { failed_job_wait = "PT1M" })
    assert.same({ 60, 60 }, delays(engine, engine:enqueue("fail")))
  end)

  it("runs again at once where failed_job_wait is none", function()
    local engine = engines.private({ ["handlers/fail.lua"] = "return " .. FAIL },
      { failed_job_wait = "PT0S" })
    engine:enqueue("fail")
    assert.same({ done = 0, failed = 3 }, engine:drain())
  end)

  it("that is dead waits for nothing: it runs as soon as somebody retries it", function()
    local engine = engines.private { ["handlers/fail.lua"] = "return " .. FAIL }
    local id = engine:enqueue("fail", nil, { retries = 1 })
    engine:drain()
    assert.equal("dead", engine:job(id).state)
    engine:retry(id)
    assert.same({ done = 0, failed = 1 }, engine:drain())
  end)

  it("runs once where it is a shell command, unless its creator says otherwise", function()
    local file = assert(io.open("scripts/handlers/shell.lua"))
    local engine = engines.private { ["handlers/shell.lua"] = file:read("a") }
    file:close()
    local once = engine:enqueue("shell", { command = "exit 1" })
    local again = engine:enqueue("shell", { command = "exit 1" }, { retries = 2 })
    engine:drain()
    assert.same({ "dead", "scheduled" }, { engine:job(once).state, engine:job(again).state })
  end)

  it("runs five times with R5/PT5M", function()
    local engine = engine_with('"R5/PT5M"')
    local id = engine:enqueue("fail")
    assert.equal(5, engine:job(id).retries)
    assert.same({ 300, 300, 300, 300 }, delays(engine, id))
  end)

  it("runs n + 1 times with n delays", function()
    local engine = engine_with('"PT10M, PT17M,PT20M"')
    local id = engine:enqueue("fail")
    assert.equal(4, engine:job(id).retries)
    assert.same({ 600, 1020, 1200 }, delays(engine, id))
  end)

  it("runs twice with one delay", function()
    local engine = engine_with('"PT8M"')
    assert.same({ 480 }, delays(engine, engine:enqueue("fail")))
  end)

  it("runs once with R0 and R1", function()
    for _, text in ipairs { '"R0/PT5M"', '"R1/PT5M"' } do
      local engine = engine_with(text)
      local id = engine:enqueue("fail")
      assert.equal(1, engine:job(id).retries)
      assert.same({}, delays(engine, id))
    end
  end)

  it("does not end with R/PT5M", function()
    local engine = engine_with('"R/PT5M"')
    local id = engine:enqueue("fail")
    assert.is_nil(delays(engine, id))
    assert.equal(21, engine:job(id).attempt)
    assert.is_true(engine:job(id).retries > 1000000)
  end)

  it("asks a strategy in a file", function()
    local engine = engine_with('"patient"', {
      ["retries/patient.lua"] = [[
        return function(job, failure)
          if failure.permanent or job.attempt > 4 then return nil end
          return 60 * 5 ^ (job.attempt - 1)
        end
      ]],
    })
    assert.same({ 60, 300, 1500, 7500 }, delays(engine, engine:enqueue("fail")))
  end)

  it("asks a function, whose second value sets the retries left", function()
    local engine = engine_with('function() return "PT1M", 7 end')
    local id = engine:enqueue("fail")
    engine:drain()
    assert.equal(7, engine:job(id).retries)
    assert.equal("2026-01-01T00:01:00.000Z", engine:job(id).due)
  end)

  it("is dead where its function gives up, whatever else it returns", function()
    local engine = engine_with("function() return nil, 7 end")
    local id = engine:enqueue("fail")
    assert.same({ done = 0, failed = 1 }, engine:drain())
    assert.equal("dead", engine:job(id).state)
  end)

  it("tells a strategy what failed", function()
    local engine = engine_with([[
      function(job, failure)
        return job.attempt + #failure.message + (failure.reason == "error" and 100 or 0)
      end]])
    local id = engine:enqueue("fail")
    engine:drain()
    assert.equal("2026-01-01T00:01:48.000Z", engine:job(id).due)
  end)

  it("has what its strategy raised as its last line in the log", function()
    local engine = engine_with("function() error('strategy', 0) end")
    engine:enqueue("fail")
    engine:drain { max = 1 }
    assert.same({ 'retry strategy of "fail" failed, the standard one decided: strategy' },
      engine:log({ outcome = "failed" }):list()[1].lines)
  end)

  it("falls back to the standard strategy when a strategy raises", function()
    local engine = engine_with("function() error('strategy') end")
    local id = engine:enqueue("fail")
    assert.same({ 10, 10 }, delays(engine, id))
  end)

  it("gives up at once when the failure is permanent", function()
    local engine = engines.private {
      ["handlers/fail.lua"] = [[
        return { retry = "R5/PT5M", run = function()
          error { message = "no such customer", permanent = true }
        end }
      ]],
    }
    local id = engine:enqueue("fail")
    assert.same({ done = 0, failed = 1 }, engine:drain())
    assert.equal("dead", engine:job(id).state)
    assert.is_nil(engine:job(id).due)
    assert.equal("no such customer", engine:job(id).message)
  end)

  it("has failed when it returns nil and a text", function()
    local engine = engines.private {
      ["handlers/fail.lua"] = "return function() return nil, 'no route to host' end",
    }
    local id = engine:enqueue("fail")
    engine:drain()
    assert.equal("no route to host", engine:job(id).message)
  end)

  it("keeps the number of retries that its creator named", function()
    local engine = engine_with('"R5/PT5M"')
    local id = engine:enqueue("fail", nil, { retries = 2 })
    engine:drain()
    assert.equal(1, engine:job(id).retries)
  end)

  it("uses the first delay while its retries are above the list", function()
    local engine = engine_with('"PT1M,PT2M"')
    local id = engine:enqueue("fail", nil, { retries = 5 })
    assert.same({ 60, 60, 60, 120 }, delays(engine, id))
  end)

  it("takes the retry setting when its handler names none", function()
    local files = { ["handlers/fail.lua"] = "return " .. FAIL }
    local engine = engines.private(files, { retry = "R2/PT7S" })
    assert.same({ 7 }, delays(engine, engine:enqueue("fail")))
  end)

  it("takes what a listener set", function()
    local engine = engines.private {
      ["handlers/payments/charge.lua"] = "return " .. FAIL,
      ["listeners/payments.lua"] = [[
        return function(definition)
          if definition.name:match("^payments/") then
            definition.retry = definition.retry or "PT1M,PT10M"
          end
        end
      ]],
    }
    assert.same({ 60, 600 }, delays(engine, engine:enqueue("payments/charge")))
  end)

  describe("with an expression", function()
    -- The delays of jobs with these payloads, and the retries that they showed at first.
    local function asked(retry, payload, files)
      local engine = engine_with(retry, files)
      local id = engine:enqueue("fail", payload)
      local shown = engine:job(id).retries
      return delays(engine, id), shown
    end

    it("reads it from the payload", function()
      local list, shown = asked('"${payload.delay}"', { delay = "R3/PT5S" })
      assert.same({ 5, 5 }, list)
      assert.equal(3, shown)
    end)

    it("reads each of the forms, in either spelling", function()
      assert.same({ 1, 2 }, (asked('"#{delay}"', { delay = "PT1S, PT2S" })))
      assert.same({ 7 }, (asked('" ${ job.payload.delay } "', { delay = 7 })))
      assert.same({ 8 }, (asked('"${a.b.c}"', { a = { b = { c = 8 } } })))
      assert.same({ 6, 6 }, (asked('"R${runs + 1}/PT${wait}S"', { runs = 2, wait = 6 })))
      assert.same({ 60 }, (asked([["${urgent ? 'PT1M' : 'PT1H'}"]], { urgent = true })))
      assert.same({ 9 }, (asked('"slow"', { delay = "PT9S" },
        { ["retries/slow.lua"] = "return '${delay}'" })))
    end)

    it("takes literals, which are read when the folder is loaded", function()
      local list, shown = asked([["${'R3/PT5S'}"]])
      assert.same({ 5, 5 }, list)
      assert.equal(3, shown)
      assert.same({ 30 }, (asked('"#{30}"')))
    end)

    it("is asked again at every failure", function()
      local private = engine_with('"${job.attempt}"')
      local id = private:enqueue("fail", nil, { retries = 9 })
      local seen = {}
      for i = 1, 3 do
        private:drain()
        seen[i] = moonshift.time(private:job(id).due) - moonshift.time(private:advance(0))
        private:advance(seen[i] / 1000)
      end
      assert.same({ 1000, 2000, 3000 }, seen)
    end)

    it("has no opinion where it gives nothing: the setting counts, then the standard", function()
      local files = {
        ["handlers/fail.lua"] = "return { retry = '${delay}', run = " .. FAIL .. " }",
      }
      local set = engines.private(files, { retry = "R4/PT8S" })
      local id = set:enqueue("fail", { delay = moonshift.null })
      assert.equal(4, set:job(id).retries)
      assert.same({ 8, 8, 8 }, delays(set, id))
      local asks = engines.private(files, { retry = "${wait}" })
      id = asks:enqueue("fail", { wait = "R4/PT6S" })
      assert.equal(4, asks:job(id).retries)
      assert.same({ 6, 6, 6 }, delays(asks, id))
      local standard = engines.private(files, { failed_job_wait = "PT2S", retries = 3 })
      id = standard:enqueue("fail", "no table")
      assert.same({ 2, 2 }, delays(standard, id))
      assert.is_nil(standard:log({ job = id, outcome = "failed" }):list()[1].lines)
    end)

    it("leaves it to the standard strategy where the value is none, and says so", function()
      local values = {
        { "soon", 'retry "soon": ' },
        { true, "retry: got true, from the expression ${delay}" },
        { { 1 }, "the expression ${delay} gives a table (expected a number or a text)" },
        { -5, 'duration "PT-5S"' },
        { 1e300, "from the expression ${delay}" },
        { ("x"):rep(65537), "gives a text of 65537 bytes (expected at most 65536)" },
      }
      for _, value in ipairs(values) do
        local engine = engine_with('"${delay}"')
        local id = engine:enqueue("fail", { delay = value[1] })
        assert.same({ done = 0, failed = 1 }, engine:drain())
        assert.equal("2026-01-01T00:00:10.000Z", engine:job(id).due)
        local line = engine:log({ job = id, outcome = "failed" }):list()[1].lines[1]
        assert.matches('retry strategy of "fail" failed, the standard one decided: ', line, 1, true)
        assert.matches(value[2], line, 1, true)
      end
    end)

    it("takes its value for data: no code, no name of a file, no expression", function()
      local proof = os.tmpname()
      os.remove(proof)
      local values = {
        ('${os.execute("touch %s") and "R2/PT0S"}'):format(proof),
        ('${io.open("%s", "w") and "R2/PT0S"}'):format(proof),
        "${'R2/PT0S'}", "#{payload.other}", "slow", "../retries/slow",
        ('os.execute("touch %s")'):format(proof),
      }
      local private = engine_with('"${delay}"', { ["retries/slow.lua"] = "return 'PT4S'" })
      for _, value in ipairs(values) do
        local id = private:enqueue("fail", { delay = value, other = "R2/PT0S" })
        assert.equal(3, private:job(id).retries)
        private:drain()
        local line = private:log({ job = id, outcome = "failed" }):list()[1].lines[1]
        assert.matches("the standard one decided: ", line, 1, true)
      end
      assert.is_nil((io.open(proof)))
    end)

    it("gives up at once when the failure is permanent", function()
      for _, text in ipairs { "${'R5/PT1S'}", "${delay}" } do
        local engine = engines.private { ["handlers/fail.lua"] = ([[
          return { retry = %q, run = function() error { permanent = true } end }]]):format(text) }
        local id = engine:enqueue("fail", { delay = "R5/PT1S" })
        assert.same({ done = 0, failed = 1 }, engine:drain())
        assert.equal("dead", engine:job(id).state)
      end
    end)

    it("may be the setting", function()
      local engine = engines.private({ ["handlers/fail.lua"] = "return " .. FAIL },
        { retry = "${delay}" })
      assert.same({ 6 }, delays(engine, engine:enqueue("fail", { delay = "PT6S" })))
    end)

    it("is refused with its position where it is no expression, or a program", function()
      local refused = {
        ["${1 +}"] = 'unexpected "}" (position 6)',
        ["${f()}"] = "there is no f() (position 3)",
        ["${delay = 5}"] = "nothing can be assigned (=) (position 9)",
        ["${'x}"] = "the quoted text has no end (position 3)",
        ["${job.engine}"] = 'job has no field "engine" (position 6)',
        ["${ }"] = 'unexpected "}" (position 4)',
        ["R${n"] = "it ends too early (expected }) (position 5)",
      }
      for text, message in pairs(refused) do
        local folder = engines.folder {
          ["handlers/fail.lua"] = ("return {\n  retry = %q, run = %s }"):format(text, FAIL),
        }
        local _, got = moonshift.open { store = "sqlite::memory:", scripts = folder }
        assert.equal(('handlers/fail.lua:2: retry "%s": %s'):format(text, message), got)
      end
    end)

    it("is refused where a literal is no configuration", function()
      local refused = {
        ["${'patient'}"] = 'retry "patient": ',
        ["${true}"] = "retry: got true, from the expression ${true}",
        ["${'${1}'}"] = 'retry "${1}": ',
      }
      for text, message in pairs(refused) do
        local folder = engines.folder {
          ["handlers/fail.lua"] = ("return { retry = %q, run = %s }"):format(text, FAIL),
        }
        local _, got = moonshift.open { store = "sqlite::memory:", scripts = folder }
        assert.matches(message, got, 1, true)
      end
    end)
  end)

  it("writes the delay also where it was the last, for when retries are raised again", function()
    local engine = engine_with('"R1/PT5M"')
    local id = engine:enqueue("fail")
    engine:drain()
    assert.equal("2026-01-01T00:05:00.000Z", engine:job(id).due)
    engine:set_retries(id, 1)
    assert.equal("scheduled", engine:job(id).state)
  end)

  it("takes the delay that fits the retries a user set in the middle of a list", function()
    -- retries before the failure -> minutes until the next run
    local fits = { [9] = 1, [5] = 1, [4] = 1, [3] = 2, [2] = 3, [1] = 3, [0] = 3 }
    for retries, minutes in pairs(fits) do
      local engine = engine_with('"PT1M,PT2M,PT3M"')
      local id = engine:enqueue("fail")
      engine:set_retries(id, retries)
      pcall(engine.execute, engine, id)
      assert.equal(("2026-01-01T00:0%d:00.000Z"):format(minutes), engine:job(id).due)
      assert.equal(math.max(retries - 1, 0), engine:job(id).retries)
    end
  end)

  it("prefers its own retry to a listener's, a listener's to the setting", function()
    local listener = "return function(d) d.retry = 'PT2S' end"
    local both = engines.private({ ["listeners/a.lua"] = listener,
      ["handlers/fail.lua"] = "return { retry = 'PT1S', run = " .. FAIL .. " }" },
      { retry = "PT3S" })
    local heard = engines.private({ ["listeners/a.lua"] = listener,
      ["handlers/fail.lua"] = "return " .. FAIL }, { retry = "PT3S" })
    assert.same({ 1 }, delays(both, both:enqueue("fail")))
    assert.same({ 2 }, delays(heard, heard:enqueue("fail")))
  end)

  it("has listeners heard in the order of their names", function()
    local engine = engines.private {
      ["handlers/fail.lua"] = "return " .. FAIL,
      ["listeners/b.lua"] = "return function(d) d.retry = d.retry == 'PT1S' and 'PT2S' end",
      ["listeners/a.lua"] = "return function(d) d.retry = 'PT1S' end",
    }
    assert.same({ 2 }, delays(engine, engine:enqueue("fail")))
  end)

  it("is not loaded where a listener raises", function()
    local folder = engines.folder {
      ["handlers/fail.lua"] = "return " .. FAIL,
      ["listeners/a.lua"] = "return function(d)\n  error(d.name .. ' has no owner')\nend",
    }
    local _, message = moonshift.open { store = "sqlite::memory:", scripts = folder }
    assert.equal("listeners/a.lua:2: fail has no owner", message)
  end)

  it("has one second for its strategy", function()
    local engine = engine_with("function() while true do end end")
    engine:enqueue("fail", nil, { retries = 1 })
    engine:drain()
    assert.same({ 'retry strategy of "fail" failed, the standard one decided: '
      .. "it took longer than PT1S" },
      engine:log({ outcome = "failed" }):list()[1].lines)
  end)

  it("lives again where a strategy gives a run by hand another delay", function()
    local engine = engine_with("function(_, failure) return failure.attempt > 1 and 60 or nil end")
    local id = engine:enqueue("fail")
    engine:drain()
    pcall(engine.execute, engine, id)
    assert.equal(1, engine:job(id).retries)
    assert.equal("resolved", engine:incidents({ job = id }):one().how)
  end)
end)
