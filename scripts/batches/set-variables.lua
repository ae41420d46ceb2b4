-- Sets variables of instances of processes. Ids: instances; those that have ended are passed
-- over. Config: { variables = { … }, types, ignore_missing = false }.
-- The walk does it (lua/moonshift/process/batches.lua).
return function()
  error("a batch of instances is walked", 0)
end
