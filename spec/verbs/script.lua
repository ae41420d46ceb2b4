-- A script of commands on processes, run on an engine of a spec, and what is seen after each of
-- them as lines of a trace. README.md of the folder with the scripts says what both mean.
local process = require "spec.support.process"
local rules = require("moonshift.core").rules
local testing = require "moonshift.testing"
local trees = require "spec.verbs.trees"

local script = {}

local Run = {}
Run.__index = Run

-- ---- files ----

local function copy(run, file)
  local text = process.read(run.path .. "/" .. file)
  for key in text:gmatch '<process[^>]- id="([^"]+)"' do
    local old = run.file_of[key]
    if old and old ~= file then
      os.remove(run.folder .. "/processes/" .. old)
    end
    run.file_of[key] = file
    run.versions[key] = (run.versions[key] or 0) + 1
  end
  local out = assert(io.open(run.folder .. "/processes/" .. file, "w"))
  out:write(text)
  out:close()
end

-- ---- what is called ----

local function behave(run, name, job)
  name = name:match "^x[./](.*)$" or name
  run:tell(("call %s at %s%s"):format(name, job.activity ~= "" and job.activity or "null",
    job.event and " " .. job.event or ""))
  if name:find "^Fail" then
    error("fails", 0)
  elseif name == "ThrowE" then
    job:throw "E"
  end
end

function Run:tell(line)
  self.lines[#self.lines + 1] = line
end

-- ---- words ----

local function value_of(text)
  if text == "true" or text == "false" then
    return text == "true"
  elseif text:find "^%[.*%]$" then
    local list = rules.array {}
    for item in text:sub(2, -2):gmatch "[^|]+" do
      list[#list + 1] = value_of(item)
    end
    return list
  end
  return math.tointeger(tonumber(text)) or text
end

-- The words without name=value, and the variables.
local function split(words)
  local rest, variables = {}, nil
  for word in words:gmatch "%S+" do
    local name, value = word:match "^([%w_]+)=(.*)$"
    if name then
      variables = variables or {}
      variables[name] = value_of(value)
    else
      rest[#rest + 1] = word
    end
  end
  return rest, variables
end

-- ---- the instances ----

local function note_started(run)
  for _, kind in ipairs { "instances", "past_instances" } do
    for _, row in ipairs(run.engine[kind](run.engine, {}):list()) do
      if not run.known[row.id] then
        run.known[row.id] = true
        run.born[#run.born + 1] = row.id
      end
    end
  end
  table.sort(run.born)
end

-- Those that the script has begun: what is called counts for nothing.
local function add(run, id)
  run.started[#run.started + 1] = id
  run.on = id
end

local function fail(message)
  error({ refused = tostring(message) }, 0)
end

local function done(value, message)
  if not value then
    fail(message)
  end
  return value
end

-- ---- commands ----

local Commands = {}

function Commands.deploy(run, words)
  for _, file in ipairs((split(words))) do
    copy(run, file)
  end
  if not run.engine then
    run.engine = testing.engine { scripts = run.folder, missing = function(name, job)
      return behave(run, name, job)
    end }
  else
    done(run.engine:reload())
  end
  return "quiet"
end

function Commands.start(run, words)
  local rest, variables = split(words)
  local key = variables and variables.key
  if variables then
    variables.key = nil
  end
  add(run, done(run.engine:start(rest[1], { variables = variables, key = key })))
end

function Commands.on(run, words)
  run.on = run.started[tonumber(words)]
  return "quiet"
end

function Commands.onkey(run, words)
  run.on = done(run.engine:instances({ process = words }):list()[1], "none").id
end

local function task_of(run, activity)
  local oldest
  for _, row in ipairs(run.engine:tasks({ activity = activity }):list()) do
    oldest = (not oldest or row.id < oldest.id) and row or oldest
  end
  return done(oldest, "no task " .. activity).id
end

function Commands.complete(run, words)
  local rest, variables = split(words)
  done(run.engine:complete(task_of(run, rest[1]), variables))
end

function Commands.bpmnerror(run, words)
  local rest = split(words)
  done(run.engine:throw(task_of(run, rest[1]), rest[2]))
end

function Commands.escalate(run, words)
  local rest = split(words)
  done(run.engine:escalate(task_of(run, rest[1]), rest[2]))
end

local KINDS = { ["async-before"] = "^process/.*/%s$", ["async-after"] = "^process/.*/%s:after$" }

-- The oldest job of an activity; "-": one that gives a signal.
local function job_of(run, activity, kind)
  local oldest
  local pattern = kind and KINDS[kind] or "^process/.*/%s[^/]*$"
  pattern = activity == "-" and "^process/.*:command$" or pattern
  pattern = pattern:format((activity:gsub("%p", "%%%0")))
  for _, row in ipairs(run.engine:jobs({}):list()) do
    local mine = row.handler:find(pattern)
    mine = mine and (activity == "-" or row.handler:match "([^/:]*)[^/]*$" == activity)
    oldest = mine and (not oldest or row.id < oldest.id) and row or oldest
  end
  return done(oldest, "no job of " .. activity)
end

function Commands.execute(run, words)
  local rest = split(words)
  local job = job_of(run, rest[1], rest[2])
  local _, message = run.engine:execute(job.id)
  if message then
    fail(message)
  end
end

function Commands.retries(run, words)
  local rest = split(words)
  done(run.engine:set_retries(job_of(run, rest[1]).id, tonumber(rest[2])))
end

-- external TOPIC [fail RETRIES | error CODE] [name=value …]: a worker takes the oldest job of the
-- topic, and hands it back.
function Commands.external(run, words)
  local rest, variables = split(words)
  local job = done(run.engine:fetch { worker = "w", topics = { rest[1] }, lock = "PT1M" })[1]
  job = done(job, "no external task of " .. rest[1])
  local one = { id = job.id, token = job.token, outcome = rest[2] or "complete" }
  if rest[2] == "fail" then
    one.message, one.retries = "fails", tonumber(rest[3])
  else
    one.variables, one.code = variables, rest[3]
  end
  local settled = done(run.engine:settle { outcomes = { one } }).outcomes[1]
  done(not settled.code, settled.message)
end

local function give_message(run, name)
  local oldest
  for _, row in ipairs(run.engine:subscriptions({}):list()) do
    local mine = row.name == name and (row.instance or 0) ~= 0
    oldest = mine and (not oldest or row.token < oldest.token) and row or oldest
  end
  return oldest and run.engine:correlate(name,
    { instance = oldest.instance, token = oldest.token }) or run.engine:correlate(name)
end

function Commands.message(run, words)
  local rest, variables = split(words)
  local _ = variables
  done(give_message(run, rest[1]))
end

function Commands.signal(run, words)
  local rest, variables = split(words)
  done(run.engine:signal(rest[1], variables))
end

function Commands.signalto(run, words)
  local rest, variables = split(words)
  local oldest
  for _, row in ipairs(run.engine:subscriptions({ activity = rest[2] }):list()) do
    local mine = row.name == rest[1] and (row.instance or 0) ~= 0
    oldest = mine and (not oldest or row.token < oldest.token) and row or oldest
  end
  oldest = done(oldest, "nothing waits")
  done(run.engine:signal(rest[1], variables, { instance = oldest.instance, token = oldest.token }))
end

function Commands.correlate(run, words)
  local rest, variables = split(words)
  if rest[2] == "all" then
    local ids = done(run.engine:correlate(rest[1], { variables = variables, all = true }))
    run:tell(("  %d receivers"):format(#ids))
    return
  end
  done(run.engine:correlate(rest[1], { variables = variables }))
end

function Commands.set(run, words)
  local _, variables = split(words)
  done(run.engine:set_variables(run.on, variables))
end

function Commands.setlocal(run, words)
  local rest, variables = split(words)
  done(run.engine:set_variables(run.on, variables,
    { activity = rest[1] .. "#1" }))
end

function Commands.unset(run, words)
  done(run.engine:set_variables(run.on, nil, { unset = { (split(words))[1] } }))
end

function Commands.condition(run, words)
  local _, variables = split(words)
  local ids = done(run.engine:conditions(variables))
  for _, id in ipairs(ids) do
    add(run, id)
  end
  run:tell(("  %d started"):format(#ids))
end

function Commands.advance(run, words)
  run.engine.clock:advance(tonumber(words))
end

function Commands.suspend(run)
  done(run.engine:suspend_instance(tostring(run.on)))
end

function Commands.activate(run)
  done(run.engine:activate_instance(tostring(run.on)))
end

function Commands.suspendp(run, words)
  local rest = split(words)
  done(run.engine:suspend_process(rest[1],
    { version = run.versions[rest[1]], include_instances = rest[2] ~= nil }))
end

function Commands.activatep(run, words)
  local rest = split(words)
  done(run.engine:activate_process(rest[1],
    { version = run.versions[rest[1]], include_instances = rest[2] ~= nil }))
end

local SWITCHES = { ["skip-listeners"] = "skip_listeners", ["skip-io"] = "skip_mappings",
  ["skip-called"] = "skip_called" }

-- The switches among words, and what is left.
local function switches(words)
  local options = {}
  local left = words:gsub("skip%-[a-z]+", function(word)
    options[SWITCHES[word]] = true
    return ""
  end)
  return options, left
end

function Commands.cancel(run, words)
  local options = switches(words)
  options.reason = "why"
  done(run.engine:cancel_instance(run.on, options))
end

local OPS = { before = "start_before", after = "start_after", flow = "start_flow" }

local function canceljob(run, activity)
  return { cancel = trees.job_place(run.engine, run.on, activity) }
end

local function operation(run, text)
  local rest, variables = split(text)
  local made = { variables = variables }
  if rest[1] == "canceljob" then
    return canceljob(run, rest[2])
  elseif rest[1] == "cancel" then
    return { cancel = rest[2] }
  elseif rest[1] == "cancel1" then
    return { cancel = trees.begun_place(run.engine, run.on, rest[2]) }
  end
  made[OPS[rest[1]]] = rest[2]
  for i = 3, #rest do
    if rest[i] == "in" then
      made["in"] = rest[i + 1]
    elseif rest[i] == "local" then
      made["local"] = true
    end
  end
  return made
end

local function operations_of(run, text)
  local list = {}
  for one in text:gmatch "[^;]+" do
    list[#list + 1] = operation(run, one)
  end
  return list
end

function Commands.modify(run, words)
  local options, left = switches(words)
  done(run.engine:modify_instance(run.on, operations_of(run, left), options))
end

function Commands.restart(run, words)
  local options, left = switches(words)
  local _, number, rest = left:match "^(%S+):(%d+)%s+(.*)$"
  rest = rest:gsub("%f[%w]initial%f[%W]", function()
    options.initial = true
    return ""
  end):gsub("%f[%w]nokey%f[%W]", function()
    options.no_key = true
    return ""
  end)
  options.version = tonumber(number)
  local id = done(run.engine:restart_instance(run.on, operations_of(run, rest), options))
  add(run, id)
  run:tell("  key " .. tostring(run.engine:instance(id).key or "null"))
end

-- ---- batches ----

-- By the word of a script: our type, and what the trace calls it.
local BATCHES = {
  delete = { "cancel-instances", "instance-deletion" },
  suspend = { "suspend-instances", "instance-update-suspension-state" },
  setvars = { "set-variables", "set-variables" },
  correlate = { "correlate", "correlate-message" },
  deletehistory = { "delete-instances", "historic-instance-deletion" },
}
local OWN_JOBS = { ["moonshift/batch_seed"] = "batch-seed-job",
  ["moonshift/batch_monitor"] = "batch-monitor-job" }

-- Runs the jobs of a batch, the oldest first.
local function run_batch(run, id, name, quiet)
  local job = run.engine:jobs({ batch = id, no_retries_left = false }):sort("id"):page(1, 1):list()
  while job[1] do
    local fine, why, message = pcall(run.engine.execute, run.engine, job[1].id)
    if not fine or message then
      fail(fine and message or why)
    end
    if not quiet then
      run:tell("  job " .. (OWN_JOBS[job[1].handler] or name))
    end
    job = run.engine:jobs({ batch = id, no_retries_left = false }):sort("id"):page(1, 1):list()
  end
end

local function config_of(word, rest, variables)
  if word == "delete" then
    return { reason = "why" }
  elseif word == "correlate" then
    return { message = rest, variables = variables }
  end
  return word == "setvars" and { variables = variables } or nil
end

-- The ids of a batch stand by their deployment: those that have ended come last.
local function batch_ids(run)
  local ids, ended = {}, {}
  for _, id in ipairs(run.started) do
    local list = run.engine:instances({ id = id }):one() and ids or ended
    list[#list + 1] = id
  end
  return table.move(ended, 1, #ended, #ids + 1, ids)
end

function Commands.batch(run, words)
  local rest, variables = split(words)
  local type, name = table.unpack(BATCHES[rest[1]])
  run.forgets = run.forgets or type == "delete-instances"
  local id = done(run.engine:batch { type = type, ids = batch_ids(run),
    config = config_of(rest[1], rest[2], variables) })
  local made = run.engine:batch(id)
  run:tell(("  batch %s total=%d perjob=%d perseed=%d"):format(name, made.total, made.invocations,
    made.jobs_per_seed))
  run_batch(run, id, name)
end

function Commands.batchmodify(run, words)
  local process_key, number, rest = words:match "^(%S+):(%d+)%s+(.*)$"
  local id = done(run.engine:batch { type = "modify", ids = run.started, invocations = 1000,
    config = { process = process_key, version = tonumber(number),
      operations = operations_of(run, rest) } })
  run_batch(run, id, "instance-modification", true)
end

local function migration(words)
  local options, left = switches(words)
  local from, from_number, to, to_number, rest = left:match "^(%S+):(%d+)%s+(%S+):(%d+)%s*(.*)$"
  local plan = { process = from, from = tonumber(from_number), to = tonumber(to_number),
    to_process = to ~= from and to or nil, activities = {}, update = nil }
  for word in rest:gmatch "%S+" do
    local a, b, update = word:match "^(%S-)=([^!]*)(!?)$"
    if a then
      table.insert(plan.activities, { from = a, to = b, update = update == "!" or nil })
    else
      options[word] = true
    end
  end
  return plan, options
end

-- A plan that cannot be is refused by its pairs, and what does not fit an instance by its places.
local function refuse_each(run, message)
  for _ in (message .. "; "):gsub("^.-: ", "", 1):gmatch ".-; %f[%S\0]" do
    run:tell "refused"
  end
end

function Commands.migrate(run, words)
  local plan, options = migration(words)
  if options.equal then
    local more = plan.activities
    plan.activities = done(run.engine:migration_plan(plan.process, plan.from, plan.to,
      { to_process = plan.to_process, update = options.update })).activities
    for _, pair in ipairs(more) do
      table.insert(plan.activities, pair)
    end
  end
  local pairs_told = {}
  for i, pair in ipairs(plan.activities) do
    pairs_told[i] = pair.from .. "=" .. pair.to .. (pair.update and "!" or "")
  end
  table.sort(pairs_told)
  options.equal, options.update = nil, nil
  options.dry_run = true
  local _, message = run.engine:migrate_instance(run.on, plan, options)
  if message and message:find "^the plan" then
    return refuse_each(run, message)
  end
  run:tell(("  plan [%s]"):format(table.concat(pairs_told, ", ")))
  if message then
    return refuse_each(run, message)
  end
  options.dry_run = nil
  done(run.engine:migrate_instance(run.on, plan, options))
end

-- ---- running ----

local function perform(run, line)
  local word, rest = line:match "^(%S+)%s*(.*)$"
  run:tell("> " .. line)
  local command = Commands[word]
  if not command then
    run:tell("unknown " .. word)
    return
  end
  local first = #run.lines
  local fine, result = pcall(command, run, rest)
  if not fine then
    local text = type(result) == "table" and result.refused or "ERROR " .. tostring(result)
    run:tell("refused " .. text:gsub("\n.*", ""))
  end
  note_started(run)
  if result ~= "quiet" then
    trees.tell(run)
  end
  return first
end

-- run(path) -> the lines of the trace of a folder with a script
function script.run(path)
  local run = setmetatable({ path = path, lines = {}, file_of = {}, versions = {}, started = {},
    known = {}, born = {} }, Run)
  run.folder = process.folder { ["processes/.keep"] = "" }
  os.remove(run.folder .. "/processes/.keep")
  for line in io.lines(path .. "/script") do
    if line:find "%S" then
      perform(run, line)
    end
  end
  trees.tell_history(run)
  run.engine:close()
  process.remove(run.folder)
  return run.lines
end

return script
