-- What calls did in a walk, kept for a second walk on a newer frame (the unit was behind).
--
-- A call is known by the token's way, the activity, the place of the call and how often it was met
-- there. A token's way is its number; a token that was made in this walk has the way of the one it
-- came from and a count, so both walks agree. What was kept holds unless the call had written
-- something that it had read, and that is another value now: then the call is made again.
--
-- What is kept is data, so that it can be handed back as JSON: { [key] = { seen, missed, writes,
-- result_name, effects (see variables.note), result, thrown = { code, message } } }.
--
-- The number of a called instance is kept as { id }: handlers of that instance have been told it.
local variables = require "moonshift.process.variables"

local kept = {}

local NONE = {}

-- way(inst, token) -> text
function kept.way(inst, token)
  return token.way or inst.way .. token.id
end

-- Gives a new token its way: that of `from`, and a count.
function kept.branch(inst, from, token)
  local count = (from.branches or 0) + 1
  from.branches = count
  token.way = kept.way(inst, from) .. "." .. count
end

local function key_of(w, inst, token, place)
  local base = kept.way(inst, token) .. "/" .. token.at .. "/" .. place
  local count = (w.met[base] or 0) + 1
  w.met[base] = count
  return count == 1 and base or base .. "/" .. count
end

-- Brings about again what a call did besides its result.
local function replay(w, inst, token, one)
  variables.replay(inst, token, one)
  for _, made in ipairs(one.effects or NONE) do
    w:do_again(inst, token, made)
  end
end

-- What reads a variable that it writes may have to be called again.
local function put(w, key, one)
  w.kept[key] = one
  w.contends = w.contends or variables.rewritten(one)() ~= nil
end

-- The job's log says why.
local function tell(w, token, name)
  local host = w.context.host
  if host then
    host:log(("%s is called again: another one has changed the variable %s meanwhile"):format(
      token.at, name))
  end
end

-- find(w, inst, token, place) -> what was kept or nil, and the key to keep the call under
function kept.find(w, inst, token, place)
  local key = key_of(w, inst, token, place)
  local one = w.before[key]
  local name = one and variables.outdated(token, one)
  if name then
    tell(w, token, name)
  end
  if not one or name then
    return nil, key
  end
  replay(w, inst, token, one)
  put(w, key, one)
  return one, key
end

-- instance(w, inst, token) -> the number of the instance that the activity calls, in each walk
function kept.instance(w, inst, token)
  local key = key_of(w, inst, token, "instance")
  local one = w.before[key] or { id = w.context.next_instance() }
  w.kept[key] = one
  return one.id
end

-- keep(w, key, note, result, thrown): `thrown` is a BPMN error that the call raised
function kept.keep(w, key, note, result, thrown)
  put(w, key, { seen = note.seen, missed = note.missed, writes = note.writes,
    result_name = note.result_name, effects = note.effects, result = result,
    thrown = thrown and { code = thrown.code, message = thrown.message } })
end

-- all(w) -> what is kept of a walk that has not come to its end, and of those before it
function kept.all(w)
  for key, one in pairs(w.before) do
    w.kept[key] = w.kept[key] or one
  end
  return w.kept
end

return kept
