-- An external task. If the handler of its topic is there, it is called in a job of its own. Else a
-- worker outside fetches the job of the task, and the token waits for what that hands back.
local service = require "moonshift.process.nodes.service"
local variables = require "moonshift.process.variables"
local walk = require "moonshift.process.walk"

local external = {}

-- calls(w, inst, step) -> whether the handler of the topic is there
function external.calls(w, inst, step)
  return w.context.handler(step.call_out.names, inst.version, true) ~= nil
end

function external.enter(w, inst, token, step)
  if external.calls(w, inst, step) then
    return service.enter(w, inst, token, step)
  end
  local topic = w:text(inst, token, step.topic, "its topic")
  if not topic or topic == "" or #topic > 255 then
    error(("%s: its topic %s is %s (expected a text of 1 to 255 bytes)"):format(step.id,
      step.topic.text or "", topic == "" and "empty" or topic and "too long" or "nothing"), 0)
  end
  w:await_job(inst, token, "external", { name = step.id, topic = topic, priority = step.priority,
    retry = step.retry, exclusive = false })
end

-- A worker outside has done it.
function external.proceed(w, inst, token, step)
  w:waited(inst, token)
  token.state, token.begun = "run", true
  variables.set_given(inst, token, w.cause)
  w:push(walk.leave, inst, token, step)
end

-- A job has waited for a worker outside, and by now the folder has the handler.
function external.run(w, inst, token, step)
  token.state, token.begun = "run", true
  service.enter(w, inst, token, step)
end

return external
