-- An operator's limit on executors that run: what they have taken and not begun goes back at once.
local executors = require "spec.support.executors"
local process = require "spec.support.process"

local WORKERS, JOBS = 4, 60

-- Each run appends to one file as it begins and as it ends. Between the two it reads `gate`, which
-- is a pipe at first: it waits until somebody writes.
local function handlers(words)
  return {
    ["handlers/work.lua"] = ([[
      local function note(sign)
        local file = assert(io.open(os.getenv("PLACE") .. "/runs", "a"))
        file:write(sign, "\n")
        file:close()
      end
      return { %s run = function()
        note "+"
        assert(io.open(os.getenv("PLACE") .. "/gate")):close()
        note "-"
      end }]]):format(words),
  }
end

describe("an operator's limit", function()
  local place

  before_each(function()
    place = executors.place(handlers(""))
    process.environment = "PLACE=" .. place.path
    assert(os.execute("mkfifo " .. place.path .. "/gate"))
  end)

  after_each(function()
    process.environment = ""
    place.remove()
  end)

  local function count(sign)
    return select(2, place.log("runs"):gsub("%" .. sign, ""))
  end

  local function open_gate()
    assert(os.execute(("cd %s && mv gate pipe && touch gate && : > pipe"):format(place.path)))
  end

  local function locked(n)
    process.await(n .. " locks", 30, function()
      return place.sql("SELECT count(*) FROM locks")[1] == tostring(n)
    end)
  end

  local function ended(n)
    process.await(n .. " runs to end", 60, function()
      return place.sql("SELECT count(*) FROM ended")[1] == tostring(n)
    end)
  end

  -- The most runs that were on at once, of those that began behind the first `skip`.
  local function most(skip)
    local on, begun, highest = 0, 0, 0
    for sign in place.log("runs"):gmatch("[+-]") do
      on = on + (sign == "+" and 1 or -1)
      begun = begun + (sign == "+" and 1 or 0)
      highest = begun > skip and math.max(highest, on) or highest
    end
    return highest
  end

  local function begin()
    place.enqueue("work", JOBS)
    local pid = place.executor("--workers", tostring(WORKERS))
    process.await("all workers to be busy", 30, function()
      return count "+" == WORKERS
    end)
    return pid
  end

  it("holds for what waits in the executor, and after its folder was loaded again", function()
    local pid = begin()
    place.moonshift("definition", "limit", "work", "1")
    locked(WORKERS)
    for path, text in pairs(handlers "limit = 9,") do
      place.write(path, text)
    end
    local _, before = place.log():gsub('event="folder loaded"', "")
    process.kill(pid, "HUP")
    place.logged('event="folder loaded"', before + 1)
    open_gate()
    ended(JOBS)
    assert.equal(1, most(WORKERS))

    process.await("no place to be held", 30, function()
      return place.sql("SELECT count(*) FROM limited")[1] == "0"
    end)
    place.stop(pid)
  end)

  it("holds over two executors, and lets both work again once it is cleared", function()
    local first = begin()
    place.moonshift("definition", "limit", "work", "1", "--cluster")
    locked(WORKERS)
    local second = place.executor("--workers", tostring(WORKERS))
    open_gate()
    process.await("some runs under the limit", 60, function()
      return count "-" >= WORKERS + 10
    end)
    assert.equal(1, most(WORKERS))
    place.moonshift("definition", "limit", "work", "--clear")
    ended(JOBS)
    assert.equal(JOBS, count "+")
    place.stop(first)
    place.stop(second)
  end)

  it("of starts holds at once as well", function()
    local pid = begin()
    place.moonshift("definition", "rate", "work", "2/1d")
    locked(WORKERS)
    open_gate()
    ended(WORKERS + 2)
    assert.equal(WORKERS + 2, count "+")
    place.moonshift("definition", "rate", "work", "none")
    ended(JOBS)
    place.stop(pid)
  end)
end)
