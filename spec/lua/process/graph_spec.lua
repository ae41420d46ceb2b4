-- Graphs by themselves; what is read into them is bpmn/reader_spec.lua's.
local models = require "spec.support.models"
local graph_of = require "moonshift.process.graph"

describe("the hash of a graph", function()
  local function hash(text)
    return graph_of.hash(models.graph(models.line(text)))
  end

  local base = hash '<serviceTask id="x" c:class="A"/>'

  it("is that of what runs", function()
    assert.equal(base, hash '\n <serviceTask  c:class="A" id="x" ><!-- a --></serviceTask>\n\n')
    assert.equal(base, hash '<serviceTask id="x" f:class="A"/><textAnnotation id="t"/>')
    assert.equal(base, hash [[<serviceTask id="x" c:class="A"><extensionElements><c:properties>
      <c:property name="a" value="b"/></c:properties></extensionElements></serviceTask>]])
  end)

  it("differs where what runs does", function()
    for _, other in ipairs {
      '<serviceTask id="x" c:class="B"/>', '<serviceTask id="x" c:class="A" c:async="true"/>',
      '<serviceTask id="x" c:class="A" name="n"/>', '<sendTask id="x" c:class="A"/>',
      '<serviceTask id="x" c:class="A"/><sequenceFlow id="g" sourceRef="x" targetRef="e"/>',
    } do
      assert.not_equal(base, hash(other))
    end
  end)
end)
