-- The engine's verbs on deployments (rules §13).
local options = require "moonshift.options"
local show = require "moonshift.show"

-- A deployment's id, or a row of deployments(); and whose registration it is, nil for our own.
local function registration(deployment, executor)
  local id = type(deployment) == "table" and deployment.id or deployment
  local integer = type(id) == "number" and math.tointeger(id)
  if not integer then
    error(("deployment is %s (expected an id)"):format(show(id)), 3)
  elseif executor == "" then
    error(("executor is %s (expected a name)"):format(show(executor)), 3)
  end
  return integer, executor
end

---@class moonshift.engine
local Engine = {}

--- Lists the deployments of the store.
---@return table[]? deployments each with `id`, `name`, `loaded`; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:deployments()
  return self.core:ask("deployments")
end

--- Lets deployment-aware executors of a name run the jobs of a deployment.
---@param deployment integer|table its id, or its row
---@param given? { executor?: string } the name; else the engine's own
---@return integer? touched 1, or 0 if it was so already; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:register(deployment, given)
  local executor = options.only(given, "register", { executor = "name" }).executor
  local id, name = registration(deployment, executor)
  return self.core:command { verb = "register", deployment = id, executor = name }
end

--- Keeps deployment-aware executors of a name from the jobs of a deployment.
---@param deployment integer|table its id, or its row
---@param given? { executor?: string } the name; else the engine's own
---@return integer? touched 1, or 0 if it was so already; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:unregister(deployment, given)
  local executor = options.only(given, "unregister", { executor = "name" }).executor
  local id, name = registration(deployment, executor)
  return self.core:command { verb = "unregister", deployment = id, executor = name }
end

--- Gives the deployments of a folder another name. Their schedules and processes go with them.
---@param from string
---@param to string
---@return integer? touched how many; nil on failure: a live executor has one of them
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:rename_deployment(from, to)
  options.value(from, "from", "name")
  options.value(to, "to", "name")
  return self.core:command { verb = "rename_deployment", deployment = from, name = to }
end

--- Removes a deployment that nothing needs, with its files.
---@param deployment integer|table its id, or its row
---@param given? { dry_run?: boolean } `dry_run`: asks, and removes nothing
---@return integer? touched 1; nil on failure: the message says what needs it
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:delete_deployment(deployment, given)
  local try = options.only(given, "delete_deployment", { dry_run = "flag" }).dry_run
  local id = registration(deployment)
  return self.core:command({ verb = "delete_deployment", deployment = id }, try)
end

return Engine
