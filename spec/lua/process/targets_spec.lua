local driver = require "spec.lua.process.driver"
local graphs = require "spec.lua.process.graphs"

local function user(scope)
  return { kind = "user", scope = scope }
end

-- Two sub-processes in each other behind a fork, and a repeated task.
local function graph()
  return graphs.make("p", { f = "parallel", a = "user", o = "subprocess",
    s2 = { kind = "start", scope = "o" }, i = { kind = "subprocess", scope = "o" },
    s3 = { kind = "start", scope = "i" }, t = user "i", e3 = { kind = "end", scope = "i" },
    u = user "o", e2 = { kind = "end", scope = "o" },
    m = { kind = "user", multi = { count = 3, parallel = true } },
    q = { kind = "user", multi = { count = 3 } }, h = "user",
    b = { kind = "boundary", attached = "h", event = { kind = "compensation" }, handler = "k" },
    k = "task" }, { "s -> f -> a -> e", "f -> o -> m -> q -> h -> e", "s2 -> i -> e2",
    "s3 -> t -> e3", "u -> e2" })
end

describe("what an operation means", function()
  local d, id

  before_each(function()
    d = driver.new { graph() }
    id = d:start "p"
  end)

  local function modify(...)
    return d:command { kind = "modify", instance = id, operations = { ... } }
  end

  -- What is wrong with operations, without the words before it.
  local function wrong(...)
    local list = { ... }
    local fine, message = pcall(modify, table.unpack(list))
    assert.is_false(fine)
    return (message:gsub("^instance %d+ cannot be modified: ", ""))
  end

  it("is refused for what the process has not, with what is near", function()
    assert.equal('operation 1, start_before ab: the process p has no activity ab (did you mean '
      .. '"a"?); operation 2, start_flow a>f: the process p has no flow a>f (did you mean "a>e"?)',
      wrong({ start_before = "ab" }, { start_flow = "a>f" }))
    assert.equal("operation 1, start_before a#multiInstanceBody: the process p has no activity "
      .. "a#multiInstanceBody", wrong { start_before = "a#multiInstanceBody" })
    assert.equal("operation 1, start_before b: b only remembers (expected an activity, such as k)",
      wrong { start_before = "b" })
  end)

  it("is refused where no flow or several lead on", function()
    assert.equal("operation 1, start_after e: no flow leads on from e",
      wrong { start_after = "e" })
    assert.equal("operation 1, start_after f: 2 flows lead on from f (expected start_flow with one "
      .. "of f>a, f>o)", wrong { start_after = "f" })
    assert.equal("operation 1, start_after m: m is a turn (expected m#multiInstanceBody)",
      wrong { start_after = "m" })
  end)

  it("is refused in one of several scopes that are there, and in none", function()
    assert.equal('operation 2, start_before u: 2 of o are there (expected "in", such as "o#1")',
      wrong({ start_before = "o" }, { start_before = "u" }))
    assert.equal('operation 4, start_before t: 2 of o are there for i (expected "in", such as '
      .. '"o#1")', wrong({ start_before = "u" }, { start_before = "o" }, { cancel = "t" },
      { start_before = "t" }):match "operation 4.*")
    assert.equal("operation 1, start_before u: 1 of o is there (expected one that is)",
      wrong { start_before = "u", ["in"] = "o#2" })
    assert.equal("operation 1, start_before u: i is not around it",
      wrong { start_before = "u", ["in"] = "i" })
    assert.equal("operation 1, cancel a#2: 1 of a is there", wrong { cancel = "a#2" })
  end)

  it("uses the scope that is there, and makes those that are not", function()
    modify { start_before = "u" }
    assert.equal("a t u", d:at(id))
    modify({ cancel = "t" })
    assert.equal("a u", d:at(id))
    assert.equal(2, #d:frame(id).scopes)
    modify { start_before = "t" }
    assert.equal(3, #d:frame(id).scopes)
    modify({ start_before = "o" }, { start_before = "t", ["in"] = "o#2" })
    assert.equal("a t t t u", d:at(id))
    assert.equal(6, #d:frame(id).scopes)
  end)

  it("is one more turn of a parallel body, and none of a sequential one", function()
    modify { start_before = "m#multiInstanceBody" }
    modify { start_before = "m" }
    assert.equal("a m m m m t", d:at(id))
    modify { start_before = "q" }
    assert.equal("operation 1, start_before q: the turns of q go one behind the other (expected "
      .. "q#multiInstanceBody)", wrong { start_before = "q" })
  end)
end)
