-- Backlog limits: how many jobs of a handler, or of one of its lanes, may wait (rules §20).
local engines = require "spec.support.engines"

local LIMITED = [[
return {
  backlog = LIMIT,
  run = function(job)
    if job.payload.breaks then error("broken", 0) end
    for _ = 1, job.payload.more or 0 do job:enqueue("send") end
  end,
}]]

describe("a backlog limit", function()
  local engine

  local function open(limit, settings)
    engine = engines.private({
      ["handlers/send.lua"] = (LIMITED:gsub("LIMIT", limit)),
      ["handlers/free.lua"] = [[
return function(job) for _ = 1, job.payload.more do job:enqueue("send") end end]],
    }, settings)
    return engine
  end

  after_each(function()
    engine:close()
    engines.clean()
  end)

  local function send(options, payload)
    return engine:enqueue("send", payload, options)
  end

  local FULL = { nil, 'backlog of "send" is full: 2 jobs wait (limit 2)', "backlog" }

  it("refuses the job beyond it", function()
    open("2")
    assert.equal(1, (send()))
    assert.equal(2, (send { after = "PT1H" }))
    assert.same(FULL, { send() })
    engine:drain()
    assert.equal(3, (send()))
    assert.same(FULL, { send() })
  end)

  it("counts suspended jobs, not dead ones", function()
    open("2")
    send()
    send()
    engine:suspend(1)
    assert.same(FULL, { send() })
    engine:dead_letter(2)
    assert.equal(3, (send()))
    assert.same(FULL, { send() })
    engine:delete(1)
    engine:delete(2)
    assert.equal(4, (send()))
    assert.same(FULL, { send() })
    engine:cancel(3)
    assert.equal(5, (send()))
  end)

  it("lets what is redriven in, and counts it", function()
    open("1")
    send()
    engine:dead_letter(1)
    send()
    assert.truthy(engine:set_retries(1, 1))
    assert.same({ nil, 'backlog of "send" is full: 2 jobs wait (limit 1)', "backlog" },
      { send() })
  end)

  it("counts a job that fails until it dies", function()
    open("1", { retry = "R2/PT1M" })
    send(nil, { breaks = true })
    engine:drain()
    assert.equal("backlog", (select(3, send())))
    engine:advance("PT1M")
    engine:drain()
    assert.equal(2, (send()))
  end)

  it("refuses a list whole", function()
    open("2")
    assert.same(FULL, { engine:enqueue_many { { "send" }, { "send" }, { "send" } } })
    assert.equal(0, engine:jobs():count())
    assert.truthy(engine:enqueue_many { { "send" }, { "send" } })
  end)

  it("keeps a unique job that is there", function()
    open("1")
    send { unique = "a" }
    assert.same({ 1, "kept" }, { send { unique = "a" } })
  end)

  it("does not stop a cycle", function()
    open("1")
    send { cycle = "R/PT1H" }
    engine:advance("PT1H")
    assert.equal(1, engine:drain().done)
    assert.equal("backlog", (select(3, send())))
  end)

  it("fails the job that would create too many; its neighbours go on", function()
    open("2", { retry = "R1/PT1M" })
    for more = 1, 3 do
      engine:enqueue("free", { more = more == 2 and 3 or 0 })
    end
    assert.same({ 2, 1 }, { engine:drain().done, #engine:jobs({ state = "dead" }):list() })
    assert.equal('backlog of "send" is full: 2 jobs wait (limit 2)', engine:job(2).message)
    assert.equal(0, engine:jobs({ handler = "send" }):count())
  end)

  it("lets a job go on as another of its kind", function()
    open("1")
    send(nil, { more = 1 })
    assert.equal(2, engine:drain().done)
  end)

  it("is of one lane, too", function()
    open("{ lane = 1, total = 3 }")
    assert.equal(1, (send { lane = "a" }))
    assert.equal(2, (send { lane = "b" }))
    assert.same({ nil, 'backlog of "send" is full in lane "a": 1 job waits (limit 1)', "backlog" },
      { send { lane = "a" } })
    assert.equal(3, (send()))
    assert.same({ nil, 'backlog of "send" is full: 3 jobs wait (limit 3)', "backlog" },
      { send { lane = "c" } })
    engine:drain()
    assert.equal(4, (send { lane = "a" }))
  end)

  it("is shown with its definition", function()
    open("{ lane = 1, total = 3 }")
    send()
    local shown = engine:definition("send")
    assert.same({ 3, 1 }, { shown.backlog, shown.lane_backlog })
  end)

  it("counts what is there when it comes, and is forgotten when it goes", function()
    local folder = engines.folder { ["handlers/send.lua"] = "return function() end" }
    local function limit(text)
      local file = assert(io.open(folder .. "/handlers/send.lua", "w"))
      file:write((LIMITED:gsub("LIMIT", text)))
      file:close()
      assert(engine:reload())
    end
    engine = assert(require("moonshift").open { store = "sqlite::memory:", scripts = folder })
    send { lane = "a" }
    send()
    limit("2")
    assert.same(FULL, { send() })
    limit("nil")
    send()
    limit("{ lane = 1 }")
    assert.equal("backlog", (select(3, send { lane = "a" })))
    limit("{ total = 3, lane = 2 }")
    assert.same({ nil, 'backlog of "send" is full: 3 jobs wait (limit 3)', "backlog" }, { send() })
  end)
end)
