return function(job, payload)
  print("fine", job.id)
  job:log("a line")
  job:progress(0.5, "half")
  return { done = payload and payload.n }
end
