-- Starts and cancels activities of instances of processes. Ids: instances. Config: { operations
-- = { … }, process, version, skip_listeners, skip_mappings, reason }.
-- The walk does it (lua/moonshift/process/batches.lua).
return function()
  error("a batch of instances is walked", 0)
end
