-- Pictures as programs ask for them: what stands at which activity, and how often each began.
local engines = require "spec.support.engines"

local files = {
  ["processes/order.lua"] = [[
    local process = require "moonshift.process"
    return {
      process.step "pack" { run = "pack", async = true },
      process.each "line" { times = 3, parallel = true, process.task "check" {} },
      process.choose { { when = "${again}", process.step "more" { run = "pack", to = "pack" } },
        { otherwise = true } },
    }]],
  ["handlers/pack.lua"] = [[return function(job)
    if job.variables.bad then error("no box", 0) end
  end]],
}

describe("a picture of a process", function()
  local engine

  before_each(function()
    engine = engines.private(files)
  end)

  after_each(function()
    engine:close()
    engines.clean()
  end)

  local function start(variables)
    local id = assert(engine:start("order", { variables = variables }))
    engine:drain()
    return id
  end

  -- The shapes by their ids, and the notes.
  local function drawn(picture)
    local shapes = {}
    for _, shape in ipairs(picture.shapes) do
      shapes[shape.id] = shape
    end
    return shapes, picture.notes
  end

  local function finish(id)
    for _, task in ipairs(engine:tasks({ instance = id }):list()) do
      assert(engine:complete(task.id))
    end
    engine:drain()
  end

  it("counts the instances at each activity, and turns where they stand", function()
    start { again = false }
    start { again = false }
    start { again = false, bad = true }
    local shapes = drawn(assert(engine:process_picture("order", { form = "drawing" })))
    assert.same({ 6, "6 user task" }, { shapes.check.count, shapes.check.waiting })
    assert.equal(1, shapes.pack.count)
    assert.is_nil(shapes.more.count)
    assert.equal("subprocess", shapes.line.kind)
  end)

  it("says how often each activity began, of instances that run or have ended", function()
    local first = start { again = false }
    local second = start { again = true }
    finish(first)
    finish(second) -- packs once more
    local options = { form = "drawing", heat = true }
    local shapes, notes = drawn(assert(engine:process_picture("order", options)))
    assert.same({ 3, 9, 1 }, { shapes.pack.passed, shapes.check.passed, shapes.more.passed })
    assert.equal("heat: how often each activity began in 2 instances", notes[2])
    shapes, notes = drawn(assert(engine:instance_picture(first, options)))
    assert.same({ 1, 3 }, { shapes.pack.passed, shapes.check.passed })
    assert.equal(("instance %d of order, version 1: completed"):format(first), notes[1])
  end)

  it("has open incidents, and none that are resolved", function()
    local id = start { bad = true }
    local job = assert(engine:jobs():one())
    assert(engine:dead_letter(job.id))
    local shapes = drawn(assert(engine:instance_picture(id, { form = "drawing" })))
    assert.equal(1, shapes.pack.incidents)
    assert(engine:set_variables(id, { bad = false }))
    assert(engine:retry(job.id))
    engine:drain()
    shapes = drawn(assert(engine:instance_picture(id, { form = "drawing" })))
    assert.is_nil(shapes.pack.incidents)
  end)

  it("is a text as SVG or as a tree", function()
    start { again = false }
    assert.matches("^<svg ", engine:process_picture "order")
    assert.matches("│ ├ check  ● 3 user task\n", engine:process_picture("order", { form = "text" }))
  end)

  it("is refused for what is not there, and for other forms", function()
    start {}
    local picture, message, code = engine:process_picture "nothing"
    assert.same({ n = 3, nil, 'no process "nothing" is deployed', "not_found" },
      table.pack(picture, message, code))
    picture, message = engine:process_picture("order", { form = "png" })
    assert.is_nil(picture)
    assert.equal('form: the string "png" (expected "svg", "text" or "drawing")', message)
    assert.has_error(function()
      engine:process_picture("order", { colour = true })
    end)
    assert.is_nil((engine:instance_picture(99999)))
  end)
end)
