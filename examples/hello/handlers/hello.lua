-- Greets. Payload: { name = <text> }.
return function(job)
  print("hello, " .. (job.payload.name or "world"))
  return { greeted = job.payload.name or "world" }
end
