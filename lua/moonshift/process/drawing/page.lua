-- What is answered when a picture is asked for: SVG, text for a terminal, or the drawing itself.
local drawing = require "moonshift.process.drawing"
local rules = require "moonshift.rules"
local show = require "moonshift.show"
local svg = require "moonshift.process.drawing.svg"
local tree = require "moonshift.process.picture"

-- What an instance waits for, by the state of its token; others are named as they are.
local WAITING = { before = "job", after = "job", seed = "job", body = "job", task = "user task",
  call = "called instance", join = "other branches", event = "events" }

-- ---- what stands where ----

local function base_of(activity)
  return activity:match "^[^#]*"
end

-- The entry of an activity: { count, states, incidents, passed }.
local function entry_of(at, activity)
  local id = base_of(activity)
  at[id] = at[id] or {}
  return at[id]
end

local function add_places(at, places)
  for _, place in ipairs(places or {}) do
    local entry, word = entry_of(at, place.activity), WAITING[place.state] or place.state
    local count = math.tointeger(place.count) or 1
    entry.count = (entry.count or 0) + count
    entry.states = entry.states or {}
    entry.states[word] = (entry.states[word] or 0) + count
  end
end

local function add_incidents(at, incidents)
  for _, incident in ipairs(incidents or {}) do
    if type(incident.activity) == "string" then
      local entry = entry_of(at, incident.activity)
      -- a row of the list of incidents counts itself, one of a process those of an activity
      entry.incidents = (entry.incidents or 0) + (not incident.id and incident.count or 1)
    end
  end
end

-- "1 job, 2 user task"
local function waiting_text(states)
  local list = {}
  for word, count in pairs(states or {}) do
    list[#list + 1] = ("%d %s"):format(count, word)
  end
  table.sort(list)
  return list[1] and table.concat(list, ", ") or nil
end

-- What stands at each activity, by its id, and the largest number of times that one began.
local function standing_of(asked)
  local at, most = {}, 0
  add_places(at, asked.at)
  add_incidents(at, asked.incidents)
  for activity, count in pairs(asked.heat or {}) do
    entry_of(at, activity).passed, most = count, math.max(most, count)
  end
  for _, entry in pairs(at) do
    entry.waiting = waiting_text(entry.states)
  end
  return at, most
end

-- ---- what the picture lacks ----

-- The shape that stands for an activity: its own, or that of a sub-process around it.
local function drawn_as(graph, drawn, id)
  while id and not drawn[id] do
    id = graph.nodes[id] and graph.nodes[id].scope
  end
  return id
end

local function move_entry(into, entry)
  for _, name in ipairs { "count", "incidents" } do
    into[name] = entry[name] and (into[name] or 0) + entry[name] or into[name]
  end
  into.states = into.states or {}
  for word, count in pairs(entry.states or {}) do
    into.states[word] = (into.states[word] or 0) + count
  end
  into.waiting = waiting_text(into.states)
end

-- Counts of activities that the picture does not show go to what shows them, else to a list.
local function gather(graph, found, at)
  local drawn, shown, ids, left = {}, {}, {}, {}
  for _, shape in ipairs(found.shapes) do
    drawn[shape.id] = true
  end
  for id in pairs(at) do
    ids[#ids + 1] = id
  end
  table.sort(ids)
  for _, id in ipairs(ids) do
    local place = drawn_as(graph, drawn, id)
    if place then
      shown[place] = shown[place] or { passed = at[place] and at[place].passed }
      move_entry(shown[place], at[id])
    elseif at[id].count or at[id].incidents then
      left[#left + 1] = id
    end
  end
  return shown, left
end

-- ---- words ----

local function plural(count, what)
  return ("%d %s%s"):format(count, what, count == 1 and "" or "s")
end

local function head_of(asked, graph)
  local number = asked.version.number
  local head = number and ("%s, version %d"):format(graph.key, number) or graph.key
  if not asked.instance then
    return asked.instances and ("%s: %s"):format(head, plural(asked.instances, "instance")) or head
  end
  local row = asked.row or {}
  local state = type(row.how) == "string" and row.how or row.state
  return ("instance %d of %s%s"):format(asked.instance, head,
    type(state) == "string" and ": " .. state or "")
end

local function notes_of(asked, graph, left)
  local notes = { head_of(asked, graph) }
  if asked.heat and not asked.instance then
    local count = plural(asked.heated, "instance")
    notes[2] = ("heat: how often each activity began in %s"):format(count)
  elseif asked.heat then
    notes[2] = "heat: how often each activity began"
  end
  if left[1] then
    notes[#notes + 1] = "not in the diagram: " .. table.concat(left, ", ")
  end
  return notes
end

-- ---- forms ----

local forms = {}

local function drawing_of(asked, graph)
  local text = not asked.version.path:find "%.lua$" and asked.version.text or nil
  local found, message = drawing.of(graph, text)
  return found or error(message, 0)
end

function forms.svg(asked, graph, at, most)
  local found = drawing_of(asked, graph)
  local shown, left = gather(graph, found, at)
  local notes = notes_of(asked, graph, left)
  return svg(found, { at = shown, most = most, title = notes[1], notes = notes })
end

local COUNTS = { "count", "waiting", "incidents", "passed" }

function forms.drawing(asked, graph, at)
  local found = drawing_of(asked, graph)
  local shown, left = gather(graph, found, at)
  for _, shape in ipairs(found.shapes) do
    for _, name in ipairs(COUNTS) do
      shape[name] = (shown[shape.id] or {})[name]
    end
  end
  rules.array(found.shapes)
  rules.array(found.lines)
  found.process, found.version, found.notes = graph.key, asked.version.number,
    rules.array(notes_of(asked, graph, left))
  return found
end

-- "  ● 2 (1 job, 1 timer)  ! 1 incident  × 7"
local function counts_text(entry)
  local list = {}
  if entry.count then
    list[#list + 1] = ("● %s"):format(entry.waiting)
  end
  if entry.incidents then
    list[#list + 1] = "! " .. plural(entry.incidents, "incident")
  end
  if entry.passed then
    list[#list + 1] = ("began %s"):format(plural(entry.passed, "time"))
  end
  return list[1] and "  " .. table.concat(list, ", ") or ""
end

local function row_text(row, at)
  if row.id then
    return ("%s%s%s"):format(row.tree, row.id, counts_text(at[row.id] or {}))
  end
  return row.to and ("%s→ %s"):format(row.tree, row.to) or row.tree .. row.text
end

function forms.text(asked, graph, at)
  local lines = notes_of(asked, graph, {})
  for _, row in ipairs(tree(graph)) do
    lines[#lines + 1] = row_text(row, at)
  end
  return table.concat(lines, "\n") .. "\n"
end

-- page(graph, asked) -> a text, or the drawing as a table. asked = { form = "svg", "text" or
-- "drawing", version = { path, text, number }, at, incidents, instances = counts of the store,
-- instance, row, heat = { [activity] = how often it began }, heated = in how many instances }
return function(graph, asked)
  local form = forms[asked.form or "svg"]
  if not form then
    error(('form: %s (expected "svg", "text" or "drawing")'):format(show(asked.form)), 0)
  end
  return form(asked, graph, standing_of(asked))
end
