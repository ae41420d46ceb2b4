-- Moves instances to another version of their process. Ids: instances. Config: { plan = { process,
-- from, to, activities = { … }, equal }, skip_listeners, skip_mappings }.
-- The walk does it (lua/moonshift/process/batches.lua).
return function()
  error("a batch of instances is walked", 0)
end
