-- Tokens of callers over HTTP (docs/security.md).
local options = require "moonshift.options"
local query = require "moonshift.query"

--- What a new token is for.
---@class moonshift.token
---@field name string stands in the operation log, as "token:NAME"
---@field scopes string[] of read, payload, enqueue, work, operate, admin
---@field tenant? string nothing of other tenants is in sight
---@field handlers? string[] nothing of other handlers is in sight; "topic/*" means all topics
---@field rate? string requests at most, such as "100/PT1S"
---@field expires? string a span from now, or an instant; else it counts until it is revoked

---@class moonshift.engine
local Engine = {}

--- Makes a token. The store keeps its hash: this is the one time that it is seen.
---@param described moonshift.token
---@return string? token nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:create_token(described)
  return self.core:create_token(options.value(described, "the token", "object"))
end

--- From now on it counts no more.
---@param name string
---@return boolean? revoked true; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:revoke_token(name)
  return self.core:revoke_token(options.value(name, "the token", "name"))
end

--- The tokens, revoked ones included.
---@param filters? { name?: string|string[] }
---@return moonshift.query query its rows are those of `moonshift token list --json`
function Engine:tokens(filters)
  return query.new(self.core, "tokens", filters)
end

return Engine
