-- The engine's verbs on deployments (rules §13).
local options = require "moonshift.options"
local show = require "moonshift.show"

local deployments = {}

-- A deployment's id, or a row of deployments(); and whose registration it is, nil for our own.
local function registration(deployment, executor)
  local id = type(deployment) == "table" and deployment.id or deployment
  local integer = type(id) == "number" and math.tointeger(id)
  if not integer then
    error(("deployment is %s (expected an id)"):format(show(id)), 3)
  elseif executor ~= nil and (type(executor) ~= "string" or executor == "") then
    error(("executor is %s (expected a name)"):format(show(executor)), 3)
  end
  return integer, executor
end

function deployments.verbs(Engine)
  -- { { id, name, hash, loaded, files, executors = { name, … } }, … }
  function Engine:deployments()
    return self.core:deployments()
  end

  -- register(id, { executor = "node-1" }): deployment-aware executors of that name (else of the
  -- engine's own) take its jobs from now on. Returns 1, or 0 if it was so already.
  function Engine:register(deployment, given)
    local executor = options.only(given, "register", { executor = true }).executor
    local id, name = registration(deployment, executor)
    return self.core:set_registered(id, name, true)
  end

  function Engine:unregister(deployment, given)
    local executor = options.only(given, "unregister", { executor = true }).executor
    local id, name = registration(deployment, executor)
    return self.core:set_registered(id, name, false)
  end

  -- delete_deployment(id, { dry_run = true }): removes one that nobody needs. Returns
  -- 1, or nil, message and "conflict" with what needs it.
  function Engine:delete_deployment(deployment, given)
    local try = options.only(given, "delete_deployment", { dry_run = true }).dry_run
    local id = registration(deployment)
    return self.core:delete_deployment(id, try)
  end
end

return deployments
