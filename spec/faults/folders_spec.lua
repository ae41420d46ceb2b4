-- Broken script folders: `check` and `run` name the file or key, the line, the value and what was
-- expected.
local process = require "spec.support.process"

local fine = "return function() end\n"

-- name, files, what the message has to name
local cases = {
  { "a syntax error", { ["handlers/a.lua"] = "return function(job)\n  x = = 1\nend\n" },
    { "handlers/a.lua:2:", "unexpected symbol near '='" } },
  { "an unfinished file", { ["handlers/a.lua"] = "return function(job)\n" },
    { "handlers/a.lua:2:", "'end' expected" } },
  { "a handler that returns nothing", { ["handlers/a.lua"] = "local x = 1\n" },
    { "handlers/a.lua", "nothing", "function" } },
  { "a handler that returns a text", { ["handlers/a.lua"] = "return 'run'\n" },
    { "handlers/a.lua", "string", "function" } },
  { "a handler table without run", { ["handlers/a.lua"] = "return { retry = 'PT1M' }\n" },
    { "handlers/a.lua", "run", "function" } },
  { "a handler whose run is no function", { ["handlers/a.lua"] = "return { run = 5 }\n" },
    { "handlers/a.lua", "run", "5", "function" } },
  { "an unknown key",
    { ["handlers/a.lua"] = "return {\n  prioritty = 5,\n  run = function() end }\n" },
    { "handlers/a.lua:2:", "prioritty", "did you mean \"priority\"" } },
  { "an unknown retry name",
    { ["handlers/a.lua"] = "return {\n  retry = 'patinet',\n  run = function() end }\n" },
    { "handlers/a.lua:2:", "patinet", "did you mean \"patient\"" } },
  { "a bad retry text",
    { ["handlers/a.lua"] = "return {\n  retry = 'R5/PT5X',\n  run = function() end }\n" },
    { "handlers/a.lua:2:", "R5/PT5X" } },
  { "a retry list with a hole",
    { ["handlers/a.lua"] = "return {\n  retry = 'PT1M,,PT2M',\n  run = function() end }\n" },
    { "handlers/a.lua:2:", "PT1M,,PT2M" } },
  { "a retry of the wrong kind",
    { ["handlers/a.lua"] = "return {\n  retry = true,\n  run = function() end }\n" },
    { "handlers/a.lua:2:", "retry", "true" } },
  { "an unknown priority name",
    { ["handlers/a.lua"] = "return {\n  priority = 'by_size',\n  run = function() end }\n" },
    { "handlers/a.lua:2:", "by_size", "priorities/" } },
  { "a fractional priority",
    { ["handlers/a.lua"] = "return {\n  priority = 1.5,\n  run = function() end }\n" },
    { "handlers/a.lua:2:", "1.5", "whole number" } },
  { "a bad timeout",
    { ["handlers/a.lua"] = "return {\n  timeout = '30 seconds',\n  run = function() end }\n" },
    { "handlers/a.lua:2:", "timeout", "30 seconds" } },
  { "a negative timeout",
    { ["handlers/a.lua"] = "return {\n  timeout = -1,\n  run = function() end }\n" },
    { "handlers/a.lua:2:", "timeout", "-1" } },
  { "an assigned global", { ["handlers/a.lua"] = "local y\ncounter = 1\n" .. fine },
    { "handlers/a.lua:2:", "cannot set global \"counter\" (declare it local)" } },
  { "an unknown global", { ["handlers/a.lua"] = "\nprnt('x')\n" .. fine },
    { "handlers/a.lua:2:", "unknown global \"prnt\"" } },
  { "an error while loading", { ["handlers/a.lua"] = "\n\nerror('no database')\n" },
    { "handlers/a.lua:3:", "no database" } },
  { "an endless loop while loading", { ["handlers/a.lua"] = "while true do end\n" },
    { "handlers/a.lua" }, endless = true },
  { "a binary chunk", { ["handlers/a.lua"] = string.dump(function() end) },
    { "handlers/a.lua", "binary" } },
  { "a missing module", { ["handlers/a.lua"] = "local m = require 'lib.mial'\n" .. fine,
    ["lib/mail.lua"] = "return {}\n" }, { "handlers/a.lua:1:", "lib.mial" } },
  { "a cyclic require", { ["handlers/a.lua"] = "local m = require 'lib.a'\n" .. fine,
    ["lib/a.lua"] = "return require 'lib.b'\n", ["lib/b.lua"] = "return require 'lib.a'\n" },
    { "lib.a", "lib.b", "cycl" } },
  { "a priority file that returns a number", { ["handlers/a.lua"] = fine,
    ["priorities/p.lua"] = "return 50\n" }, { "priorities/p.lua", "50", "function" } },
  { "a retry file that returns a number", { ["handlers/a.lua"] = fine,
    ["retries/r.lua"] = "return {}\n" }, { "retries/r.lua", "table", "function" } },
  { "a listener that raises", { ["handlers/a.lua"] = fine,
    ["listeners/l.lua"] = "return function(d)\n  error('not ' .. d.name)\nend\n" },
    { "listeners/l.lua:2:", "not a" } },
  { "a listener that sets a bad retry", { ["handlers/a.lua"] = fine,
    ["listeners/l.lua"] = "return function(d) d.retry = 'R/oops' end\n" },
    { "listeners/l.lua", "R/oops" } },
  { "an unknown setting",
    { ["handlers/a.lua"] = fine, ["moonshift.lua"] = "return { wrokers = 4 }\n" },
    { "moonshift.lua", "unknown setting \"wrokers\"", "did you mean \"workers\"" } },
  { "a setting of the wrong kind", { ["handlers/a.lua"] = fine,
    ["moonshift.lua"] = "return { workers = 'many' }\n" },
    { "moonshift.lua", "workers", "many" } },
  { "a setting out of range", { ["handlers/a.lua"] = fine,
    ["moonshift.lua"] = "return { queue = 0 }\n" }, { "moonshift.lua", "queue", "0" } },
  { "a range upside down", { ["handlers/a.lua"] = fine,
    ["moonshift.lua"] = "return { priority_range = { 9, 1 } }\n" },
    { "priority_range", "9", "1" } },
  { "a bad span", { ["handlers/a.lua"] = fine,
    ["moonshift.lua"] = "return { lock_time = 'P5X' }\n" },
    { "moonshift.lua", "lock_time", "P5X" } },
  { "a global retry that names nothing", { ["handlers/a.lua"] = fine,
    ["moonshift.lua"] = "return { retry = 'patinet' }\n" }, { "retry", "patinet" } },
  { "settings that are no table", { ["handlers/a.lua"] = fine, ["moonshift.lua"] = "return 5\n" },
    { "moonshift.lua", "5", "table" } },
  { "settings with a syntax error", { ["handlers/a.lua"] = fine,
    ["moonshift.lua"] = "return {\n  workers 4 }\n" }, { "moonshift.lua:2:" } },
}

-- A sanitizer wants to be the first library itself.
local sanitized = process.run("ldd " .. process.command() .. " | grep -q 'lib[at]san'") == 0

local function found(text, part)
  return text:find(part, 1, true) ~= nil
end

describe("a broken folder", function()
  local dir

  after_each(function()
    process.remove(dir)
  end)

  -- Status and report of `check` and of `run`, side by side. Loading may take ten seconds. Where it
  -- has no end, the clock goes twenty times too fast.
  local function refused(endless)
    local clock = endless and not sanitized and "faketime -f '+0 x20' " or ""
    local check = clock .. process.command("check", dir) .. " >" .. dir .. "/report 2>&1; echo $?"
    local run = process.command("run", dir, "--drain", "--store", "sqlite:" .. dir .. "/jobs.db")
    local _, statuses, errors = process.run(("{ %s; } & %s; ran=$?; wait; echo $ran"):format(check,
      clock .. run))
    return statuses, process.read(dir .. "/report"), errors
  end

  for _, case in ipairs(cases) do
    local name, files, expected = table.unpack(case)

    it("with " .. name .. " is refused by check and run", function()
      dir = process.folder(files)
      local statuses, checked, ran = refused(case.endless)
      assert.equal("1\n78\n", statuses, checked .. ran)
      for _, part in ipairs(expected) do
        assert.is_true(found(checked, part), part .. " in " .. checked)
        assert.is_true(found(ran, part), part .. " in " .. ran)
      end
      assert.is_nil(io.open(dir .. "/jobs.db"))
    end)
  end
end)
