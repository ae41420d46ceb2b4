-- moonshift/process/migration/meta.lua - types of migrations for editors, as in moonshift/meta.lua.
-- It is never loaded.
-- luacheck: ignore 212 241
---@meta _

--- A pair of activities of a plan. The body of a repeated activity is `"x#multiInstanceBody"`.
---@class moonshift.migration_pair
---@field from string
---@field to string
---@field update? boolean the wait for its event begins anew, by the new process

--- How instances of a version become those of another one.
---@class moonshift.migration_plan
---@field process? string the key of the process so far
---@field from? integer the number of its version; nil: that of the instance
---@field to integer the number of the new version
---@field to_process? string the key of another process
---@field equal? boolean equal activities are paired, too
---@field activities? moonshift.migration_pair[]
---@field variables? table set in the instance after it has moved

--- Options of `engine:migrate_instance`.
---@class moonshift.migrate_options
---@field skip_listeners? boolean no listeners are called
---@field skip_mappings? boolean no inputs and outputs are evaluated
---@field dry_run? boolean nothing is done

--- What a migration would do.
---@class moonshift.migration_trial
---@field pairs moonshift.migration_pair[]
---@field moves { from: string, to: string }[] places and scopes
---@field ends string[] scopes that end
---@field begins string[] scopes that are made
