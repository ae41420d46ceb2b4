-- What a process is told, by commands, handlers and its own expressions, is never left out: a value
-- of another type is refused with field, value and what is expected. A key that is an integer is
-- its text.
local engines = require "spec.support.engines"
local process = require "moonshift.process"
local testing = require "moonshift.testing"

local function opened(list, handlers)
  return testing.engine {
    modules = { ["moonshift.process"] = process },
    handlers = handlers or {},
    scripts = engines.folder { ["processes/p.lua"] = list, ["processes/called.lua"] = [[
      local p = require "moonshift.process"
      return { p.receive "go" { message = "go" } }]] },
  }
end

local HEAD = [[
local p = require "moonshift.process"
local step, task, receive, call, wait = p.step, p.task, p.receive, p.call, p.wait
]]

local PAID = HEAD .. 'return { receive "paid" { message = "paid", key = "${order}" } }'

describe("a key that is an integer", function()
  after_each(engines.clean)

  it("is its text in starts, messages, lists and filters", function()
    local engine = opened(PAID)
    local one = assert(engine:start("p", { key = 5, variables = { order = 7 } }))
    assert.equal("5", engine:instance(one).key)
    assert.equal(1, engine:instances({ key = 5 }):count())
    assert.equal(one, assert(engine:correlate("paid", { key = 7 })))
    local two = assert(engine:start("p", { variables = { order = 8 } }))
    assert.same({ two }, engine:correlate { { "paid", { key = 8 } } })
  end)

  it("is its text in a message that is kept", function()
    local engine = opened(PAID)
    assert.equal(0, engine:correlate("paid", { key = 9, keep = "PT1H" }))
    assert.equal("9", engine:kept_messages():one().key)
    local id = assert(engine:start("p", { variables = { order = "9" } }))
    engine:drain()
    assert.same({}, engine:at(id))
  end)

  it("is its text in what a handler starts and sends", function()
    local started
    local engine = opened(HEAD .. 'return { step "a" { run = "make" } }', {
      make = function(job)
        started = job:start("called", { key = 5 })
      end,
    })
    assert(engine:start("p"))
    engine:drain()
    assert.equal("5", engine:instance(math.tointeger(started)).key)
  end)
end)

describe("what a handler asks for", function()
  after_each(engines.clean)

  it("is refused where it was written, if it is of another type", function()
    local said = {}
    local function try(job, method, ...)
      said[#said + 1] = select(2, pcall(job[method], job, ...))
    end
    local engine = opened(HEAD .. 'return { step "a" { run = "make" } }', {
      make = function(job)
        try(job, "start", "called", { key = {} })
        try(job, "start", "called", { version = "first" })
        try(job, "start", "called", { variable = {} })
        try(job, "start", { { "called", { key = true } } })
        try(job, "start", 5)
        try(job, "correlate", "go", { key = 1.5 })
        try(job, "correlate", "go", { keep = {} })
        try(job, "correlate", "go", "now")
        try(job, "correlate", "")
      end,
    })
    assert(engine:start("p"))
    engine:drain()
    for i, expected in ipairs {
      "job:start: key is a table (expected a text or an integer)",
      'job:start: version is the string "first" (expected an integer)',
      'job:start: unknown key "variable" (did you mean "variables"?)',
      "job:start: key is true (expected a text or an integer)",
      "job:start: got 5 (expected a name)",
      "job:correlate: key is 1.5 (expected a text or an integer)",
      'job:correlate: keep is a table (expected seconds or a duration such as "PT5M")',
      'job:correlate is the string "now" (expected a table)',
      'job:correlate: got the string "" (expected a name)',
    } do
      assert.equal(expected, (tostring(said[i]):gsub("^[^ ]+:%d+: ", "")))
    end
  end)
end)

-- Each is an expression with a value that it must not have, and what is said of it.
local EXPRESSIONS = {
  { 'task "a" { due = "${v}" }', "soon",
    'a: the due date of the task is the string "soon" (expected a time or a span)' },
  { 'task "a" { due = "${v}" }', 7,
    "a: the due date of the task is 7 (expected a time or a span)" },
  { 'task "a" { due = "${v}" }', true,
    "a: the due date of the task is true (expected a time or a span)" },
  { 'task "a" { task_priority = "${v}" }', "high",
    'a: the priority of the task is the string "high" (expected a whole number)' },
  { 'task "a" { task_priority = "${v}" }', 1.5,
    "a: the priority of the task is 1.5 (expected a whole number)" },
  { 'task "a" { task_priority = "${v}" }', true,
    "a: the priority of the task is true (expected a whole number)" },
  { 'task "a" { assignee = "${v}" }', { 1 },
    "a: the assignee of the task is a table (expected a text)" },
  { 'task "a" { assignee = "${v}" }', true,
    "a: the assignee of the task is true (expected a text)" },
  { 'task "a" { candidates = { groups = "${v}" } }', true,
    "a: a candidate of the task is true (expected a text)" },
  { 'task "a" { candidates = { users = "${v}" } }', { ann = true },
    "a: a candidate of the task is a table (expected a text)" },
  { 'call "a" { process = "called", binding = "versionTag", version = "${v}" }', true,
    "a: the version tag true of the process called (expected a text)" },
  { 'call "a" { process = "called", binding = "versionTag", version = "${v}" }', 7,
    'a: process "called" has no version tagged "7"' },
  { 'wait "a" { at = "${v}" }', 7, "a: the timer is 7 (expected a text such as PT5M)" },
  { 'receive "a" { message = "${v}" }', 5, "a: the message is called 5 (expected a text)" },
  { 'receive "a" { message = "m", key = "${v}" }', { 1 },
    "a: the key of the message is a table (expected a text)" },
  { 'call "a" { process = "${v}" }', 5, "a: the called process is 5 (expected its key)" },
  { 'call "a" { process = "called", key = "${v}" }', { 1 },
    "a: the key of the called instance is a table (expected a text)" },
  { 'wait "a" { after = "${v}" }', 90, "a: the timer is 90 (expected a text such as PT5M)" },
  { 'wait "a" { after = "${v}" }', "-PT1H", 'a: duration "-PT1H"' },
  { 'wait "a" { after = "${v}" }', "", 'a: duration ""' },
  { 'wait "a" { at = "${v}" }', "2026-13-01", 'a: time "2026-13-01"' },
  { 'step "a" { run = "none", priority = "${v}", async = true }', "high",
    'the priority ${v} is the string "high" (expected a whole number)' },
}

describe("an expression of a model", function()
  after_each(engines.clean)

  for _, one in ipairs(EXPRESSIONS) do
    it(("that gives %s is refused: %s"):format(tostring(one[2]), one[1]), function()
      local engine = opened(HEAD .. "return { " .. one[1] .. " }", { none = function() end })
      local id, message = engine:start("p", { variables = { v = one[2] } })
      assert.is_nil(id, "it was left out")
      assert.truthy(message:find(one[3], 1, true), message)
    end)
  end
end)

describe("the people of a task", function()
  after_each(engines.clean)

  it("are cut at the commas first, and then read one by one", function()
    local engine = opened(HEAD .. [[return { task "a" { assignee = "${boss}",
      candidates = { users = "ann, ${users}", groups = "board, ${groups}, ${'x,y'}" } } }]])
    assert(engine:start("p", { variables = { boss = 1001, users = { "c", 4 },
      groups = { "g 1", "g2" } } }))
    local row = engine:tasks():one()
    assert.equal("1001", row.assignee)
    assert.same({ users = { "ann", "c", "4" }, groups = { "board", "g 1", "g2", "x", "y" } },
      { users = row.candidates.users, groups = row.candidates.groups })
    assert.equal(1, engine:tasks({ candidate = "c" }):count())
  end)
end)
