-- Small models in BPMN for specs: read, checked, and what is wrong with them.
require "spec.support.scripts"
local check = require "moonshift.process.check"
local reader = require "moonshift.process.bpmn.reader"
local report = require "moonshift.process.report"

local models = {}

local HEAD = [[<definitions targetNamespace="urn:x" xmlns:a="http://activiti.org/bpmn"
 xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:c="http://camunda.org/schema/1.0/bpmn"
 xmlns:f="http://flowable.org/bpmn" xmlns:fox="http://www.camunda.com/fox"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
]]

-- definitions(text) -> a file with these elements.
function models.definitions(text)
  return HEAD .. text .. "</definitions>"
end

-- process(text, beside) -> a file with one process p; `beside` stands before it.
function models.process(text, beside)
  return models.definitions((beside or "") .. '<process id="p">' .. text .. "</process>")
end

-- line(text, beside) -> the same, where `text` is activity "x" between a start and an end.
function models.line(text, beside)
  return models.process('<startEvent id="s"/><sequenceFlow id="f1" sourceRef="s" targetRef="x"/>'
    .. text .. '<sequenceFlow id="f2" sourceRef="x" targetRef="e"/><endEvent id="e"/>', beside)
end

-- read(text) -> the graphs, and the report.
function models.read(text)
  local told = report.new("processes/p.bpmn")
  local graphs = reader.read(text, told.file, told)
  check.graphs(graphs, told, true)
  told:sort()
  return graphs, told
end

-- messages(problems or warnings) -> their texts
function models.messages(list)
  local texts = {}
  for i, one in ipairs(list) do
    texts[i] = one.message
  end
  return texts
end

-- read, of a file that is right.
local function read_right(text)
  local graphs, told = models.read(text)
  if told.problems[1] then
    error(table.concat(models.messages(told.problems), "\n"), 0)
  end
  return graphs, told
end

-- graph(text) -> the only graph of a file that is right.
function models.graph(text)
  return read_right(text)[1]
end

function models.problems(text)
  local _, told = models.read(text)
  return models.messages(told.problems)
end

function models.warnings(text)
  local _, told = read_right(text)
  return models.messages(told.warnings)
end

return models
