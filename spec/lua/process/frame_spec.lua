require "spec.support.scripts"
local frame = require "moonshift.process.frame"
local rules = require "moonshift.rules"

-- Frames of shapes 1 and 2 that lie in stores for ever: each must be read and written as it is.
local GOLDEN = {
  '{"v":1,"next":2,"scopes":[[1,0,""]],"tokens":[]}',
  '{"v":1,"next":9,"scopes":[[1,0,"",{"amount":120}]],'
    .. '"tokens":[[3,1,"ship","before"],[5,1,"join","join"]]}',
  '{"v":1,"next":7,"root":4711,"scopes":[[1,0,""],[2,1,"sub",{"x":null}]],'
    .. '"tokens":[[3,2,"ask","task"],[4,3,"late","on timer",1],[6,1,"call","call",99,{"a":[]}]]}',
  '{"v":1,"next":1005,"journal":12,"scopes":[[1,0,""],'
    .. '[2,1,"ship#multiInstanceBody",{"nrOfInstances":1000},[1000,3,1000,[[7,998,4]]]]],'
    .. '"tokens":[[5,2,"ship","after"]]}',
  '{"v":2,"next":3,"root":9,"caller":-3145730,"scopes":[[1,0,""],'
    .. '[2,1,"ship#multiInstanceBody",{"nrOfInstances":100},[100,0,100,[],17]]],"tokens":[]}',
  '{"v":1,"next":3,"scopes":[[1,0,"ship#multiInstanceBody",null,[1,0,1]]],'
    .. '"tokens":[[2,1,"ship","task",null,{"loopCounter":0}]]}',
}

local function decode(text)
  return frame.decode(text, rules.decode)
end

describe("a frame", function()
  it("is read and written as it is", function()
    for _, text in ipairs(GOLDEN) do
      assert.equal(text, frame.encode(decode(text), rules.encode))
    end
  end)

  it("counts what stands in each scope, without what only watches", function()
    local f = decode(GOLDEN[3])
    assert.equal(2, f.outer.kids)
    assert.equal(1, f.by[2].kids)
    assert.equal(0, f.by[3].kids)
  end)

  it("counts the turns of ranges", function()
    assert.equal(999, decode(GOLDEN[4]).by[2].kids)
  end)

  it("says how many turns of a body stand outside of it", function()
    assert.same({ { token = 2, activity = "ship", state = "turns", count = 100 } },
      frame.places(GOLDEN[5], rules.decode))
    assert.is_true(frame.is_outside(decode(GOLDEN[5]).by[2]))
    assert.is_false(frame.is_outside(decode(GOLDEN[4]).by[2]))
  end)

  it("finds tokens of a turn by their numbers in the store", function()
    local number = frame.number(3, 2)
    assert.equal(-(3 * 2 ^ 20 + 2), number)
    assert.same({ 3, 2 }, { frame.turn_of(number), frame.find(decode(GOLDEN[6]), number).id })
    assert.is_nil(frame.turn_of(2))
    assert.equal(2, frame.number(nil, 2))
  end)

  it("has room for a million tokens in one turn", function()
    local f = frame.of_turn(nil, "ship#multiInstanceBody")
    f.next = 2 ^ 20 - 1 | 0
    frame.add(f, f.outer, "ship", "task")
    local ok, message = pcall(frame.add, f, f.outer, "ship", "task")
    assert.same({ false, "ship: one turn has more than 1048575 tokens" }, { ok, message })
  end)

  it("never uses a number twice", function()
    local f = frame.new()
    local first = frame.add(f, f.outer, "a", "run")
    frame.remove(f, first)
    assert.equal(3, frame.add(f, f.outer, "a", "run").id)
  end)

  it("cuts a turn out of a range, wherever it lies", function()
    for _, cut in ipairs { { 7, "[[8,997,5]]" }, { 8, "[[7,1,4],[9,996,6]]" },
      { 1004, "[[7,997,4]]" } } do
      local f = decode(GOLDEN[4])
      local token, index = frame.find(f, cut[1])
      assert.equal("ship", token.at)
      assert.equal(cut[1] - 3, index)
      assert.equal(cut[2], rules.encode(f.by[2].more[4]))
      assert.equal(999, f.by[2].kids)
    end
  end)

  it("keeps the order of the numbers when a turn comes out of a range", function()
    local f = decode(GOLDEN[4])
    frame.add(f, f.outer, "late", "trigger")
    frame.find(f, 8)
    local text = frame.encode(f, rules.encode)
    assert.truthy(text:find('[5,2,"ship","after"],[8,2,"ship","before"],[1005,', 1, true))
  end)

  it("says where an instance stands", function()
    local places = frame.places(GOLDEN[4], rules.decode)
    assert.same({ { token = 7, activity = "ship", state = "before", count = 998 },
      { token = 5, activity = "ship", state = "after", count = 1 } }, places)
    places = frame.places(GOLDEN[3], rules.decode)
    assert.same({ { token = 3, activity = "ask", state = "task", count = 1 },
      { token = 6, activity = "call", state = "call", count = 1, more = 99 } }, places)
  end)

  it("knows no token that is in no range", function()
    assert.is_nil(frame.find(decode(GOLDEN[4]), 6))
  end)

  it("says that its shape is newer than the program, which puts the job off", function()
    local ok, raised = pcall(decode, '{"v":3,"next":2,"scopes":[[1,0,""]],"tokens":[]}')
    assert.is_false(ok)
    assert.same({ later = true,
      message = "the frame of the instance cannot be read: shape 3 (this program knows 1 to 2)" },
      raised)
  end)

  it("says what is missing", function()
    local text = '{"v":1,"next":9,"scopes":[[1,0,""]],"tokens":[[3,2,"a","x"]]}'
    local ok, message = pcall(decode, text)
    assert.is_false(ok)
    assert.equal("the frame of the instance cannot be read: 3 lies in 2, which is not there",
      message)
  end)

  it("says that its lists are damaged", function()
    for _, text in ipairs { '{"v":1}', '{"v":1,"scopes":[[1,"x",7]],"tokens":[]}',
      '{"v":1,"scopes":[[1,0,""]],"tokens":[3]}' } do
      local ok, message = pcall(decode, text)
      assert.is_false(ok)
      assert.equal("the frame of the instance cannot be read: its scopes or tokens are damaged",
        message)
    end
  end)

  it("says that it is no frame", function()
    local ok, message = pcall(decode, "{")
    assert.is_false(ok)
    assert.truthy(message:find("the frame of the instance cannot be read: ", 1, true))
  end)
end)
