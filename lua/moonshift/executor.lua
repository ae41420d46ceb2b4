-- The executor: runs an engine's jobs in worker threads from start() to stop(). It has a connection
-- to the store of its own; the engine stays in the caller's hands.
local core = require "moonshift.core"
local engine = require "moonshift.engine"
local options = require "moonshift.options"

local OWN = { engines = true }

local Executor = {}
Executor.__index = Executor
Executor.__name = "moonshift.executor"

local executor = {}

local function only_engine(engines)
  if type(engines) ~= "table" or not engine.is(engines[1]) then
    error("engines has no engine (expected { engine })", 4)
  end
  if #engines > 1 then
    error(("engines has %d engines (expected one)"):format(#engines), 4)
  end
  return engines[1]
end

-- executor { engines = { engine }, any setting: name, workers, queue, priority_range, categories,
-- deployment_aware, … } -> executor, or nil, message, code. What is not said here is as the engine
-- has it.
function executor.new(given)
  given = options.table(given, "executor")
  local served = only_engine(given.engines)
  if given.store ~= nil then
    return nil, "store: an executor works on the store of its engine", "invalid"
  end
  local made, message, code = core.executor(served.core, options.settings(given, OWN))
  if not made then
    return nil, message, code
  end
  local self = setmetatable({ core = made, engine = served }, Executor)
  served.runners[self] = true
  return self
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
-- running, waiting, paused, draining, error }
function Executor:status()
  return self.core:status()
end

-- One turn without threads, on the engine's own connection, under this executor's settings.
function Executor:turn()
  return self.core:turn()
end

Executor.__close = Executor.stop

return executor
