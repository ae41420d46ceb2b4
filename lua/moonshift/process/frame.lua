-- The frame: all that an instance is, as one JSON text without white space. Shape 1:
--
--   { "v": 1,           the shape
--     "next": 9,        the next number of a token or scope; none is used twice
--     "root": 4711,     the instance at the top of the calls; left out by that one itself
--     "journal": 3,     rows that a flow has kept; left out by instances of graphs
--     "scopes": [[number, scope, activity, variables, more, large, types]…],
--     "tokens": [[number, scope, activity, state, more, variables, large, types]…] }
--
-- `large` are variables with rows of their own: { name = number of the row }. No token or scope has
-- the same number. Both lists are in the order of their numbers, variables in that of their names.
-- `scope` is the number of the scope around. Scope 1 is the instance itself: its activity is "" and
-- its scope 0. `types` = { name = type } are kept for those who gave them. A sub-process is a
-- scope; the body of a multi-instance activity is one with the activity "x#multiInstanceBody". Null
-- or nothing stands for `more`, `large`, `types` and variables where there are none.
--
-- `more` of a body: [turns in all, turns that have ended, turns made, ranges, body]. A range is
-- [first token, count, first index]: turns that wait in their own first job without another entry.
-- A body with the fifth entry has its turns outside of the frame (turns.lua). It is the number of
-- the body's row. Such a frame has the shape 2, and so has one with
--     "caller": -4938792961   the token outside of its caller's frame that waits for the instance
-- A turn outside has a frame of its own. Its outermost scope stands for the body. In the store the
-- numbers of its tokens are negative: -(the turn's number << 20) - the number in its frame.
--
-- States of a token, and its `more`:
--   before   waits in the job before its activity
--   after    waits in the job after its activity: the flow it takes then, if there is one
--   seed     waits in the job that makes the next turns of the body around it: their first index
--   external waits in the job that a worker outside fetches.
--   task, timer, message, trigger, join, event   waits as its activity says
--   condition   waits until its condition is true
--   signal   waits for the signal of this name; without `more`, of the name that the process says
--   call     waits for a called instance: its id
--   join     of a parallel gateway: how many tokens it waits for
--   undoing  holds the handlers of the compensation that it has thrown
--   undo     has ended and may be compensated; 1: what is in it may be (compensation.lua)
--   undone   holds the handlers of what had ended in it
--   on timer, on message, on signal, on condition   is no place where the instance stands, but what
--            may interrupt the token or scope around it (boundary events, event sub-processes,
--            event-based gateways)
local rules = require "moonshift.rules"

local frame = {}

local NULL, type_of = rules.null, math.type
local SHAPE = 2
local TURN_BITS = 20
local TURN_MAX = (1 << TURN_BITS) - 1 -- the last number in the frame of a turn
local NAMES = 1000 -- names of variables that are remembered as texts
local DIGITS = 10000 -- numbers below that are remembered as texts

local NONE = {}
local HOLDS = { scope = true, body = true } -- states in memory of what the list "scopes" has
local WATCHES = { ["on timer"] = true, ["on message"] = true, ["on signal"] = true,
  ["on condition"] = true, undo = true }

-- Whole numbers as texts.
local digits = setmetatable({}, { __index = function(known, number)
  local text = ("%d"):format(number)
  if number >= 0 and number < DIGITS then
    known[number] = text
  end
  return text
end })
frame.digits = digits

-- value_text(value, encode) -> its JSON
function frame.value_text(value, encode)
  return type_of(value) == "integer" and digits[value] or encode(value)
end

-- An empty frame with its outermost scope. In memory a token and a scope are the same kind of
-- record: { id, scope (the record around), at, state, more, vars, large, kids, gone }. `kids`
-- counts what stands in it and does not only watch. `list` has them in the order of their numbers.
-- What `large` names is in `vars` once it was asked for. `transient` = { [name] = true } of those
-- in `vars` that are not written.
function frame.new(root, caller)
  local outer = { id = 1, at = "", state = "scope", kids = 0, vars = {} }
  return { next = 2, root = root, caller = caller, list = { outer }, by = { outer }, outer = outer }
end

-- The frame of a turn outside, for the body at this place.
function frame.of_turn(root, at)
  local f = frame.new(root)
  f.outer.at, f.outer.state, f.outer.more = at, "body", { 1, 0, 1 }
  f.is_turn = true
  return f
end

-- number(turn, id) -> the number of a token in the store; `turn` is nil for those in the frame of
-- the instance.
function frame.number(turn, id)
  return turn and -((turn << TURN_BITS) + id) or id
end

-- turn_of(number) -> the turn outside whose token has the number; nil: it is in the frame
function frame.turn_of(number)
  return number and number < 0 and -number >> TURN_BITS or nil
end

-- add(f, scope, at, state) -> a new token or scope
function frame.add(f, scope, at, state)
  local id = f.next
  if id > TURN_MAX and f.is_turn then
    error(("%s: one turn has more than %d tokens"):format(at, TURN_MAX), 0)
  end
  local token = { id = id, scope = scope, at = at, state = state, kids = 0 }
  f.next = id + 1
  f.list[#f.list + 1], f.by[id] = token, token
  if not WATCHES[state] then
    scope.kids = scope.kids + 1
  end
  return token
end

-- Takes away one token or scope; what is in it must have gone before.
function frame.remove(f, token)
  token.gone = true
  f.by[token.id] = nil
  if not WATCHES[token.state] then
    token.scope.kids = token.scope.kids - 1
  end
end

-- True for what does not stand anywhere but waits to interrupt, or is remembered.
function frame.watches(token)
  return WATCHES[token.state]
end

function frame.holds(token)
  return HOLDS[token.state]
end

-- The entries inside of `scope` that are there, in the order of their numbers.
function frame.inside(f, scope)
  local found = {}
  for _, token in ipairs(f.list) do
    if token.scope == scope and not token.gone then
      found[#found + 1] = token
    end
  end
  return found
end

-- ---- ranges of turns ----

-- Finds the range of a body that holds the token with this number: body, position in its ranges.
local function range_of(f, id)
  for _, body in ipairs(f.list) do
    local ranges = body.state == "body" and not body.gone and body.more[4]
    for i, range in ipairs(ranges or {}) do
      if id >= range[1] and id < range[1] + range[2] then
        return body, i
      end
    end
  end
end

-- Reserves the numbers of `count` turns that wait in their first job; the first has this index.
function frame.add_range(f, body, count, index)
  local ranges = body.more[4]
  if not ranges then
    ranges = rules.array {}
    body.more[4] = ranges
  end
  ranges[#ranges + 1] = { f.next, count, index }
  f.next = f.next + count
  body.kids = body.kids + count
  return f.next - count
end

-- Cuts one number out of a range: what is left of it, before and behind.
local function cut(ranges, i, id)
  local first, count, index = table.unpack(ranges[i])
  table.remove(ranges, i)
  local before = id - first
  if before + 1 < count then
    table.insert(ranges, i, { id + 1, count - before - 1, index + before + 1 })
  end
  if before > 0 then
    table.insert(ranges, i, { first, before, index })
  end
  return index + before
end

-- find(f, id) -> the token with this number, or nil; in the frame of a turn also with that in the
-- store. A turn of a range becomes an entry, whose index of the loop is the second value.
function frame.find(f, id)
  id = id < 0 and -id & TURN_MAX or id
  local token = f.by[id]
  if token then
    return token
  end
  local body, i = range_of(f, id)
  if not body then
    return nil
  end
  local index = cut(body.more[4], i, id)
  token = { id = id, scope = body, at = body.at:match("^(.*)#"), state = "before", kids = 0 }
  f.list[#f.list + 1], f.by[id], f.mixed = token, token, true
  return token, index
end

-- in_ranges(token) -> how many turns of a body are only ranges
function frame.in_ranges(token)
  local count = 0
  for _, range in ipairs(token.state == "body" and token.more[4] or NONE) do
    count = count + range[2]
  end
  return count
end

-- Makes entries of all turns that are only ranges.
function frame.spread(f)
  for _, body in ipairs(table.move(f.list, 1, #f.list, 1, {})) do
    local ranges = body.state == "body" and not body.gone and body.more[4] or NONE
    for _, range in ipairs(ranges) do
      for i = 0, range[2] - 1 do
        local id = range[1] + i
        f.by[id] = { id = id, scope = body, at = body.at:match("^(.*)#"), state = "before",
          kids = 0, vars = { loopCounter = range[3] + i } }
        f.list[#f.list + 1], f.mixed = f.by[id], true
      end
    end
    if ranges ~= NONE then
      body.more[4] = body.more[5] and ranges or nil
    end
  end
end

-- ---- other scopes ----

-- A token and all that lies in it get numbers that are younger than the scope around them.
local function renumber(f, token)
  local inside = frame.inside(f, token)
  f.by[token.id], token.id, f.next, f.mixed = nil, f.next, f.next + 1, true
  f.by[token.id] = token
  for _, inner in ipairs(inside) do
    renumber(f, inner)
  end
end

-- Puts a token or scope into another scope of its frame.
function frame.rehome(f, token, scope)
  if token.scope == scope then
    return
  elseif not WATCHES[token.state] then
    token.scope.kids, scope.kids = token.scope.kids - 1, scope.kids + 1
  end
  token.scope = scope
  if scope.id > token.id then
    renumber(f, token)
  end
end

-- ---- the text ----

local UNREADABLE = "the frame of the instance cannot be read: "

local function bad(what)
  error(UNREADABLE .. what, 0)
end

-- Nothing has failed: the job waits for a program that can read it.
local function later(what)
  error({ later = true, message = UNREADABLE .. what }, 0)
end

-- Whether an error is one of `bad`. Any other comes from rows of another form.
local function is_bad(message)
  return type(message) == "string" and message:sub(1, #UNREADABLE) == UNREADABLE
end

-- Puts the records under their scopes; raises if a scope is missing.
local function link(f)
  local by = f.by
  for _, token in ipairs(f.list) do
    local scope = by[token.scope]
    if scope and scope.id >= token.id then
      bad(("%d lies in %d, which is younger (a scope comes before what is in it)"):format(
        token.id, scope.id))
    elseif not scope and token.id ~= 1 then
      bad(("%d lies in %s, which is not there"):format(token.id, tostring(token.scope)))
    end
    token.scope = scope
    if scope and not WATCHES[token.state] then
      scope.kids = scope.kids + 1
    end
    for _, range in ipairs(token.state == "body" and token.more[4] or NONE) do
      token.kids = token.kids + range[2]
    end
  end
end

-- Puts nothing where a row says null.
local function without_null(row, first)
  for i = first, #row do
    if row[i] == NULL then
      row[i] = nil
    end
  end
end

local function scope_of(row)
  without_null(row, 4)
  local body = row[3]:find("#", 1, true)
  return { id = row[1], scope = row[2], at = row[3], vars = row[4], more = row[5],
    large = row[6], types = row[7], state = body and "body" or "scope", kids = 0 }
end

local function token_of(row)
  without_null(row, 5)
  return { id = row[1], scope = row[2], at = row[3], state = row[4], more = row[5],
    vars = row[6], large = row[7], types = row[8], kids = 0 }
end

-- Both lists as one, in the order of the numbers.
local function merge(f, scopes, tokens)
  local i, j = 1, 1
  while scopes[i] or tokens[j] do
    local record
    if scopes[i] and not (tokens[j] and tokens[j][1] < scopes[i][1]) then
      record, i = scope_of(scopes[i]), i + 1
    else
      record, j = token_of(tokens[j]), j + 1
    end
    f.list[#f.list + 1], f.by[record.id] = record, record
  end
end

-- Fills the frame from the lists of its row.
local function fill(f, row)
  merge(f, row.scopes, row.tokens)
  f.outer = f.by[1] or bad("it has no outermost scope")
  f.outer.vars = f.outer.vars or {}
  link(f)
end

-- decode(text, decode) -> frame. Raises if it is none of a shape that is known; that of a newer
-- program puts the job off.
function frame.decode(text, decode)
  if not text then
    bad "its row is gone"
  end
  local row, message = decode(text)
  if type(row) ~= "table" then
    bad(tostring(message))
  elseif math.type(row.v) ~= "integer" then
    bad(("shape %s"):format(tostring(row.v)))
  elseif row.v > SHAPE then
    later(("shape %s (this program knows 1 to %d)"):format(tostring(row.v), SHAPE))
  end
  local f = { next = row.next, root = row.root, journal = row.journal, stuck = row.stuck,
    caller = row.caller, list = {}, by = {} }
  local ok, wrong = pcall(fill, f, row)
  if not ok then
    error(is_bad(wrong) and wrong or UNREADABLE .. "its scopes or tokens are damaged", 0)
  end
  return f
end

-- True for a body whose turns stand outside of its frame.
function frame.is_outside(token)
  return token.state == "body" and token.more ~= nil and token.more[5] ~= nil
end

-- places(text, decode) -> { { token, activity, state, count, more } … }: where an instance stands,
-- in the order of the numbers. Turns that are only a range are one place with their count.
function frame.places(text, decode)
  local f, places = frame.decode(text, decode), {}
  for _, token in ipairs(f.list) do
    for _, range in ipairs(token.state == "body" and token.more[4] or {}) do
      places[#places + 1] = { token = range[1], activity = token.at:match("^(.*)#"),
        state = "before", count = range[2] }
    end
    if frame.is_outside(token) then
      places[#places + 1] = { token = token.id, activity = token.at:match("^(.*)#"),
        state = "turns", count = token.more[3] }
    end
    if not HOLDS[token.state] and not WATCHES[token.state] and token.state ~= "undone" then
      places[#places + 1] = { token = token.id, activity = token.at, state = token.state,
        count = 1, more = token.more }
    end
  end
  return places
end

local function order(f)
  if f.mixed then
    table.sort(f.list, function(a, b)
      return a.id < b.id
    end)
    f.mixed = nil
  end
end

local names, known = {}, 0 -- JSON of names of variables

-- name_text(name, encode) -> the name of a variable in JSON
function frame.name_text(name, encode)
  local text = names[name]
  if not text then
    if known >= NAMES then
      names, known = {}, 0
    end
    text = encode(name)
    names[name], known = text, known + 1
  end
  return text
end

-- Variables as an object with its names in order, or nil for none.
local function variables_text(token, encode)
  local vars, large, transient = token.vars or NONE, token.large or NONE, token.transient or NONE
  local list, count = { nil, nil, nil, nil }, 0
  for name in next, vars do
    if not large[name] and not transient[name] then
      count = count + 1
      list[count] = name
    end
  end
  if count == 0 then
    return nil
  elseif count > 1 then
    table.sort(list)
  end
  for i = 1, count do
    local name = list[i]
    list[i] = frame.name_text(name, encode) .. ":" .. frame.value_text(vars[name], encode)
  end
  return "{" .. table.concat(list, ",") .. "}"
end

-- Texts or numbers by names of variables, as variables_text has values.
local function names_text(by_name, encode)
  return by_name and variables_text({ vars = by_name }, encode)
end

-- The fields of a row behind its first ones, without those at the end that are missing.
local function tail(a, b, c, d)
  if not (a or b or c or d) then
    return "]"
  end
  local text = "," .. (a or "null")
  if b or c or d then
    text = text .. "," .. (b or "null")
  end
  if c or d then
    text = text .. "," .. (c or "null")
  end
  return text .. (d and "," .. d .. "]" or "]")
end

local function more_text(more, encode)
  return more ~= nil and encode(more) or nil
end

local function scope_text(token, encode)
  local scope = token.scope
  return "[" .. digits[token.id] .. "," .. digits[scope and scope.id or 0] .. ',"' .. token.at
    .. '"' .. tail(variables_text(token, encode), more_text(token.more, encode),
      names_text(token.large, encode), names_text(token.types, encode))
end

local function token_text(token, encode)
  return "[" .. digits[token.id] .. "," .. digits[token.scope.id] .. ',"' .. token.at .. '","'
    .. token.state .. '"' .. tail(more_text(token.more, encode), variables_text(token, encode),
      names_text(token.large, encode), names_text(token.types, encode))
end

-- encode(f, encode) -> text. Names of activities are those of XML: nothing in them is quoted.
function frame.encode(f, encode)
  local scopes, tokens, shape = { nil, nil }, { nil, nil }, f.caller and SHAPE or 1
  order(f)
  local all = f.list
  for i = 1, #all do
    local token = all[i]
    if token.gone then -- luacheck: ignore 542
    elseif HOLDS[token.state] then
      scopes[#scopes + 1] = scope_text(token, encode)
      shape = frame.is_outside(token) and SHAPE or shape
    else
      tokens[#tokens + 1] = token_text(token, encode)
    end
  end
  return '{"v":' .. digits[shape] .. ',"next":' .. digits[f.next]
    .. (f.root and ',"root":' .. digits[f.root] or "")
    .. (f.caller and ',"caller":' .. digits[f.caller] or "")
    .. (f.journal and ',"journal":' .. digits[f.journal] or "") .. (f.stuck and ',"stuck":1' or "")
    .. ',"scopes":[' .. table.concat(scopes, ",") .. '],"tokens":[' .. table.concat(tokens, ",")
    .. "]}"
end

return frame
