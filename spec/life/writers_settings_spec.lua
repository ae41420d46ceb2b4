-- Two folders on one store: what is written goes by the settings of the folder that asks for it,
-- whichever program writes it.
local engines = require "spec.support.engines"
local executors = require "spec.support.executors"
local process = require "spec.support.process"
local testing = require "moonshift.testing"

local ROUNDS, CROWD = 3, 8

-- The folder `name`, whose definitions have its name.
local function folder(name)
  return {
    [("handlers/%s_work.lua"):format(name)] = ([[return function(job)
      if job.payload then job:enqueue("%s_work") end
    end]]):format(name),
    [("processes/%s_order.lua"):format(name)] = ([[
      local process = require "moonshift.process"
      return {
        process.start "came" { message = "%s_come" },
        process.step "book" { run = "%s_work", async = true },
        process.receive "paid" { message = "%s_paid", key = "${instance.key}" },
      }]]):format(name, name, name),
  }
end

local strict = { ensure_due_date = true, retries = 7, history = "failures", who = "ann" }

local function settings(given)
  local lines = {}
  for key, value in pairs(given) do
    lines[#lines + 1] = ("%s = %q"):format(key, value)
  end
  return "return { " .. table.concat(lines, ", ") .. " }"
end

local function files(name, given)
  local found = folder(name)
  found["moonshift.lua"] = settings(given)
  return found
end

describe("of two folders on one store", function()
  local a, b

  before_each(function()
    a = executors.place(files("a", strict))
    b = executors.place(files("b", { who = "bob" }))
    b.store, b.url = a.store, a.url
    a.moonshift("deploy", "-C", a.path)
    b.moonshift("deploy", "-C", b.path)
  end)

  after_each(function()
    engines.clean()
    a.remove()
    b.remove()
  end)

  -- The command in both folders, so many times at the same moment.
  local function both(command)
    local lines = {}
    for _ = 1, CROWD do
      for _, place in ipairs { a, b } do
        local name = place == a and "a" or "b"
        lines[#lines + 1] = process.command("--store", place.url, "-C", place.path,
          table.unpack(command(name))) .. " >/dev/null &"
      end
    end
    local status, _, errors = process.run(table.concat(lines, "\n") .. "\nwait")
    assert.equal("", errors)
    assert.equal(0, status)
  end

  local function engine(place, given)
    return testing.engine { scripts = place.path, store = "sqlite:" .. a.store, who = given.who,
      ensure_due_date = given.ensure_due_date, retries = given.retries, history = given.history }
  end

  local function jobs_as_asked(count)
    local reader = engine(b, {})
    local found = { a = 0, b = 0 }
    for _, job in ipairs(reader:jobs():list()) do
      local of = job.handler:match("^process/(%a)_") or job.handler:match("^%a")
      local strictly = of == "a"
      found[of] = found[of] + 1
      assert.equal(strictly and 7 or 3, job.retries, job.handler)
      assert.equal(strictly, job.due ~= nil, job.handler)
    end
    reader:close()
    assert.same({ a = count, b = count }, found)
  end

  it("each has its jobs as its own settings say", function()
    for _ = 1, ROUNDS do
      both(function(name)
        return { "enqueue", name .. "_work" }
      end)
    end
    jobs_as_asked(ROUNDS * CROWD)
  end)

  it("each has its instances, and their jobs, as its own settings say", function()
    for _ = 1, ROUNDS do
      both(function(name)
        return { "message", name .. "_come" }
      end)
      both(function(name)
        return { "process", "start", name .. "_order" }
      end)
    end
    jobs_as_asked(2 * ROUNDS * CROWD)
    local reader = engine(b, {})
    local who = {}
    for _, entry in ipairs(reader:operations({ verb = "start" }):list()) do
      local key = entry.who .. " " .. entry.entity
      who[key] = (who[key] or 0) + 1
    end
    reader:close()
    assert.same({ ['ann process "a_order"'] = ROUNDS * CROWD,
      ['bob process "b_order"'] = ROUNDS * CROWD }, who)
  end)

  it("each has lists, followers and what messages start as its own settings say", function()
    local one, other = engine(a, strict), engine(b, {})
    for name, each in pairs { a = one, b = other } do
      each:enqueue_many { { name .. "_work", 1 }, { name .. "_work", 2 } }
      each:correlate(name .. "_come")
    end
    jobs_as_asked(3)
    for name, each in pairs { a = one, b = other } do
      for _, job in ipairs(each:jobs({ handler = name .. "_work" }):list()) do
        each:execute(job.id)
      end
    end
    jobs_as_asked(3) -- the followers, and what was begun
    assert.equal(0, one:log({ handler = "a_work", outcome = "successful" }):count())
    assert.equal(2, other:log({ handler = "b_work", outcome = "successful" }):count())
    one:close()
    other:close()
  end)
end)
