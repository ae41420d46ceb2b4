-- The same commands over a store of each engine say the same, but for times, numbers and names.
local postgres = require "spec.support.postgres"
local process = require "spec.support.process"

local FILES = {
  ["handlers/work.lua"] = "return function(job) return { n = job.payload.n } end",
  ["handlers/fail.lua"] = "return { retry = 'R2/PT0S', run = function() error('no luck', 0) end }",
  ["processes/sale.lua"] = [[
local process = require "moonshift.process"
return { process.task "sign" {},
  process.receive "paid" { message = "paid", key = "${instance.key}" },
  process.step "work" { run = "work", async = true } }]],
  ["schedules/nightly.lua"] = "return { handler = 'work', cycle = '0 3 * * *' }",
}

-- One command a line; what stands behind "|" is its standard input. "@dead" is the last number that
-- the command said before which "dead:" stands.
local COMMANDS = [[
one: enqueue work {"n":1} --priority 5
later: enqueue work --in PT1H
other: enqueue work --in PT2H
gone: enqueue work --in PT3H
enqueue work --count 3 --ids --in PT1H
dead: enqueue fail --lane a
enqueue work --lane a --tenant shop --instance basket
enqueue none
enqueue --from - | {"handler":"work","payload":{"n":7}}
enqueue --from - | {"handler":"work"}
run DIR --drain --log-level error
log --handler fail
log --handler fail --json
job list
job list --json
job list --state dead --json
job list --handler work --sort due
job list --payload n=1 --json
job show @one
job show @dead
job show @dead --json
job show 999999
job why @later
job why @dead
job why @dead --json
incident list --json
incident list
job retry @dead --retries 1
job priority 9 @later @other
job due 2999-01-01 @other
job suspend @other
job list --suspended --json
job activate @other
job cancel @gone
job execute @later
job cancel --handler fail --dry-run
job cancel 999999
definition list
definition list --json
definition suspend work
definition activate work
schedule list
schedule list --json
schedule pause nightly
schedule resume nightly
schedule next nightly
schedule run nightly
batch create set-job-retries --handler fail --retries 1
batch create cancel-jobs --handler work
batch list --json
run DIR --drain --log-level error
batch list
batch show 1 --json
instance: process start sale --key a
process start sale --key b n=5
process list
process list --json
instance list
instance list --json
instance show @instance --json
task list
task list --json
instance suspend @instance
instance activate @instance
message paid --key a
instance why @instance
deployment list
executor list
log --outcome failed --json
log --handler work
operations --json
operations
history status
history clean
history removal-time now --handler work
history delete --handler work
stats
stats --json
check --store
job stack @dead
job recalculate @other
job dead @other
job delete @other
enqueue work --unique one
enqueue work --unique one
enqueue work --unique one --on-conflict replace
job show @dead --json
version --json
settings --json
dates R3/PT1H --count 2
process check DIR
process show sale
process suspend sale
process start sale --key c
process activate sale
process start sale --key d n=1
tasks: task list --columns id
task claim @tasks --as ada
task list --json
task release @tasks
task complete @tasks n=3
task complete 999999
instance set @instance n=4
instance show @instance
instance trail @instance
instance trail @instance --json
instance trigger @instance nothing
message nobody --key x
message later --key x --keep 1h a=1
message list
message list --json
instance cancel @instance
instance list --ended
instance show 999999
wrong: enqueue fail
run DIR --drain --log-level error
incident: incident list --columns id --handler fail --sort id
incident show @incident
incident show @incident --json
incident annotate @incident looked
incident removal-time @incident never
incident resolve @incident
incident list --open
job wait @wrong
job stack @wrong
executor drain nobody
executor resume nobody
executor list --gone
filled: batch create enqueue --handler work --config {"handler":"work"} --ids-from - | {"n":1}
batch suspend @filled
batch priority @filled 7
batch show @filled
run DIR --drain --log-level error
batch activate @filled
run DIR --drain --log-level error
batch failed @filled
batch retry-failed @filled
batch removal-time @filled now
batch show @filled --json
batch delete @filled
batch list
batch show 999999
deploy DIR
deployment list --json
deployment unregister 1
deployment register 1
deployment register 999
deployment delete 1
definition show fail
definition show fail --json
definition priority fail 8
definition retries fail 2
job cycle PT1H @other
history removal-time never --handler work
history clean --json
check --store --json
store create --json
store migrate --json
stats --json
]]

-- Takes out what differs between runs: times, spans, paths, hosts, the width of columns. Numbers
-- go as well: ids are drawn ahead, and a server gives none of them back.
local function normal(text, place)
  text = text:gsub(place:gsub("%p", "%%%0"), "DIR")
  text = text:gsub(place:match("[^/]+$"):gsub("%p", "%%%0"), "DIR")
  text = text:gsub("postgres://[^%s\"]*", "STORE"):gsub("sqlite:[^%s\"]*", "STORE")
  text = text:gsub("%f[%w/]DIR/jobs%.db", "STORE")
  text = text:gsub("%d%d%d%d%-%d%d%-%d%d[T ][%d:%.]+Z?", "TIME")
  text = text:gsub("PT[%d%.HMS]+", "SPAN"):gsub("%d+%.%d+", "NUMBER"):gsub("%-%-+", "-")
  text = text:gsub("[%w%-]+/%d+", "EXECUTOR")
  text = text:gsub("write%-ahead log [^\n]*\n", ""):gsub('"log":%b{}', '"log":null') -- a file's own
  text = text:gsub("%d+", "N"):gsub("\n +", "\n")
  return (text:gsub(" +", " "))
end

-- What each command says: its status, its output and its errors.
local function said(url)
  local place, answers, ids = process.folder(FILES), {}, {}
  url = url:gsub("DIR", place)
  for line in COMMANDS:gmatch("[^\n]+") do
    local name, command = line:match("^(%w+): (.*)$")
    local words, input = (command or line):match("^(.-) | (.*)$")
    local list = {}
    for word in (words or command or line):gsub("DIR", place):gmatch("%S+") do
      list[#list + 1] = word:gsub("^@(%w+)$", ids)
    end
    list[#list + 1] = "--store"
    list[#list + 1] = url
    local status, output, errors = process.run(("cd %s && echo %s | %s"):format(place,
      process.quote(input or ""), process.command(table.unpack(list))))
    ids[name or ""] = output:match("(%d+)%D*$")
    answers[#answers + 1] = ("$ %s\n%d\n%s"):format(line, status, normal(output .. errors, place))
  end
  process.remove(place)
  return answers
end

describe("a command", function()
  if not postgres.programs() then
    it("says the same over both engines", function()
      return pending("no initdb in /usr/lib/postgresql")
    end)
    return
  end

  local server

  setup(function()
    server = postgres.start()
  end)

  teardown(function()
    postgres.stop(server)
  end)

  it("says the same over both engines", function()
    local file, there = said "sqlite:DIR/jobs.db", said(postgres.url(server, "jobs"))
    for i, answer in ipairs(file) do
      assert.equal(answer, there[i])
    end
  end)
end)
