-- A turn for each line of a file, and what happens without one.
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local FOLDER = "examples/receipts"

describe("examples/receipts", function()
  local engine

  before_each(function()
    engine = testing.engine { scripts = FOLDER }
  end)

  after_each(function()
    engine:close()
  end)

  local function run(file)
    local id = assert(engine:start("import", { variables = { file = file } }))
    engine:drain()
    return id
  end

  it("books each line of the file, and reports the sum", function()
    local id = run(FOLDER .. "/receipts.csv")
    assert.equal("completed", engine:instance(id).how)
    local shapes = {}
    for _, shape in ipairs(engine:instance_picture(id, { form = "drawing", heat = true }).shapes) do
      shapes[shape.id] = shape
    end
    assert.same({ 4, 1 }, { shapes.book.passed, shapes.report.passed })
    local entry = engine:log({ handler = "process/import/report", outcome = "successful" }):one()
    assert.same({ "4 receipts, 4129 cents" }, entry.lines)
  end)

  it("asks where the file is", function()
    local id = run "nothing.csv"
    assert.same({ "ask" }, engine:at(id))
  end)

  it("comes every night", function()
    local status, output = process.moonshift("process", "check", FOLDER)
    assert.equal(0, status, output)
    assert.equal(1, engine:jobs({ handler = "process/import/night:timer" }):count())
  end)
end)
