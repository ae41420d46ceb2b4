-- What is no data does not become a variable: the message names file, activity and variable.
local engines = require "spec.support.engines"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local BAD = {
  { "print", "a function" }, { "io.stdout", "a userdata" },
  { "coroutine.create(print)", "a thread" },
  { "0/0", "nan" }, { "1/0", "inf" }, { "-1/0", "-inf" },
  { [["\xff"]], "a text that is not UTF-8" }, { [["a\0b"]], "a text with a zero byte" },
  { [[{ a = { "\xff" } }]], "a text that is not UTF-8" },
  { [[{ ["\xff"] = 1 }]], "a text that is not UTF-8" },
  { "{ 1, 2, a = 3 }", "a table that is neither a list nor has names alone" },
  { "{ [1] = 1, [3] = 2 }", "a table that is neither a list nor has names alone" },
  { "{ [0] = 1 }", "a table that is neither a list nor has names alone" },
  { "{ [true] = 1 }", "a table with the key true" },
  { "{ [1.5] = 1 }", "a table with the key 1.5" },
  { "{ a = { b = print } }", "a function" },
  { "(function() local t = {} t.t = t return t end)()",
    "more than 100 tables in each other, or one in itself" },
}

local WAYS = {
  { "set", [[step "s" { run = "HANDLER", async = true }]], "job.variables.x = VALUE" },
  { "set local", [[step "s" { run = "HANDLER", async = true }]], 'job:set_local("x", VALUE)' },
  { "set for the walk", [[step "s" { run = "HANDLER", async = true }]],
    'job:set_transient("x", VALUE)' },
  { "result", [[step "s" { run = "HANDLER", result = "x", async = true }]], "return VALUE" },
  { "input", [[step "s" { run = "HANDLER", async = true,
    input = { x = function() return VALUE end } }]], "" },
  { "output", [[step "s" { run = "HANDLER", async = true,
    output = { x = function() return VALUE end } }]], "" },
}

local function fill(text, value, handler)
  return (text:gsub("VALUE", function()
    return value
  end):gsub("HANDLER", handler))
end

-- The folder with each value in each way: "v1w1", …
local function folder_of()
  local files = { ["processes/key.lua"] = [[return {
      require("moonshift.process").task "look" { assignee = "${name}" } }]] }
  for v, bad in ipairs(BAD) do
    for w, way in ipairs(WAYS) do
      local name = ("v%dw%d"):format(v, w)
      files["processes/" .. name .. ".lua"] = 'local step = require "moonshift.process".step\n'
        .. "return {\n" .. fill(way[2], bad[1], name) .. "\n}"
      files["handlers/" .. name .. ".lua"] = "return function(job)\n"
        .. fill(way[3], bad[1], name) .. "\nend"
    end
  end
  return process.folder(files)
end

describe("a value that is no data", function()
  local folder, engine

  setup(function()
    folder = folder_of()
    engine = testing.engine { scripts = folder, retries = 1 }
  end)

  teardown(function()
    engines.clean()
    process.remove(folder)
  end)

  for w, way in ipairs(WAYS) do
    it(("is refused as %s"):format(way[1]), function()
      for v, bad in ipairs(BAD) do
        local name = ("v%dw%d"):format(v, w)
        local id = assert(engine:start(name))
        engine:drain()
        local message = engine:jobs({ instance = tostring(id) }):one().message
        assert.equal(("processes/%s.lua:3: s: the variable x: cannot keep %s "
          .. "(expected nil, boolean, number, text or table)"):format(name, bad[2]),
          (message:gsub("%-nan", "nan")))
      end
    end)
  end

  it("is refused as a command's variable, and as a name", function()
    for _, variables in ipairs { { x = "\xff" }, { ["\xff"] = 1 }, { x = print } } do
      local id, message = select(2, pcall(engine.start, engine, "key", { variables = variables }))
      assert.truthy(id == nil and message or id)
    end
    local id, message = engine:start("key", { variables = { name = "\xff" } })
    assert.is_nil(id)
    assert.truthy(message:find("UTF-8", 1, true), message)
    assert.equal(0, engine:tasks():count())
  end)
end)
