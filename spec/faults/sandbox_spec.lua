-- What one handler can reach and change must not be there for the next one. A probe follows every
-- value, metatable and module that it comes to and leaves a mark in each table; the next run on the
-- same worker looks for the marks.
local process = require "spec.support.process"

local PROBE = [[
local probe = {}

local MARK = "probe of the run before"
local MODULES = { "moonshift", "moonshift.process", "moonshift.retry", "moonshift.rules",
  "moonshift.worker", "moonshift.sandbox", "moonshift.expression", "moonshift.expression.methods",
  "moonshift.process.calls", "moonshift.process.runtime", "lpeg", "string", "io", "os", "package",
  "debug", "_G", "table", "coroutine", "math", "utf8" }

local function try(fn, ...)
  local fine, value = pcall(fn, ...)
  if fine then return value end
end

local function follow(seen, list, value, path)
  local kind = type(value)
  if kind == "string" or kind == "userdata" or kind == "table" then
    local meta = try(getmetatable, value)
    if type(meta) == "table" then
      follow(seen, list, meta, path .. "<meta>")
    end
  end
  if kind ~= "table" or seen[value] then return end
  seen[value] = true
  list[#list + 1] = { value, path }
  local names = {}
  pcall(function() for key in pairs(value) do names[#names + 1] = key end end)
  pcall(function() for key in next, value do names[#names + 1] = key end end)
  for _, name in ipairs(names) do
    follow(seen, list, name, path .. "<key>")
    follow(seen, list, try(function() return value[name] end), path .. "." .. tostring(name))
  end
end

-- Says which of the tables behind `roots` have the mark of an earlier run, and marks all.
function probe.run(roots)
  local seen, list, found = { [probe] = true }, {}, {}
  roots.globals = _G
  for _, name in ipairs(MODULES) do
    roots[name] = try(require, name)
  end
  roots.file = io.stdout
  roots.text = ""
  roots.null = require "moonshift".null
  roots.array = require "moonshift".array {}
  roots.pattern = try(function() return require "lpeg".P "a" end)
  local names = {}
  for name in pairs(roots) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    follow(seen, list, roots[name], name)
  end
  for _, entry in ipairs(list) do
    local target, path = entry[1], entry[2]
    if try(rawget, target, MARK) then found[#found + 1] = path end
    pcall(function() target[MARK] = true end)
    pcall(rawset, target, MARK, true)
    pcall(table.insert, target, MARK)
    pcall(function() target.__index = target.__index end)
  end
  return found, #list
end

return probe
]]

local WORDS = "local step, task, choose, parallel, each, receive, call = "
  .. 'require "moonshift.process".words()\n'

local FILES = {
  ["lib/probe.lua"] = PROBE,
  ["handlers/plain.lua"] = [[
local probe = require "lib.probe"
return {
  retry = function(job, failure)
    local found = probe.run { job = job, failure = failure }
    if job.attempt > 1 then print("FOUND", table.concat(found, " ")) end
    return "PT0S"
  end,
  run = function(job)
    local found, count = probe.run { job = job, payload = job.payload, engine = job.engine,
      query = job.engine.jobs and job.engine:jobs() }
    print("FOUND", table.concat(found, " "))
    assert(count > 3)
    if job.payload.fails and job.attempt < 3 then error("again", 0) end
  end,
}]],
  ["hooks/all.lua"] = [[
local probe = require "lib.probe"
return { ended = function(event)
  local found = probe.run { event = event }
  if #found > 0 then error("FOUND " .. table.concat(found, " "), 0) end
end }]],
  ["beans/bean.lua"] = [[
local probe = require "lib.probe"
local bean = {}
function bean:look(thing)
  local found = probe.run { thing = thing }
  if #found > 0 then error("FOUND " .. table.concat(found, " "), 0) end
  return 1
end
return bean]],
  ["handlers/inside.lua"] = [[
local probe = require "lib.probe"
return function(job)
  local fine, thrown = pcall(job.throw, job, "code", "text")
  local found = probe.run { job = job, variables = job.variables,
    thrown = not fine and thrown or nil }
  print("FOUND", table.concat(found, " "))
end]],
  ["processes/p.lua"] = WORDS .. [[return {
    step "a" { run = "inside", async = true },
    step "b" { expression = "${bean.look(execution)}", async = true },
    step "c" { run = "inside", async = true, input = { x = "${bean.look(y)}" } },
  }]],
}

describe("what a run can reach", function()
  local dir

  before_each(function()
    dir = process.folder(FILES)
  end)

  after_each(function()
    process.remove(dir)
  end)

  local function moonshift(...)
    local status, output, errors = process.moonshift(...)
    assert.equal(0, status, errors)
    return output, errors
  end

  it("is as it was for the next run on its worker", function()
    local store = { "--store", "sqlite:" .. dir .. "/jobs.db", "-C", dir }
    local function with(...)
      local words = { ... }
      table.move(store, 1, #store, #words + 1, words)
      return table.unpack(words)
    end
    for _ = 1, 3 do
      moonshift(with("enqueue", "plain", '{"list":[1,2],"map":{"a":1},"fails":true}'))
      moonshift(with("process", "start", "p", "y=why"))
    end
    local _, log = moonshift(with("run", "--drain", "--workers", "1"))
    local lines = moonshift("log", "--store", store[2], "--columns", "handler,outcome,lines",
      "--limit", "100", "--json")
    assert.is_nil((log .. lines):match "FOUND [^\"\n]*%S")
    assert.is_nil(lines:match 'FOUND\\t[^"]+', (lines:match 'FOUND\\t[^"]+'))
    assert.equal(15, select(2, lines:gsub("FOUND", "")), lines .. log)
  end)
end)
