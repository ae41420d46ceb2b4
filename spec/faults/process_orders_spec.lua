-- Commands to processes from where the script folder is not: a job does each, on an executor that
-- has the folder.
local executors = require "spec.support.executors"
local process = require "spec.support.process"
local rules = require("moonshift.core").rules

local files = {
  ["processes/order.lua"] = [[
    local process = require "moonshift.process"
    return {
      process.task "approve" {},
      process.step "book" { run = "book" },
      process.receive "delivered" { message = "parcel", key = "${order}" },
      process.receive "filed" {},
    }]],
  ["handlers/book.lua"] = [[return function(job)
    if not job.variables.fine then error("not fine", 0) end
    job.variables.folder = "executor's"
  end]],
  ["moonshift.lua"] = 'return { failed_job_wait = "PT0S" }',
}

describe("a command without the script folder", function()
  local place

  before_each(function()
    place = executors.place(files)
    place.moonshift("process", "start", "order", "order=1", "--key", "first", "-C", place.path)
  end)

  after_each(function()
    place.remove()
  end)

  local function outside(...)
    return process.run("cd / && " .. process.command("--store", place.url, ...))
  end

  local function good(...)
    local status, output, errors = outside(...)
    assert.equal(0, status, errors)
    return output, errors
  end

  local function answer(...)
    return rules.decode((good(...)))
  end

  local function refusal(...)
    local status, output, errors = outside(...)
    assert.equal("", output)
    return ("%d %s"):format(status, errors)
  end

  local function task()
    return tostring(answer("task", "list", "--json")[1].id)
  end

  local function show(id)
    return answer("instance", "show", id, "--json")
  end

  it("is a job in the lane of the instance, and in the log of operations", function()
    local text, note = good("task", "complete", task(), "fine=true")
    local job = text:match "^job (%d+) does it, on an executor with the process\n$"
    assert.matches("no executor", note)
    local row = answer("job", "show", job, "--json")
    assert.same({ "process/order:command", "1", "1", "approve" },
      { row.handler, row.instance, row.lane, row.activity })
    assert.equal("approve", show("1").at[1].activity)
    local entry = answer("operations", "--instance", "1", "--verb", "complete", "--json")[1]
    assert.same({ "open", "by job " .. job }, { entry.old, entry.new })
    place.executor()
    good("job", "wait", job)
    assert.equal("delivered", show("1").at[1].activity)
    assert.equal("executor's", show("1").variables.folder)
  end)

  it("can be waited for, and leads an instance to its end", function()
    place.executor()
    local id = good("process", "start", "order", "order=7", "--key", "o-7", "--wait")
      :match "^(%d+)\n$"
    assert.equal("o-7", show(id).key)
    assert.equal(("instance %s changed\n"):format(id),
      good("instance", "set", id, "fine=true", "--wait"))
    local done = answer("task", "complete", tostring(answer("task", "list", "--instance", id,
      "--json")[1].id), "--wait", "--json")
    assert.same({ tonumber(id), "number" }, { done.instance, type(done.job) })
    assert.equal(("instance %s has the message\n"):format(id),
      good("message", "parcel", "--key", "7", "--wait"))
    assert.equal(("instance %s goes on\n"):format(id),
      good("instance", "trigger", id, "filed", "--wait"))
    assert.equal("completed", show(id).how)
    assert.equal("instance 1 cancelled\n", good("instance", "cancel", "1", "--wait"))
    assert.equal("cancelled", show("1").how)
  end)

  it("tells who waits of the first failure, and that the time is up", function()
    local pid = place.executor()
    local first = task()
    local told = refusal("task", "complete", first, "--wait")
    assert.matches("^1 moonshift: job %d+ has no retries left %(incident %d+, failedJob%): not "
      .. "fine\n", told)
    assert.equal(first, task())
    place.stop(pid)
    assert.matches("^1 .*\nmoonshift: time is up: 1 job has not ended, job %d+ first\n$",
      (refusal("task", "complete", first, "fine=true", "--wait", "--timeout", "0")))
  end)

  it("fails for good if what it is for has gone meanwhile", function()
    local first = task()
    good("task", "complete", first, "fine=true")
    local job = good("task", "complete", first, "fine=true"):match "%d+"
    place.executor()
    local status = outside("job", "wait", job)
    assert.equal(1, status)
    assert.matches(("has no retries left %%(incident %%d+, failedJob%%): instance 1: the task %s "
      .. "waits no longer"):format(first), (good("job", "why", job)))
    assert.equal(1, answer("job", "show", job, "--json").attempt)
  end)

  it("is refused at once where the walk would refuse it", function()
    good("instance", "suspend", "1")
    local suspended = "5 moonshift: instance 1 is suspended"
    assert.equal(suspended .. "\n", refusal("instance", "set", "1", "a=1"))
    assert.equal(suspended .. " (expected the script folder here, or --now)\n",
      refusal("instance", "cancel", "1"))
    good("process", "suspend", "order")
    assert.equal("5 moonshift: the process is suspended\n", refusal("process", "start", "order"))
    assert.equal('4 moonshift: no process "oder" is deployed\n',
      refusal("process", "start", "oder"))
    assert.equal("4 moonshift: no task 99 that is open\n", refusal("task", "complete", "99"))
    assert.equal("2 moonshift: --now and --wait: expected one of them\n",
      refusal("task", "complete", "99", "--now", "--wait"))
    assert.equal("2 moonshift: --timeout: expected --wait with it\n",
      refusal("task", "complete", "99", "--timeout", "1"))
  end)

  it("is done by the store's deployment with --now", function()
    assert.equal("task completed; instance 1 goes on\n",
      good("task", "complete", task(), "fine=true", "--now"))
    assert.equal("delivered", show("1").at[1].activity)
    assert.equal("instance 1 changed\n", good("instance", "set", "1", "a=1", "--now"))
    assert.equal("instance 1 cancelled\n", good("instance", "cancel", "1", "--now"))
  end)

  it("and one with an older folder than a live executor's is a job, too", function()
    local base = process.folder()
    local older = base .. "/" .. place.path:match "[^/]+$"
    os.execute(("cp -r %s %s && rm -f %s/jobs.db*"):format(process.quote(place.path),
      process.quote(older), process.quote(older)))
    place.write("handlers/book.lua", 'return function(job) job.variables.folder = "newer" end')
    place.executor()
    local _, output = process.moonshift("task", "complete", task(), "fine=true", "--store",
      place.url, "-C", older)
    process.remove(base)
    good("job", "wait", output:match "^job (%d+) does it")
    assert.equal("newer", show("1").variables.folder)
  end)
end)
