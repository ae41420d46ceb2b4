-- Keeps a processor busy for as many rounds as the payload says.
return function(job)
  local sum = 0
  for round = 1, job.payload do
    sum = sum + round % 7
  end
end
