-- Does an operator's verb, its payload, with the success of this job: suspension at a date.
return function(job)
  job:operate(job.payload)
end
