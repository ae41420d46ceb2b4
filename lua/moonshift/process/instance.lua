-- One instance within a walk: its frame, its plan, and what the trail says of this unit.
local compile = require "moonshift.process.compile"
local frame = require "moonshift.process.frame"
local latest = require "moonshift.process.latest"
local stuck = require "moonshift.process.stuck"
local turns = require "moonshift.process.turns"
local large = require "moonshift.process.large"

local digits, type_of = frame.digits, math.type

local Instance = {}
Instance.__index = Instance

local instance = {}

local function plan_of(w, version)
  local graph = w.context.graph(version)
  if not graph then
    error(("version %s of a process is not there"):format(tostring(version)), 0)
  end
  return compile.plan(graph)
end

-- open(w, row) -> an instance that is there already; row is what context.frame gives
function instance.open(w, row)
  local f = not row.turn and latest.take(w.context, row.frame)
    or frame.decode(row.frame, w.context.decode)
  local self = setmetatable({
    id = row.id, version = row.version, rev = row.rev, parent = row.parent, root = f.root,
    key = row.key, tenant = row.tenant, way = (row.turn or row.id) .. ":", walk = w,
    trail = w:trail_of(row.id), plan = plan_of(w, row.version), frame = f, held = row.held,
    turn = row.turn, body = row.body, body_token = row.body_token,
  }, Instance)
  large.open(self)
  turns.open(self, row)
  return self
end

-- new(w, row) -> one that this unit begins: row = { id, version, key, tenant, unique, parent, root,
-- way }
function instance.new(w, row)
  return setmetatable({
    id = row.id, version = row.version, rev = 0, parent = row.parent, root = row.root,
    key = row.key, tenant = row.tenant, way = row.way, walk = w, trail = w:trail_of(row.id),
    started = w.now, plan = plan_of(w, row.version), frame = frame.new(row.root, row.caller),
    unique = row.unique,
  }, Instance)
end

-- turn(w, inst, body, id, index) -> a new turn outside of the frame of `inst`: it is walked like an
-- instance of its own.
function instance.turn(w, inst, body, id, index)
  local f = frame.of_turn(inst.root, body.at)
  local self = setmetatable({
    id = inst.id, version = inst.version, rev = 0, parent = inst.parent, root = inst.root,
    key = inst.key, tenant = inst.tenant, way = inst.way .. body.id .. "#" .. index .. ":",
    walk = w, trail = inst.trail, plan = inst.plan, frame = f, held = inst.held,
    turn = id, body = body.more[5], body_token = body.id,
  }, Instance)
  turns.open(self)
  return self
end

-- number(token) -> the number of its token in the store
function Instance:number(token)
  return self.turn and frame.number(self.turn, token.id) or token.id
end

-- ---- a turn outside of its frame ----

-- around() -> the instance of a turn, as far as this walk has it, and the body in its frame
function Instance:around()
  local w, row = self.walk, self.around_row
  local inst = w.instances[self.id] or w:look(row.around and { id = self.id,
    version = self.version, rev = row.around_rev, frame = row.around, parent = self.parent,
    key = self.key, tenant = self.tenant, held = self.held } or w.context.frame(self.id))
  local body = inst.frame.by[self.body_token]
  if not body or not frame.is_outside(body) then
    error({ conflict = true, message = ("instance %d: the body %d has gone"):format(self.id,
      self.body_token) }, 0)
  end
  return inst, body
end

-- owner(holder) -> the turn, or its instance if the token or scope lies in that one's frame. The
-- unit then writes the instance.
function Instance:owner(holder)
  if self.frame.by[holder.id] == holder then
    return self
  end
  local inst = self:around()
  self.walk:touch(inst)
  return inst
end

-- outermost() -> the scope in which a variable is set that is nowhere yet
function Instance:outermost()
  return self.turn and self:around().frame.outer or self.frame.outer
end

-- ---- trail ----

-- tell(kind, token, at): an activity began ("s"), ended ("e") or was cancelled ("c").
function Instance:tell(kind, token, at)
  self:tell_number(kind, self:number(token), at)
end

-- The same of a token with this number in the store.
function Instance:tell_number(kind, number, at)
  local w, trail = self.walk, self.trail
  if w.tells then
    trail[#trail + 1] = '["' .. kind .. '",' .. digits[number] .. ',"' .. at .. '",' .. w.now_text
  end
end

-- A migration has moved a token ("m"); from = { number, at }.
function Instance:tell_moved(from, token)
  local w = self.walk
  if w.tells then
    self.trail[#self.trail + 1] = ('["m",%d,"%s",%d,"%s",%d]'):format(from.number, from.at, w.now,
      token.at, self:number(token))
  end
end

-- The same of the instance itself: from a version to another one, both as "key:number".
function Instance:tell_version(from, to)
  local w = self.walk
  if w.tells then
    self.trail[#self.trail + 1] = ('["m",1,"%s",%d,"%s",1]'):format(from, w.now, to)
  end
end

function Instance:tell_flow(token, flow)
  if self.walk.tells_all then
    self.trail[#self.trail + 1] = '["f",' .. digits[self:number(token)] .. ',"' .. flow.id .. '"]'
  end
end

-- A variable was set ("v"); of a large one ("l") the trail has the size.
function Instance:tell_variable(holder, name, value)
  local w, trail = self.walk, self.trail
  if not w.tells_all then
    return large.set(self, holder, name, value)
  end
  local text, is_large = "null", false
  if type_of(value) == "integer" and not holder.large and not holder.texts then
    text = digits[value] -- never large
  else
    if value ~= nil then
      text, is_large = large.encode(self, name, value)
    end
    large.set(self, holder, name, value, is_large and text)
  end
  trail[#trail + 1] = (is_large and '["l",' or '["v",') .. digits[self:number(holder)] .. ","
    .. frame.name_text(name, w.context.encode) .. "," .. (is_large and #text or text) .. "]"
end

function Instance:warn(token, text)
  if self.walk.tells then
    self.trail[#self.trail + 1] = ('["w",%d,%s]'):format(self:number(token),
      self.walk.context.encode(text))
  end
end

-- ---- what goes into the unit ----

-- Names the largest variables of a frame that has become too large.
local function too_large(self, text, most)
  local sizes = {}
  for _, token in ipairs(self.frame.list) do
    for name, value in pairs(large.small(token) or {}) do
      local size = #self.walk.context.encode(value)
      sizes[#sizes + 1] = { name = name, size = size }
    end
  end
  table.sort(sizes, function(a, b)
    return a.size > b.size
  end)
  local named = {}
  for i = 1, math.min(3, #sizes) do
    named[i] = ("%s (%d bytes)"):format(sizes[i].name, sizes[i].size)
  end
  error(("the frame of instance %d has %d bytes (expected at most %d); the largest variables: %s")
    :format(self.id, #text, most, table.concat(named, ", ")), 0)
end

local function check_waits(self)
  local list = self.frame.list
  for i = 1, #list do
    local token = list[i]
    if not token.gone and token.state == "run" then
      error(("instance %d: the token %d at %s neither waits nor ends"):format(self.id, token.id,
        token.at), 0)
    end
  end
end

-- searched(list): adds the variables that it is found by and that were set.
function Instance:searched(list)
  for name in pairs(self.found_by) do
    local value = self.frame.outer.vars[name]
    if type(value) == "table" or type(value) == "userdata" then
      value = nil -- data is not compared
    end
    list[#list + 1] = { instance = self.id, name = name, value = value }
  end
end

local function frame_text(self)
  check_waits(self)
  local text = frame.encode(self.frame, self.walk.context.encode)
  if #text > self.walk.settings.frame_max then
    too_large(self, text, self.walk.settings.frame_max)
  end
  return text
end

-- The activity of a token that nothing can move, "" if there was one, nil if there is none. The
-- frame keeps whether there is.
local function note_stuck(self)
  local before, at = self.frame.stuck, not self.ended and stuck.at(self) or nil
  self.frame.stuck = at and 1
  return at or before and "" or nil
end

-- turn_row() -> the turn as the unit has it; nil for one that began and ended in it
function Instance:turn_row()
  if self.ended and self.rev == 0 then
    return nil
  end
  local row = { id = self.turn, instance = self.id, body = self.body, version = self.version,
    body_token = self.body_token, rev = self.rev, parent = self.parent, root = self.root,
    key = self.key, tenant = self.tenant, stuck = note_stuck(self) }
  row.frame = not self.ended and frame_text(self) or nil
  return row
end

-- row() -> the instance as the unit has it
function Instance:row()
  local row = { id = self.id, version = self.version, rev = self.rev, started = self.started,
    parent = self.parent, root = self.root, key = self.key, tenant = self.tenant,
    unique = self.unique, migrates = self.migrates }
  row.stuck = note_stuck(self)
  if self.ended then
    row.ended, row.reason = self.ended, self.reason
    row.variables = large.small(self.frame.outer)
    return row
  end
  row.frame = frame_text(self)
  return row
end

return instance
