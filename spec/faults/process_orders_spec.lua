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
  local place, id

  before_each(function()
    place = executors.place(files)
    id = place.moonshift("process", "start", "order", "order=1", "--key", "first", "-C", place.path)
      :match "%d+"
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

  local function show(instance)
    return answer("instance", "show", instance, "--json")
  end

  it("is a job in the lane of the instance, and in the log of operations", function()
    local text, note = good("task", "complete", task(), "fine=true")
    local job = text:match "^job (%d+) does it, on an executor with the process\n$"
    assert.matches("no executor", note)
    local row = answer("job", "show", job, "--json")
    assert.same({ "process/order:command", id, id, "approve" },
      { row.handler, row.instance, row.lane, row.activity })
    assert.equal("approve", show(id).at[1].activity)
    local entry = answer("operations", "--instance", id, "--verb", "complete", "--json")[1]
    assert.same({ "open", "by job " .. job }, { entry.old, entry.new })
    place.executor()
    good("job", "wait", job)
    assert.equal("delivered", show(id).at[1].activity)
    assert.equal("executor's", show(id).variables.folder)
  end)

  it("can be waited for, and leads an instance to its end", function()
    place.executor()
    local other = good("process", "start", "order", "order=7", "--key", "o-7", "--wait")
      :match "^(%d+)\n$"
    assert.equal("o-7", show(other).key)
    assert.equal(("instance %s changed\n"):format(other),
      good("instance", "set", other, "fine=true", "--wait"))
    local done = answer("task", "complete", tostring(answer("task", "list", "--instance", other,
      "--json")[1].id), "--wait", "--json")
    assert.same({ tonumber(other), "number" }, { done.instance, type(done.job) })
    assert.equal(("instance %s has the message\n"):format(other),
      good("message", "parcel", "--key", "7", "--wait"))
    assert.equal(("instance %s goes on\n"):format(other),
      good("instance", "trigger", other, "filed", "--wait"))
    assert.equal("completed", show(other).how)
    assert.equal(("instance %s cancelled\n"):format(id), good("instance", "cancel", id, "--wait"))
    assert.equal("cancelled", show(id).how)
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
    assert.matches(("has no retries left %%(incident %%d+, failedJob%%): instance %s: the task %s "
      .. "waits no longer"):format(id, first), (good("job", "why", job)))
    assert.equal(1, answer("job", "show", job, "--json").attempt)
  end)

  it("is refused at once where the walk would refuse it", function()
    good("instance", "suspend", id)
    local suspended = ("5 moonshift: instance %s is suspended"):format(id)
    assert.equal(suspended .. "\n", refusal("instance", "set", id, "a=1"))
    assert.equal(suspended .. " (expected the script folder here, or --now)\n",
      refusal("instance", "cancel", id))
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
    assert.equal(("task completed; instance %s goes on\n"):format(id),
      good("task", "complete", task(), "fine=true", "--now"))
    assert.equal("delivered", show(id).at[1].activity)
    assert.equal(("instance %s changed\n"):format(id), good("instance", "set", id, "a=1", "--now"))
    assert.equal(("instance %s cancelled\n"):format(id), good("instance", "cancel", id, "--now"))
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
    assert.equal("newer", show(id).variables.folder)
  end)
end)
