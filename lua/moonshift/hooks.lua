-- Hooks: reads the files in hooks/, and makes the events that their functions are called with
-- (rules §21). Each event is a key of the file's table.
local definition = require "moonshift.definition"
local rules = require "moonshift.rules"
local show = require "moonshift.show"

local hooks = {}

local EVENTS = { "created", "failed", "dead", "retries", "ended" }
local KEYS = { "created", "failed", "dead", "retries", "ended", "description" }

-- ---- files ----

local function check_key(key, value, report)
  if key == "description" then
    return true
  end
  for _, event in ipairs(EVENTS) do
    if key == event then
      if type(value) ~= "function" then
        report(("%s: got %s (expected a function)"):format(key, show(value)), key)
      end
      return true
    end
  end
  return false
end

-- read(path, value, report) -> { path, functions by event }, or nil. report(message, key) is called
-- for each problem.
function hooks.read(path, value, report)
  if type(value) ~= "table" then
    report(("returned %s (expected a table of functions by event, such as { failed = … })"):format(
      show(value)))
    return nil
  end
  for _, key in ipairs(definition.sorted_keys(value)) do
    if not check_key(key, value[key], report) then
      report(definition.unknown_key(key, KEYS), key)
    end
  end
  local hook = { path = path }
  for _, event in ipairs(EVENTS) do
    hook[event] = value[event]
  end
  return hook
end

-- events(list) -> the names of all events that a hook of the list has a function for.
function hooks.events(list)
  local names = rules.array {}
  for _, event in ipairs(EVENTS) do
    for _, hook in ipairs(list) do
      if hook[event] then
        names[#names + 1] = event
        break
      end
    end
  end
  return names
end

-- ---- events ----

local Event = {}
local owners = setmetatable({}, { __mode = "k" }) -- of events: the job that enqueues, and how

-- enqueue(handler, payload, options) -> id. Written with the change that the event tells of.
function Event.enqueue(self, handler, payload, options)
  if type(handler) ~= "string" then
    error(("event:enqueue: got %s (expected the name of a handler)"):format(show(handler)), 2)
  elseif handler == self.job.handler then
    error(('event:enqueue: a hook told of "%s" cannot enqueue "%s" (it would be told again)')
      :format(handler, handler), 2)
  end
  local owner = owners[self]
  local id, message = owner.enqueue(owner.job, handler, payload, options)
  return id or error("event:enqueue: " .. message, 2)
end

-- call(hook, name, facts, job, enqueue, owner): calls the hook's function for the event `name`, if
-- it has one. `facts` are the event's fields, `job` is its job; enqueue(owner, …) makes jobs.
function hooks.call(hook, name, facts, job, enqueue, owner)
  if not hook[name] then
    return
  end
  local event = { name = name, job = job }
  for key, value in pairs(facts) do
    if event[key] == nil and value ~= rules.null then
      event[key] = value
    end
  end
  owners[event] = { job = owner, enqueue = enqueue }
  setmetatable(event, { __index = Event, __name = "moonshift.event", __metatable = false })
  hook[name](event)
end

return hooks
