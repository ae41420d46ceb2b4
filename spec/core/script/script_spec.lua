-- Handlers as workers run them: in a state of their own, under limits.
local engines = require "spec.support.engines"
local moonshift = require "moonshift"

local LIMITS = { retries = 1, memory_limit = 4 * 1024 * 1024, timeout = 60 }

describe("script", function()
  after_each(engines.clean)

  -- Runs `text` as a handler, once; the job as it is afterwards (nil: done), its lines, the engine.
  local function run(text, given)
    local files, settings = { ["handlers/x.lua"] = text }, { history = "full" }
    for path, content in pairs(given and given.files or {}) do
      files[path] = content
    end
    for name, value in pairs(LIMITS) do
      settings[name] = given and given[name] or value
    end
    local engine = engines.private(files, settings)
    local id = engine:enqueue("x", given and given.payload)
    engine:drain()
    return engine:job(id), engine
  end

  local function body(text)
    return "return function(job)\n" .. text .. "\nend"
  end

  local function message(text, given)
    local job = run(body(text), given)
    return job and job.message
  end

  local function fine(text, given)
    assert.is_nil(message(text, given))
  end

  describe("a coroutine in a handler", function()
    it("answers resume with true and its values, and with false and its error", function()
      fine [[
        local co = coroutine.create(function(a, b)
          local c = coroutine.yield(a + b, nil, "yielded")
          error({ code = c }, 0)
        end)
        local first = table.pack(coroutine.resume(co, 1, 2))
        assert(first.n == 4 and first[1] == true and first[2] == 3 and first[4] == "yielded")
        local second = table.pack(coroutine.resume(co, 7))
        assert(second.n == 2 and second[1] == false and second[2].code == 7)
        local third = table.pack(coroutine.resume(co))
        assert(third.n == 2 and third[1] == false and third[2]:find("dead"))
      ]]
    end)

    it("answers resume with true alone when it returns nothing", function()
      fine [[
        local co = coroutine.create(function() end)
        assert(select("#", coroutine.resume(co)) == 1 and coroutine.status(co) == "dead")
        assert(coroutine.resume(coroutine.create(function() end)) == true)
      ]]
    end)

    it("answers a wrapped call with its values alone", function()
      fine [[
        local call = coroutine.wrap(function(a) return a, coroutine.yield() end)
        assert(select("#", call(1)) == 0)
        local last = table.pack(call("b"))
        assert(last.n == 2 and last[1] == 1 and last[2] == "b")
      ]]
    end)

    it("answers close with true, or with false and its error", function()
      fine [[
        local co = coroutine.create(function()
          local guard <close> = setmetatable({}, { __close = function() error("late", 0) end })
          coroutine.yield()
        end)
        assert(coroutine.close(coroutine.create(print)) == true)
        coroutine.resume(co)
        local closed, message = coroutine.close(co)
        assert(closed == false and message == "late")
      ]]
    end)
  end)

  describe("a job in a handler", function()
    it("has the fields of a job", function()
      fine [[
        assert(job.id > 0 and job.token > 0)
        assert(job.handler == "x" and job.type == "message" and job.state == "locked")
        assert(job.attempt == 1 and job.retries == 1 and job.priority == 0)
        assert(job.created == "2026-01-01T00:00:00.000Z" and job.due == nil)
        assert(job.lane == nil and job.exclusive == false)]]
    end)

    it("has an empty payload if there is none", function()
      fine [[assert(next(job.payload) == nil)]]
    end)

    it("keeps numbers, null and arrays of its payload apart", function()
      fine([[
        local moonshift = require "moonshift"
        assert(math.type(job.payload.a) == "integer" and math.type(job.payload.b) == "float")
        assert(job.payload.c == moonshift.null and #job.payload.d == 0)
        assert(job.payload == job.payload)]],
        { payload = { a = 2 ^ 53 | 1, b = 1.0, c = moonshift.null, d = moonshift.array {} } })
    end)

    it("suggests a field", function()
      assert.equal('handlers/x.lua:2: job has no field "retires" (did you mean "retries"?)',
        message "return job.retires")
    end)

    it("cannot be changed", function()
      assert.equal("handlers/x.lua:2: cannot set job.priority (a job is read-only)",
        message "job.priority = 1")
    end)

    it("ends with its run", function()
      local engine = engines.private { ["handlers/x.lua"] = [[
        local kept
        return function(job)
          if kept then return kept.id end
          kept = job
        end]] }
      engine:enqueue_many { { "x" }, { "x" } }
      assert.same({ done = 1, failed = 1 }, engine:drain())
      assert.equal("handlers/x.lua:3: job is used after its run ended",
        engine:jobs({}):one().message)
    end)

    it("wants its methods called with a colon", function()
      assert.equal("handlers/x.lua:2: not a job (expected a call with a colon, as in job:log(…))",
        message "job.log('x')")
    end)

    it("answers questions about other jobs", function()
      fine [[
        assert(job.engine:jobs({ handler = "x" }):count() == 1)
        assert(job.engine:jobs({ handler = "x" }):one().id == job.id)
        assert(job.engine:job(job.id).due == nil)]]
    end)
  end)

  describe("what a handler raises", function()
    local cases = {
      { "text", [[error("boom")]], "handlers/x.lua:2: boom" },
      { "nothing", [[error()]], "nil" },
      { "a table with a message", [[error { message = "no mail" }]], "no mail" },
      { "a table without", [[error { code = 5 }]], '{"code":5}' },
      { "an object with a text", [[error(setmetatable({}, {
        __tostring = function() return "custom" end }))]], "custom" },
      { "an object whose text fails", [[error(setmetatable({}, { __tostring = error }))]],
        "error object (a table that cannot be turned into text)" },
      { "a number", [[error(5)]], "5" },
      { "a coroutine's error", [[coroutine.wrap(function() error("inner", 0) end)()]],
        "handlers/x.lua:2: inner" },
    }
    for _, case in ipairs(cases) do
      it(case[1] .. " becomes the job's message", function()
        assert.equal(case[3], message(case[2]))
      end)
    end

    it("becomes valid text", function()
      assert.equal("a\u{FFFD}b\u{FFFD}c", message [[error("a\0b\xFFc", 0)]])
    end)

    it("is kept with a traceback", function()
      local job = run(body [[error("boom")]])
      assert.equal("handlers/x.lua:2: boom\nstack traceback:\n\t[C]: in function 'error'\n\t"
        .. "handlers/x.lua:2: in function <handlers/x.lua:1>", job.stack)
    end)

    it("has the words of debug.traceback, of every kind of function, each time", function()
      local module = "local m = {}\nfunction m.call(f, ...) local r = f(...) return r end\nreturn m"
      local job = run("local m = require 'lib.m'\n" .. body [[
        local o = { raise = function() error(debug.traceback("here"), 0) end }
        local function inner() local r = o:raise() return r end
        local function outer() local r = m.call(inner) return r end
        pcall(outer)
        return (string.gsub("x", "x", outer))
      ]], { files = { ["lib/m.lua"] = module } })
      local calls = job.message:match("^here\nstack traceback:(.*)$"):gsub("\n\t%[C%]: in %?$", "")
      assert.matches("in field 'call'", calls, 1, true)
      assert.matches("in method 'raise'", calls, 1, true)
      assert.matches("in function 'string.gsub'", calls, 1, true)
      local raised = "\nstack traceback:\n\t[C]: in function 'error'"
      assert.equal(raised .. calls, job.stack:sub(#job.message + 1))
    end)

    it("shows both ends of a deep one", function()
      local stack = run(body [[
        local function deep(n) if n == 0 then error("boom") end local r = deep(n - 1) return r end
        deep(1000)
      ]]).stack
      local _, lines = stack:gsub("\n", "")
      assert.matches("\n\t...\t(skipping 983 levels)\n", stack, 1, true)
      assert.equal(22, lines)
    end)
  end)

  describe("a handler that returns", function()
    it("nil and a text has failed with it", function()
      assert.equal("no mail today", message [[return nil, "no mail today"]])
    end)

    it("what is no JSON has succeeded", function()
      fine [[return { print }]]
    end)
  end)

  describe("the time limit", function()
    local TEXT = 'handler "x" ran longer than its timeout of PT0.2S'
    local module = [[
      local m = { co = coroutine.create(function() coroutine.yield() while true do end end) }
      coroutine.resume(m.co)
      return m]]
    local cases = {
      { "a loop", [[while true do end]] },
      { "a loop that catches errors",
        [[while true do pcall(function() while true do end end) end]] },
      { "a loop behind a message handler that loops",
        [[xpcall(function() while true do end end, function() while true do end end)]] },
      { "a loop in a coroutine", [[coroutine.wrap(function() while true do end end)()]] },
      { "a caught loop in a coroutine",
        [[while true do pcall(coroutine.wrap(function() while true do end end)) end]] },
      { "a loop in a coroutine of a module", [[coroutine.resume(require("lib.m").co)]] },
      { "a loop in a to-be-closed variable",
        [[local x <close> = setmetatable({}, { __close = function() while true do end end })]] },
      { "a program", [[os.execute("sleep 9")]] },
      { "a program that says nothing", [[return io.popen("sleep 9"):read("a")]] },
    }
    for _, case in ipairs(cases) do
      it("ends " .. case[1], function()
        assert.equal(TEXT,
          message(case[2], { timeout = 0.2, files = { ["lib/m.lua"] = module } }))
      end)
    end

    it("is moved by extend", function()
      fine([[
        job:extend("PT60S")
        os.execute("sleep 1.2")]], { timeout = 1 })
    end)

    it("is the definition's own", function()
      local job = run("return { timeout = 0.1, run = function() while true do end end }")
      assert.equal('handler "x" ran longer than its timeout of PT0.1S', job.message)
    end)
  end)

  describe("C loops that no limit could end", function()
    it("end at once for an empty string.rep", function()
      fine [[assert(string.rep("", 1 << 40) == "" and (""):rep(1 << 40, "") == "")]]
    end)

    it("are refused for table.move", function()
      assert.equal("table.move: too many elements (expected at most 10000000)",
        message [[local _, e = pcall(table.move, { 1 }, 1, 1e12, 2) error(e, 0)]])
    end)
  end)

  describe("the memory limit", function()
    local TEXT = 'handler "x" needed more than the memory limit of 4 MiB'
    local cases = {
      { "a table", [[local t = {} while true do t[#t + 1] = {} end]] },
      { "a text", [[local s = "x" while true do s = s .. s end]] },
      { "a long text", [[return #("x"):rep(5e7)]] },
      { "deep recursion", [[local function f() return 1 + f() end f()]] },
      { "a bomb that catches errors",
        [[while true do pcall(function() local t = {} while true do t[#t + 1] = {} end end) end]] },
    }
    for _, case in ipairs(cases) do
      it("ends " .. case[1], function()
        assert.equal(TEXT, message(case[2]))
      end)
    end

    it("leaves nothing for the next job", function()
      local engine = engines.private({
        ["handlers/leak.lua"] =
          "local t = {} return function() while true do t[#t + 1] = {} end end",
        ["handlers/x.lua"] = "return function() end",
      }, { retries = 1, memory_limit = LIMITS.memory_limit })
      engine:enqueue_many { { "leak" }, { "x" }, { "x" } }
      assert.same({ done = 2, failed = 1 }, engine:drain())
    end)
  end)

  describe("programs", function()
    it("tell how they ended", function()
      fine [[
        local ok, how, code = os.execute("exit 4")
        assert(ok == nil and how == "exit" and code == 4)
        ok, how, code = os.execute("kill -9 $$")
        assert(ok == nil and how == "signal" and code == 9)]]
    end)

    it("are read line by line", function()
      fine [[
        local lines, pipe = {}, io.popen("echo a; echo b; exit 3")
        for line in pipe:lines() do lines[#lines + 1] = line end
        assert(table.concat(lines) == "ab")
        assert(select(3, pipe:close()) == 3)]]
    end)

    it("are written to", function()
      fine [[
        local pipe = io.popen("test \"$(cat)\" = hello", "w")
        pipe:write("hello")
        assert(pipe:close())]]
    end)

    it("that are gone fail a write, not the process", function()
      fine [[
        local pipe = io.popen("true", "w")
        os.execute("sleep 0.05")
        pipe:write(("x"):rep(100000))
        pipe:flush()]]
    end)

    it("end with the job that started them", function()
      local _, engine = run("local pipe return function() pipe = io.popen('sleep 9') end")
      engine:close()
    end)
  end)

  describe("a strategy", function()
    local function decided(retry, text)
      return run(("return { retry = %s, retries = 3, run = function(job) %s end }"):format(retry,
        text or "error('x')"), { retries = 3 })
    end

    it("sees the job and the failure", function()
      local job = decided([[function(job, failure)
        assert(job.attempt == 1 and failure.attempt == 1 and failure.reason == "error")
        assert(failure.message == "x" and failure.traceback:find("traceback"))
        assert(failure.permanent == false)
        return "PT1H"
      end]], "error('x', 0)")
      assert.equal("2026-01-01T01:00:00.000Z", job.due)
      assert.equal(2, job.retries)
    end)

    it("gives up with nil", function()
      assert.equal(0, decided("function() end").retries)
    end)

    it("may set the retries left", function()
      assert.equal(9, decided("function() return 3600, 9 end").retries)
    end)

    it("may try a permanent failure again", function()
      assert.equal(2, decided("function() return 3600 end",
        "error { message = 'x', permanent = true }").retries)
    end)

    it("that raises leaves it to the standard one", function()
      local job = decided("function() error('broken') end", "error('x', 0)")
      assert.equal("x", job.message)
      assert.equal(2, job.retries)
    end)
  end)

  describe("a retry configuration", function()
    it("sets the due date, also on the last failure", function()
      local job = run("return { retry = 'PT1H', retries = 1, run = function() error('x') end }")
      assert.equal(0, job.retries)
      assert.equal("2026-01-01T01:00:00.000Z", job.due)
    end)

    it("gives up on a permanent failure", function()
      local job = run([[return { retry = "R5/PT1H",
        run = function() error { message = "x", permanent = true } end }]])
      assert.equal(0, job.retries)
      assert.is_nil(job.due)
    end)
  end)

  describe("enqueue", function()
    it("says where a payload cannot be stored", function()
      assert.equal("handlers/x.lua:2: job:enqueue: payload.a[2]: cannot store a function "
        .. "(expected nil, boolean, number, text or table)",
        message [[job:enqueue("x", { a = { 1, print } })]])
    end)

    it("suggests a handler", function()
      assert.equal('handlers/x.lua:2: job:enqueue: unknown handler "nop" (did you mean "noop"?)',
        message [[job:enqueue("nop")]])
    end)

    it("asks the definition's priority function", function()
      local _, engine = run(body [[job:enqueue("y", { n = 7 }, { after = "PT1H" })]], {
        files = { ["handlers/y.lua"] = [[return { priority = function(job) return job.payload.n end,
          run = function() end }]] },
      })
      assert.equal(7, engine:jobs({ handler = "y" }):one().priority)
    end)

    it("fails on a priority that is no whole number", function()
      assert.equal('handlers/x.lua:2: job:enqueue: priority of "y": the function of '
        .. "handlers/y.lua returned the string \"high\" (expected a whole number)",
        message([[job:enqueue("y")]], {
          files = { ["handlers/y.lua"] = [[return { priority = function() return "high" end,
            run = function() end }]] },
        }))
    end)
  end)

  it("finishes a snooze with its retries untouched", function()
    local job = run(body [[job:snooze("PT5M")]])
    assert.equal(1, job.retries)
    assert.equal("2026-01-01T00:05:00.000Z", job.due)
    assert.is_nil(job.message)
  end)
end)
