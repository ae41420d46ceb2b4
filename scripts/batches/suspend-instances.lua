-- Suspends instances of processes. Ids: instances; those that have ended are passed over. Config:
-- { hierarchy = true }: with the instances that they called.
return function(job, ids, config)
  for _, id in ipairs(ids) do
    job:operate { verb = "suspend_instance", instance = tostring(id), hierarchy = config.hierarchy,
      ignore_missing = config.ignore_missing ~= false }
  end
end
