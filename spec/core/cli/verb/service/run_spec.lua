local executors = require "spec.support.executors"
local process = require "spec.support.process"
local program = require "spec.support.program"

describe("run", function()
  it("refuses a folder in which nothing could run", function()
    local place = program.place { ["moonshift.lua"] = "return {}\n", ["shop/note"] = "",
      ["lib/only.lua"] = "return {}\n",
      ["work/schedules/night.lua"] = 'return { handler = "noop", cycle = "0 3 * * *" }\n' }
    for _, words in ipairs { { "." }, { "shop" }, { "work", "shop" } } do
      local status, _, errors = place.run("run", "--drain", table.unpack(words))
      assert.equal(78, status)
      assert.equal(('moonshift: script folder "%s": nothing to run (expected Lua files in '
        .. "handlers/, batches/ or schedules/, or the setting stock)\n"):format(words[#words]),
        errors)
      assert.is_nil(io.open(place.path .. "/moonshift.db"))
    end
    for _, words in ipairs { { "work" }, { ".", "--stock", "shell" } } do
      local status, _, errors = place.run("run", "--drain", table.unpack(words))
      assert.equal(0, status, errors)
    end
    place.clean()
  end)
end)

describe("run", function()
  local place, pid

  before_each(function()
    place = executors.at(program.place {
      ["handlers/work.lua"] = "return function() end\n",
      ["handlers/flaky.lua"] = "return function() error('no answer', 0) end\n",
      ["handlers/fail.lua"] = "return { retry = 'R1/PT1S',\n"
        .. "  run = function() error('no luck') end }\n",
    })
  end)

  after_each(function()
    place.kill()
    place.clean()
  end)

  local function ended()
    return process.sql(place.store, "SELECT count(*) FROM ended")[1]
  end

  local function start(...)
    pid = place.executor(...)
  end

  it("names the deployments that there are to one that asks for another", function()
    local function refused(status, text, ...)
      local code, _, errors = process.moonshift("run", "--store", "sqlite:" .. place.store, ...)
      assert.equal(status .. " moonshift: " .. text .. "\n", code .. " " .. errors)
    end
    place.run("deploy", place.path)
    local name = place.path:match("[^/]+$")
    refused(4, ('no deployment "shop" (expected "%s")'):format(name), "--deployment", "shop")
    refused(2, '--deployment "shop": 2 folders cannot have one name (expected one)',
      "--deployment", "shop", place.path, place.path)
    refused(2, "--watch looks at a folder (expected DIR instead of --deployment)", "--deployment",
      name, "--watch")
    process.change(place.store, "DELETE FROM deployment")
    refused(4, ('no deployment "%s": the store has none (moonshift deploy DIR makes one)')
      :format(name), "--deployment", name)
  end)

  it("drains what is due and ends", function()
    place.run("enqueue", "work", "--count", "20")
    place.run("enqueue", "work", "--in", "PT1H")
    local status, _, errors = place.run("run", "--drain")
    assert.equal(0, status, errors)
    assert.equal("20", ended())
  end)

  it("files the history of a large drain as it ends, but for the newest #file", function()
    local function filed()
      return process.sql(place.store, "SELECT count(*) FROM ended_by_job")[1]
    end
    place.run("enqueue", "work", "--count", "20010")
    place.run("run", "--drain")
    assert.is_true(tonumber(filed()) > 10010, filed())
  end)

  it("files what has ended though it is never idle #file", function()
    local go = place.path .. "/go"
    local file = assert(io.open(place.path .. "/handlers/gated.lua", "w"))
    file:write("return function(job)\n"
      .. "  while not io.open(job.payload.go) do os.execute('sleep 0.05') end\nend")
    file:close()
    place.run("enqueue", "work", "--count", "101000", "--priority", "1")
    place.run("enqueue", "gated", ('{"go":"%s"}'):format(go))
    start("--workers", "1")
    process.await("jobs to be filed", 60, function()
      return process.sql(place.store, "SELECT value FROM meta WHERE key='filed'")[1]
    end)
    os.execute("touch " .. process.quote(go))
  end)

  it("ends with 0 though jobs failed and says how many", function()
    place.run("enqueue", "fail", "--count", "3")
    local status, output, errors = place.run("run", "--drain")
    assert.equal(0, status)
    assert.equal("", output)
    assert.truthy(errors:find('event="some runs failed" failed=3', 1, true), errors)
  end)

  it("says of a drain how many jobs wait for a retry, and when the first is due", function()
    place.run("enqueue", "flaky", "--count", "3")
    place.run("enqueue", "flaky", "--retries", "1")
    place.run("enqueue", "work", "--in", "PT1H")
    local _, _, errors = place.run("run", "--drain")
    local due = process.sql(place.store, "SELECT min(due) FROM timer")[1]
    local count, first = errors:match('event="jobs wait for a retry" jobs=(%d+) first=(%S+)')
    assert.equal("3", count, errors)
    assert.equal(tonumber(due), require("moonshift").time(first))
    place.run("job", "cancel", "--handler", "flaky")
    _, _, errors = place.run("run", "--drain")
    assert.is_nil(errors:find("wait for a retry", 1, true))
  end)

  it("says that at least so many wait where more jobs have a date than it looks at", function()
    local file = assert(io.open(place.path .. "/handlers/patient.lua", "w"))
    file:write("return { retry = 'R3/PT2H', run = function() error('no answer', 0) end }")
    file:close()
    place.run("enqueue", "work", "--in", "PT1H", "--count", "4000")
    place.run("enqueue", "patient", "--count", "3")
    local _, _, errors = place.run("run", "--drain")
    local due = process.sql(place.store, "SELECT min(due) FROM timer WHERE id>4000")[1]
    local count, first =
      errors:match('event="at least so many jobs wait for a retry" jobs=(%d+) first=(%S+)')
    assert.equal("3", count, errors)
    assert.equal(tonumber(due), require("moonshift").time(first))
  end)

  it("drains in spite of a conflict without end, and says what waits", function()
    local file = assert(io.open(place.path .. "/handlers/clash.lua", "w"))
    file:write("return function() error { conflict = true, message = 'taken' } end")
    file:close()
    place.run("enqueue", "clash")
    local status, _, errors = place.run("run", "--drain")
    assert.equal(0, status)
    assert.matches('event="jobs wait for a retry" jobs=1 ', errors)
    local row = process.sql(place.store,
      "SELECT n, retries, message FROM job JOIN conflicts ON job=id")[1]
    assert.matches("^%d+|3|taken$", row)
  end)

  it("watches the folder: loads what changes and shows what handlers print", function()
    local function write(text)
      local file = assert(io.open(place.path .. "/handlers/talk.lua", "w"))
      file:write(("return function() print(%q) end"):format(text))
      file:close()
    end
    local log = place.path .. "/log"
    local function says(text)
      process.await(("the log to say %q"):format(text), 10, function()
        return process.read(log):find(text, 1, true)
      end)
    end
    write("first")
    place.start("log", "run", place.path, "--watch")
    says("event=watching folder=" .. place.path)
    local function printed(text)
      local _, id = place.run("enqueue", "talk")
      says(("event=print job=%d handler=talk text=%s"):format(id, text))
    end
    printed("first")
    for _, text in ipairs { "second", "first" } do -- back as well
      local loads = select(2, process.read(log):gsub('event="folder loaded"', ""))
      write(text)
      process.await("the folder to be loaded", 10, function()
        return select(2, process.read(log):gsub('event="folder loaded"', "")) > loads
      end)
      printed(text)
    end
    write("broken (")
    local file = assert(io.open(place.path .. "/handlers/talk.lua", "a"))
    file:write(" end")
    file:close()
    says('event="folder refused"')
  end)

  it("logs of a failure when the job runs again, of an incident nothing of the kind", function()
    place.run("enqueue", "fail", "--retries", "2")
    local _, _, errors = place.run("run", "--drain")
    assert.truthy(errors:find('event="job failed" job=1 [^\n]* retries=1 [^\n]* due='), errors)
    place.run("job", "due", "none", "1")
    _, _, errors = place.run("run", "--drain")
    assert.truthy(errors:find("event=incident job=1 [^\n]* retries=0 "), errors)
    assert.is_nil(errors:find(" due=", 1, true))
  end)

  it("runs the priorities of its range only", function()
    for _, priority in ipairs { "1", "5", "9" } do
      place.run("enqueue", "work", "--priority", priority)
    end
    place.run("run", "--drain", "--priority-range", "4:6")
    assert.same({ "1", "9" }, process.sql(place.store, "SELECT priority FROM live ORDER BY 1"))
  end)

  it("logs lines of JSON if asked to", function()
    place.run("enqueue", "fail")
    local _, _, errors = place.run("run", "--drain", "--log-format", "json")
    for line in errors:gmatch("[^\n]+") do
      assert.truthy(line:find('^{".*}$'), line)
    end
    assert.is_true(#errors > 0)
  end)

  it("refuses a log format that is none", function()
    local status, _, errors = place.run("run", "--log-format", "xml")
    assert.equal(2, status)
    assert.equal('moonshift: log format "xml": expected logfmt or json\n', errors)
  end)

  it("ends with 0 on TERM and on INT", function()
    for i, signal in ipairs { "TERM", "INT" } do
      pid = process.start_watched(place.path .. "/log", "run", place.path)
      place.logged("event=started", i)
      process.kill(pid, signal)
      assert.equal(0, process.await_status(pid, 5))
    end
  end)

  it("leaves all that it wrote in one file #file", function()
    place.run("enqueue", "work", "--count", "20")
    place.run("run", "--drain")
    assert.equal(0, #process.read(place.store .. "-wal"))
  end)

  it("starts a job that another process creates", function()
    start("--max-wait", "PT1H") -- it looks for none by itself
    place.run("enqueue", "work")
    process.await("the job", 5, function()
      return ended() == "1"
    end)
  end)

  it("loads the folder again on HUP and refuses a broken one", function()
    start()
    local file = assert(io.open(place.path .. "/handlers/late.lua", "w"))
    file:write("return function() end\n")
    file:close()
    place.run("enqueue", "late")
    process.kill(pid, "HUP")
    process.await("the new handler", 5, function()
      return ended() == "1"
    end)
    file = assert(io.open(place.path .. "/moonshift.lua", "w"))
    file:write("return { wrokers = 4 }\n")
    file:close()
    process.kill(pid, "HUP")
    process.await("the refusal", 5, function()
      return process.read(place.path .. "/log"):find("wrokers", 1, true)
    end)
    assert.is_true(process.alive(pid))
  end)

  it("survives a HUP while it loads the folder", function()
    local hasty = program.place { ["handlers/a.lua"] = [[
os.execute("kill -HUP $PPID")
return function() end
]] }
    hasty.run("enqueue", "a", "--unchecked")
    local status = hasty.run("run", "--drain")
    assert.equal(0, status)
    hasty.clean()
  end)

  it("refuses a folder with a problem and makes no store", function()
    local broken = program.place { ["handlers/a.lua"] = "return 5\n" }
    local status, _, errors = broken.run("run", "--drain")
    assert.equal(78, status)
    assert.truthy(errors:find("handlers/a.lua", 1, true), errors)
    assert.is_nil(io.open(broken.store))
    broken.clean()
  end)

  it("shows one refreshed line on a terminal", function()
    place.run("enqueue", "work", "--count", "20")
    place.run("enqueue", "fail")
    local status, output = program.run({ "run", "--drain" }, { dir = place.path, terminal = 100 })
    assert.equal(0, status)
    assert.truthy(output:find("\r[^\n]+done %d+  failed %d+  waiting %d+  running %d+  %d+/s"))
    assert.truthy(output:find("\r[^\n]+done 20  failed 1  in %d+%.%d s  %d+/s[^\n]*\r\n$"))
  end)

  it("shows failures above that line", function()
    place.run("enqueue", "fail")
    local _, output = program.run({ "run", "--drain" }, { dir = place.path, terminal = 300 })
    assert.truthy(output:find("\rtime=[^\n]*no luck[^\n]*\n"), output)
  end)

  it("only loads the folder while it is not active", function()
    place.run("enqueue", "work")
    local status, output = place.run("run", "--active", "false")
    assert.equal(0, status)
    assert.truthy(output:find(": %d+ handlers, %x+\n$"), output)
    assert.equal("0", ended())
  end)
end)

describe("deploy", function()
  local place

  before_each(function()
    place = program.place { ["handlers/work.lua"] = "return function() end\n" }
  end)

  after_each(function()
    place.clean()
  end)

  it("makes the folder's handlers known to the store", function()
    local status, output = place.run("deploy", "--json")
    assert.equal(0, status)
    assert.truthy(output:find('^{"name":".+","hash":"%x+","definitions":%d+}\n$'), output)
    assert.equal(0, (program.run({ "enqueue", "work", "--store", "sqlite:" .. place.store },
      { dir = "/" })))
  end)

  it("makes no store without a folder", function()
    os.execute("rm -r " .. place.path .. "/handlers")
    assert.equal(2, (place.run("deploy")))
    assert.is_nil(io.open(place.store))
  end)
end)

describe("run of a folder with models", function()
  local models = require "spec.support.models"
  local place

  before_each(function()
    place = program.place {
      ["handlers/work.lua"] = [[return function(job)
        assert(job.attempt > 1, "not yet") -- the listener's configuration retries it at once
        local done = assert(io.open("done", "a"))
        done:write(job.activity, "\n")
        done:close()
      end]],
      ["listeners/often.lua"] = "return function(definition) definition.retry = 'R5/PT0S' end",
      ["processes/called.bpmn"] = models.line(
        '<serviceTask id="x" c:class="a.Work" c:asyncBefore="true" c:asyncAfter="true"/>'),
      ["processes/calls.bpmn"] = models.definitions([[<process id="calls" isExecutable="true">
        <startEvent id="s"/><callActivity id="y" calledElement="p" c:asyncBefore="true"/>
        <sequenceFlow id="f" sourceRef="s" targetRef="y"/></process>]]),
      ["processes/unused.bpmn"] = models.definitions(
        '<process id="unused" isExecutable="true"><startEvent id="s"/></process>'),
    }
  end)

  after_each(function()
    place.clean()
  end)

  it("walks instances of those that it has read only once it needs them", function()
    for _ = 1, 3 do
      for _, key in ipairs { "p", "calls" } do
        local status, _, errors = place.run("process", "start", key)
        assert.equal(0, status, errors)
      end
    end
    local status, _, errors = place.run("run", "--drain", "--workers", "2")
    assert.equal(0, status, errors)
    local done = assert(io.open(place.path .. "/done")):read("a")
    assert.equal(("x\n"):rep(6), done)
    assert.same({ "0" }, process.sql(place.store, "SELECT count(*) FROM incident"))
  end)
end)
