-- The executor: runs the jobs of its engines in worker threads from start() to stop()
-- (rules §13: several engines, one pool). It has
-- connections to their stores of its own; the engines stay in the caller's hands.
local core = require "moonshift.core"
local engine = require "moonshift.engine"
local options = require "moonshift.options"

local OWN = { engines = true }

--- Runs the jobs of its engines in worker threads, from `start` to `stop`.
---@class moonshift.executor
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

--- Makes an executor. It begins to work with `start`.
--- Settings that are not given come from each engine; `name`, `workers`, `queue`, `keep_alive`,
--- `shutdown_wait` and `acquisitions` come from the first one.
---@param given moonshift.executor_options
---@return moonshift.executor? executor nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
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

--- Serves one more engine, at once if the executor runs.
---@param one moonshift.engine
---@return boolean? done true; nil on failure, `conflict` if it is served already
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Executor:add(one)
  local added, message, code = self.core:add(check_engine(one, "engine", 2).core)
  if added then
    one.runners[self] = true
  end
  return added, message, code
end

--- Serves an engine no more: gives back what has not begun, and waits for its running jobs up to
--- `shutdown_wait`.
---@param one moonshift.engine
---@return boolean? done true; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Executor:remove(one)
  local removed, message, code = self.core:remove(check_engine(one, "engine", 2).core)
  if removed then
    one.runners[self] = nil
  end
  return removed, message, code
end

--- Starts the threads. Refused for a store in memory and for a virtual clock.
---@return boolean? done true; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Executor:start()
  return self.core:start()
end

--- Stops acquiring, waits for running jobs up to `shutdown_wait`, and gives back the rest.
---@return boolean? done true; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Executor:stop()
  return self.core:stop()
end

--- Says what the executor does.
---@return moonshift.executor_status status
function Executor:status()
  return self.core:status()
end

--- Takes one turn of each engine without threads, under the settings of this executor.
---@return moonshift.turn? counts nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Executor:turn()
  return self.core:turn()
end

Executor.__close = Executor.stop

return executor
