-- "process picture" and "instance picture": SVG with what stands where, a tree, shapes and lines.
local process = require "spec.support.process"
local core = require "moonshift.core"

local files = {
  ["lib/words.lua"] = "return { who = 'eve' }",
  ["processes/order.lua"] = [[
    local process = require "moonshift.process"
    local words = require "lib.words"
    return {
      process.step "pack" { run = "fail", async = true },
      process.task "approve" { name = "Approve <it> & go", assignee = words.who },
    }]],
  ["handlers/fail.lua"] = 'return function() error("no box", 0) end',
}

local MODEL = [[<definitions targetNamespace="urn:x"
 xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
 xmlns:di="http://www.omg.org/spec/BPMN/20100524/DI"
 xmlns:dc="http://www.omg.org/spec/DD/20100524/DC">
 <process id="one" isExecutable="true"><startEvent id="s"/></process>
 <process id="two" isExecutable="true"><startEvent id="t"/></process>
 <di:BPMNDiagram><di:BPMNPlane bpmnElement="one"><di:BPMNShape bpmnElement="s">
 <dc:Bounds x="700" y="500" width="36" height="36"/></di:BPMNShape></di:BPMNPlane></di:BPMNDiagram>
</definitions>]]

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

describe("a picture on the command line", function()
  local folder, id

  local function run(...)
    local words = { ... }
    words[#words + 1] = "-C"
    words[#words + 1] = folder
    return process.run(process.command(table.unpack(words)))
  end

  local function good(...)
    local status, output, errors = run(...)
    assert.equal(0, status, errors)
    return output
  end

  local function refused(...)
    local status, _, errors = run(...)
    assert.is_true(status > 0)
    return errors
  end

  setup(function()
    folder = process.folder(files)
    id = good("process", "start", "order"):match "%d+"
    good("process", "start", "order")
    local job = good("job", "list", "--instance", id, "--json", "--columns", "id"):match "%d+"
    run("job", "execute", job)
    good("job", "dead", job)
  end)

  teardown(function()
    process.remove(folder)
  end)

  it("is SVG with the instances and incidents at each activity", function()
    local root = assert(core.xml.read(good("process", "picture", "order")))
    assert.equal("svg", root.name)
    local text = good("process", "picture", "order")
    assert.truthy(text:find("order, version 1: 2 instances", 1, true))
    assert.truthy(text:find("<title>2 job</title>", 1, true))
    assert.truthy(text:find("<title>1 open incident</title>", 1, true))
    assert.is_nil(text:find("<it>", 1, true))
  end)

  it("is a tree with --text", function()
    assert.equal("order, version 1: 2 instances\n├ start\n"
      .. "├ pack  ● 2 job, ! 1 incident\n├ approve\n└ end\n",
      good("process", "picture", "order", "--text"))
  end)

  it("is that of one instance, with how often each activity began", function()
    assert.equal(("instance %s of order, version 1: active\nheat: how often each activity began\n"
      .. "├ start  began 1 time\n├ pack  ● 1 job, ! 1 incident\n├ approve\n└ end\n"):format(id),
      good("instance", "picture", id, "--text", "--heat"))
    assert.truthy(good("process", "picture", "order", "--heat"):find(
      "how often each activity began in 2 instances", 1, true))
  end)

  it("is shapes and lines with --json", function()
    local found = core.rules.decode(good("process", "picture", "order", "--json"))
    local pack
    for _, shape in ipairs(found.shapes) do
      pack = shape.id == "pack" and shape or pack
    end
    assert.same({ "task", "service", 2, 1 }, { pack.form, pack.kind, pack.count, pack.incidents })
    assert.equal(3, #found.lines)
    assert.is_true(found.laid_out)
  end)

  it("is that of an earlier version, with its instances alone", function()
    write(folder .. "/processes/order.lua",
      'return { require "moonshift.process".task "only" {} }')
    good("deploy")
    assert.equal("order, version 2: 0 instances\n├ start\n├ only\n└ end\n",
      good("process", "picture", "order", "--text"))
    assert.truthy(good("process", "picture", "order", "--version", "1"):find('id="pack"', 1, true))
    assert.truthy(good("instance", "picture", id):find('id="pack"', 1, true))
    assert.matches('"order" has no version 9',
      refused("process", "picture", "order", "--version", "9"))
  end)

  it("is that of a file by itself", function()
    local path = folder .. "/model.bpmn"
    write(path, MODEL)
    assert.truthy(good("process", "picture", path):find('viewBox="676 476', 1, true))
    assert.truthy(good("process", "picture", path, "--process", "two"):find('id="t"', 1, true))
    assert.matches("no process three", refused("process", "picture", path, "--process", "three"))
    assert.matches("neither instances nor versions", refused("process", "picture", path, "--heat"))
    write(path, (MODEL:gsub("startEvent", "startevent")))
    assert.matches("startevent", refused("process", "picture", path))
  end)

  it("is refused for what is not there, and for two forms", function()
    assert.matches('no process "nothing" is deployed', refused("process", "picture", "nothing"))
    assert.matches("no instance 99999", refused("instance", "picture", "99999"))
    assert.matches("expected one of them",
      refused("process", "picture", "order", "--text", "--json"))
    assert.matches("No such file", refused("process", "picture", "nothing.bpmn"))
  end)
end)
