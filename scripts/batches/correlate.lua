-- Gives a message to all that waits for it in instances of processes. Ids: instances. Config:
-- { message, key, variables, ignore_missing = false }.
-- The walk does it (lua/moonshift/process/batches.lua).
return function()
  error("a batch of instances is walked", 0)
end
