-- Rules of events: what may be caught where, and what may be said twice.
local events = {}

local ESCALATES = { subprocess = true, transaction = true, call = true, user = true }

-- ---- subscriptions ----

-- The scope in which an event is waited for, as a key; nil: it does not wait.
local function waits_in(node, graph)
  local around = node.scope and graph.nodes[node.scope]
  if node.kind == "boundary" then
    return node.attached
  elseif node.kind == "start" and around and around.kind == "event_subprocess" then
    return around.scope or ""
  elseif node.kind == "start" then
    return " start"
  elseif node.kind == "catch" or node.kind == "receive" then
    local from = node.into[1] and graph.nodes[node.into[1].from]
    return from and from.kind == "event_gateway" and from.id or node.id
  end
end

local function check_subscription(node, graph, seen, report)
  local event = node.event
  local scope = waits_in(node, graph)
  local what = event.name or (scope == " start" and type(event.when) == "string" and event.when)
  if not scope or not what then
    return
  end
  local key = ("%s %s %s"):format(event.kind, scope, tostring(what))
  if seen[key] and event.kind == "conditional" then
    report:refuse(node, ('waits for the condition of "%s"'):format(seen[key]))
  elseif seen[key] and (event.kind == "message" or event.kind == "signal") then
    report:refuse(node, ('waits for the %s "%s", as "%s" does in the same scope'):format(event.kind,
      tostring(event.name), seen[key]))
  end
  seen[key] = seen[key] or node.id
  if scope == " start" and type(event.name) == "string" and event.name:find("[$#]{") then
    report:refuse(node, ('the name of the %s is "%s" (expected a name without an expression in a '
      .. "start event)"):format(event.kind, event.name))
  end
end

-- ---- escalations ----

-- Tells of escalation events of one scope that catch the same.
local function check_escalations(list, report)
  local codes, any = {}, nil
  for _, node in ipairs(list) do
    local code = node.event.code
    if code and codes[code] then
      report:refuse(node, ('catches the escalation "%s", as "%s" does'):format(code, codes[code]))
    elseif #list > 1 and not code and any then
      report:refuse(node, ('catches every escalation, as "%s" does'):format(any))
    end
    any = any or (not code and node.id or nil)
    codes[code or ""] = codes[code or ""] or node.id
  end
  for _, node in ipairs(list) do
    if any and node.event.code then
      report:refuse(node, ('catches an escalation that "%s" catches without a code'):format(any))
    end
  end
end

local function escalations(graph)
  local groups, order = {}, {}
  for _, id in ipairs(graph.order) do
    local node = graph.nodes[id]
    local scope = node.event and node.event.kind == "escalation" and waits_in(node, graph)
    if scope then
      local key = node.kind .. " " .. scope
      if not groups[key] then
        groups[key] = {}
        order[#order + 1] = key
      end
      table.insert(groups[key], node)
    end
  end
  return groups, order
end

-- ---- compensation and cancelling ----

-- The activity that a thrown compensation names lies in its scope.
local function check_activity(node, graph, report)
  local activity = node.event.activity
  local around = node.scope and graph.nodes[node.scope]
  local target = activity and graph.nodes[activity]
  if not activity then
    return
  elseif target and (target.scope == node.scope
    or around and around.kind == "event_subprocess" and target.scope == around.scope) then
    return
  end
  report:refuse(node, ('activityRef="%s", which is no activity of its scope'):format(activity))
end

local function check_single(node, graph, seen, report)
  local kind = node.event.kind
  local key = ("%s %s"):format(kind, waits_in(node, graph))
  if seen[key] then
    report:refuse(node, ('is a second %s event beside "%s"'):format(kind, seen[key]))
  end
  seen[key] = seen[key] or node.id
end

local function check_cancel(node, graph, report)
  local around = node.scope and graph.nodes[node.scope]
  local host = graph.nodes[node.attached or ""]
  if node.kind == "end" and not (around and around.kind == "transaction") then
    report:refuse(node, "a cancel end event lies outside a transaction")
  elseif node.kind == "boundary" and host and host.kind ~= "transaction" then
    report:refuse(node, ('a cancel boundary event at "%s" (expected a transaction)'):format(
      host.id))
  end
end

local function check_handler(node, report)
  if node.kind == "boundary" and not node.handler then
    report:refuse(node, "a compensation event has no handler (expected an association with an "
      .. "activity for compensation)")
  end
end

-- ---- links ----

local function check_links(graph, report)
  local targets = {}
  for _, id in ipairs(graph.order) do
    local node = graph.nodes[id]
    if node.kind == "catch" and node.event.kind == "link" then
      local name = node.event.name
      if targets[name] then
        report:refuse(node, ('is a second target of the link "%s" beside "%s"'):format(name,
          targets[name]))
      end
      targets[name] = targets[name] or id
    end
  end
  for _, id in ipairs(graph.order) do
    local node = graph.nodes[id]
    if node.kind == "throw" and node.event.kind == "link" and not targets[node.event.name] then
      report:refuse(node, ('the link "%s" leads nowhere (expected a catch event of that name)')
        :format(node.event.name))
    end
  end
end

local function check_escalation(node, graph, report)
  local host = graph.nodes[node.attached or ""]
  local throws = node.kind == "throw" or node.kind == "end"
  if host and not ESCALATES[host.kind] then
    report:refuse(node, ('an escalation event at "%s" (expected a sub-process, a call or a user '
      .. "task)"):format(host.id))
  elseif throws and not node.event.code and not node.event.refused then
    report:refuse(node, "a thrown escalation has no code")
  end
end

local function check_one(node, graph, seen, report)
  local kind = node.event.kind
  local waits = node.kind == "boundary" or node.kind == "start"
  if kind == "compensation" and not waits then
    check_activity(node, graph, report)
  elseif kind == "compensation" or (kind == "cancel" and waits) then
    check_single(node, graph, seen, report)
    check_handler(node, kind == "compensation" and report or { refuse = function() end })
  end
  if kind == "cancel" then
    check_cancel(node, graph, report)
  elseif kind == "escalation" then
    check_escalation(node, graph, report)
  end
end

function events.check(graph, report)
  local subscriptions, singles = {}, {}
  for _, id in ipairs(graph.order) do
    local node = graph.nodes[id]
    if node.event then
      check_subscription(node, graph, subscriptions, report)
      check_one(node, graph, singles, report)
    end
  end
  local groups, order = escalations(graph)
  for _, key in ipairs(order) do
    check_escalations(groups[key], report)
  end
  check_links(graph, report)
end

return events
