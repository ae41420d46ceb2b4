-- Three running orders go on by the next version.
local process = require "spec.support.process"

describe("examples/migration", function()
  local dir

  before_each(function()
    dir = process.folder()
  end)

  after_each(function()
    process.remove(dir)
  end)

  it("moves each order to where it stands in the next version", function()
    local command = "MOONSHIFT=%s STORE=%s sh examples/migration/run.sh %s"
    local status, output, errors = process.run(command:format(process.command(),
      process.store(dir .. "/orders.db"), dir))
    assert.equal(0, status, output .. errors)
    assert.matches("order, version 1: 3 instances\n├ start\n├ approve  ● 2 user task\n", output)
    assert.matches("do not fit all of them\n2\n", output)
    assert.matches("order, version 2: 3 instances\n├ start\n├ check  ● 2 user task\n", output)
    assert.matches("├ hand_over  ● 1 user task\n└ end\nthe store is in order\n$", output)
    assert.matches(">2</text>", process.read(dir .. "/after.svg"))
  end)
end)
