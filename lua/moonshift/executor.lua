-- The executor: runs the jobs of its engines in worker threads from start() to stop()
-- (rules §13: several engines, one pool). It has
-- connections to their stores of its own; the engines stay in the caller's hands.
local core = require "moonshift.core"
local engine = require "moonshift.engine"
local options = require "moonshift.options"

local OWN = { engines = true }

local Executor = {}
Executor.__index = Executor
Executor.__name = "moonshift.executor"

local executor = {}

local function check_engine(value, what, level)
  if not engine.is(value) then
    error(("%s is a %s (expected an engine)"):format(what, type(value)), level + 1)
  end
  return value
end

local function check_engines(list, level)
  if type(list) ~= "table" or engine.is(list) then
    error("engines is missing (expected { engine, … })", level + 1)
  end
  for i, value in ipairs(list) do
    check_engine(value, ("engines[%d]"):format(i), level + 1)
  end
  return list
end

-- executor { engines = { engine, … }, any setting: name, workers, queue, priority_range,
-- categories, deployment_aware, acquisitions, … } -> executor, or nil, message, code. What is not
-- said here is as each engine has it; what is the executor's (name, workers, queue, keep_alive,
-- shutdown_wait, acquisitions) as the first has it.
function executor.new(given)
  given = options.table(given, "executor")
  local engines = check_engines(given.engines, 3)
  if given.store ~= nil then
    return nil, "store: an executor works on the store of its engine", "invalid"
  end
  local made, message, code = core.executor(options.settings(given, OWN))
  if not made then
    return nil, message, code
  end
  local self = setmetatable({ core = made }, Executor)
  for _, one in ipairs(engines) do
    local added, reason, reason_code = self:add(one)
    if not added then
      return nil, reason, reason_code
    end
  end
  return self
end

-- Serves one more engine, from now on if the executor runs. Refused ("conflict") if it serves it
-- already; as in start() if it runs and the engine cannot be run.
function Executor:add(one)
  local added, message, code = self.core:add(check_engine(one, "engine", 2).core)
  if added then
    one.runners[self] = true
  end
  return added, message, code
end

-- Serves it no more: nothing new is acquired for it, what has not begun is given back, running jobs
-- get `shutdown_wait`. Waits for that; the other engines go on undisturbed.
function Executor:remove(one)
  local removed, message, code = self.core:remove(check_engine(one, "engine", 2).core)
  if removed then
    one.runners[self] = nil
  end
  return removed, message, code
end

-- Starts the threads. Refused ("conflict") for a store in memory and for a virtual clock.
function Executor:start()
  return self.core:start()
end

-- Stops acquiring, waits for running jobs (at most `shutdown_wait`), gives back the rest.
function Executor:stop()
  return self.core:stop()
end

-- { name, state = "inactive" | "running" | "stopped" | "failed", done, failed, stale, acquired,
-- running, waiting, paused, draining, error, engines = { … } }: sums, those of removed engines
-- included. Each of `engines` has the same fields and { store, acquisition, owner }.
function Executor:status()
  return self.core:status()
end

-- One turn of each engine without threads, on its own connection, under this executor's settings.
function Executor:turn()
  return self.core:turn()
end

Executor.__close = Executor.stop

return executor
