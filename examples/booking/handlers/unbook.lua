-- Takes a booking back. It sees the variables as they were when the booking ended.
return function(job)
  print(("unbook for %s"):format(job.variables.guest))
end
