-- The whole store as one line of a trace: where instances stand, and all that waits.
local rules = require("moonshift.core").rules

local trees = {}

local WATCHES = { ["on timer"] = true, ["on message"] = true, ["on signal"] = true,
  ["on condition"] = true, undo = true }
local JOBS = { before = true, after = true }
local REMEMBERED = { undo = true, undone = true }

-- ---- frames ----

-- The frame of an instance as a tree: { at, state, vars, more, inside = { … }, id }.
local function tree_of(engine, id)
  local row = engine.core:ask("frame", nil, { instance = id })
  local frame, by, list = rules.decode(row.frame), {}, {}
  for _, scope in ipairs(frame.scopes) do
    list[#list + 1] = { id = scope[1], scope = scope[2], at = scope[3], vars = scope[4],
      more = scope[5], state = "scope" }
  end
  for _, token in ipairs(frame.tokens) do
    list[#list + 1] = { id = token[1], scope = token[2], at = token[3], state = token[4],
      more = token[5], vars = token[6] }
  end
  table.sort(list, function(a, b)
    return a.id < b.id
  end)
  for _, one in ipairs(list) do
    one.inside, by[one.id] = {}, one
    if by[one.scope] then
      table.insert(by[one.scope].inside, one)
    end
  end
  return list[1], list, row
end

local function leaf(one)
  return (JOBS[one.state] and "~" or "") .. one.at
end

local text_of

-- Handlers of a compensation stand beside what throws it.
local function add_inside(one, parts)
  for _, inner in ipairs(one.inside) do
    if not WATCHES[inner.state] and inner.state ~= "seed" then
      parts[#parts + 1] = text_of(inner)
      if inner.state == "undoing" then
        add_inside(inner, parts)
      end
    end
  end
end

function text_of(one)
  local parts = {}
  if one.state ~= "undoing" then
    add_inside(one, parts)
  end
  local ranges = one.state == "scope" and type(one.more) == "table" and one.more[4] or {}
  for _, range in ipairs(ranges) do
    for _ = 1, range[2] do
      parts[#parts + 1] = "~" .. one.at:match "^[^#]*"
    end
  end
  table.sort(parts)
  if one.scope == 0 then
    return table.concat(parts, " ")
  end
  return leaf(one) .. (parts[1] and "(" .. table.concat(parts, " ") .. ")" or "")
end

local function index_of(engine, id, name, wanted)
  local activity, number = name:match "^(.-)#(%d+)$"
  activity, number = activity or name, tonumber(number or 1)
  local _, list = tree_of(engine, id)
  local all, found = 0, 0
  for _, one in ipairs(list) do
    if one.at == activity and not WATCHES[one.state] and one.state ~= "seed" then
      all = all + 1
      if (JOBS[one.state] or false) == wanted then
        found = found + 1
        if found == number then
          return activity .. "#" .. all
        end
      end
    end
  end
  return activity .. "#99"
end

-- begun_place(engine, id, "A#2") -> the name of the second place at A that has begun
function trees.begun_place(engine, id, name)
  return index_of(engine, id, name, false)
end

-- job_place(engine, id, "A") -> the name of the first one that waits in a job
function trees.job_place(engine, id, name)
  return index_of(engine, id, name, true)
end

-- ---- lists ----

local function add(list, title, parts)
  table.sort(parts)
  if parts[1] then
    list[#list + 1] = ("%s [%s]"):format(title, table.concat(parts, ", "))
  end
end

local function job_text(engine, row)
  local key, name = row.handler:match "^process/(.*)/([^/]*)$"
  if not key and row.handler:find "^process/.*:command$" then
    return "event:-/due-"
  elseif not key or name:find "^:" then
    return nil
  end
  local activity, kind = name:match "^([^:]*):?(.*)$"
  local due = row.due and rules.time(row.due)
  local late = due and ("+%d"):format((due - rules.time(engine.clock:now())) // 1000) or "-"
  local prefix = kind == "timer" and "timer" or kind == "after" and "async-after" or "async-before"
  return ("%s:%s/due%s%s%s%s"):format(prefix, activity, kind == "timer" and late or "-",
    row.priority ~= 0 and "/prio" .. row.priority or "",
    row.retries ~= 3 and "/retries" .. row.retries or "", row.suspended and "/suspended" or "")
end

local function value_text(value)
  if value == rules.null then
    return "null"
  elseif type(value) == "table" then
    local items = {}
    for i, item in ipairs(value) do
      items[i] = value_text(item)
    end
    return "[" .. table.concat(items, ", ") .. "]"
  end
  return tostring(value)
end

-- Those that are remembered for a compensation stand behind "~".
local function add_variables(parts, key, one, at, remembered)
  at = one.scope ~= 0 and at .. "." or ""
  for name, value in pairs(type(one.vars) == "table" and one.vars or {}) do
    parts[#parts + 1] = ("%s/%s%s%s=%s"):format(key, remembered and "~" or "", at, name,
      value_text(value))
  end
end

-- Variables are shown at the activities where they began, also after a migration: by the numbers of
-- their tokens.
local function first_names(engine, id)
  local names = {}
  for _, unit in ipairs(engine:trail({ instance = id }):list()) do
    local moved = {}
    for _, event in ipairs(unit.events) do
      if event[1] == "m" then
        moved[event[6]] = names[event[2]] or event[3]
      end
    end
    for number, name in pairs(moved) do
      names[number] = name
    end
  end
  return names
end

local function rows(engine, kind)
  return engine[kind](engine, {}):list()
end

-- What workers outside fetch is told beside the jobs.
local function jobs_of(engine)
  local parts, external = {}, {}
  for _, row in ipairs(rows(engine, "jobs")) do
    if row.topic then
      external[#external + 1] = ("%s@%s%s"):format(row.topic, row.activity,
        row.retries ~= 3 and "/retries" .. row.retries or "")
    else
      parts[#parts + 1] = job_text(engine, row)
    end
  end
  return parts, external
end

local function incident_text(engine, row)
  local job = row.job and engine:job(row.job)
  return ("%s@%s%s"):format(job and job.topic and "failedExternalTask" or "failedJob",
    row.activity or row.handler:match "([^/:]*)[^/]*$",
    row.cause and row.cause ~= row.id and "<" or "")
end

local function is_condition(one)
  return one.state == "condition" or one.state == "on condition"
end

local function places_of(engine, variables, waits)
  local parts = {}
  for _, row in ipairs(rows(engine, "instances")) do
    local root, list = tree_of(engine, row.id)
    local names = first_names(engine, row.id)
    parts[#parts + 1] = ("%s:%d(%s)%s"):format(row.process, row.version, text_of(root),
      row.suspended and "/suspended" or "")
    for _, one in ipairs(list) do
      waits[#waits + 1] = is_condition(one) and "conditional:null@" .. one.at or nil
      add_variables(variables, row.process, one, names[one.id] or one.at, REMEMBERED[one.state])
    end
  end
  table.sort(parts)
  return table.concat(parts, ", ")
end

-- tell(run): says what is there.
function trees.tell(run)
  local engine, variables, parts = run.engine, {}, {}
  local list = { ("  at [%s]"):format(places_of(engine, variables, parts)) }
  local jobs, external = jobs_of(engine)
  add(list, "jobs", jobs)
  for _, row in ipairs(rows(engine, "subscriptions")) do
    parts[#parts + 1] = row.kind == "condition" and "conditional:null@" .. row.activity
      or ("%s:%s@%s"):format(row.kind or "message", row.name, row.activity)
  end
  add(list, "subscriptions", parts)
  add(list, "external", external)
  parts = {}
  for _, row in ipairs(rows(engine, "tasks")) do
    parts[#parts + 1] = row.activity .. (row.assignee and "=" .. row.assignee or "")
      .. (row.suspended and "/suspended" or "")
  end
  add(list, "tasks", parts)
  parts = {}
  for _, row in ipairs(engine:incidents({ open = true }):list()) do
    if row.type ~= "instanceStuck" then
      parts[#parts + 1] = incident_text(engine, row)
    end
  end
  add(list, "incidents", parts)
  add(list, "vars", variables)
  run:tell(table.concat(list, " "))
end

-- ---- the end ----

local STATES = { completed = "COMPLETED", terminated = "INTERNALLY_TERMINATED",
  cancelled = "EXTERNALLY_TERMINATED" }
local ENDS = { e = "", c = "(cancelled)" }

local function count(counts, name, by)
  counts[name] = (counts[name] or 0) + by
end

-- What has moved is open, and counted, by its new name.
local function note_moved(open, event)
  local from, to = event[3], event[5]
  if event[2] ~= 1 then
    open[from] = (open[from] or 0) - 1
    open[to] = (open[to] or 0) + 1
  end
end

local function count_events(counts, engine, id)
  local open = {}
  for _, unit in ipairs(engine:trail({ instance = id }):list()) do
    for _, event in ipairs(unit.events) do
      local name = event[3]
      if event[1] == "m" then
        note_moved(open, event)
      elseif event[1] == "s" then
        open[name] = (open[name] or 0) + 1
      elseif ENDS[event[1]] then
        open[name] = (open[name] or 0) - 1
        count(counts, name .. ENDS[event[1]], 1)
      end
    end
  end
  for name, number in pairs(open) do
    if number ~= 0 then
      count(counts, name .. "(open)", number)
    end
  end
end

-- A reason that no script gives is each engine's own.
local function reason_of(row)
  return row.reason and (row.reason == "why" and "(why)" or "(…)") or ""
end

-- tell_history(run): says what was done, and how instances ended.
function trees.tell_history(run)
  local engine, counts, ended, parts = run.engine, {}, {}, {}
  for _, id in ipairs(run.born) do
    local row = engine:instance(id)
    count_events(counts, engine, id)
    if row then
      ended[#ended + 1] = row.process .. ":" .. (row.how and STATES[row.how] .. reason_of(row)
        or "ACTIVE")
    elseif not run.forgets then
      ended[#ended + 1] = "?:MISSING"
    end
  end
  for name, number in pairs(counts) do
    parts[#parts + 1] = name .. "=" .. number
  end
  table.sort(parts)
  table.sort(ended)
  run:tell(("history {%s}"):format(table.concat(parts, ", ")))
  run:tell(("ended [%s]"):format(table.concat(ended, ", ")))
end

return trees
