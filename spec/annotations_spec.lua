-- What an editor says of a host program that requires the module. The checker of a language server
-- is asked, where one is installed.
local pages = require "spec.support.pages"
local process = require "spec.support.process"
local source = require "spec.support.source"

local root = io.popen("pwd"):read("l")

-- Their command lines for a folder; they fail where a file in it has a warning.
local CHECKERS = {
  emmylua_check = "emmylua_check --warnings-as-errors --severity warn %s",
  ["lua-language-server"] = "lua-language-server --check=%s --checklevel=Warning --logpath=%s/log",
}

-- A program that opens an engine and then does this.
local function host(lines)
  return ([[
local moonshift = require "moonshift"
local engine = assert(moonshift.open { store = "sqlite:jobs.db", scripts = "." })
%s
engine:close()
]]):format(lines)
end

-- Warnings of a checker about one file that a program of a user could be: status and text.
local function check(line, text)
  local folder = process.folder {
    ["host.lua"] = text,
    [".luarc.json"] = ('{ "runtime.version": "Lua 5.4", "workspace.library": ["%s/lua"] }'):format(
      root),
  }
  local status, output, errors = process.run(line:gsub("%%s", process.quote(folder)))
  process.remove(folder)
  return status, output .. errors
end

local WRONG = {
  "moonshift.opne {}",
  "engine:enqueu('hello')",
  "engine:enqueue(7)",
  "engine:enqueue('hello', {}, { priority = 'high' })",
  "moonshift.executor { engines = engine }",
  "engine:jobs({ handler = {} }):sort(7)",
  "engine:jobs():each(function(job) print(job.payload, job.nonsense) end)",
}

local HANDLER = [[
---@type moonshift.handler
local handler = { rate = %s, run = function(job) job:log(job.%s) end }
return handler
]]

local RIGHT = [[
local id = assert(engine:enqueue("hello", { to = "you" }, { after = "PT5M", priority = 9 }))
engine:jobs({ handler = "hello" }):sort("due"):each(function(job)
  print(job.id, job.due, job.payload)
end)
local job, message, code = engine:job(id)
print(job and job.state, message, code == "not_found")
local clock = moonshift.clock.virtual("2026-01-01T00:00:00Z")
print(clock:advance("PT5M"), moonshift.json.encode({ moonshift.null }))
local probe = moonshift.testing.engine { handlers = { hello = function(run) run:log("hello") end } }
probe:advance(60)
local turns = assert(probe:drain())
print(turns.done + turns.failed)]]

describe("an editor", function()
  local line

  setup(function()
    for name, command in pairs(CHECKERS) do
      line = process.run("command -v " .. name) == 0 and command or line
    end
  end)

  it("has nothing to say about programs that are right", function()
    if not line then
      return pending("no emmylua_check and no lua-language-server here")
    end
    local page = pages.read("docs/module.md").text:match("```lua\n(.-)```")
    for _, text in ipairs { page, host(RIGHT), HANDLER:format('"3/PT1S"', "payload") } do
      local status, said = check(line, text)
      assert.equal(0, status, said)
    end
  end)

  it("sees what is wrong", function()
    if not line then
      return pending("no emmylua_check and no lua-language-server here")
    end
    local texts = { HANDLER:format(3, "payload"), HANDLER:format('"3/PT1S"', "pauload") }
    for i, wrong in ipairs(WRONG) do
      texts[i + 2] = host(wrong)
    end
    for _, text in ipairs(texts) do
      local status, said = check(line, text)
      assert.not_equal(0, status, text .. "\n" .. said)
    end
  end)

  -- What a function gives has no class, as setmetatable does.
  it("is given the class of each module", function()
    local count = 0
    for path in io.popen("grep -l -- '^---@class' lua/moonshift/*.lua"):lines() do
      local text = source.read(path)
      local given = text:match("\nreturn (%S+)[^\n]*\n$") or text:match("\n(return function)")
      assert.matches(path:find("/meta%.lua$") and "^nil$" or "^[%w_ ]+$", tostring(given), path)
      count = count + 1
    end
    assert.is_true(count > 10)
  end)
end)
