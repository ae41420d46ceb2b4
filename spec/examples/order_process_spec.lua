-- The example to its end, and its figures; the model and the words are one graph.
require "spec.support.scripts"
local load_of = require "moonshift.process.load"
local process = require "spec.support.process"
local report = require "moonshift.process.report"

local lua = os.getenv("SPEC_LUA") or "lua5.4"
local FOLDER = "examples/order-process"

describe("examples/order-process", function()
  local dir

  before_each(function()
    dir = process.folder()
  end)

  after_each(function()
    process.remove(dir)
  end)

  local function run(workers)
    local command = "MOONSHIFT=%s LUA=%s STORE=%s sh examples/order-process/run.sh %d %s"
    local status, output, errors = process.run(command:format(process.command(), lua,
      process.store(dir .. "/orders.db"), workers, dir))
    assert.equal(0, status, output .. errors)
    return output
  end

  it("adds up, by the model and in words", function()
    local output = run(2)
    local table_of = output:match("== the report[^\n]*\n(.*)$"):gsub(" +", " ")
    local rows = "%s shipped 3 3 1351.49 1351.49 1351.49 right\n"
      .. "%s sold_out 1 1 0.00 0.00 0.00 right\n%s expired 1 1 0.00 0.00 0.00 right\n"
      .. "%s refused 1 1 0.00 0.00 0.00 right\n%s not_paid 2 2 0.00 0.00 0.00 right\n"
    assert.equal("PROCESS PATH STARTED ENDED DUE CHARGED INVOICED \n"
      .. rows:gsub("%%s", "order") .. rows:gsub("%%s", "order_in_words")
      .. "instances that have ended 16 of 16 right\npieces packed and put back 6 + 8 of 14 right\n",
      table_of:match("^(.-)done twice"))
    assert.matches("\nthe orders add up\n$", table_of)
    assert.matches('\n"approve" waits for its user task %d+ %(clerk%), or until ', output)
  end)

  it("notices a line that is missing from the ledger", function()
    run(1)
    local text = process.read(dir .. "/ledger.csv")
    local file = io.open(dir .. "/ledger.csv", "w")
    file:write((text:gsub("order,o%-1,invoiced,1250\n", "", 1)))
    file:close()
    local status, output = process.run(("%s %s/report %s/orders.csv %s/ended %s/ledger.csv"):format(
      lua, FOLDER, FOLDER, dir, dir))
    assert.equal(1, status)
    assert.matches("the orders do NOT add up\n$", output)
  end)

  -- Names for people and ids of flows may differ between the two.
  local APART = { key = true, path = true, name = true, line = true, column = true, names = true,
    into = true, unnamed = true, order = true }

  -- All that a graph says, a line for each value: "nodes.approve.assignee = clerk".
  local function said(value, where, lines)
    for name, one in pairs(type(value) == "table" and value or {}) do
      if not APART[name] and not (name == "id" and value.from and value.to) then
        said(one, where .. "." .. name, lines)
      end
    end
    if type(value) ~= "table" then
      lines[#lines + 1] = where .. " = " .. tostring(value)
    end
    return lines
  end

  local function graph_of(path)
    local text = process.read(FOLDER .. "/" .. path)
    local value = path:find("%.lua$") and assert(load(text, "@" .. path))() or nil
    local told = report.new(path)
    local graphs = load_of.graphs(path, text, value, told, { sound = true })
    assert.same({}, told.problems)
    assert.same({}, told.warnings)
    local lines = said(graphs[1], "", {})
    table.sort(lines)
    return table.concat(lines, "\n")
  end

  it("is one process in two forms", function()
    assert.equal(graph_of("processes/order.bpmn"), graph_of("processes/order_in_words.lua"))
  end)

  it("has a model that a modeler can show: a shape or an edge for everything", function()
    local text = process.read(FOLDER .. "/processes/order.bpmn")
    local model, diagram = text:match("^(.-)(<bpmndi:BPMNDiagram.*)$")
    local offenders, count = {}, 0
    for kind, id in model:gmatch("\n    <bpmn:(%a+) id=\"([%w_]+)\"") do
      local drawn = kind == "sequenceFlow" and "BPMNEdge" or "BPMNShape"
      count = count + 1
      if not diagram:find(('<bpmndi:%s id="%s_di" bpmnElement="%s"'):format(drawn, id, id), 1,
        true) then
        offenders[#offenders + 1] = id
      end
    end
    assert.same({}, offenders)
    assert.equal(42, count)
  end)
end)
