-- What is wrong with a graph, of either form: everything is told, not the first. What is doubtful
-- is told by check/soundness.lua.
local events = require "moonshift.process.check.events"
local flows = require "moonshift.process.check.flows"
local scopes = require "moonshift.process.check.scopes"
local soundness = require "moonshift.process.check.soundness"
local texts = require "moonshift.process.check.texts"

local check = {}

-- graphs(list, report, sound): checks the graphs of a file. `sound`: what is doubtful is told, too.
function check.graphs(list, report, sound)
  for _, graph in ipairs(list) do
    check.graph(graph, report)
  end
  for _, graph in ipairs(sound and #report.problems == 0 and list or {}) do
    soundness.check(graph, report)
  end
end

-- graph(graph, report): tells the report everything that is wrong.
function check.graph(graph, report)
  scopes.check(graph, report)
  for _, id in ipairs(graph.order) do
    flows.check(graph.nodes[id], graph, report)
  end
  events.check(graph, report)
  texts.check(graph, report)
end

return check
