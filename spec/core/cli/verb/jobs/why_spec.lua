-- "instance why": a sentence for each place where an instance of a process stands.
local process = require "spec.support.process"
local rules = require("moonshift.core").rules

local files = {
  ["processes/order.lua"] = [[
    local process = require "moonshift.process"
    local step, task, receive, wait = process.step, process.task, process.receive, process.wait
    return {
      process.parallel "fork" {
        { task "approve" { assignee = "${boss}", due = "2030-01-01T00:00:00Z",
          within = { "P2D", step "remind" { run = "fail" } } } },
        { task "check" { candidates = { users = "ann,bob", groups = "sales" } } },
        { receive "delivered" { message = "parcel", key = "o-7" } },
        { receive "filed" {} },
        { wait "nap" { at = "2031-01-01T00:00:00Z" } },
        { step "pack" { run = "fail", async = true } },
        { process.pass "quick" {} },
        { process.pass "quicker" {} },
        { process.each "line" { of = "lines", parallel = true,
          step "ship" { run = "fail", async = true } } },
        { step "weigh" { run = "fail", async = true, each = { times = 3, parallel = true } } },
        { process.first "pick" {
          { wait "answer" { message = "answer" } },
          { wait "late" { at = "2032-01-01T00:00:00Z" } },
        } },
        { process.call "part" { process = "part" } },
      },
    }]],
  ["processes/part.lua"] = [[
    return { require("moonshift.process").task "look" {} }]],
  ["handlers/fail.lua"] = 'return function() error("no box", 0) end',
}

describe("instance why", function()
  local folder

  setup(function()
    folder = process.folder(files)
  end)

  teardown(function()
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

  -- The text of what waits at each activity.
  local function sentences(id)
    local found = {}
    for _, row in ipairs(rules.decode(good("instance", "why", id, "--json")).why) do
      found[row.activity] = row.text
    end
    return found
  end

  it("says what each place waits for", function()
    local id = good("process", "start", "order", "lines=[1,2,3]", "boss=eve"):match "%d+"
    local job = good("job", "list", "--handler", "process/order/pack", "--json", "--columns", "id")
    job = job:match "%d+"
    run("job", "execute", job)
    good("job", "dead", job)
    local said = sentences(id)
    assert.matches('^"approve" waits for its user task %d+ %(eve, due 2030%-01%-01T00:00:00.000Z%),'
      .. " or until 20%d%d%-[%d-]+T[%d:.]+Z$", said.approve)
    assert.matches('^"check" waits for its user task %d+ %(nobody has it; users ann, bob; groups '
      .. "sales%)$", said.check)
    assert.equal('"delivered" waits for message "parcel" with key "o-7"', said.delivered)
    assert.equal('"filed" waits to be triggered', said.filed)
    assert.matches('^"nap": job %d+ is due at 2031%-01%-01T00:00:00.000Z', said.nap)
    assert.matches(('^"pack": job %s has no retries left .*no box$'):format(job), said.pack)
    assert.equal('"fork.join" waits for its other branches: 2 of 12 tokens have arrived, the '
      .. 'others are at "approve", "check", "delivered", "filed", "nap" and 5 more',
      said["fork.join"])
    assert.matches('^"ship": job %d+ is ready, but no executor runs$', said.ship)
    assert.matches('^"weigh", 3 turns: job %d+ is ready, but no executor runs$', said.weigh)
    assert.equal('"pick" waits for message "answer", or until 2032-01-01T00:00:00.000Z', said.pick)
    assert.matches('^"part" waits for the end of instance %d+ of process "part"$', said.part)

    good("instance", "suspend", id)
    local lines = good("instance", "why", id)
    assert.equal(("instance %s is suspended\n"):format(id), lines:match "^.-\n")
    assert.truthy(lines:find("\n" .. said.filed .. "\n", 1, true), lines)
  end)

  it("says of what has ended how it ended", function()
    local id = good("process", "start", "part"):match "%d+"
    good("instance", "cancel", id)
    assert.equal(("instance %s has ended: cancelled\n"):format(id), good("instance", "why", id))
    assert.same({}, sentences(id))
    local status, output, errors = run("instance", "why", "99999")
    assert.same({ 4, "", "moonshift: no instance 99999 of a process\n" },
      { status, output, errors })
  end)
end)
