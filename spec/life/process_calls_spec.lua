-- Calls: which version of a process they begin, and circles of them that never wait. Names of
-- blocks in each other.
local engines = require "spec.support.engines"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local WORDS = 'local process = require "moonshift.process"\nreturn '

local circles = {
  ["processes/itself.lua"] = WORDS .. '{ process.call "itself" {} }',
  ["processes/ping.lua"] = WORDS .. '{ process.call "pong" {} }',
  ["processes/pong.lua"] = WORDS
    .. '{ process.step "work" { run = "work" }, process.call "ping" {} }',
  ["processes/starts.lua"] = WORDS .. '{ process.step "work" { run = "start" } }',
  ["processes/turns.lua"] = WORDS
    .. '{ process.each "turn" { times = 2, process.call "turns" {} } }',
  ["processes/waits.lua"] = WORDS .. [[{ process.choose {
    { when = "${n > 0}", process.step "work" { run = "work", async = true },
      process.call "waits" { with = { n = "${n - 1}" } } },
    { otherwise = true } } }]],
  ["processes/down.lua"] = WORDS .. [[{ process.choose {
    { when = "${n > 0}", process.call "down" { process = "down", with = { n = "${n - 1}" } } },
    { otherwise = true } } }]],
  ["processes/blocks.lua"] = WORDS .. [[{
    process.parallel {
      { process.parallel { { process.step "a" { run = "work" } },
        { process.step "b" { run = "work" } } } },
      { process.choose { { when = "${true}", process.choose {
          { when = "${true}", process.step "c" { run = "work" } }, { otherwise = true } } },
        { otherwise = true } } },
    },
  }]],
  ["handlers/work.lua"] = "return function(job) job.variables[job.activity] = true end",
  ["handlers/start.lua"] = "return function(job) job:start('starts') end",
}

local function caller(binding)
  return WORDS .. ('{ process.call "low" { binding = %q, back = { "said" } } }'):format(binding)
end

local function low(text)
  return WORDS .. ('{ process.step "say" { run = "say", input = { text = %q }, result = "said" } }')
    :format(text)
end

describe("a call", function()
  local folder

  after_each(function()
    engines.clean()
    process.remove(folder)
  end)

  describe("of an instance that is cancelled", function()
    local engine

    before_each(function()
      local parts = {}
      for name, each in pairs { one = "", many = "each = { times = 3, parallel = true }",
        seq = "each = { times = 3 }" } do
        parts["processes/" .. name .. ".lua"] = WORDS .. ([[{
          process.call "leaf" { %s }, process.task "ship" {} }]]):format(each)
      end
      parts["processes/leaf.lua"] = WORDS .. '{ process.task "check" {} }'
      parts["processes/beside.lua"] = WORDS .. [[{ process.parallel {
        { process.call "leaf" {}, process.task "ship" {} }, { process.task "pay" {} } } }]]
      folder = process.folder(parts)
      engine = testing.engine { scripts = folder }
    end)

    local function cancel_all()
      for _, row in ipairs(engine:instances({ process = "leaf" }):list()) do
        assert(engine:cancel_instance(row.id, { reason = "fraud" }))
      end
    end

    for _, name in ipairs { "one", "many", "seq" } do
      it(("ends the caller %s without a flow"):format(name), function()
        local id = assert(engine:start(name))
        cancel_all()
        local row = engine:instance(id)
        assert.same({ "terminated", "its last activity was cancelled: fraud" },
          { row.how, row.reason })
        assert.equal(0, engine:instances():count())
        assert.equal(0, engine:tasks():count())
      end)
    end

    it("leaves what else stands in the caller", function()
      local id = assert(engine:start "beside")
      cancel_all()
      assert.same({ "pay" }, engine:at(id))
    end)

    it("is no completed turn", function()
      local id = assert(engine:start "many")
      local first = engine:instances({ process = "leaf" }):list()[1].id
      assert(engine:cancel_instance(first))
      for _, task in ipairs(engine:tasks():list()) do
        assert(engine:complete(task.id))
      end
      assert.same({ "ship" }, engine:at(id))
    end)
  end)

  describe("of a process that calls itself", function()
    local engine

    before_each(function()
      folder = process.folder(circles)
      engine = testing.engine { scripts = folder }
    end)

    for key, words in pairs { itself = "itself -> itself", ping = "pong -> ping -> pong",
      starts = "starts -> starts", turns = "turns -> turns" } do
      it("is refused if nothing waits: " .. key, function()
        local id, message = engine:start(key)
        assert.is_nil(id)
        assert.truthy(message:find("processes/%w+%.lua:2: process %w+: more than 500 instances "
          .. "that begin each other without a wait state: "), message)
        assert.equal(words, message:match("state: (.*)$"))
        assert.equal(0, engine:instances():count())
      end)
    end

    it("goes on if something waits, or it comes to an end", function()
      local id = assert(engine:start("waits", { variables = { n = 550 } }))
      engine:drain()
      assert.equal("completed", engine:instance(id).how)
      local down = assert(engine:start("down", { variables = { n = 100 } }))
      assert.equal("completed", engine:instance(down).how)
    end)
  end)

  local function write(name, text)
    local file = assert(io.open(("%s/processes/%s.lua"):format(folder, name), "w"))
    file:write(text)
    file:close()
  end

  it("may take the version of its own deployment", function()
    local files = { ["processes/mine.lua"] = caller "deployment",
      ["processes/newest.lua"] = caller "latest", ["processes/low.lua"] = low "one",
      ["handlers/say.lua"] = "return function(job) return job.payload.text end" }
    folder = process.folder(files)
    local engine = testing.engine { scripts = folder }
    local function said(key, version)
      return engine:instance(assert(engine:start(key, { version = version }))).variables.said
    end
    assert.same({ "one", "one" }, { said "mine", said "newest" })
    write("low", low "two")
    engine:reload()
    assert.same({ "one", "two" }, { said "mine", said "newest" })
    write("mine", (caller("deployment"):gsub('"low" {', '"other" { process = "low",')))
    engine:reload()
    assert.same({ "two", "one" }, { said "mine", said("mine", 1) })
  end)

  it("leaves names to blocks in each other that have none", function()
    folder = process.folder(circles)
    local engine = testing.engine { scripts = folder }
    local found = engine:instance(assert(engine:start "blocks"))
    assert.equal("completed", found.how)
    assert.same({ a = true, b = true, c = true }, found.variables)
  end)
end)
