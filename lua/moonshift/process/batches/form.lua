-- Forms of what the jobs of a batch do. A migration or modification of instances that stand at one
-- place alone comes out the same each time, but for numbers, times and the variables that stay as
-- they are. So one walk (form.lua) decides for all of them, and their units are written from it.
-- What that walk asks of an instance, calls, or ends gives no form: then each instance is walked.
--
-- form: { lists = { [list] = { entry … } }, following = { n … } }: the new tokens that its texts
-- name, counted from the frame's next number. entry: { same = members, holes = { member, name … },
-- texts = { member, text with holes … } }.
local form = require "moonshift.process.form"
local walk = require "moonshift.process.walk"

local batch_form = {}

local COMMANDS = { migrate = true, modify = true }
local LISTS = { instances = true, left = true, jobs = true, subscriptions = true, tasks = true,
  trail = true, moves = true }
local FOLLOWING = 16 -- new tokens that a form may name
local ALONE = '^"[^"]*","%a+"$' -- a place that says no more of its token

local NONE = {}

-- ---- making ----

local function refuse(what)
  error(("the unit has %s"):format(what), 0)
end

-- The made-up values, and the numbers of new tokens.
local function with_following(values)
  local all = { next = math.tointeger(values.next), token = math.tointeger(values.token) }
  for name, value in pairs(values) do
    all[name] = all[name] or value
  end
  for n = 1, FOLLOWING do
    all["next+" .. n] = all.next + n
  end
  return all
end

local function sorted(entry)
  local members = {}
  for member in pairs(entry) do
    members[#members + 1] = member
  end
  table.sort(members)
  return members
end

local function note(made, name)
  local n = math.tointeger(tonumber(name:match "^next%+(%d+)$"))
  made.following[#made.following + 1] = n
end

local function entry_form(made, entry, values, names)
  local one = { same = {}, holes = {}, texts = {} }
  for _, member in ipairs(sorted(entry)) do
    local value = entry[member]
    local text = type(value) == "string" and form.text_form(value, values)
    if names[value] then
      table.move({ member, names[value] }, 1, 2, #one.holes + 1, one.holes)
      note(made, names[value])
    elseif text and text.at[1] then
      table.move({ member, text }, 1, 2, #one.texts + 1, one.texts)
      for i = 2, #text.at, 2 do
        note(made, text.at[i])
      end
    else
      one.same[member] = value
    end
  end
  return one
end

local function check_unit(unit, called)
  for name, list in pairs(unit) do
    local empty = type(list) == "table" and next(list) == nil
    if not LISTS[name] and list and not empty then
      refuse(name)
    end
  end
  local rows = unit.instances or NONE
  if called[1] or #rows ~= 1 or rows[1].ended then
    refuse "calls, an end or another instance"
  end
end

local function unit_form(unit, called, values)
  local made, names = { lists = {}, following = {} }, {}
  check_unit(unit, called)
  for name, value in pairs(values) do
    names[value] = name
  end
  for list in pairs(LISTS) do
    for i, entry in ipairs(unit[list] or NONE) do
      made.lists[list] = made.lists[list] or {}
      made.lists[list][i] = entry_form(made, entry, values, names)
    end
  end
  table.sort(made.following)
  return made
end

local function make(context, cause, row, place, begin)
  local asked = { graph = context.graph(row.version), version = row.version, place = place,
    begin = begin, named = true }
  function asked.cause(values)
    return { kind = "batch", command = cause.command, ids = { values.instance },
      config = cause.config }
  end
  return form.make(function(values)
    local unit, called = form.made_unit(context, asked, values)
    return unit_form(unit, called, with_following(values))
  end)
end

-- The form for an instance of this version at a place; false: there is none. Those of one config
-- are kept.
local function find(context, cause, row, place, begin)
  local known = context.batch_forms
  if not known or known.config ~= cause.config or known.command ~= cause.command then
    known = { config = cause.config, command = cause.command, by_version = {} }
    context.batch_forms = known
  end
  local forms = known.by_version[row.version] or {}
  known.by_version[row.version] = forms
  if forms[place] == nil then
    forms[place] = make(context, cause, row, place, begin)
  end
  return forms[place]
end

-- ---- filling ----

local function fill_entry(one, values)
  local entry, holes, texts = {}, one.holes, one.texts
  for member, value in next, one.same do
    entry[member] = value
  end
  for i = 1, #holes, 2 do
    entry[holes[i]] = values[holes[i + 1]]
  end
  for i = 1, #texts, 2 do
    entry[texts[i]] = form.fill(texts[i + 1], values)
  end
  return entry
end

local function fill(made, values)
  local unit = { kept = {} }
  for list, entries in next, made.lists do
    local filled = {}
    for i = 1, #entries do
      filled[i] = fill_entry(entries[i], values)
    end
    unit[list] = filled
  end
  return unit
end

local function values_of(context, made, row, values)
  values.instance, values.version, values.rev = row.id, row.version, row.rev
  values.key, values.tenant, values.now = row.key, row.tenant, context.now()
  values.token, values.next = math.tointeger(values.token), math.tointeger(values.next)
  for _, n in ipairs(made.following) do
    values["next+" .. n] = values.next + n
  end
  return values
end

-- run(context, cause, begin) -> the unit of a batch's job for one instance; nil: it has to be
-- walked. begin(w) begins the walk of a cause.
function batch_form.run(context, cause, begin)
  local id, row = cause.ids[1], nil
  if COMMANDS[cause.command] and math.type(id) == "integer" and not cause.ids[2] then
    row = not cause.kept and context.frame(id)
  end
  if not row or row.parent then
    return nil
  end
  local values, place = form.parts(row.frame)
  local made = values and place:find(ALONE) and find(context, cause, row, place, begin)
  local unit = made and fill(made, values_of(context, made, row, values))
  if unit and #unit.instances[1].frame <= walk.settings_of(context).frame_max then
    return unit
  end
end

return batch_form
