return function(job)
  if not job.due then
    job:snooze(0.05)
  end
end
