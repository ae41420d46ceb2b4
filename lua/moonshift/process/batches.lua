-- What the jobs of a batch do to the instances that are their ids (rules §17): each is given the
-- same command, whose members are the batch's config. All of a job is one unit: what one of its
-- instances refuses undoes it.
local frame = require "moonshift.process.frame"
local restarts = require "moonshift.process.restarts"
local rules = require "moonshift.rules"
local walk = require "moonshift.process.walk"

local batches = {}

-- The command of the config to one instance.
local function command_of(config, kind, id)
  local command = { kind = kind, instance = id }
  for key, value in pairs(config) do
    if value ~= rules.null then
      command[key] = value
    end
  end
  return command
end

-- ---- by type: what is done to one instance ----

local Kinds = {}

Kinds.restart = restarts.run

-- The process that the config names, and its version, must be those of the instance.
local function check_version(w, inst)
  local row = w.context.version_row(inst.version)
  local key, number = w.cause.process or row.key, w.cause.version or row.number
  if key ~= row.key or number ~= row.number then
    w:refuse(("instance %d runs on version %d of %s (expected version %d of %s)"):format(inst.id,
      row.number, row.key, number, key))
  end
end

function Kinds.modify(w, causes)
  local inst = (w.cause.process or w.cause.version) and w:instance(w.cause.instance)
  if inst then
    check_version(w, inst)
  end
  causes.modify(w)
end

-- The plan names versions by their numbers; without `from`, it is of any that it fits.
function Kinds.migrate(w, causes)
  local cause, plan = w.cause, w.cause.plan
  local inst = w:instance(cause.instance)
  if inst then
    local row = w.context.version_row(inst.version)
    local key, to = plan.process or row.key, math.tointeger(plan.to)
    local other = plan.to_process or key
    cause.source = plan.from and w.context.version_named(key, plan.from) or inst.version
    cause.source_name = ("%s:%d"):format(key, plan.from or row.number)
    cause.target = to and w.context.version_named(other, to)
    cause.target_name = to and ("%s:%d"):format(other, to)
  end
  causes.migrate(w)
end

-- A receiver may have gone with what an earlier one did.
local function receives(w, row)
  local inst = w:instance(row.instance, row.token)
  local token = inst and not inst.ended and frame.find(inst.frame, row.token)
  return token and token.at == row.activity
    and (token.state == "message" or token.state == "on message")
end

-- Gives the message to all in the instance that waits for it. There may be nothing.
function Kinds.correlate(w, causes)
  local given = w.cause
  for _, row in ipairs(w.context.subscribed(given.instance, given.message, given.key)) do
    if row.instance == given.instance and receives(w, row) then
      w.cause = { kind = "message", instance = row.instance, token = row.token,
        activity = row.activity, variables = given.variables }
      causes.message(w)
      walk.go(w)
    end
  end
end

-- ---- one job ----

-- Instances that have ended are passed over by what they cannot refuse, unless the config says
-- otherwise.
local PASSED = { cancel = true, set = true, correlate = true }

local function is_passed(w, kind, id, config)
  if not PASSED[kind] or w:instance(id) then
    return false
  elseif config.ignore_missing == false then
    w:refuse(("there is no instance %s"):format(tostring(id)))
  end
  return true
end

-- run(w, causes): causes has what does each command
function batches.run(w, causes)
  local job = w.cause
  for _, id in ipairs(job.ids) do
    if math.type(id) ~= "integer" then
      w:refuse(("id %s (expected the number of an instance)"):format(tostring(id)))
    end
    w.cause = command_of(job.config, job.command, id)
    if not is_passed(w, job.command, id, job.config) then
      (Kinds[job.command] or causes[job.command])(w, causes)
      walk.go(w)
    end
  end
end

return batches
