-- The verbs of the command line that start instances and go on with them.
local process = require "spec.support.process"
local rules = require("moonshift.core").rules

local WORDS = 'local step, task, _, _, _, receive = require "moonshift.process".words()\n'
local files = {
  ["processes/order.lua"] = WORDS .. [[return {
    task "approve" {},
    step "book" { run = "book" },
    receive "delivered" { message = "parcel", key = "${order}" },
    receive "filed" {},
  }]],
  ["processes/claim.lua"] = [[
    local process = require "moonshift.process"
    return { process.start "asked" { message = "claim" },
      process.receive "more" { message = "claim", each = { times = "2", parallel = true } } }]],
  ["processes/paid.lua"] = WORDS .. 'return { receive "wait" { message = "paid" } }',
  ["handlers/book.lua"] = [[return function(job)
    if not job.variables.fine then error("not fine", 0) end
  end]],
}

describe("the verbs that go on with processes", function()
  local folder

  before_each(function()
    folder = process.folder(files)
  end)

  after_each(function()
    process.remove(folder)
  end)

  local function run(...)
    local words = { ... }
    words[#words + 1] = "-C"
    words[#words + 1] = folder
    return process.run(process.command(table.unpack(words)))
  end

  local function good(...)
    local status, output, errors = run(...)
    assert.equal(0, status, errors)
    return output
  end

  local function answer(...)
    return rules.decode(good(...))
  end

  local function refusal(...)
    local status, output, errors = run(...)
    assert.equal("", output)
    return ("%d %s"):format(status, errors)
  end

  local function show(id)
    return answer("instance", "show", id, "--json")
  end

  it("start an instance, and lead it to its end", function()
    local id = good("process", "start", "order", "order=7", "--key", "o-7"):match "^(%d+)\n$"
    assert.equal("o-7", show(id).key)
    local task = tostring(answer("task", "list", "--json")[1].id)
    assert.equal("1 moonshift: not fine\n", refusal("task", "complete", task):match("^.-\n"))
    assert.equal("approve", show(id).at[1].activity)
    assert.equal(("instance %s changed\n"):format(id), good("instance", "set", id, "fine=true"))
    assert.equal(("task completed; instance %s goes on\n"):format(id),
      good("task", "complete", task))
    assert.equal(("instance %s has the message\n"):format(id),
      good("message", "parcel", "--key", "7", 'box={"kg":2}'))
    assert.equal(("instance %s goes on\n"):format(id),
      good("instance", "trigger", id, "filed", "place=a shelf"))
    local ended = show(id)
    assert.equal("completed", ended.how)
    assert.same({ order = 7, fine = true, box = { kg = 2 }, place = "a shelf" }, ended.variables)
  end)

  it("give a message to one of several that wait, or to a start event alone", function()
    local first = answer("message", "claim", "--json").instance
    local second = answer("message", "claim", "--starts", "--json").instance
    assert.not_equal(first, second)
    assert.truthy(refusal("message", "claim", "--instance", tostring(second))
      :find("5 moonshift: message \"claim\": expected one receiver, found 2", 1, true))
    local function give(place, status)
      local got, _, errors = run("message", "claim", "--instance", tostring(second), "--token",
        tostring(place.token))
      assert.equal(status, got, errors)
    end
    local at = show(tostring(second)).at
    give(at[2], 0)
    give(at[2], 4)
    give(at[1], 0)
    assert.equal("completed", show(tostring(second)).how)
    for _, token in ipairs { "3", "0" } do
      assert.truthy(refusal("message", "claim", "--token", token):find("2 moonshift: --token: "
        .. "expected --instance with it", 1, true))
    end
    assert.truthy(refusal("signal", "any", "--instance", "3", "--token", "0"):find("token 0: "
      .. "expected the number of a token", 1, true))
    assert.truthy(refusal("message", "claim", "--starts", "--instance", "3"):find("--starts does "
      .. "not go with", 1, true))
  end)

  it("give a message to the instance of a business key, or begin one with it", function()
    local ids = {}
    for i, key in ipairs { "a", "b" } do
      ids[i] = good("process", "start", "paid", "--key", key):match "%d+"
    end
    local said = refusal("message", "paid", "--key", "b")
    assert.truthy(said:find('; they wait for no key, so "b" means all of them (expected the '
      .. "business key of an instance: --business-key, business_key in Lua)", 1, true), said)
    assert.equal(("instance %s has the message\n"):format(ids[2]),
      good("message", "paid", "--business-key", "b"))
    assert.same({ "active", "completed" }, { show(ids[1]).state, show(ids[2]).state })
    local begun = answer("message", "claim", "--business-key", "c", "--json").instance
    assert.equal("c", show(begun).key)
    begun = answer("message", "claim", "--starts", "--business-key", "c", "--json").instance
    assert.equal("c", show(begun).key)
  end)

  it("say where a value is a text that begins as JSON", function()
    local _, _, errors = run("process", "start", "order", 'a={"x":1', "b=[1", 'c="x', "d=tru",
      'e={"x":1}', "order=1")
    local told = ""
    for name in ("abc"):gmatch "." do
      told = told .. ("warning: %s is a text: its value begins as JSON does, but cannot be read as "
        .. "JSON\n"):format(name)
    end
    assert.equal(told, errors)
  end)

  it("answer with the instance's id where a program asks", function()
    local id = answer("process", "start", "order", "--variables", '{"order":1,"fine":"no"}',
      "fine=true", "--json").instance
    assert.same({ order = 1, fine = true }, show(id).variables)
    assert.same({ instance = id },
      answer("instance", "cancel", id, "--reason", "ordered twice", "--json"))
    local ended = show(id)
    assert.same({ "cancelled", "ordered twice" }, { ended.how, ended.reason })
  end)

  it("show on standard error what handlers print, also before a failure", function()
    local file = io.open(folder .. "/handlers/book.lua", "w")
    file:write([[return function(job)
      print("books", job.key, "\27[31m")
      if not job.variables.fine then error("not fine", 0) end
    end]])
    file:close()
    good("process", "start", "order", "order=1", "--key", "o-1")
    local task = rules.decode(good("task", "list", "--json"))[1].id
    local status, output, errors = run("task", "complete", tostring(task))
    assert.same({ 1, "", "books\to-1\t\\u001b[31m\nmoonshift: not fine\n" },
      { status, output, errors })
    status, output, errors = run("task", "complete", tostring(task), "fine=true", "--json")
    assert.same({ 0, "{", "books\to-1\t\\u001b[31m\n" }, { status, output:sub(1, 1), errors })
  end)

  it("set variables of an instance or a place, and take them away", function()
    local id = good("process", "start", "order", "order=1", "days=3"):match "%d+"
    good("instance", "set", id, "days=4", "--unset", "order", "--unset", "none")
    good("instance", "set", id, "--unset", "days", "--activity", "approve")
    assert.falsy(good("instance", "show", id, "--json"):find '"days"')
    assert.truthy(refusal("instance", "set", id, "x=1", "--activity", "nowhere")
      :find("has no activity nowhere", 1, true))
  end)

  it("refuse what they cannot read or find", function()
    good("process", "start", "order", "order=1")
    assert.equal('2 moonshift: variable "x": expected name=value\n',
      refusal("process", "start", "order", "x"))
    assert.truthy(refusal("process", "start", "order", "--variables", "[]")
      :find("expected an object", 1, true))
    assert.equal('4 moonshift: no process "oder" is deployed\n',
      refusal("process", "start", "oder"))
    assert.equal('4 moonshift: process "order" has no version 2\n',
      refusal("process", "start", "order", "--version", "2"))
    assert.equal("2 moonshift: instance set: expected name=value\n",
      refusal("instance", "set", "1"))
    assert.equal("4 moonshift: no instance 99 that runs\n", refusal("instance", "cancel", "99"))
    assert.equal("4 moonshift: no task 99 that is open\n", refusal("task", "complete", "99"))
    assert.equal('4 moonshift: message "parcel": nothing waits for it\n',
      refusal("message", "parcel", "--key", "9"))
    assert.equal("2 moonshift: --all does not go with --instance, --starts and --keep\n",
      refusal("message", "parcel", "--all", "--starts"))
    assert.equal("4 moonshift: no process is started by a condition\n",
      refusal("conditions", "x=1"))
  end)

  it("complete several tasks with the same variables, or none", function()
    local tasks = {}
    for i = 1, 3 do
      local id = good("process", "start", "order", "order=" .. i):match "%d+"
      tasks[i] = tostring(answer("task", "list", "--instance", id, "--json")[1].id)
    end
    good("instance", "set", answer("task", "list", "--json")[1].instance, "fine=true")
    assert.truthy(refusal("task", "complete", tasks[1], tasks[2], "a=1")
      :find("1 moonshift: entry 2 of the list: not fine", 1, true))
    assert.truthy(refusal("task", "complete", tasks[1], "4711", "fine=true")
      :find("4 moonshift: entry 2 of the list: no task 4711 that is open", 1, true))
    assert.truthy(refusal("task", "complete", tasks[1], "fine=true", tasks[2])
      :find("expected name=value", 1, true))
    assert.truthy(refusal("task", "complete", tasks[1], tasks[2], "--wait")
      :find("2 moonshift: --wait: expected one id", 1, true))
    assert.equal(3, #answer("task", "list", "--json"))
    assert.equal("2 tasks completed\n", good("task", "complete", tasks[1], tasks[2], "fine=true"))
    local left = answer("task", "list", "--json")
    assert.same({ 1, tonumber(tasks[3]) }, { #left, left[1].id })
    good("process", "start", "order", "order=4")
    local more = answer("task", "list", "--json")
    local done = answer("task", "complete", tostring(more[1].id), tostring(more[2].id),
      "fine=true", "--json")
    assert.same({ more[1].instance, more[2].instance }, done.instances)
    assert.same({}, answer("task", "list", "--json"))
  end)

  it("begin several like those that have ended, or none", function()
    local ids = {}
    for i = 1, 3 do
      local _, id = run("process", "start", "paid")
      ids[i] = id:match "%d+"
      assert.equal(0, (run("instance", "cancel", ids[i])))
    end
    local status, output = run("instance", "restart", ids[1], ids[2], "--start-before", "wait",
      "n=1")
    assert.same({ 0, "2 instances restarted\n" }, { status, output })
    local text
    status, output, text = run("instance", "restart", ids[3], "4711", "--start-before", "wait")
    assert.same({ 4, "" }, { status, output })
    assert.matches("entry 2 of the list: no instance 4711 of a process", text, 1, true)
    status, output = run("instance", "restart", ids[2], ids[3], "--start-before", "wait", "--json")
    assert.equal(0, status)
    assert.equal(2, #rules.decode(output).instances)
    status, output, text = run("instance", "restart", ids[1], "x", "--start-before", "wait")
    assert.same({ 2, "" }, { status, output })
    assert.matches('id "x"', text, 1, true)
    status, output, text = run("instance", "restart", "--start-before", "wait", ids[1], ids[2])
    assert.same({ 2, "" }, { status, output })
    assert.matches('"%d+" behind an operation', text)
  end)
end)
