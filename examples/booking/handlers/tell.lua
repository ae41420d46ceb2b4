return function(job)
  print(("%s: %s"):format(job.variables.guest, job.payload.text))
end
