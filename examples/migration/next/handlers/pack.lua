return function(job)
  print(("%s: %s"):format(job.key, job.activity))
end
