-- The processes of docs/processes.md run as the page says, on the walk alone.
local driver = require "spec.lua.process.driver"
local report = require "moonshift.process.report"
local words = require "moonshift.process.words"

local page = assert(io.open("docs/processes.md")):read("a")

-- A store with processes of the page; `handlers` are functions by name.
local function store(names, handlers)
  local graphs = {}
  for i, name in ipairs(names) do
    local text = page:match("```lua\n%-%- processes/" .. name .. "%.lua\n(.-)```")
    local path = ("processes/%s.lua"):format(name)
    graphs[i] = words.read(assert(load(text, "@" .. path))(), path, report.new(path), text)
  end
  return driver.new(graphs, { handlers = handlers })
end

describe("the processes of the page", function()
  local called

  local function handlers(names)
    called = {}
    local list = {}
    for name in names:gmatch "%S+" do
      list[name] = function(job)
        called[#called + 1] = job.activity
        return job.payload
      end
    end
    return list
  end

  local function order_store()
    local d = store({ "order" }, handlers "reserve_stock remind pack invoice ship")
    local booked = words.read({ require "moonshift.process".script "book" {
      script = "job.variables.booking = job.variables.amount / 2" } }, "processes/bookkeeping.lua",
      report.new "x")
    d:deploy(booked)
    return d
  end

  it("order: goes from the stock to the books", function()
    local d = order_store()
    local id = d:start("order", { amount = 2000, vip = true, sku = "s1", boss = "ada",
      lines = { "pen", "ink" } }, { key = "o-1" })
    assert.equal("reserve:before", d:at(id))
    assert.equal(90, d.jobs[1].priority)
    d:drain()
    assert.same({ sku = "s1" }, d:variables(id).stock)
    assert.equal("approve", d:at(id))
    assert.equal("ada", d.tasks[1].assignee)
    d:complete("approve")
    d:drain()
    assert.same({ "reserve", "pack", "invoice", "ship", "ship" }, called)
    assert.equal("delivered", d:at(id))
    assert.same({ "parcel", "o-1" }, { d.subscriptions[1].name, d.subscriptions[1].key })
    d:message("delivered")
    assert.equal("completed", d:ended(id))
    assert.equal(1000.0, d:variables(id).booking)
  end)

  it("order: reminds instead of an approval that does not come, and gives up a lost parcel",
    function()
      local d = order_store()
      local id = d:start("order", { amount = 2000, vip = false, sku = "s1", boss = "ada",
        lines = { "pen" } }, { key = "o-1" })
      d:drain()
      d:advance(2 * 86400000)
      assert.same({ "reserve", "remind", "pack", "invoice", "ship" }, called)
      d:advance(14 * 86400000)
      assert.is_nil(d.instances[id])
      assert.is_not_nil(d:history(id).lost)
    end)

  it("order: needs no approval for a small amount", function()
    local d = order_store()
    local id = d:start("order", { amount = 1, vip = false, sku = "s1", boss = "a", lines = {} })
    d:drain()
    assert.same({ "reserve", "pack", "invoice" }, called)
    assert.equal("delivered", d:at(id))
  end)

  it("reminder: waits a day", function()
    local d = store({ "reminder" }, handlers "remind")
    local id = d:start "reminder"
    d:advance(86399999)
    assert.equal("a_day", d:at(id))
    d:advance(1)
    assert.same({ "completed", { "remind" } }, { d:ended(id), called })
  end)

  it("prices: a value needs another", function()
    local d = store({ "prices" }, handlers "reserve_stock")
    local id = d:start("prices", { order = { total = 100 } })
    assert.is_true(d:variables(id).paid)
  end)

  it("claim: takes what is true, and what comes first", function()
    local d = store({ "claim" }, handlers "reserve_stock")
    local refused = d:start("claim", { documents = {}, amount = 1, foreign = false })
    assert.equal(1, d:history(refused).refused)
    local id = d:start("claim", { documents = { "d" }, amount = 9000, foreign = true },
      { key = "c" })
    d:drain()
    assert.same({ "read", "inspect", "translate" }, called)
    d:message("answer")
    assert.equal("completed", d:ended(id))
    id = d:start("claim", { documents = { "d" }, amount = 1, foreign = false })
    d:advance(30 * 86400000)
    assert.equal(1, d:history(id).closed)
  end)

  it("payment: catches one error by its code, and any other", function()
    local d = store({ "payment" }, handlers "remind")
    for code, expected in pairs { declined = "not_paid", other = "end" } do
      d.handlers.reserve_stock = function(job)
        job:throw(code)
      end
      local id = d:start("payment", {}, { at = "ordered", key = code })
      d:drain()
      assert.equal(1, d:history(id)[expected], code)
    end
  end)

  it("payment: is cancelled by a message", function()
    local d = store({ "payment" }, handlers "remind")
    local id = d:start("payment", {}, { at = "ordered", key = "o" })
    d:message("cancelled.start")
    assert.same({ "give_back" }, called)
    assert.is_not_nil(d:ended(id))
  end)

  it("retry_by_hand: goes back, and gives up", function()
    local d = store({ "retry_by_hand" }, handlers "remind")
    local id = d:start("retry_by_hand", { failed = true })
    d:complete("repair")
    assert.equal("repair", d:at(id))
    d:advance(7 * 86400000)
    assert.equal(1, d:history(id).lost)
    id = d:start("retry_by_hand", { failed = false })
    assert.equal(1, d:history(id).done)
  end)
end)
