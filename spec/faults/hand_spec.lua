-- Rows of a store that were changed by hand: the commands say what is wrong, none hangs, and
-- `check --store` finds it.
local process = require "spec.support.process"

local WORDS = "local step, task, choose, parallel, each, receive, call = "
  .. 'require "moonshift.process".words()\nlocal sub = require "moonshift.process".sub\n'

describe("a row that was changed by hand", function()
  local dir, store

  before_each(function()
    dir = process.folder {
      ["processes/p.lua"] = WORDS .. [[return {
        sub "s" { parallel { { task "a" {} }, { receive "m" { message = "m" } } } } }]],
    }
    store = dir .. "/jobs.db"
  end)

  after_each(function()
    process.remove(dir)
  end)

  local function moonshift(...)
    local words = { ... }
    return process.moonshift(table.unpack(table.move({ "--store", "sqlite:" .. store, "-C", dir },
      1, 4, #words + 1, words)))
  end

  local function start()
    assert.equal(0, (moonshift("process", "start", "p")))
  end

  local function check()
    local status, output, errors = process.moonshift("check", "--store", "sqlite:" .. store)
    return status, output .. errors
  end

  it("is none before: nothing is wrong", function()
    start()
    moonshift("message", "later", "--keep", "1h", "x=1")
    local status, said = check()
    assert.equal(0, status, said)
  end)

  it("makes a scope its own parent: no command hangs", function()
    start()
    process.change(store, [[UPDATE instance SET frame=replace(frame, '[2,1,"s"', '[2,2,"s"')]])
    for _, words in ipairs { { "instance", "set", "1", "x=1" }, { "instance", "cancel", "1" } } do
      local status, _, errors = moonshift(table.unpack(words))
      assert.not_equal(0, status)
      assert.matches("2 lies in 2, which is younger", errors, 1, true)
    end
    local status, said = check()
    assert.equal(65, status)
    assert.matches("instance 1: scope 2 lies in 2 (expected a scope that is older)", said, 1, true)
  end)

  for title, case in pairs {
    ["a scope that is not there"] = { [[replace(frame, '[[1,0,""],[2,1,"s"]', '[[1,0,""]')]],
      "lies in 2, which is not there" },
    ["the next number 3"] = { [[json_set(frame, '$.next', 3)]],
      "the next number of its frame is 3 (expected more than" },
    ["a text for the next number"] = { [[json_set(frame, '$.next', 'x')]],
      "the next number of its frame is 0" },
    ["no tokens"] = { [[json_remove(frame, '$.tokens')]], 'its frame has no list "tokens"' },
    ["a token twice"] = { [[json_set(frame, '$.tokens[1][0]', json_extract(frame,
      '$.tokens[0][0]'))]], "is used twice" },
    ["another activity"] = { [[replace(frame, '"a","task"', '"b","task"')]],
      'stands at "b" (expected an activity of its process)' },
    ["a scope that is no activity"] = { [[replace(frame, '1,"s"', '1,"t"')]],
      'instance 1: 2 stands at "t" (expected an activity of its process)' },
    ["a token in another scope"] = { [[replace(frame, ',2,"a"', ',1,"a"')]],
      'stands at "a" in "" (expected in "s")' },
    ["the name of another activity"] = { [[replace(frame, '"a","task"', '"m","task"')]],
      'in another activity than its task ("a", expected "m")' },
    ["a broken text"] = { "'{'", "instance 1" },
  } do
    it("is found in a frame: " .. title, function()
      start()
      process.change(store, "UPDATE instance SET frame=" .. case[1])
      local status, said = check()
      assert.equal(65, status, said)
      assert.matches(case[2], said, 1, true)
    end)
  end

  it("is found in a trail and in a subscription that name another activity", function()
    start()
    process.change(store, [[UPDATE trail SET events=replace(events, '"a"', '"x"');
      UPDATE subscription SET activity='x']])
    local status, said = check()
    assert.equal(65, status, said)
    assert.matches('instance 1: its trail was at "x" (expected an activity of its process)', said,
      1, true)
    assert.matches('another activity than its subscription ("x", expected "m")', said, 1, true)
  end)

  it("is found in texts that are no JSON", function()
    start()
    moonshift("message", "later", "--keep", "1h", "x=1")
    process.change(store, [[UPDATE kept_message SET variables='{x';
      UPDATE process_version SET properties='7'; UPDATE trail SET events='{}';]])
    local status, said = check()
    assert.equal(65, status, said)
    assert.matches("the variables of kept message %d+ are no JSON object", said)
    assert.matches("the properties of process version 1 are no JSON object", said, 1, true)
    assert.matches("the events of the trail in row 1 are no JSON list", said, 1, true)
  end)

  for _, key in ipairs { "next_id", "next_token", "sweep_from", "cuts" } do
    it("is no number that anything is counted from: " .. key, function()
      start()
      process.change(store, ("INSERT INTO meta(key, value) VALUES('%s', -5)"):format(key)
        .. " ON CONFLICT(key) DO UPDATE SET value=-5")
      for _, words in ipairs { { "stats" }, { "run", "--drain" }, { "instance", "cancel", "1" } } do
        local status, _, errors = moonshift(table.unpack(words))
        assert.equal(65, status, errors)
        assert.matches(key .. " of meta is -5 (expected", errors, 1, true)
      end
    end)
  end
end)
