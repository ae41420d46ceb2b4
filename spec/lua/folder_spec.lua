local scripts = require "spec.support.scripts"

local FINE = "return function() end"

local function only(files, options)
  local loaded = scripts.load(files, options)
  assert.same({}, loaded.problems)
  return loaded.definitions[1], loaded
end

describe("folder", function()
  describe("definitions", function()
    it("are named by their path", function()
      local row = only { ["handlers/billing/send.lua"] = FINE }
      assert.equal("billing/send", row.name)
      assert.equal("handlers/billing/send.lua", row.file)
    end)

    it("are not made of a file whose name is no text, which is told beside others", function()
      local problems = scripts.problems {
        ["handlers/caf\xe9.lua"] = FINE, ["handlers/caf\u{e9}.lua"] = FINE,
        ["handlers/five.lua"] = "return 5", ["lib/\xff\xfe.lua"] = FINE,
        ["processes/m\xfcll.bpmn"] = "<no model", ["spec/caf\xe9.txt"] = "",
      }
      table.sort(problems)
      local told = ":1: a name must be UTF-8 text without control characters"
      assert.same({ "handlers/caf\\xe9.lua" .. told,
        "handlers/five.lua:1: returned 5 (expected a function, or a table with a "
          .. 'function "run")',
        "lib/\\xff\\xfe.lua" .. told, "processes/m\\xfcll.bpmn" .. told,
        "spec/caf\\xe9.txt" .. told }, problems)
    end)

    it("have the settings' timeout and no properties unless they say otherwise", function()
      local row = only({ ["handlers/x.lua"] = FINE }, { timeout = 60 })
      assert.same({ name = "x", file = "handlers/x.lua", timeout = 60, properties = {} }, row)
    end)

    it("show what they declare", function()
      local row = only {
        ["handlers/x.lua"] = [[return { priority = 5, retry = "R5/PT5M", timeout = "PT1.5S",
          category = "mail", description = "x", run = function() end }]],
      }
      assert.equal(5, row.priority)
      assert.equal("R5/PT5M", row.retry)
      assert.equal(5, row.retries)
      assert.equal(1.5, row.timeout)
      assert.equal("mail", row.category)
    end)

    it("count the runs they name, not those of the configuration", function()
      local row = only {
        ["handlers/x.lua"] = [[return { retry = "R5/PT5M", retries = 9, run = function() end }]],
      }
      assert.equal(9, row.retries)
    end)

    it("take functions from files", function()
      local row, loaded = only {
        ["handlers/x.lua"] = [[return { priority = "p", retry = "r", run = function() end }]],
        ["priorities/p.lua"] = "return function() return 3 end",
        ["retries/r.lua"] = "return function() return 60 end",
      }
      assert.equal("p", row.priority)
      assert.equal("r", row.retry)
      assert.equal(3, loaded.priorities.x.fn())
      assert.equal(60, loaded.strategies.x())
    end)

    it("retry as the setting says when they say nothing", function()
      local row, loaded = only({ ["handlers/x.lua"] = FINE }, { retry = "PT8M" })
      assert.equal(2, row.retries)
      assert.equal("PT8M", loaded.strategies.x)
    end)

    it("are added and replaced by a spec", function()
      local loaded = scripts.load({ ["handlers/x.lua"] = "this is never read" },
        { handlers = { x = function() return 1 end, y = function() return 2 end } })
      assert.same({}, loaded.problems)
      assert.equal(1, loaded.handlers.x())
      assert.equal(2, loaded.handlers.y())
    end)
  end)

  describe("types of batches", function()
    it("are definitions under batch/", function()
      local row = only {
        ["batches/resize.lua"] = [[return { invocations = 10, retry = "PT1M", run = print }]],
      }
      assert.equal("batch/resize", row.name)
      assert.equal("batches/resize.lua", row.file)
      assert.equal(10, row.invocations)
      assert.equal("PT1M", row.retry)
    end)

    it("are given the ids and the config", function()
      local _, loaded = only { ["batches/x.lua"] = [[return function(...) return ... end]] }
      local job = { batch = 3, payload = { ids = { 1, 2 } }, config = { size = 5 } }
      assert.same({ job, { 1, 2 }, { size = 5 } }, { loaded.handlers["batch/x"](job) })
    end)

    it("refuse jobs that are of no batch, for good", function()
      local _, loaded = only { ["batches/x.lua"] = [[return function() end]] }
      local _, raised = pcall(loaded.handlers["batch/x"], { payload = {} })
      assert.same({ message = "not a job of a batch", permanent = true }, raised)
    end)
  end)

  describe("listeners", function()
    local setting = [[return function(d) d.retry = d.retry or d.properties.cycle end]]

    it("change definitions", function()
      local row = only {
        ["handlers/x.lua"] = [[return { properties = { cycle = "PT8M" }, run = function() end }]],
        ["listeners/cycle.lua"] = setting,
      }
      assert.equal("PT8M", row.retry)
    end)

    it("go before the setting", function()
      local row = only({
        ["handlers/x.lua"] = [[return { properties = { cycle = "PT8M" }, run = function() end }]],
        ["listeners/cycle.lua"] = setting,
      }, { retry = "PT1M" })
      assert.equal("PT8M", row.retry)
    end)

    it("do not go before the handler's own retry", function()
      local row = only {
        ["handlers/x.lua"] = [[return { retry = "PT1M", run = function() end }]],
        ["listeners/all.lua"] = [[return function(d) d.retry = "PT8M" end]],
      }
      assert.equal("PT1M", row.retry)
    end)

    it("see the folder's own definitions, unless they ask for all", function()
      local files = {
        ["handlers/x.lua"] = FINE,
        ["handlers/noop.lua"] = FINE,
        ["batches/y.lua"] = FINE,
        ["listeners/own.lua"] = [[return function(d) d.category = tostring(d.stock) end]],
        ["listeners/some.lua"] = [[return { all = false, run = function(d) d.timeout = 5 end }]],
        ["listeners/all.lua"] = [[return { all = true, run = function(d) d.priority = 7 end }]],
      }
      local natives = scripts.natives(files)
      natives.stock["handlers/noop.lua"] = true
      local loaded = require("moonshift.folder").load(natives, { borrowed = true, timeout = 300 })
      assert.same({}, loaded.problems)
      local seen = {}
      for _, row in ipairs(loaded.definitions) do
        seen[row.name] = { row.category, row.timeout, row.priority }
      end
      assert.same({
        x = { "nil", 5, 7 },
        ["batch/y"] = { "nil", 5, 7 },
        noop = { nil, 300, 7 },
      }, seen)
    end)

    it("are called in the order of their names", function()
      local row = only {
        ["handlers/x.lua"] = FINE,
        ["listeners/b.lua"] = [[return function(d) d.category = d.category .. "b" end]],
        ["listeners/a.lua"] = [[return function(d) d.category = "a" end]],
      }
      assert.equal("ab", row.category)
    end)
  end)

  describe("problems", function()
    local function refused(title, files, ...)
      local expected = { ... }
      it(title, function()
        assert.same(expected, scripts.problems(files))
      end)
    end

    refused("name file and line of a syntax error", { ["handlers/x.lua"] = "local a\nlocal = 5" },
      "handlers/x.lua:2: <name> expected near '='")

    refused("name the file that broke, once, not those that require it", {
      ["handlers/x.lua"] = [[require "lib.m" return function() end]],
      ["handlers/y.lua"] = [[require "lib.m" return function() end]],
      ["lib/m.lua"] = "\nerror('no database')",
    }, "lib/m.lua:2: no database")

    refused("say what a handler must be", { ["handlers/x.lua"] = "return 5" },
      'handlers/x.lua:1: returned 5 (expected a function, or a table with a function "run")')

    refused("miss run", { ["handlers/x.lua"] = "return {}" },
      "handlers/x.lua:1: run is missing (expected a function)")

    refused("suggest a key and name its line", {
      ["handlers/x.lua"] = "return {\n  -- tmeout = 5\n  tmeout = 5,\n  run = function() end }",
    }, 'handlers/x.lua:3: unknown key "tmeout" (did you mean "timeout"?)')

    refused("list the keys where none is near", {
      ["handlers/x.lua"] = "return {\n  colour = 5,\n  run = function() end }",
    }, 'handlers/x.lua:2: unknown key "colour" (known: run, priority, retry, timeout, category,'
      .. " retries, limit, rate, properties, description, unique, on_conflict, unique_for,"
      .. " backlog)")

    refused("are all told", {
      ["handlers/x.lua"] = "return { timeout = 0,\n retries = 0,\n category = '',\n"
        .. " properties = { 1 },\n run = function() end }",
    }, "handlers/x.lua:2: retries: got 0 (expected a whole number from 1)",
      "handlers/x.lua:1: timeout: got 0 (expected more than 0 seconds)",
      'handlers/x.lua:3: category "": expected 1 to 255 bytes of text',
      "handlers/x.lua:4: properties: got a list (expected names for keys)")

    refused("say what a limit may be", {
      ["handlers/a.lua"] = "return { run = print, limit = 0 }",
      ["handlers/b.lua"] = "return { run = print, limit = { clutser = 1 } }",
      ["handlers/c.lua"] = "return { run = print, limit = { cluster = 'two' } }",
    }, "handlers/a.lua:1: limit: got 0 (expected a whole number from 1, or { cluster = 5 })",
      'handlers/b.lua:1: limit: unknown key "clutser" (did you mean "cluster"?)',
      'handlers/c.lua:1: limit.cluster: got the string "two" (expected a whole number from 1)')

    refused("name the cycle of a cyclic require", {
      ["handlers/x.lua"] = [[local a = require "lib.a" return a]],
      ["lib/a.lua"] = [[local b = require "lib.b" return b]],
      ["lib/b.lua"] = [[local a = require "lib.a" return a]],
    }, "lib/b.lua:1: cyclic require: lib.a -> lib.b -> lib.a")

    refused("name a listener that raises, once", {
      ["handlers/x.lua"] = FINE,
      ["handlers/y.lua"] = FINE,
      ["listeners/l.lua"] = "return function(d) error('not ' .. d.name) end",
    }, "listeners/l.lua:1: not x")

    refused("blame the listener for a value it set", {
      ["handlers/x.lua"] = FINE,
      ["listeners/l.lua"] = "return function(d)\n d.category = 5 end",
    }, 'listeners/l.lua:2: category: got 5 (expected a text), set for "x"')

    refused("refuse what a listener invents", {
      ["handlers/x.lua"] = FINE,
      ["listeners/l.lua"] = "return function(d)\n d.prioritty = 1\n d.name = 'y' end",
    }, 'listeners/l.lua:1: name: got the string "y" (a name is its path), set for "x"',
      'listeners/l.lua:2: unknown key "prioritty" (did you mean "priority"?), set for "x"')

    refused("are told once of a listener, however many definitions it meets", {
      ["handlers/x.lua"] = FINE,
      ["handlers/y.lua"] = FINE,
      ["handlers/z.lua"] = FINE,
      ["listeners/l.lua"] = "return function(d)\n d.prioritty = 1\n d.category = 5 end",
    }, 'listeners/l.lua:2: unknown key "prioritty" (did you mean "priority"?), set for "x" and 2 '
      .. "others",
      'listeners/l.lua:3: category: got 5 (expected a text), set for "x" and 2 others')

    refused("say what a listener must be", {
      ["listeners/a.lua"] = "return 5",
      ["listeners/b.lua"] = "return { all = true }",
      ["listeners/c.lua"] = "return {\n al = true, run = print }",
      ["listeners/d.lua"] = "return { all = 1, run = print }",
    }, 'listeners/a.lua:1: returned 5 (expected a function, or a table with a function "run")',
      "listeners/b.lua:1: run is missing (expected a function)",
      'listeners/c.lua:2: unknown key "al" (did you mean "all"?)',
      "listeners/d.lua:1: all: got 1 (expected true or false)")

    refused("refuse a priority that the store cannot ask for", {
      ["batches/x.lua"] = "return { run = print,\n priority = function() return 5 end }",
      ["batches/y.lua"] = "return { run = print,\n priority = '${rank}' }",
      ["batches/z.lua"] = "return { run = print, priority = '${5}' }",
    }, "batches/x.lua:2: priority: expected a whole number (the store makes these jobs and calls "
      .. "no function)",
      "batches/y.lua:2: priority: expected a whole number (the store makes these jobs and calls "
      .. "no function)")

    refused("name what a type of batches lacks, or has too much", {
      ["batches/x.lua"] = "return {}",
      ["batches/y.lua"] = "return { run = print,\ninvocatons = 5 }",
      ["batches/z.lua"] = "return { run = print,\ninvocations = 0 }",
    }, "batches/x.lua:1: run is missing (expected a function)",
      'batches/y.lua:2: unknown key "invocatons" (did you mean "invocations"?)',
      "batches/z.lua:2: invocations: got 0 (expected a whole number from 1 to 1000)")

    refused("know invocations for batches alone", {
      ["handlers/x.lua"] = "return { run = print, invocations = 5 }",
    }, 'handlers/x.lua:1: unknown key "invocations" (known: run, priority, retry, timeout, '
      .. "category, retries, limit, rate, properties, description, unique, on_conflict, "
      .. "unique_for, "
      .. "backlog)")

    it("name the setting retry", function()
      assert.same({ '--retry: retry "zzz": no such file in retries/ and not a retry '
        .. 'configuration (expected one such as "R5/PT5M")' },
        scripts.problems({ ["handlers/x.lua"] = FINE }, { retry = "zzz", retry_label = "--retry" }))
    end)

    it("have one line for properties that are no table, though listeners read them", function()
      assert.same({ "handlers/x.lua:1: properties: got 5 (expected a table)" }, scripts.problems {
        ["handlers/x.lua"] = "return { properties = 5, run = function() end }",
        ["listeners/a.lua"] = "return function(d) d.retry = d.properties.cycle end" })
    end)
  end)
end)
