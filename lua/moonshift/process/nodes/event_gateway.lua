-- An event-based gateway waits beside all the events behind it; the first that comes is its way.
local gateway = {}

function gateway.enter(w, inst, token, step)
  local steps = {}
  for i, flow in ipairs(step.out) do
    steps[i] = flow.to
  end
  w:await(inst, token, "event")
  w.events.watch(w, inst, token, steps)
end

return gateway
