-- Processes in the Lua form made of texts, for specs.
require "spec.support.scripts"
local graph_of = require "moonshift.process.graph"
local report = require "moonshift.process.report"
local words = require "moonshift.process.words"

local processes = {}

local WORDS = "local process = require 'moonshift.process' "
  .. "local step, task, choose, parallel, each, receive, call = process.words() "

-- read(text) -> the graph and the problems, of processes/p.lua with this text; the words are local.
function processes.read(text)
  local told = report.new("processes/p.lua")
  local value = assert(load(WORDS .. text, "@processes/p.lua"))()
  return words.read(value, "processes/p.lua", told, text), told.problems
end

-- graph(text) -> the graph of a text without problems.
function processes.graph(text)
  local graph, problems = processes.read(text)
  assert(not problems[1], problems[1] and problems[1].message)
  return graph
end

-- problems(text) -> { "line: message", … }
function processes.problems(text)
  local _, problems = processes.read(text)
  for i, problem in ipairs(problems) do
    problems[i] = ("%d: %s"):format(problem.line, problem.message)
  end
  return problems
end

-- flows(graph) -> { "a -> b", … } in the order of the nodes; "?" stands behind a condition, "*"
-- behind a default.
function processes.flows(graph)
  local list = {}
  graph_of.each(graph, function(node)
    for _, flow in ipairs(node.out) do
      list[#list + 1] = ("%s -> %s%s%s"):format(flow.from, flow.to, flow.when and "?" or "",
        flow.default and "*" or "")
    end
  end)
  return list
end

return processes
