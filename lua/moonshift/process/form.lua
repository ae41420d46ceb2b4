-- Forms of units: what a walk writes of a job whose unit comes out the same each time, but for
-- numbers, times and the variables that stay as they are.
--
-- The walk itself makes a form, when a job first needs it. It walks twice on made-up numbers and
-- calls no handler. The made-up numbers in its texts are the holes of the form, and both walks must
-- give the same one. A walk that asks for anything else, such as a variable, gives no form.
--
-- form: { calls = { { callout, suffix, inst, token } … }, frame, trail = texts with holes, ended,
--   jobs, left }. `suffix` ends the key under which a call is kept (kept.lua); `inst` and `token`
--   say where it is. Those of batches have another one (batches/form.lua).
local compile = require "moonshift.process.compile"
local units = require "moonshift.process.unit"
local variables = require "moonshift.process.variables"
local walk = require "moonshift.process.walk"

local form = {}

local NONE = {}
local NAME = "what the instance has" -- of the made-up variable
local HELD = (',{"%s":1}'):format(NAME)
local FRAME = '{"v":1,"next":%s,"scopes":[[1,0,""%s]],"tokens":[[%s,1,%s]]}'
local HEAD = '^{"v":1,"next":(%d+),"scopes":%[%[1,0,""()'
local MIDDLE = ']],"tokens":[['
local TAIL = '^(%d+),1,("[^"]*","%a+"[^%[%]]*)%]%]}$'

-- ---- frames of one token ----

-- Whether this stands between the head and the tokens: nothing, or variables alone. Some that look
-- like more than that are refused as well.
local function is_plain(held)
  return held == "" or held:sub(1, 2) == ",{" and held:sub(-1) == "}"
    and not held:find("],[", 1, true) and not held:find("},null", 1, true)
end

-- parts(text) -> { next, token, held }, and what the frame says of its only token; nil: it has
-- another form
function form.parts(text)
  local middle = text:find(MIDDLE, 1, true)
  local token, place
  if middle then
    token, place = text:match(TAIL, middle + #MIDDLE)
  end
  if not token then
    return nil
  end
  local following, first = text:match(HEAD)
  local held = following and text:sub(first, middle - 1)
  if not held or not is_plain(held) then
    return nil
  end
  return { next = following, token = token, held = held, now = false }, place
end

-- ---- the walk that makes a form ----

-- What catches failures, as a condition does, may catch this one: it stays known.
local refused = false

local function refuse()
  refused = true
  error("this walk is not straight", 0)
end

-- It answers with constants alone.
local Asked = {}
Asked.__index = Asked

function Asked:at()
  return self
end

function Asked.ask(_, value)
  if value.ask or value.script then
    refuse()
  end
  return value.constant
end

-- Adds what a context knows of versions: the made-up one is that which is asked about.
local function add_versions(made, context, asked, row)
  local function real(version)
    return version == row.version and asked.version or version
  end
  function made.graph(version)
    return version == row.version and asked.graph or context.graph(version)
  end
  function made.version_row(version)
    return context.version_row(real(version))
  end
  function made.version_named(key, number)
    local version = context.version_named(key, number)
    return version == asked.version and row.version or version
  end
  -- What follows may depend on whether there is one, which is the same as long as a context lasts.
  function made.handler(names, version, own)
    return not own and NONE or context.handler(names, real(version), own) and NONE
  end
end

-- A context that knows the made-up instance and calls no handler. `called` lists the activities
-- whose handlers would have been called.
local function made_context(context, asked, row, now, called)
  local made = setmetatable({ encode = context.encode, decode = context.decode,
    settings = context.settings or {}, runs = context.runs, speak = false, hold = false,
    host = false, turns_outside = context.turns_outside or false, last_plan = false,
    left_text = false, left_frame = false }, { __index = refuse })
  add_versions(made, context, asked, row)
  function made.now()
    return now
  end
  function made.frame(id)
    return id == row.id and row or refuse()
  end
  function made.script()
    return NONE
  end
  function made.call(fn, ...)
    if fn == Asked.ask then
      return true, fn(...)
    end
    called[#called + 1] = (...).activity or refuse() -- a condition has no job
    return true, nil
  end
  return made
end

-- made_unit(context, asked, values) -> the unit of a walk with these numbers, and the activities
-- that it has called. asked: { graph, version, place, cause(values), begin, named = with
-- a key and a tenant }. `place` is what the
-- frame says of the token behind its scope. begin(w) begins the walk of a cause.
function form.made_unit(context, asked, values)
  local called = {}
  refused = false
  local row = { id = values.instance, version = values.version, rev = values.rev,
    key = asked.named and values.key, tenant = asked.named and values.tenant,
    frame = FRAME:format(values.next, values.held, values.token, asked.place) }
  local w = walk.new(made_context(context, asked, row, values.now, called), asked.cause(values))
  w.scope = setmetatable({}, Asked)
  local inst = w:instance(values.instance)
  setmetatable(inst.frame.outer.vars, { __index = refuse })
  asked.begin(w)
  walk.go(w)
  if refused or called[1] and inst.frame.next ~= math.tointeger(values.next) then
    refuse() -- others would go on beside the call
  end
  return units.finish(w), called
end

-- ---- texts with holes ----

-- text_form(text, values) -> { pieces, at = { place, name, place, name … } }: what is the same in
-- each text, and the names of the values in its holes by their places.
function form.text_form(text, values)
  local names, made, from = {}, { at = {} }, 1
  for name, value in pairs(values) do
    names[tostring(value)] = name
  end
  text = text:gsub(HELD:gsub("%p", "%%%0"), "\0")
  for first, found, last in text:gmatch("()([%d\0]+)()") do
    local name = found == "\0" and "held" or names[found]
    if name then
      made[#made + 1], made[#made + 2] = text:sub(from, first - 1), ""
      made.at[#made.at + 1], made.at[#made.at + 2], from = #made, name, last
    end
  end
  made[#made + 1] = text:sub(from)
  return made
end

-- fill(text_form, values) -> the text with these values
function form.fill(made, values)
  local at = made.at
  for i = 1, #at, 2 do
    made[at[i]] = values[at[i + 1]]
  end
  return table.concat(made)
end

-- ---- forms of units ----

local LISTS = { instances = true, jobs = true, left = true, trail = true }

-- Raises unless the entry has these members alone.
local function only(entry, known)
  for name in pairs(entry) do
    if not known[name] then
      refuse()
    end
  end
end

local function set(...)
  local made = {}
  for _, name in ipairs { ... } do
    made[name] = true
  end
  return made
end

local ROW = set("id", "version", "rev", "frame", "ended", "variables")
local JOB = set("instance", "token", "handler", "topic", "priority", "retries", "exclusive")
local LEFT = set("instance", "what", "token")

local function check_lists(unit)
  for name, list in pairs(unit) do
    if name ~= "kept" and not LISTS[name] and list and (list == true or next(list) ~= nil) then
      refuse()
    end
  end
  if #(unit.instances or NONE) ~= 1 or unit.trail and #unit.trail > 1 then
    refuse()
  end
end

-- The calls of a unit: { step, suffix of the key under which it is kept }. Each is that of an
-- activity, and had nothing to keep.
local function calls_of(unit, called, plan, values)
  local made, met, count = {}, {}, 0
  for i, at in ipairs(called) do
    local step = plan.steps[at]
    met[at] = (met[at] or 0) + 1
    local suffix = "/" .. at .. "/run" .. (met[at] > 1 and "/" .. met[at] or "")
    local one = unit.kept[values.instance .. ":" .. values.token .. suffix]
    if not one or next(one) ~= nil or step.result or step.call_out.decides
      or step.call_out.map then
      refuse()
    end
    made[i] = { callout = step.call_out, suffix = suffix, inst = { plan = { key = plan.key } },
      token = { at = at } }
  end
  for _ in pairs(unit.kept) do
    count = count + 1
  end
  return count == #made and made or refuse()
end

-- A job of the unit waits for its only token.
local function job_of(job, values)
  only(job, JOB)
  if tostring(job.token) ~= values.token or job.instance ~= values.instance then
    refuse()
  end
  return { handler = job.handler, topic = job.topic, priority = job.priority,
    retries = job.retries, exclusive = job.exclusive }
end

local function left_of(entry, values)
  only(entry, LEFT)
  return entry.token == 0 and entry.instance == values.instance and entry.what
    or refuse()
end

local function put_row(made, row, values)
  only(row, ROW)
  if row.id ~= values.instance or row.version ~= values.version or row.rev ~= values.rev then
    refuse()
  end
  made.ended, made.frame = row.ended, row.frame and form.text_form(row.frame, values)
  if row.ended and (row.variables[NAME] ~= 1 or next(row.variables, NAME) ~= nil) then
    refuse()
  end
end

-- The form of a unit that was walked with these values.
local function unit_form(unit, called, plan, values)
  check_lists(unit)
  local made = { calls = calls_of(unit, called, plan, values), jobs = {}, left = {} }
  put_row(made, unit.instances[1], values)
  for i, job in ipairs(unit.jobs or NONE) do
    made.jobs[i] = job_of(job, values)
  end
  for i, entry in ipairs(unit.left or NONE) do
    made.left[i] = left_of(entry, values)
  end
  made.trail = unit.trail and form.text_form(unit.trail[1].events, values)
  return made
end

-- Values that no process has by chance, and others.
local MADE_UP = {
  { instance = 730001100201, version = 730002100303, rev = 730003100407, now = 730004100501,
    token = "515321", next = "515977", held = HELD, key = "key 730006100613",
    tenant = "tenant 730007100701" },
  { instance = 860001200209, version = 860002200311, rev = 860003200401, now = 860004200507,
    token = "424247", next = "424919", held = HELD, key = "key 860006200617",
    tenant = "tenant 860007200709" },
}

-- make(one) -> what one(values) is for made-up values, if it is the same for others; false: it is
-- not, or it raises
function form.make(one)
  local first_fine, first = pcall(one, MADE_UP[1])
  local fine, other = pcall(one, MADE_UP[2])
  return first_fine and fine and variables.equal(first, other) and first
end

local function make(context, version, cause, place, begin)
  local graph = context.graph(version)
  local plan = compile.plan(graph)
  local asked = { graph = graph, version = version, place = place, begin = begin }
  function asked.cause(values)
    return { kind = "job", instance = values.instance, token = math.tointeger(values.token),
      handler = cause.handler, last = cause.last }
  end
  return form.make(function(values)
    local unit, called = form.made_unit(context, asked, values)
    return unit_form(unit, called, plan, values)
  end)
end

-- The forms of a graph, by what a job is for and where its token stands.
local function forms_of(context, graph)
  local all = context.forms
  if not all then
    all = setmetatable({}, { __mode = "k" })
    context.forms = all
  end
  local forms = all[graph]
  if not forms then
    forms = {}
    all[graph] = forms
  end
  return forms
end

-- find(context, version, cause, place, begin) -> the form of the units of a job at a place; false:
-- there is none
function form.find(context, version, cause, place, begin)
  local forms = forms_of(context, context.graph(version))
  local key = cause.handler .. " " .. place
  local found = forms[key]
  if found == nil then
    found = make(context, version, cause, place, begin)
    forms[key] = found
  end
  return found
end

return form
