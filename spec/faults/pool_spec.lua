-- Executors and commands that reach their server through pgbouncer.
local executors = require "spec.support.executors"
local postgres = require "spec.support.postgres"
local prepare = require "spec.postgres.prepare"
local process = require "spec.support.process"

-- A line for each run.
local work = [[
return { run = function(job)
  local file = assert(io.open("%s", "a"))
  file:write(job.id, "\n")
  file:close()
end }
]]

describe("a pool of connections", function()
  if not (postgres.programs() and postgres.pooler()) then
    it("stands before the server", function()
      return pending("no pgbouncer, or no initdb in /usr/lib/postgresql")
    end)
    return
  end

  local server, place, ports

  setup(function()
    server = postgres.start()
    ports = { session = postgres.pool(server, "session"),
      transaction = postgres.pool(server, "transaction") }
  end)

  teardown(function()
    postgres.stop(server)
  end)

  before_each(function()
    place = executors.place {}
    place.write("handlers/work.lua", work:format(place.path .. "/runs"))
    place.write("handlers/bad.lua", "return function() error 'no' end\n")
    place.write("runs", "")
  end)

  after_each(function()
    place.remove()
  end)

  local function through(mode, schema)
    place.url = ("%s&port=%d&pool=%s"):format(postgres.url(server, schema), ports[mode], mode)
  end

  -- How many jobs ran, and how often.
  local function runs()
    local seen, count, times = {}, 0, 0
    for id in place.log("runs"):gmatch("%d+\n") do
      times = times + 1
      count = count + (seen[id] and 0 or 1)
      seen[id] = true
    end
    return count, times
  end

  local function ran(count)
    process.await(count .. " jobs have run", 15, function()
      return runs() == count
    end)
    assert.same({ count, count }, { runs() })
  end

  -- Two executors, a file of jobs, a failure, a batch, and questions.
  local function everything(...)
    local first, second = place.executor("--name", "first", ...),
      place.executor("--name", "second", ...)
    place.enqueue("work", 500)
    place.write("many", ('{"handler": "work"}\n'):rep(3000))
    place.moonshift("enqueue", "--from", place.path .. "/many", "-C", place.path)
    local dead = place.enqueue("bad", 1, "--retries", "1")[1]
    ran(3500)
    process.await("an incident", 30, function()
      return place.moonshift("incident", "list"):find("bad", 1, true)
    end)
    place.moonshift("job", "retry", dead)
    place.moonshift("definition", "suspend", "work", "--include-jobs")
    place.enqueue("work", 1200)
    place.moonshift("definition", "activate", "work", "--include-jobs", "--wait")
    ran(4700)
    assert.truthy(place.moonshift("check", "--store", place.url):find("nothing is wrong", 1, true))
    place.stop(first)
    place.stop(second)
  end

  it("in session mode takes nothing away", function()
    through("session", "first")
    everything()
    assert.is_nil(place.log():find("behind a pool", 1, true))
  end)

  it("in session mode is not waited for when it has no connection left", function()
    through("session", "first")
    local function sleepers(what)
      return postgres.rows(server, "first",
        ("SELECT %s FROM pg_stat_activity WHERE query='SELECT pg_sleep(60)'"):format(what))
    end
    os.execute(("for i in $(seq 20); do %s/psql -h %s -p %d -U owner postgres -c "
      .. "'SELECT pg_sleep(60)' >/dev/null 2>&1 & done"):format(server.programs, server.folder,
      ports.session))
    process.await("the pool is full", 30, function()
      return #sleepers("pid") == 20
    end)
    local status, _, text = process.moonshift("stats", "--store", place.url)
    sleepers("pg_terminate_backend(pid)")
    assert.equal(69, status)
    assert.truthy(text:find("no answer; a pool may have no connection left", 1, true), text)
  end)

  it("in transaction mode is worked through, and says that the bell is polled", function()
    through("transaction", "second")
    everything("--wait", "1", "--max-wait", "1")
    assert.truthy(place.log():find('event="behind a pool"', 1, true), place.log())
  end)

  it("in transaction mode leaves locks and the bell to another way", function()
    through("transaction", "third")
    local direct = postgres.url(server, "third")
    local first = place.executor("--name", "first", "--listen-url", direct, "--wait", "1h",
      "--max-wait", "1h")
    local second = place.executor("--name", "second", "--listen-url", direct, "--wait", "1h",
      "--max-wait", "1h")
    place.enqueue("work", 1)
    ran(1)
    assert.is_nil(place.log():find("behind a pool", 1, true))
    process.kill(first, "KILL")
    process.await("the dead one is gone", 15, function()
      return not place.moonshift("executor", "list"):find("first", 1, true)
    end)
    place.enqueue("work", 10)
    process.await("the other goes on", 15, function() -- one job may have run for both
      return runs() == 11
    end)
    place.stop(second)
  end)

  it("in transaction mode takes no way to another database for the direct one", function()
    through("transaction", "fifth")
    local other = postgres.url(server, "fifth"):gsub("/postgres%?", "/template1?")
    local status, _, errors = process.moonshift("run", place.path, "--drain", "--store", place.url,
      "--listen-url", other)
    assert.equal(78, status)
    assert.truthy(errors:find("another server or database than that of", 1, true), errors)
  end)

  it("in transaction mode keeps the contract of a store", function()
    prepare(server)
    for _, name in ipairs { "store", "verbs" } do
      local store = ("%s&port=%d&pool=transaction"):format(postgres.url(server, name .. "_{}"),
        ports.transaction)
      local status, output = process.run(("CONTRACT_STORE='%s' %s/spec/core/store/%s_contract")
        :format(store, os.getenv("BUILD") or "build", name))
      assert.equal(0, status, output:match("not ok[^\n]*\n[^\n]*"))
    end
  end)

  it("is not migrated through, and has two modes", function()
    through("transaction", "fourth")
    place.moonshift("store", "create")
    local status, _, errors = process.moonshift("store", "migrate", "--store", place.url)
    assert.equal(78, status)
    assert.truthy(errors:find("cannot be migrated through a pool", 1, true), errors)
    status, _, errors = process.moonshift("stats", "--store", place.url .. "&pool=statement")
    assert.equal(78, status)
    assert.truthy(errors:find('pool "statement": expected session or transaction', 1, true), errors)
  end)
end)
