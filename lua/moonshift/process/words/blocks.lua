-- What the words mean that hold other words: sub-processes, their events, gateways with branches.
local activities = require "moonshift.process.words.activities"
local hosts = require "moonshift.process.words.hosts"
local options = require "moonshift.process.words.options"
local process = require "moonshift.process"
local show = require "moonshift.show"

local blocks = {}

-- Functions by words: (self, item, pending) -> the ends.
local readers = {}
blocks.readers = readers

-- ---- scopes ----

-- What stands in the table of `each` is of the whole; a turn has no options there.
local function body_options(node)
  for _, name in ipairs { "before", "after", "exclusive", "retry", "priority" } do
    node.multi[name], node[name] = node[name], nil
  end
end

local function sub(self, item, pending)
  local kind = item.content.transaction and "transaction" or "subprocess"
  return activities.read(self, item, pending, kind, function(node, content)
    if item.word == "each" then
      node.multi = hosts.turns(self, { of = content.of, as = content.as or (content.of and item.id),
        index = content.index, times = content.times, stop = content.stop,
        parallel = content.parallel }, node)
      body_options(node)
    end
    self:inside(node.id, function()
      self:body(options.items(content, node, self.report), node, node.id .. ".")
    end)
  end)
end
readers.sub, readers.each = sub, sub

-- An event sub-process: what runs when its event comes while the scope lives.
function readers.handle(self, item, pending)
  local content, report = item.content, self.report
  local node = self:node("event_subprocess", item.id, item)
  options.check("handle", content, node, report)
  options.common(node, content, node, report)
  self:inside(node.id, function()
    local items = options.items(content, node, report)
    if items[1] and items[1].word == "start" then
      return self:body(items, node, node.id .. ".")
    end
    local start = self:node("start", content.start or node.id .. ".start", item)
    start.event = options.event(content, node, report)
    if start.event.kind == "none" then
      report:refuse(node, "waits for nothing (expected message, error, after, at or every)")
    end
    local open = self:sequence(items, { self:ending(start) })
    if #open > 0 then
      local finish = self:node("end", node.id .. ".end", item)
      finish.event = { kind = "none" }
      self:enter(open, finish.id)
    end
  end)
  return pending
end

-- ---- gateways ----

local GATEWAYS = { exclusive = "exclusive", parallel = "parallel", inclusive = "inclusive",
  event = "event_gateway" }

function readers.gateway(self, item, pending)
  local kind = GATEWAYS[item.content.kind or ""]
  if not kind then
    self.report:refuse(item, ("gateway: kind is %s (expected exclusive, parallel, inclusive or "
      .. "event)"):format(show(item.content.kind)))
  end
  return activities.read(self, item, pending, kind or "exclusive", function() end)
end

-- The id of the first activity in a block, which names gateways that have no name.
local function first_id(content)
  for _, branch in ipairs(content) do
    if process.is_item(branch) and branch.id then
      return branch.id
    elseif process.is_item(branch) or type(branch) == "table" then
      local id = first_id(process.is_item(branch) and branch.content or branch)
      if id then
        return id
      end
    end
  end
end

-- Reads a branch -> its ends. `gateway` is the node that it comes from.
local function read_branch(self, gateway, branch, number, conditional)
  local report = self.report
  if process.is_item(branch) then
    branch = { branch }
  elseif type(branch) ~= "table" then
    report:refuse(gateway, ("branch %d is %s (expected a table)"):format(number, show(branch)))
    return {}
  end
  options.check("branch", branch, gateway, report)
  local open = self:ending(gateway, branch.flow)
  open.name, open.default = branch.name or open.name, branch.otherwise or open.default
  options.values(open, { when = branch.when }, gateway, report, "when")
  open.listeners = branch.listeners and options.behaviours(branch.listeners, gateway, report)
    or open.listeners
  if conditional and branch.when == nil and not branch.otherwise then
    report:refuse(gateway,
      ("branch %d has no condition (expected when, or otherwise = true)"):format(
      number))
  elseif not conditional and (branch.when ~= nil or branch.otherwise) then
    report:refuse(gateway, ("branch %d has a condition (expected none here)"):format(number))
  end
  return self:sequence(options.items(branch, gateway, report), { open })
end

-- join(item, open, kind, id) -> the ends of a block after the gateway where its branches meet.
local function join(self, item, open, kind, id)
  local given = item.content.join
  if type(given) ~= "table" then
    return self:merge(open, type(given) == "string" and given or id, kind, item)
  end
  local node = self:node(kind, given.id or id, item)
  local known = {}
  for name, value in pairs(given) do
    known[name] = name ~= "id" and value or nil
  end
  options.check("choose", known, node, self.report)
  options.common(node, given, node, self.report)
  self:enter(open, node.id)
  return self:leave(node, given)
end

-- The name of a block that has none. Blocks in each other may begin with the same activity.
local function nameless(self, item)
  local base = (first_id(item.content) or tostring(item.line)) .. "." .. item.word
  local id, count = base, 1
  while self.graph.nodes[id] do
    count = count + 1
    id = ("%s.%d"):format(base, count)
  end
  return id
end

local function block(kind, conditional, join_kind)
  return function(self, item, pending)
    local content = item.content
    local node = self:node(kind, item.id or nameless(self, item), item)
    options.check(item.word, content, node, self.report)
    options.common(node, content, node, self.report)
    self:enter(pending, node.id)
    local open = {}
    for i, branch in ipairs(content) do
      for _, one in ipairs(read_branch(self, node, branch, i, conditional)) do
        open[#open + 1] = one
      end
    end
    if #content == 0 then
      self.report:refuse(node, "has no branches (expected tables of words)")
    end
    return join(self, item, open, join_kind, node.id .. ".join")
  end
end

readers.choose = block("exclusive", true, "exclusive")
readers.parallel = block("parallel", false, "parallel")
readers.inclusive = block("inclusive", true, "inclusive")
readers.first = block("event_gateway", false, "exclusive")

return blocks
