-- Greets somebody. Payload: { name = <text> }. The path of the file is the name of the handler.
return function(job)
  local name = job.payload.name or "world"
  print("hello, " .. name)
  return { greeted = name }
end
