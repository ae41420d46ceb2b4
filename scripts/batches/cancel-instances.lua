-- Cancels instances of processes. Ids: instances; those that have ended are passed over. Config:
-- { reason, skip_listeners, skip_mappings, skip_called, ignore_missing = false }.
-- The walk does it (lua/moonshift/process/batches.lua).
return function()
  error("a batch of instances is walked", 0)
end
