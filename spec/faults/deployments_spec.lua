-- Folders of one name in several versions (rules §13) on a server, as in a cluster that is deployed
-- node by node: rollback_spec.lua and follow_spec.lua have the same and more of a file.
local executors = require "spec.support.executors"
local postgres = require "spec.support.postgres"
local process = require "spec.support.process"
local rules = require("moonshift.core").rules

describe("folders of a cluster", function()
  if not postgres.programs() then
    it("are deployed node by node", function()
      return pending("no initdb in /usr/lib/postgresql")
    end)
    return
  end

  local server, place, count

  setup(function()
    server, count = postgres.start(), 0
  end)

  teardown(function()
    postgres.stop(server)
  end)

  local function version(name, limit, cycle)
    place.write(name .. "/shop/handlers/work.lua",
      ("return { limit = %d, run = function() return %q end }\n"):format(limit, name))
    place.write(name .. "/shop/schedules/tick.lua",
      ("return { handler = 'work', cycle = '%s' }\n"):format(cycle))
  end

  before_each(function()
    count = count + 1
    place = executors.place {}
    place.url = postgres.url(server, "shop_" .. count)
    version("old", 1, "R/P1D")
    version("new", 9, "R/P2D")
  end)

  after_each(function()
    place.remove()
  end)

  local function folder(name)
    return place.path .. "/" .. name .. "/shop"
  end

  local function ask(...)
    return rules.decode(place.moonshift(...))
  end

  -- Starts an executor on a version, or on what the store has of the name.
  local function run(name, ...)
    local log = ("%s-%d.log"):format(name, #place.pids)
    local words = name == "stored" and { "--deployment", "shop" } or { folder(name) }
    local pid = place.start(log, "run", "--name", name, "--log-format", "logfmt",
      table.unpack(table.move({ ... }, 1, select("#", ...), #words + 1, words)))
    place.logged("event=started", 1, log)
    return pid, log
  end

  -- The limit and the cycle that count.
  local function counts()
    local limit
    for _, definition in ipairs(ask("definition", "list", "--json")) do
      limit = definition.name == "work" and definition.limit or limit
    end
    return limit, ask("schedule", "list", "--json")[1].cycle
  end

  -- What a job gives as its result, once it has run.
  local function result(...)
    local id = place.moonshift("enqueue", "work", ...):match("%d+")
    place.moonshift("job", "wait", id)
    return ask("log", "--job", id, "--json")[1].result
  end

  it("the newer one counts while a live executor has it, and the older one is served", function()
    place.moonshift("deploy", folder("old"))
    run("new")
    assert.same({ 9, "R/P2D" }, { counts() })
    local _, log = run("old")
    place.logged("a live executor has a newer folder: definitions and schedules stay", 1, log)
    assert.same({ 9, "R/P2D" }, { counts() })
    for _ = 1, 5 do
      result()
    end
    assert.same({ 9, "R/P2D" }, { counts() })
  end)

  it("the older one is taken back when it is alone, and that is in the operation log", function()
    place.moonshift("deploy", folder("old"))
    place.stop((run("new")))
    run("old")
    assert.same({ 1, "R/P1D" }, { counts() })
    assert.equal("rollback", ask("operations", "--json")[1].verb)
  end)

  it("nodes that are aware of them run each what they have", function()
    place.write("mail/post/handlers/mail.lua", "return function() return 'mailed' end\n")
    run("old", "--deployment-aware", "true")
    place.start("post.log", "run", place.path .. "/mail/post", "--name", "post",
      "--deployment-aware", "true", "--log-format", "logfmt")
    place.logged("event=started", 1, "post.log")
    for _ = 1, 5 do
      place.moonshift("enqueue", "mail")
      result()
    end
    local ran
    process.await("all have ended", 5, function()
      ran = {}
      for _, entry in ipairs(ask("log", "--json")) do
        ran[#ran + 1] = entry.outcome ~= "created" and entry or nil
      end
      return #ran == 10
    end)
    for _, entry in ipairs(ran) do
      assert.equal("successful", entry.outcome)
      assert.matches(entry.handler == "mail" and "^post/" or "^old/", entry.executor)
    end
  end)

  it("an executor without one follows what is deployed, also back", function()
    place.moonshift("deploy", folder("old"))
    local _, log = run("stored")
    assert.equal("old", result())
    place.moonshift("deploy", folder("new"))
    place.logged('event="folder loaded" deployment=2 ', 1, log)
    assert.equal("new", result())
    assert.matches("rolled back from deployment 2", place.moonshift("deploy", folder("old")), 1,
      true)
    place.logged('event="folder loaded" deployment=1 ', 1, log)
    assert.equal("old", result())
  end)
end)
