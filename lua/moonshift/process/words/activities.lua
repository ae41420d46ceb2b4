-- What the words of activities and events mean.
local hosts = require "moonshift.process.words.hosts"
local options = require "moonshift.process.words.options"
local show = require "moonshift.show"

local activities = {}

-- Functions by words: (self, item, pending) -> the ends.
local readers = {}
activities.readers = readers

-- read(self, item, pending, kind, fill) -> ends. `fill(node)` puts in what the kind has.
function activities.read(self, item, pending, kind, fill)
  local content, report = item.content, self.report
  local node = self:node(kind, item.id, item)
  options.check(item.word, content, node, report)
  options.common(node, content, node, report)
  self:enter(pending, node.id)
  if content.each ~= nil and type(content.each) ~= "table" then
    report:refuse(node, ("each: got %s (expected a table)"):format(show(content.each)))
  elseif content.each then
    node.multi = hosts.turns(self, content.each, node)
  end
  if kind ~= "start" and kind ~= "boundary" then
    node.input = options.parameters(content.input, "input", node, report)
    node.output = options.parameters(content.output, "output", node, report)
  end
  fill(node, content)
  local open = self:leave(node, content)
  if options.has(item.word, "within") then
    hosts.compensation(self, node, content)
    table.move(hosts.boundaries(self, node, content), 1, #self.graph.order, #open + 1, open)
  end
  return self:merge(open, node.id .. ".join", "exclusive", item)
end

local function no_items(self, node, content)
  if content[1] ~= nil then
    self.report:refuse(node, "holds other words (expected them after it, or in sub)")
  end
end

local RESULT_IN = { ["local"] = true, transient = true }

local function fill_behaviour(self, node, content)
  no_items(self, node, content)
  node.behaviour = options.behaviour(content, node, self.report)
  node.fields, node.result, node.result_in = content.fields, content.result, content.result_in
  if node.result_in and not RESULT_IN[node.result_in] then
    self.report:refuse(node, ('result_in = %q (expected "local" or "transient")'):format(
      node.result_in))
  end
  options.values(node, content, node, self.report, "external_priority")
end

local function plain_reader(kind, needs)
  return function(self, item, pending)
    return activities.read(self, item, pending, kind, function(node, content)
      fill_behaviour(self, node, content)
      if needs and not node.behaviour then
        self.report:refuse(node, ("calls nothing (expected %s)"):format(needs))
      end
    end)
  end
end

readers.step = plain_reader("service", "run, or class, delegate, expression, script, topic")
readers.send = plain_reader("send", "run, or class, delegate, expression")
readers.rule = plain_reader("rule", "run, decision, or class, delegate, expression")
readers.script = plain_reader("script", "script")
readers.manual, readers.pass = plain_reader "manual", plain_reader "task"

local TASK = "assignee due follow_up task_priority"

function readers.task(self, item, pending)
  return activities.read(self, item, pending, "user", function(node, content)
    local report = self.report
    no_items(self, node, content)
    options.values(node, content, node, report, TASK)
    node.form, node.description = content.form, content.description
    node.timeouts = options.timeouts(content.on_timeout, node, report)
    local candidates = content.candidates
    if candidates ~= nil and type(candidates) ~= "table" then
      candidates = { users = candidates }
    end
    node.candidates = candidates and { users = candidates.users, groups = candidates.groups }
  end)
end

function readers.receive(self, item, pending)
  return activities.read(self, item, pending, "receive", function(node, content)
    no_items(self, node, content)
    local event = options.event({ message = content.message, key = content.key,
      event = content.event }, node, self.report)
    node.event = event.kind ~= "none" and event or nil
  end)
end

function readers.call(self, item, pending)
  return activities.read(self, item, pending, "call", function(node, content)
    local report = self.report
    no_items(self, node, content)
    local called = { binding = content.binding or "latest", version = content.version,
      mapping = content.mapping and options.behaviours(content.mapping, node, report)[1] }
    options.values(called, { process = content.process or item.id, key = content.key }, node,
      report, "process key")
    called.into = options.passed(content.with, "with", node, report)
    called.back = options.passed(content.back, "back", node, report)
    node.call = called
  end)
end

-- ---- events ----

local function event_reader(kind)
  return function(self, item, pending)
    return activities.read(self, item, pending, kind, function(node, content)
      no_items(self, node, content)
      node.event = options.event(content, node, self.report)
      node.form = kind == "start" and content.form or nil
      if kind == "end" or kind == "throw" then
        fill_behaviour(self, node, content)
      elseif kind == "catch" and node.event.kind == "none" then
        self.report:refuse(node,
          "waits for nothing (expected after, at, every, message, signal or when)")
      end
    end)
  end
end

readers.wait, readers.throw = event_reader "catch", event_reader "throw"

function readers.start(self, item, pending)
  if #pending > 0 then
    self.report:refuse(item, "start stands behind other words (expected it first)")
  end
  return event_reader "start"(self, item, {})
end

function readers.finish(self, item, pending)
  event_reader "end"(self, item, pending)
  return {}
end

-- A boundary event of its own, where what follows does not fit into its host.
function readers.boundary(self, item, pending)
  local content, report = item.content, self.report
  local node = self:node("boundary", item.id, item)
  options.check("boundary", content, node, report)
  options.common(node, content, node, report)
  node.attached, node.handler = content.on, content.handler
  node.event = options.event(content, node, report)
  self.boundaries[#self.boundaries + 1] = node
  local open = self:after(node, content, options.items(content, node, report))
  if #open > 0 then
    report:refuse(node, "leads nowhere (expected to, or finish at the end)")
  end
  return pending
end

return activities
