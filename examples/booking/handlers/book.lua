-- Books what its activity is named after; what it returns stands for the partner's number.
return function(job)
  print(("book %s for %s"):format(job.activity, job.variables.guest))
  job:set_local("number", job.activity .. "-" .. job.key)
end
