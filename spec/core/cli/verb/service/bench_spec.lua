local postgres = require "spec.support.postgres"
local process = require "spec.support.process"
local program = require "spec.support.program"
local rules = require("moonshift.core").rules

describe("bench", function()
  local place, output, report

  setup(function()
    place = process.folder()
    local status, errors
    status, output, errors = program.run(
      { "bench", "--jobs", "500", "--workers", "2", "--json" }, { dir = place })
    assert.equal("", errors)
    assert.equal(0, status)
    report = rules.decode(output)
  end)

  teardown(function()
    process.remove(place)
  end)

  it("says what was asked for", function()
    assert.same({ 500, 2, "full", 100, "FULL" },
      { report.jobs, report.workers, report.history, report.payload, report.synchronous })
  end)

  it("has a figure of everything that it measures", function()
    for _, name in ipairs {
      "drain_per_second", "enqueue_one_per_second",
      "enqueue_processes_per_second", "enqueue_bulk_per_second", "enqueue_from_per_second",
      "chains_per_second", "idle_kb",
      "life_per_second", "cpu_seconds_per_10000", "syncs_per_10000", "commits_per_10000",
      "log_bytes_per_job", "peak_kb", "database_kb", "workers_speedup", "workers_ceiling",
      "seconds",
    } do
      assert.is_number(report[name], name)
      assert.is_true(report[name] > 0, name)
    end
  end)

  it("orders its latencies", function()
    for _, prefix in ipairs { "latency_", "latency_call_", "latency_process_" } do
      local p50, p99, most = report[prefix .. "p50_ms"], report[prefix .. "p99_ms"],
        report[prefix .. "max_ms"]
      assert.is_true(0 <= p50 and p50 <= p99 and p99 <= most, prefix)
    end
  end)

  it("counts a sync for each commit, and for each job that is created alone", function()
    assert.is_true(report.syncs_per_10000 >= report.commits_per_10000)
    assert.is_true(report.enqueue_one_syncs_per_10000 >= 10000)
  end)

  it("leaves nothing behind when it is told to end", function()
    local function files()
      return select(2, process.run("ls " .. process.quote(place)))
    end
    for _, words in ipairs { { "--only", "clients,life" }, { "--work" } } do
      local pid = process.start("/dev/null", "bench", "--dir", place, table.unpack(words))
      process.await("the store", 20, function()
        return files() ~= ""
      end)
      process.kill(pid, "TERM")
      process.await_end(pid, 20)
      assert.equal("", files())
    end
  end)

  it("shows a person what was measured, and no more", function()
    local status, text = program.run(
      { "bench", "--jobs", "200", "--only", "drain", "--history", "none" }, { dir = place })
    assert.equal(0, status)
    assert.truthy(text:find("^200 jobs of 100 bytes, %d+ workers, history none"), text)
    assert.truthy(text:find("\ndrain +%d+%S* +jobs/s\n"), text)
    assert.is_nil(text:find("latency"))
  end)

  it("leaves nothing behind", function()
    local _, files = process.run("ls " .. process.quote(place))
    assert.equal("", files)
  end)

  it("measures an acquisition beside many rows", function()
    local status, text, errors = program.run({ "bench", "--scale=10000", "--json" },
      { dir = place })
    assert.equal("", errors)
    assert.equal(0, status)
    local found = rules.decode(text)
    local row = found.scale[1]
    assert.equal(10000, row.rows)
    for _, name in ipairs { "ready_us", "timers_us", "half_locked_us", "lane_us", "start_ms" } do
      assert.is_true(row[name] > 0, name)
    end
    assert.equal(1, found.ratio.ready_us)
  end)

  it("measures each kind of work beside a no-op, and each creation beside the plain one", function()
    local status, text, errors = program.run({ "bench", "--work", "--jobs", "100", "--only",
      "sum,line,fails,dies,everything,create-unique", "--json" }, { dir = place })
    assert.equal("", errors)
    assert.equal(0, status)
    local runs = {}
    for i, row in ipairs(rules.decode(text).work) do
      runs[i] = ("%s %d"):format(row.kind, row.runs)
      for _, name in ipairs { "per_second", "cpu_us", "log_bytes", "syncs_per_10000", "peak_kb" } do
        assert.is_true(row[name] > 0, name)
      end
      assert.is_number(row.ratio)
    end
    assert.same({
      "noop 100", "sum 100", "line 100", "fails 150", "dies 100", "everything 115", "create 100",
      "create-unique 100",
    }, runs)
  end)

  it("measures each kind of process, and proves that all instances have ended", function()
    local status, text, errors = program.run({ "bench", "--processes", "--jobs", "20", "--json" },
      { dir = place })
    assert.equal("", errors)
    assert.equal(0, status)
    local found = {}
    for i, row in ipairs(rules.decode(text).processes) do
      found[i] = ("%s %d"):format(row.kind, row.instances)
      for _, name in ipairs { "per_second", "units_per_second", "commands_per_second", "cpu_us",
        "log_bytes", "syncs_per_10000", "peak_kb" } do
        assert.is_true(row[name] > 0, row.kind .. " " .. name)
      end
    end
    assert.same({ "async1 20", "five 20", "fork 20", "timer 20", "ten 4", "message 20",
      "alone 20", "lists 20" }, found)
  end)

  it("makes syncs take longer", function()
    local _, text = program.run({ "bench", "--jobs", "400", "--only", "clients", "--sync", "20ms",
      "--json" }, { dir = place })
    local found = rules.decode(text)
    assert.equal(20, found.sync_ms)
    assert.is_true(found.enqueue_one_per_second < 50)
  end)

  it("refuses what it cannot measure", function()
    local function refusal(...)
      local status, _, errors = program.run({ "bench", ... })
      assert.equal(2, status)
      return errors
    end
    assert.equal('moonshift: --history "some": expected none, failures or full\n',
      refusal("--history", "some"))
    assert.equal('moonshift: --only "drian": expected idle, clients, latency, from, drain, ' ..
      "chains, life or workers\n", refusal("--only", "clients,drian"))
    assert.truthy(refusal("--work", "--only", "noops"):find('"noops": expected noop,', 1, true))
    assert.equal("moonshift: --scale and --work: expected one of them\n",
      refusal("--scale", "--work"))
    assert.equal("moonshift: --work and --processes: expected one of them\n",
      refusal("--processes", "--work"))
    assert.truthy(refusal("--processes", "--only", "six"):find('"six": expected async1,', 1, true))
    assert.equal('moonshift: --sync "2h": expected a span up to a second, such as 5ms\n',
      refusal("--sync", "2h"))
    assert.truthy(refusal("--scale=10"):find('--scale "10"', 1, true))
    assert.truthy(refusal("--scale=10000,many"):find('--scale "many"', 1, true))
    assert.truthy(refusal("--jobs", "0"):find('--jobs "0"', 1, true))
    assert.truthy(refusal("--payload", "-1"):find('--payload "-1"', 1, true))
    assert.truthy(refusal("--workers", "many"):find('--workers "many"', 1, true))
  end)

  it("says where no store can be made", function()
    local status, _, errors = program.run { "bench", "--dir", "/nowhere" }
    assert.equal(4, status)
    assert.equal('moonshift: directory "/nowhere": cannot make a store there: ' ..
      "No such file or directory\n", errors)
  end)
end)

describe("bench on a server", function()
  if not postgres.programs() then
    it("measures it", function()
      return pending("no initdb in /usr/lib/postgresql")
    end)
    return
  end

  local place, server

  setup(function()
    place, server = process.folder(), postgres.start()
  end)

  teardown(function()
    process.remove(place)
    postgres.stop(server)
  end)

  local function bench(...)
    return program.run({ "bench", "--json", "--store", postgres.url(server, "mine"), ... },
      { dir = place })
  end

  it("has the figures of a drain, and the processor of the server", function()
    local status, output, errors = bench("--jobs", "1000", "--only", "drain,life")
    assert.equal(0, status, errors)
    local report = rules.decode(output)
    for _, name in ipairs { "drain_per_second", "enqueue_bulk_per_second", "life_per_second",
      "cpu_seconds_per_10000", "server_cpu_seconds_per_10000" } do
      assert.is_true(report[name] > 0, name)
    end
    for _, name in ipairs { "database_kb", "synchronous", "log_bytes_per_job" } do
      assert.is_nil(report[name], name)
    end
  end)

  it("measures kinds of work", function()
    local status, output, errors = bench("--jobs", "500", "--work", "--only", "line,lanes10")
    assert.equal(0, status, errors)
    local row = rules.decode(output).work[1]
    assert.is_true(row.per_second > 0)
    assert.is_nil(row.log_bytes or row.syncs_per_10000) -- a server writes its log by itself
  end)

  it("measures kinds of processes", function()
    local status, output, errors = bench("--jobs", "20", "--processes")
    assert.equal(0, status, errors)
    local found = {}
    for i, row in ipairs(rules.decode(output).processes) do
      found[i] = ("%s %d"):format(row.kind, row.instances)
      for _, name in ipairs { "per_second", "units_per_second", "commands_per_second" } do
        assert.is_true(row[name] > 0, row.kind .. " " .. name)
      end
      assert.is_nil(row.log_bytes or row.syncs_per_10000, row.kind)
    end
    assert.same({ "async1 20", "five 20", "fork 20", "timer 20", "ten 4", "message 20",
      "alone 20", "lists 20" }, found)
  end)

  -- Its shell has the number that the bench has then: the store is made where the bench makes one.
  it("is refused where its schema is a store already, which stays as it was", function()
    local url = postgres.url(server, "moonshift_bench_$$_1")
    local shell = ('%s enqueue other --unchecked --store "%s" >&2 &&'
      .. ' exec %s bench --processes --jobs 1 --store "%s"'):format(process.command(), url,
      process.command(), url)
    local status, output, errors = process.run("cd " .. process.quote(place) .. " && sh -c "
      .. process.quote("echo $$; " .. shell))
    local schema = "moonshift_bench_" .. output:match("^%d+") .. "_1"
    assert.equal(5, status, errors)
    assert.truthy(errors:find("is there already (expected none:", 1, true), errors)
    assert.same({ "1|0" }, postgres.rows(server, schema,
      "SELECT (SELECT count(*) FROM job), (SELECT count(*) FROM process)"))
    postgres.say(server, ("DROP SCHEMA %s CASCADE;\n"):format(schema))
  end)

  it("leaves no schema behind, and makes none of the URL's name", function()
    local said = postgres.say(server, "\\pset tuples_only on\n" ..
      "SELECT nspname FROM pg_namespace WHERE nspname ~ 'moonshift|mine';\n")
    assert.equal("", (said:gsub("%s", "")))
  end)

  it("is one of a server", function()
    local status, _, errors = program.run({ "bench", "--store", "jobs.db" }, { dir = place })
    assert.equal(2, status)
    assert.truthy(errors:find("expected a server", 1, true), errors)
    status, _, errors = bench("--scale=10000")
    assert.equal(2, status)
    assert.truthy(errors:find("measures a file", 1, true), errors)
  end)
end)
