-- Begins instances like ones that have ended. Ids: those. Config: { operations = { … }, version,
-- into, initial, no_key, skip_listeners, skip_mappings }.
-- The walk does it (lua/moonshift/process/batches.lua).
return function()
  error("a batch of instances is walked", 0)
end
