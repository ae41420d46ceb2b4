-- Reads the Lua form of a process, the table that processes/<name>.lua returns, into a graph (see
-- graph.lua). The list is the sequence; gateways, joins, start and end that nobody names are made,
-- with ids after the activities beside them.
local activities = require "moonshift.process.words.activities"
local blocks = require "moonshift.process.words.blocks"
local graphs = require "moonshift.process.graph"
local options = require "moonshift.process.words.options"
local process = require "moonshift.process"
local reading = require "moonshift.process.words.reading"
local rules = require "moonshift.rules"
local show = require "moonshift.show"

local words = {}

local readers = {}
for _, of in ipairs { activities.readers, blocks.readers } do
  for word, reader in pairs(of) do
    readers[word] = reader
  end
end

-- The names of variables that instances are found by, or nil.
local function search_of(value, at, report)
  local names = {}
  for _, name in ipairs(value.search or {}) do
    if type(name) == "string" and name ~= "" and #name <= 255 then
      names[#names + 1] = name
    else
      report:refuse(at, ("search: got %s (expected names of variables)"):format(show(name)))
    end
  end
  table.sort(names)
  return names[1] and names
end

local function new_graph(value, key, path, report)
  local at = { line = 1 }
  local graph = graphs.new {
    key = value.key or key, name = value.name, path = path, line = 1, tag = value.tag,
    history_time_to_live = value.history_time_to_live, initiator = value.initiator,
    listeners = {},
  }
  options.check("process", value, at, report)
  options.values(graph, value, at, report, "priority retry external_priority")
  graph.search = search_of(value, at, report)
  graph.listeners = options.listeners(value, at, report) or {}
  local ttl = value.history_time_to_live
  if ttl ~= nil and not (type(ttl) == "string" and rules.duration(ttl)) then
    local what = type(ttl) == "string" and rules.add_duration(0, ttl)
      and "such as P30D: months and years have no fixed length" or "such as P30D"
    report:refuse(at, ("history_time_to_live: got %s (expected a duration %s)"):format(show(ttl),
      what))
  end
  if type(graph.key) ~= "string" or not graph.key:find "^[%w_./-]+$" then
    report:refuse(at, ("key: got %s (expected letters, digits, _, - and points)"):format(
      show(graph.key)))
  end
  return graph
end

-- True if a function stands anywhere in a value of a graph.
local function has_function(value, seen)
  if type(value) ~= "table" or seen[value] then
    return type(value) == "function"
  end
  seen[value] = true
  for _, member in pairs(value) do
    if has_function(member, seen) then
      return true
    end
  end
  return false
end

-- read(value, path, report, source) -> the graph of processes/<name>.lua, which returned `value`;
-- nil if it is no table. Problems are in the report; a graph that has any is not complete. A graph
-- with functions keeps `source`, the text of the file: another text is another version.
function words.read(value, path, report, source)
  local key = path:match "processes/(.*)%.lua$" or path:gsub("%.lua$", "")
  if type(value) ~= "table" or process.is_item(value) then
    report:refuse({ line = 1 }, ("returned %s (expected a table of words)"):format(
      process.is_item(value) and "one word" or show(value)))
    return nil
  end
  local graph = new_graph(value, key, path, report)
  local self = reading.new(graph, report, readers)
  self:body(options.items(value, { line = 1 }, report), { line = 1 }, "")
  self:join_flows()
  self:join_boundaries()
  graphs.complete(graph)
  graph.source = has_function(graph, {}) and source or nil
  return graph
end

return words
