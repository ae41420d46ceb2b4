-- Runs one shell command. Payload: { command = <text> }. The output of both streams is kept line by
-- line with the attempt. An exit status other than 0 is a failure. The handler timeout (5 minutes
-- unless the setting `timeout` says otherwise) ends the command and everything it started. It runs
-- once: only the creator of the job knows whether the command may run again (`retries`).
local function run(job)
  local command = job.payload.command
  if type(command) ~= "string" then
    error({ message = "payload.command: expected a text", permanent = true })
  end
  local pipe = assert(io.popen("{ " .. command .. "\n} 2>&1"))
  for line in pipe:lines() do
    job:log(line)
  end
  local fine, how, number = pipe:close()
  if not fine then
    error(("command ended with %s %d"):format(how == "exit" and "status" or how, number), 0)
  end
end

return { retries = 1, run = run }
