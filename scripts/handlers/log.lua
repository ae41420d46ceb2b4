-- Keeps one line with the attempt, where operators see it. Payload: a text, or
-- { message = <text> }.
return function(job)
  local payload = job.payload
  local message = type(payload) == "table" and payload.message or payload
  if type(message) ~= "string" then
    error({ message = "payload.message: expected a text", permanent = true })
  end
  job:log(message)
end
