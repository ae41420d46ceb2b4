-- The graph of a process: what both forms, BPMN and Lua, are read into, and what the walk runs.
--
--     graph = {
--       key, name, path, line, column, tag, history_time_to_live = "P90D", priority, retry,
--       nodes = { [id] = node }, order = { id, … },  -- in the order of the file
--       start = id of its none or timer start, or of its only one,
--       events = { ids of its event sub-processes },
--       listeners = { start = { behaviour, … }, ["end"] = { … }, variable_create = …, … },
--       search = { names of variables that instances are found by }, nil for none,
--       initiator = name of the variable that gets who has started an instance, nil for none,
--     }
--     node = {
--       id, name, kind, scope = id of the sub-process around it (nil: the process), line, column,
--       out = { flow, … }, into = { flow, … },
--       before, after = true, exclusive = false (nil: true), priority, retry,
--       listeners = { start, ["end"], variable_create, variable_update, variable_delete;
--         of user tasks create, assignment, update, complete, delete },
--       timeouts = { { id, timer, behaviour } }: listeners that a timer of a user task calls,
--       input, output = { { name, value } }, fields = { [name] = value },
--       behaviour, result = name of a variable, event,
--       attached = id of the host and handler = id of what compensates (boundary events),
--       properties = { [name] = value }, which nothing runs by,
--       boundaries = { id, … } (hosts), compensates = true (isForCompensation),
--       multi = { parallel, count, collection, element, index = name of the variable with the
--         number of the turn, ["until"], before, after, exclusive, retry },
--       call = { process, binding, version, key, into = { mapping, … }, back = { … }, mapping },
--       assignee, candidates = { users, groups }, due, follow_up, task_priority, form, description,
--       start = id, events = { ids } (sub-processes)
--     }
--     kind: start end service send script rule user manual task receive exclusive parallel
--       inclusive event_gateway subprocess event_subprocess transaction call catch throw boundary
--     flow = { id, unnamed, name, from, to, when = condition, default, listeners, line, column }
--     event = { kind, name, key, timer = { kind = "date" | "duration" | "cycle", text }, code,
--       code_variable, message, message_variable, interrupting = false (nil: true), when, variable,
--       changes, activity, async, into }
--     event.kind: none message timer error terminate signal escalation conditional compensation
--       cancel link
--     behaviour = one of { class } { delegate } { expression } { topic } { run } { call }
--       { script, resource, language } { decision, map }, with fields, line, column, and names:
--       where places.lua says that its handler may lie
--     mapping = { from, to, all, value, ["local"] }
--     value, condition: a literal, a text with ${…}, { list } or { map, order },
--       { script, language } or a function of the Lua form
--
-- Texts are as written; nothing is compiled in a graph.
--
-- In a multi-instance activity `multi` has what its body has, the node what each turn has.
local rules = require "moonshift.rules"

local graph = {}

-- new(fields) -> a graph without nodes.
function graph.new(fields)
  fields.nodes, fields.order, fields.events = {}, {}, {}
  return fields
end

-- Kinds of nodes that hold other nodes.
graph.SCOPES = { subprocess = true, event_subprocess = true, transaction = true }

local function note_start(into, node)
  local kind = node.event and node.event.kind
  if not into.start and (kind == "none" or kind == "timer" or into.kind == "event_subprocess") then
    into.start = node.id
  end
end

-- A process with one start event begins there, of whatever kind that is.
local function note_only_start(self)
  local only, count = nil, 0
  for _, id in ipairs(self.order) do
    local node = self.nodes[id]
    if node.kind == "start" and not node.scope then
      only, count = id, count + 1
    end
  end
  self.start = self.start or count == 1 and only or nil
end

-- Fills in `start` and `events` of the graph and of its sub-processes.
function graph.complete(self)
  for _, node in pairs(self.nodes) do
    if graph.SCOPES[node.kind] then
      node.events = {}
    end
  end
  for _, id in ipairs(self.order) do
    local node = self.nodes[id]
    local around = node.scope and self.nodes[node.scope] or self
    if node.kind == "start" then
      note_start(around, node)
    elseif node.kind == "event_subprocess" then
      table.insert(around.events, id)
    end
  end
  note_only_start(self)
end

-- timeout_place(node, timeout) -> where a frame has the timer of a listener
function graph.timeout_place(node, timeout)
  return node.id .. "#timeout-" .. timeout.id
end

-- is_external(node) -> whether its behaviour is the handler of a topic
function graph.is_external(node)
  return node.behaviour ~= nil and node.behaviour.topic ~= nil
end

-- begins_in_job(node) -> whether the node, or each turn of it, is the work of a job of its own. An
-- external task always is.
function graph.begins_in_job(node)
  return node.before or graph.is_external(node)
end

-- priority(self, node) -> what the graph says of the priority of the node's jobs, or nil. That of
-- an external task goes before.
function graph.priority(self, node)
  local task = graph.is_external(node) and (node.external_priority or self.external_priority)
  return task or node.priority
end

-- each(self, visit): calls visit(node) in the order of the file.
function graph.each(self, visit)
  for _, id in ipairs(self.order) do
    visit(self.nodes[id])
  end
end

-- ---- the hash ----

-- What makes no difference to a run.
local IDLE = { line = true, column = true, path = true, names = true, functions = true, into = true,
  order = true, unnamed = true, properties = true }

local write

local function write_list(list, out)
  for _, value in ipairs(list) do
    write(value, out)
  end
end

local function write_table(value, out)
  local keys = {}
  for key in pairs(value) do
    if type(key) == "string" and not IDLE[key] then
      keys[#keys + 1] = key
    end
  end
  table.sort(keys)
  out[#out + 1] = "{"
  write_list(value, out)
  for _, key in ipairs(keys) do
    out[#out + 1] = ("%s="):format(key)
    write(value[key], out)
  end
  out[#out + 1] = "}"
end

-- A function is known by its code, which its file has; see `source` of the Lua form.
function write(value, out)
  if type(value) == "table" then
    write_table(value, out)
  elseif type(value) == "function" then
    out[#out + 1] = "function;"
  else
    out[#out + 1] = ("%s:%q;"):format(type(value), value)
  end
end

-- hash(self) -> a text that differs if what runs differs. Line numbers, white space, the diagram
-- and the file's name make no difference. A graph with functions has its file's text in `source`.
function graph.hash(self)
  local out = {}
  write(self, out)
  return rules.hash(table.concat(out))
end

return graph
