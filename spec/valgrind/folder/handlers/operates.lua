return function(job)
  job:operate({ verb = "suspend_instance", instance = "nobody" })
  job:operate({ verb = "activate_instance", instance = "nobody" })
end
