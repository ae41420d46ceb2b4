-- The job definitions of a process: one for each activity and kind of job, so that overrides,
-- suspension, limits and listeners know them before there is a job.
local expression = require "moonshift.expression"
local graph_of = require "moonshift.process.graph"

local definitions = {}

local TIMERS = { date = "DATE", duration = "DURATION", cycle = "CYCLE" }

-- A number that a text says, or nil: an expression is asked when a job is made.
local function constant(value)
  return type(value) == "number" and math.tointeger(value)
    or type(value) == "string" and math.tointeger(tonumber(value)) or nil
end

-- An expression is asked when a job fails.
local function plain(retry)
  return type(retry) == "string" and not expression.is(retry) and retry or nil
end

-- `more.own` is what has the priority: the node, or the table of its repetition for the body.
local function add(list, graph, node, suffix, kind, more)
  local priority = more.own and more.own.priority
  if not more.own then
    priority = graph_of.priority(graph, node)
  end
  list[#list + 1] = {
    name = ("process/%s/%s%s"):format(graph.key, node.id, suffix),
    line = node.line,
    retry = expression.is(more.retry) and more.retry or nil,
    declared = {
      priority = constant(priority) or priority == nil and constant(graph.priority) or nil,
      retry = plain(more.retry),
      properties = {
        process = graph.key,
        activity = node.id .. (not more.of_task and suffix:match("^#[^:]*") or ""),
        kind = kind,
        configuration = more.configuration or kind,
      },
    },
  }
end

local function timer_kind(node, graph)
  local around = node.scope and graph.nodes[node.scope]
  if node.kind == "boundary" then
    return "timer-transition"
  elseif node.kind == "catch" then
    return "timer-intermediate-transition"
  end
  return around and "timer-start-event-subprocess" or "timer-start-event"
end

local function configuration(timer)
  return ("%s: %s"):format(TIMERS[timer.kind], tostring(timer.text))
end

local function add_timer(list, graph, node)
  local timer = node.event and node.event.timer
  if timer then
    add(list, graph, node, ":timer", timer_kind(node, graph), {
      retry = node.retry,
      configuration = configuration(timer),
    })
  end
end

-- Timers of a user task's listeners: their failures are retried as the settings say.
local function add_timeouts(list, graph, node)
  for _, one in ipairs(node.timeouts or {}) do
    add(list, graph, node, graph_of.timeout_place({ id = "" }, one) .. ":timer",
      "timer-task-listener", { of_task = true, configuration = configuration(one.timer) })
  end
end

local function add_body(list, graph, node)
  local multi = node.multi or {}
  local more = { own = multi, retry = multi.retry }
  if multi.before then
    add(list, graph, node, "#multiInstanceBody", "async-before", more)
  elseif multi.parallel then -- jobs that make the turns of a large one, and leave it
    add(list, graph, node, "#multiInstanceBody", "body", more)
  end
  if multi.after then
    add(list, graph, node, "#multiInstanceBody:after", "async-after", more)
  end
end

local function add_node(list, graph, node)
  add_body(list, graph, node)
  if graph_of.begins_in_job(node) then
    add(list, graph, node, "", "async-before", { retry = node.retry })
  end
  if node.after then
    add(list, graph, node, ":after", "async-after", { retry = node.retry })
  end
  add_timer(list, graph, node)
  add_timeouts(list, graph, node)
end

-- of(graph) -> a list of { name, line, declared, retry } in the order of the file; `declared` is
-- what a handler's file would declare, `retry` an expression that is asked at each failure. The
-- last one is of the commands on instances.
function definitions.of(graph)
  local list = {}
  for _, id in ipairs(graph.order) do
    add_node(list, graph, graph.nodes[id])
  end
  list[#list + 1] = {
    name = ("process/%s:command"):format(graph.key),
    line = graph.line,
    declared = { properties = { process = graph.key, kind = "command" } },
  }
  return list
end

return definitions
