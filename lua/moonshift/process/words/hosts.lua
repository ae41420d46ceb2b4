-- What stands in the table of an activity besides its own options: its turns (`each`), its boundary
-- events (`within`, `every`, `on_error`, `on_escalation`, `on_message`, `on_signal`, `on_when`,
-- `on_cancel`), its compensation (`undo`).
local options = require "moonshift.process.words.options"
local process = require "moonshift.process"
local rules = require "moonshift.rules"
local show = require "moonshift.show"

local hosts = {}

-- ---- turns ----

local function collection_of(of)
  if type(of) == "string" and not of:find("{", 1, true) then
    return ("${%s}"):format(of)
  end
  return of
end

local TURNS = "of as index times stop parallel async async_after exclusive retry priority"
local known_turns = {}
for name in TURNS:gmatch "%S+" do
  known_turns[#known_turns + 1] = name
end

-- turns(given, at): several turns of an activity; what the graph has in `multi`.
function hosts.turns(self, given, at)
  local report, multi = self.report, { parallel = given.parallel == true }
  for name in pairs(given) do
    if not (" " .. TURNS .. " "):find(" " .. tostring(name) .. " ", 1, true) then
      local meant = rules.suggest(tostring(name), known_turns)
      report:refuse(at, ("each has no option %s%s"):format(show(name),
        meant and (' (did you mean "%s"?)'):format(meant) or ""))
    end
  end
  options.values(multi, { count = given.times, collection = collection_of(given.of),
    ["until"] = given.stop, priority = given.priority, retry = given.retry }, at, report,
    "count collection until priority retry")
  multi.element, multi.index = given.as, given.index
  multi.before, multi.after = given.async or nil, given.async_after or nil
  if given.exclusive == false then
    multi.exclusive = false
  end
  if multi.count == nil and multi.collection == nil then
    report:refuse(at, "each says neither how many turns nor of what (expected times or of)")
  end
  return multi
end

-- ---- boundary events ----

local function boundary_event(self, host, suffix, given, event)
  local at = { line = host.line, word = suffix }
  local node = self:node("boundary", given.id or ("%s.%s"):format(host.id, suffix), at)
  node.attached, node.event = host.id, event
  host.boundaries = host.boundaries or {}
  table.insert(host.boundaries, node.id)
  options.common(node, given, host, self.report)
  if given.interrupting ~= nil then
    event.interrupting = given.interrupting
  end
  return node
end

-- What follows a boundary event -> ends that lead to what follows the host.
local function aftermath(self, node, given, items)
  if given.stop then
    local finish = self:node("end", given.stop, { line = node.line, word = "stop" })
    finish.event = { kind = "terminate" }
    self:enter(self:sequence(items, { self:ending(node) }), finish.id)
    return {}
  end
  local pending = self:after(node, given, items)
  if node.event.interrupting == false and #pending > 0 then
    local finish = self:node("end", node.id .. ".end", { line = node.line, word = "end" })
    finish.event = { kind = "none" }
    self:enter(pending, finish.id)
    return {}
  end
  return pending
end

local SUGAR = {
  { "within", function(first) return { kind = "timer", timer = { kind = "duration",
    text = first } } end },
  { "every", function(first) return { kind = "timer", interrupting = false,
    timer = { kind = "cycle", text = first } } end },
  { "on_error", function(first, given) return { kind = "error", code = first,
    code_variable = given.code_variable, message_variable = given.message_variable } end },
  { "on_escalation", function(first, given) return { kind = "escalation", code = first,
    code_variable = given.code_variable } end },
  { "on_cancel", function() return { kind = "cancel" } end },
  { "on_message", function(first, given) return { kind = "message", name = first,
    key = given.key } end },
  { "on_signal", function(first) return { kind = "signal", name = first } end },
  { "on_when", function(first, given) return { kind = "conditional", when = first,
    variable = given.variable, changes = given.changes } end },
}

local TAKES_ALL = { on_error = true, on_escalation = true, on_cancel = true } -- without a text

-- One boundary event written in its host: { text, items… }.
local function sugared(self, host, name, make, given, number)
  if type(given) ~= "table" then
    self.report:refuse(host, ("%s: got %s (expected a table such as { %s })"):format(name,
      show(given), name == "within" and '"PT1H", stop = "late"' or '"text", step "x" { … }'))
    return {}
  end
  local first, rest = given[1], {}
  local has = not process.is_item(first)
  for key, value in pairs(given) do
    local index = has and math.type(key) == "integer" and key - 1 or key
    if index ~= 0 then
      rest[index] = value
    end
  end
  first = has and first or nil
  if first == nil and not TAKES_ALL[name] then
    self.report:refuse(host, ("%s: expected a text first"):format(name))
  end
  options.check("on", rest, host, self.report)
  local suffix = name:gsub("^on_", "") .. (number > 1 and tostring(number) or "")
  local node = boundary_event(self, host, suffix, rest, make(first, rest))
  return aftermath(self, node, rest, options.items(rest, host, self.report))
end

-- True for a list of boundary events of one kind.
local function is_list(given)
  return type(given) == "table" and type(given[1]) == "table" and not process.is_item(given[1])
    and given[1].list == nil
end

-- boundaries(self, host, content) -> the ends that lead to what follows the host
function hosts.boundaries(self, host, content)
  local pending = {}
  for _, one in ipairs(SUGAR) do
    local given = content[one[1]]
    if given ~= nil then
      for i, each in ipairs(is_list(given) and given or { given }) do
        for _, open in ipairs(sugared(self, host, one[1], one[2], each, i)) do
          pending[#pending + 1] = open
        end
      end
    end
  end
  return pending
end

-- `undo`: what runs if the activity is compensated.
function hosts.compensation(self, host, content)
  if content.undo == nil then
    return
  end
  local node = boundary_event(self, host, "undo", {}, { kind = "compensation" })
  local handler = self:node("service", host.id .. ".undone", { line = host.line, word = "undo" })
  handler.compensates = true
  handler.behaviour = options.behaviour({ run = content.undo }, host, self.report)
  node.handler = handler.id
end

return hosts
