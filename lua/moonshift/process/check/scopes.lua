-- Rules of scopes: how a process or sub-process begins, and what may lie in it.
local scopes = {}

-- The start events of each sub-process, and under "" those of the process.
local function starts_of(graph)
  local starts = {}
  for _, id in ipairs(graph.order) do
    local node = graph.nodes[id]
    if node.kind == "start" then
      local scope = node.scope or ""
      starts[scope] = starts[scope] or {}
      table.insert(starts[scope], node)
    end
  end
  return starts
end

-- ---- the process ----

local OUTER = { none = true, timer = true, message = true, signal = true, conditional = true }

local function check_process(graph, starts, report)
  local first
  if #starts == 0 then
    report:refuse({ id = graph.key, line = graph.line, column = graph.column },
      "the process has no start event")
  end
  for _, start in ipairs(starts) do
    local kind = start.event.kind
    if not OUTER[kind] then
      report:refuse(start, ("an event of the kind %s cannot start a process (expected none, "
        .. "timer, message, signal or conditional)"):format(kind))
    elseif (kind == "none" or kind == "timer") and first then
      report:refuse(start, ('is a second none or timer start event beside "%s"'):format(first.id))
    elseif kind == "none" or kind == "timer" then
      first = start
    end
  end
end

-- ---- sub-processes ----

local function check_only(node, starts, report)
  if #starts == 0 then
    report:refuse(node, "the sub-process has no start event")
  end
  for i = 2, #starts do
    report:refuse(starts[i], ('is a second start event of "%s"'):format(node.id))
  end
end

local function check_subprocess(node, starts, report)
  check_only(node, starts, report)
  for _, start in ipairs(starts) do
    if start.event.kind ~= "none" then
      report:refuse(start, ("an event of the kind %s cannot start a sub-process (expected none, or "
        .. "an event sub-process)"):format(start.event.kind))
    end
  end
end

local INNER = { message = true, timer = true, signal = true, conditional = true, error = true,
  escalation = true, compensation = true }

local function check_event_start(start, node, report)
  local kind = start.event.kind
  if start.event.refused then
    return
  elseif not INNER[kind] then
    report:refuse(start, "an event sub-process cannot start without an event (expected message, "
      .. "timer, error, escalation, signal, conditional or compensation)")
  elseif (kind == "error" or kind == "compensation") and start.event.interrupting == false then
    report:refuse(start, ("an event sub-process that starts by %s must interrupt (expected "
      .. 'isInterrupting="true")'):format(kind))
  elseif kind == "compensation" and not node.scope then
    report:refuse(start, "a process has no compensation event (expected it in a sub-process)")
  end
end

local function check_event_subprocess(node, starts, report)
  check_only(node, starts, report)
  for _, start in ipairs(starts) do
    check_event_start(start, node, report)
  end
end

local CHECKS = { subprocess = check_subprocess, transaction = check_subprocess,
  event_subprocess = check_event_subprocess }

function scopes.check(graph, report)
  local starts = starts_of(graph)
  check_process(graph, starts[""] or {}, report)
  for _, id in ipairs(graph.order) do
    local node = graph.nodes[id]
    local check = CHECKS[node.kind]
    if check then
      check(node, starts[id] or {}, report)
    end
  end
end

return scopes
