-- What is refused, with the whole message. The models lie in refusals.txt: "-" names one and says
-- how it is put into a file (see spec/support/models.lua), "+" stands beside the process, ">" is a
-- problem that is told.
local models = require "spec.support.models"

local function read_cases()
  local groups, case = {}, nil
  for line in io.lines("spec/lua/process/refusals.txt") do
    local name, how = line:match("^%- (.*) %((%w+)%)$")
    if line:find("^= ") then
      groups[#groups + 1] = { name = line:sub(3) }
    elseif name then
      case = { name = name, how = how, text = "", problems = {} }
      table.insert(groups[#groups], case)
    elseif line:find("^%+ ") then
      case.beside = line:sub(3)
    elseif line:find("^> ") then
      table.insert(case.problems, line:sub(3))
    elseif line ~= "" then
      case.text = case.text .. line
    end
  end
  return groups
end

describe("a refusal", function()
  for _, group in ipairs(read_cases()) do
    describe(group.name, function()
      for _, case in ipairs(group) do
        it("names " .. case.name, function()
          assert.is_truthy(case.problems[1])
          assert.same(case.problems, models.problems(models[case.how](case.text, case.beside)))
        end)
      end
    end)
  end

  it("has the file, the line and the column", function()
    local _, told = models.read(models.line('\n\n  <serviceTask id="x"/>'))
    assert.same({
      {
        file = "processes/p.bpmn", line = 7, column = 3, id = "x",
        message = '"x": has nothing to call (expected class, delegateExpression, expression or '
          .. "type)",
      },
    }, told.problems)
  end)

  it("has the place where XML cannot be read", function()
    local _, told = models.read("<definitions>\n <process>\n</definitions>")
    assert.same({
      { file = "processes/p.bpmn", line = 3, column = 3, message = "mismatched tag" },
    }, told.problems)
  end)

  it("lets the plane of a diagram name a process that is not there", function()
    assert.same({}, models.problems(models.definitions('<process id="p"><startEvent id="s"/>'
      .. '<sequenceFlow id="f" sourceRef="s" targetRef="e"/><endEvent id="e"/></process>'
      .. '<d:BPMNDiagram xmlns:d="http://www.omg.org/spec/BPMN/20100524/DI">'
      .. '<d:BPMNPlane id="pl" bpmnElement="Process_1"/></d:BPMNDiagram>')))
  end)

  it("names a namespace that is not that of BPMN 2.0", function()
    assert.same({ '"d": <definitions> of the namespace "urn:b" (expected <definitions> of '
      .. '"http://www.omg.org/spec/BPMN/20100524/MODEL")' },
      models.problems('<definitions id="d" xmlns="urn:b"/>'))
  end)
end)

describe("a wrong model", function()
  local lines = {}
  for line in io.lines("spec/lua/process/refusals.txt") do
    lines[#lines + 1] = line:find("^<") and line or nil
  end

  -- The text without each attribute in turn.
  local function without_attributes(text, visit)
    local at = 1
    while true do
      local first, last = text:find(' [%w:]+="[^"]*"', at)
      if not first then
        return
      end
      visit(text:sub(1, first - 1) .. text:sub(last + 1))
      at = last + 1
    end
  end

  it("never raises, whatever attribute it lacks", function()
    local count = 0
    for _, text in ipairs(lines) do
      without_attributes(text, function(less)
        models.read(models.line(less))
        count = count + 1
      end)
    end
    assert.is_true(count > 100)
  end)
end)
