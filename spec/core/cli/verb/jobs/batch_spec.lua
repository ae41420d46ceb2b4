local executors = require "spec.support.executors"
local process = require "spec.support.process"
local program = require "spec.support.program"
local rules = require("moonshift.core").rules

describe("batch", function()
  local place

  before_each(function()
    place = program.place {
      ["handlers/work.lua"] = "return function() end\n",
      ["handlers/told.lua"] = "return function(job) print('told of ' .. job.payload.batch) end\n",
      ["batches/thumb.lua"] = [[
return { retries = 1, run = function(_, ids, config)
  local gate = config.gate and io.open(config.gate)
  for _, id in ipairs(ids) do
    if id == "bad.ppm" and not gate then error(id .. " is damaged", 0) end
  end
end }
]],
    }
  end)

  after_each(function()
    place.clean()
  end)

  local function json(...)
    local status, output, errors = place.run("batch", ...)
    assert.equal(0, status, errors)
    return rules.decode(output)
  end

  local function refused(status, message, ...)
    local is, output, errors = place.run("batch", ...)
    assert.same({ status, "", "moonshift: " .. message .. "\n" }, { is, output, errors })
  end

  local function drain()
    assert.equal(0, (place.run("run", "--drain", "--log-level", "error")))
  end

  it("is created from ids, texts or numbers, and told by number", function()
    local status, output = place.run("batch", "create", "thumb", "--ids", "a.ppm,7,c.ppm")
    assert.same({ 0, "1\n" }, { status, output })
    local batch = json("show", "1", "--json")
    assert.equal("thumb", batch.type)
    assert.same({ 3, 3, 0, 3, 0 },
      { batch.ids, batch.total, batch.percent, batch.remaining, #batch.failures })
  end)

  it("is created from lines", function()
    local list = {}
    for i = 1, 2500 do
      list[i] = ('{"n":%d}\n'):format(i)
    end
    local status, output = program.run({ "batch", "create", "enqueue", "--handler", "work",
      "--ids-from", "-", "--priority", "3", "--invocations", "500", "--json" },
      { dir = place.path, stdin = table.concat(list, "\n") })
    assert.equal(0, status)
    local batch = rules.decode(output)
    assert.same({ 2500, 5, "active", 3, "work" },
      { batch.ids, batch.total, batch.state, batch.config.priority, batch.config.handler })
    drain()
    assert.equal("completed", json("show", "1", "--json").state)
  end)

  it("is created from the filters of job list", function()
    place.run("enqueue", "work", "--count", "3", "--in", "PT1H")
    place.run("enqueue", "told", "--in", "PT1H")
    assert.equal("1\n", select(2, place.run("batch", "create", "set-due-date", "--handler", "work",
      "--due", "2035-01-01T00:00:00Z")))
    drain()
    local _, output = place.run("job", "list", "--due-after", "2034-12-31T00:00:00Z", "--json")
    assert.equal(3, #rules.decode(output))
  end)

  it("has all that it is given", function()
    local batch = json("create", "thumb", "--ids", "a,b,c", "--config", '{"width":5}', "--name",
      "n", "--per-seed", "7", "--invocations", "2", "--job-retries", "4", "--job-priority", "-3",
      "--on-complete", "told", "--json")
    assert.same({ 5, "n", 7, 2, 4, -3, "told" }, { batch.config.width, batch.name,
      batch.jobs_per_seed, batch.invocations, batch.retries, batch.priority, batch.on_complete })
    drain()
    assert.truthy(select(2, place.run("log", "--handler", "told")):find("told of 1", 1, true))
  end)

  it("is refused for what is wrong with it, and nothing is kept", function()
    refused(4, 'unknown type of batch "thump" (did you mean "thumb"?)', "create", "thump",
      "--ids", "1")
    refused(2, "batch create: expected either --ids, --ids-from or filters (such as --state dead)",
      "create", "thumb")
    refused(2, "batch create: expected either --ids, --ids-from or filters (such as --state dead)",
      "create", "suspend", "--ids", "1", "--state", "dead")
    refused(2, "batch create enqueue: expected payloads (--ids-from FILE)",
      "create", "enqueue", "--state", "dead")
    refused(2, "no ids (a batch needs at least one)", "create", "suspend", "--handler", "work")
    refused(2, "no ids (a batch needs at least one)", "create", "thumb", "--ids-from", "/dev/null")
    refused(2, "no ids (a batch needs at least one)", "create", "thumb", "--ids", "")
    refused(2, 'id "a": expected the number of a job', "create", "suspend", "--ids", "1,a")
    refused(2, "--config: expected a JSON object", "create", "thumb", "--ids", "1",
      "--config", "[]")
    refused(2, 'config of "set-job-priority": unknown key "retries"', "create", "set-job-priority",
      "--ids", "1", "--priority", "1", "--retries", "1")
    refused(4, "no/such: No such file or directory", "create", "thumb", "--ids-from", "no/such")
    assert.same({}, json("list", "--json"))
  end)

  it("is refused with the line that is wrong", function()
    local file = place.path .. "/payloads"
    local out = assert(io.open(file, "w"))
    out:write(("{}\n"):rep(1200), "{]\n")
    out:close()
    local status, _, errors = place.run("batch", "create", "enqueue", "--handler", "work",
      "--ids-from", file)
    assert.equal(2, status)
    assert.matches("/payloads:1201: id: ", errors)
    assert.same({}, json("list", "--json"))
  end)

  it("lists, by type and state", function()
    place.run("batch", "create", "thumb", "--ids", "a,b")
    place.run("batch", "create", "suspend", "--ids", "1")
    place.run("batch", "suspend", "2")
    assert.equal(1, #json("list", "--type", "thumb", "--json"))
    assert.equal(2, json("list", "--state", "suspended", "--json")[1].id)
    assert.equal(2, #json("list", "--running", "--json"))
    assert.same({}, json("list", "--finished", "--json"))
    local _, output = place.run("batch", "list")
    assert.matches("^ID  TYPE     STATE      %%  DONE  JOBS  FAILED  IDS  START\n"
      .. " 1  thumb    active     0     0     2       0    2  ", output)
  end)

  it("tells the ids that failed with their reasons, and retries them", function()
    local gate = place.path .. "/gate"
    place.run("batch", "create", "thumb", "--ids", "a.ppm,bad.ppm,c.ppm", "--config",
      ('{"gate":"%s"}'):format(gate))
    drain()
    local failed = json("failed", "1", "--json")
    assert.same({ "bad.ppm", "bad.ppm is damaged" }, { failed[1].id, failed[1].message })
    local _, shown = place.run("batch", "show", "1")
    assert.matches("\npercent +66\n\nFAILED   JOB  REASON\nbad.ppm +%d+  bad.ppm is damaged\n$",
      shown)
    assert(io.open(gate, "w")):close()
    assert.equal("1 job retried\n", select(2, place.run("batch", "retry-failed", "1")))
    drain()
    assert.equal("completed", json("show", "1", "--json").state)
    assert.same({}, json("failed", "1", "--json"))
  end)

  it("verbs say with --dry-run how many jobs they would touch", function()
    place.run("batch", "create", "thumb", "--ids", "a,b")
    local function try(verb)
      return select(2, place.run("batch", verb, "1", "--dry-run"))
    end
    assert.equal("1 job would be suspended\n", try("suspend"))
    assert.equal("0 jobs would be activated\n", try("activate"))
    assert.equal("0 jobs would be retried\n", try("retry-failed"))
    assert.equal("1 job would be deleted\n", try("delete"))
    assert.equal("active", json("show", "1", "--json").state)
    place.run("batch", "delete", "1")
    refused(5, "delete_batch: batch 1 is deleted (only its history can go)", "delete", "1",
      "--dry-run")
    refused(4, "no batch 2", "suspend", "2", "--dry-run")
  end)

  it("is suspended, activated and deleted", function()
    place.run("batch", "create", "thumb", "--ids", "a,b")
    assert.equal("1 job suspended\n", select(2, place.run("batch", "suspend", "1")))
    assert.equal('{"count":1}\n', select(2, place.run("batch", "activate", "1", "--json")))
    assert.equal("batch 1 deleted\n", select(2, place.run("batch", "delete", "1")))
    assert.equal("deleted", json("show", "1", "--json").state)
    refused(5, "delete_batch: batch 1 is deleted (only its history can go)", "delete", "1")
    assert.equal(0, (place.run("batch", "delete", "1", "--history")))
    refused(4, "no batch 1", "show", "1")
    refused(4, "no batch 1", "suspend", "1")
    refused(2, 'batch "x": expected an integer from 1', "show", "x")
  end)

  describe("is waited for", function()
    local pid

    before_each(function()
      place.run("deploy", ".")
      pid = executors.at(place).executor("--workers", "1")
      process.await("the executor", 10, function()
        return select(2, place.run("executor", "list")):find("live", 1, true)
      end)
    end)

    after_each(function()
      process.kill(pid, "TERM")
    end)

    it("until it is done", function()
      local status, output =
        place.run("batch", "create", "thumb", "--ids", "a,b,c", "--wait", "--json")
      assert.equal(0, status)
      local batch = rules.decode(output)
      assert.same({ "completed", 3 }, { batch.state, batch.completed })
    end)

    it("until all that is left has failed", function()
      local status, output, errors =
        place.run("batch", "create", "thumb", "--ids", "a,bad.ppm", "--wait")
      assert.equal(1, status)
      assert.equal("1\n", output)
      assert.equal("moonshift: batch 1: 1 of 2 jobs failed (see batch failed 1)\n", errors)
      assert.equal(1, (place.run("batch", "show", "1", "--wait")))
      assert.equal(1, (place.run("batch", "retry-failed", "1", "--wait")))
    end)

    it("by a verb on many jobs", function()
      place.run("enqueue", "work", "--count", "1500", "--in", "PT1H")
      local status, output, errors = place.run("job", "delete", "--handler", "work", "--wait")
      assert.same({ 0, "batch 1: 1500 jobs\n", "" }, { status, output, errors })
      assert.equal("[]\n", select(2, place.run("job", "list", "--handler", "work", "--json")))
    end)

    it("with a bar on a terminal", function()
      local _, shown = program.run({ "batch", "create", "thumb", "--ids", "a,b,c", "--wait" },
        { dir = place.path, terminal = 100 })
      assert.matches("batch 1 %[[# ]+%] %d+ %%  %d of 3 jobs", shown)
    end)
  end)

  it("is not waited for while no executor runs", function()
    local status, output, errors = place.run("batch", "create", "thumb", "--ids", "a", "--wait")
    assert.same({ 0, "1\n", "moonshift: batch 1 waits: no executor runs\n" },
      { status, output, errors })
  end)

  it("is what its removal time is set of", function()
    place.run("batch", "create", "thumb", "--ids", "a")
    place.run("batch", "delete", "1")
    local dry = { place.run("batch", "removal-time", "1", "never", "--dry-run") }
    assert.same({ 0, "1 batch would be changed\n", "" }, dry)
    local done = { place.run("batch", "removal-time", "1", "never") }
    assert.same({ 0, "batch 1 changed\n", "" }, done)
  end)

  it("shows its types with check", function()
    local _, output = place.run("check", ".", "--all")
    assert.matches("\nbatch/thumb +PT5M +batches/thumb.lua\n", output)
    assert.matches("\nbatch/suspend +PT5M +yes +batches/suspend.lua\n", output)
  end)
end)
