local moonshift = require "moonshift"
local program = require "spec.support.program"

describe("a setting", function()
  local function refusal(options)
    options.store = options.store or "sqlite::memory:"
    local engine, message, code = moonshift.open(options)
    assert.is_nil(engine)
    assert.equal("invalid", code)
    return message
  end

  local number = "expected a whole number, {core, max} or \"CORE:MAX\", from 1 to 1024"
  for problem, options in pairs {
    ['unknown setting "wrokers" (did you mean "workers"?)'] = { wrokers = 1 },
    ["workers 0: " .. number] = { workers = 0 },
    ['workers "4:2": ' .. number] = { workers = "4:2" },
    ["workers [4,2]: " .. number] = { workers = { 4, 2 } },
    ["page 0: expected auto, or a whole number from 1 to 10000"] = { page = 0 },
    ["page 1.5: expected auto, or a whole number from 1 to 10000"] = { page = 1.5 },
    ['queue "many": expected auto, or a whole number from 1 to 1000000'] = { queue = "many" },
    ['active "yes": expected true or false'] = { active = "yes" },
    ["wait_factor 0.5: expected a number from 1 to 100"] = { wait_factor = 0.5 },
    ['lock_time 0: expected a duration longer than 0, such as "5m"'] = { lock_time = 0 },
    ['lock_time "P1M": expected days or less, such as "30d": months have no fixed length'] =
      { lock_time = "P1M" },
    ['lock_time: duration "5M": M may mean months: expected m for minutes, or P1M for months '
      .. '(position 2), as in "1h30m" or "PT1H30M"'] = { lock_time = "5M" },
    ['zone: zone "Europe/Berln": unknown (did you mean "Europe/Berlin"?)'] =
      { zone = "Europe/Berln" },
    ['memory_limit "64MB": expected a size such as "64MiB", or bytes, from 262144 to '
      .. "1099511627776"] = { memory_limit = "64MB" },
    ["acquisitions: expected a table { name = { page, wait, … } }"] = { acquisitions = "slow" },
    ["acquisitions.slow: expected a table of settings"] = { acquisitions = { slow = 5 } },
    ['acquisitions.slow: "pge" is no setting of acquisition (did you mean "page"?)'] =
      { acquisitions = { slow = { pge = 5 } } },
    ['acquisitions.slow: "store" is no setting of acquisition'] =
      { acquisitions = { slow = { store = "sqlite:x.db" } } },
    ["acquisitions.slow: page 0: expected auto, or a whole number from 1 to 10000"] =
      { acquisitions = { slow = { page = 0 } } },
    ['history "all": expected "none", "failures" or "full"'] = { history = "all" },
    ['lane_scope "job": expected "instance" or "root"'] = { lane_scope = "job" },
    ['categories ["a",5]: expected a list of texts'] = { categories = { "a", 5 } },
    ['metrics_from "example.com": expected an address, or a network such as "10.0.0.0/8"'] =
      { metrics_from = { "10.0.0.0/8", "::1", "example.com" } },
    ['trust_proxy "proxy.local": expected an address, a network such as "10.0.0.0/8", or "unix"'] =
      { trust_proxy = { "10.0.0.0/8", "unix", "proxy.local" } },
    ['trust_proxy 5: expected a list of texts'] = { trust_proxy = 5 },
    ["user_scopes 5: expected scopes by the names of users"] = { user_scopes = 5 },
    ['user_scopes.anna: unknown scope "reed" (did you mean "read"?)'] =
      { user_scopes = { anna = "reed" } },
    ['user_scopes.@ops: unknown key "tennant" (did you mean "tenant"?)'] =
      { user_scopes = { ["@ops"] = { scopes = "read", tennant = "x" } } },
    ["user_scopes.anna: scopes: expected one at least (read, payload, enqueue, work, operate, "
      .. "admin)"] = { user_scopes = { anna = {} } },
    ['user_scopes.*: handlers "*x": expected names, such as "topic/*"'] =
      { user_scopes = { ["*"] = { scopes = "read", handlers = { "*x" } } } },
    ['user_scopes.anna: tenant "": expected a text of 1 to 255 bytes'] =
      { user_scopes = { anna = { scopes = "read", tenant = "" } } },
    ['user_scopes "@": expected the name of a user, "@" and a group, or "*"'] =
      { user_scopes = { ["@"] = "read" } },
    ['cors_origins "*": expected an origin such as "https://ops.example.com"'] =
      { cors_origins = { "https://a.example:8443", "http://[::1]:5173", "*" } },
    ['cors_origins "https://ops.example.com/": expected an origin such as '
      .. '"https://ops.example.com"'] = { cors_origins = { "https://ops.example.com/" } },
    ['cors_origins "https://ops.example.com:443": expected an origin such as '
      .. '"https://ops.example.com"'] = { cors_origins = { "https://ops.example.com:443" } },
    ['cors_origins "null": expected an origin such as "https://ops.example.com"'] =
      { cors_origins = { "null" } },
    ["retry 5: expected a text without control characters"] = { retry = 5 },
    ['name "": expected a text that is not empty'] = { name = "" },
    ["priority_range: min 9 is above max 5"] = { priority_range = { 9, 5 } },
    ["backoff: PT3S is longer than max_backoff, PT0S"] = { backoff = 3 },
    ['unknown setting "jobExecutorAcquireByPriority" (here it is "by_priority")'] = {
      jobExecutorAcquireByPriority = true,
    },
    ['unknown setting "lock-time-in-millis" (here it is "lock_time", in seconds or as "PT5M")'] = {
      ["lock-time-in-millis"] = 300000,
    },
    ['unknown setting "camunda.bpm.job-execution.queue-capacity" (here it is "queue")'] = {
      ["camunda.bpm.job-execution.queue-capacity"] = 3,
    },
    ['unknown setting "camunda.bpm.job-execution.enabled" (here it is "active")'] = {
      ["camunda.bpm.job-execution.enabled"] = true,
    },
    ['unknown setting "mondayHistoryCleanupBatchWindowStartTime" '
      .. '(here it is "history_cleanup_window")'] = {
      mondayHistoryCleanupBatchWindowStartTime = "22:00",
    },
    ['unknown setting "max-async-jobs-due-per-acquisition" (here it is "page")'] = {
      ["max-async-jobs-due-per-acquisition"] = 8,
    },
    ['unknown setting "customPostBPMNParseListeners" (here: files in listeners/)'] = {
      customPostBPMNParseListeners = {},
    },
    ['unknown setting "camunda.bpm.metrics.enabled" (nothing here needs it)'] = {
      ["camunda.bpm.metrics.enabled"] = true,
    },
    ['unknown setting "asyncExecutorResetExpiredJobsInterval" (nothing here needs it)'] = {
      asyncExecutorResetExpiredJobsInterval = 5,
    },
  } do
    it("is refused: " .. problem, function()
      assert.equal(problem, refusal(options))
    end)
  end
end)

describe("the settings shown", function()
  local place

  after_each(function()
    place.clean()
  end)

  -- name -> { value for people, origin }
  local function shown(file, options)
    place = program.place { ["moonshift.lua"] = file }
    options.dir = place.path
    local status, output, errors = program.run({ "settings", table.unpack(options) }, options)
    assert.equal("", errors)
    assert.equal(0, status)
    local rows = {}
    for name, value, origin in output:gmatch("\n(%S+) +(%S+) +(%S+)") do
      rows[name] = { value, origin }
    end
    return rows
  end

  it("are as they are given in a flag", function()
    local rows = shown("return {}", {
      "--memory-limit", "1024KiB", "--workers", "2:4", "--aging", "60", "--categories", "a,b",
      "--priority-range", "5:",
    })
    assert.same({ "1MiB", "flag" }, rows.memory_limit)
    assert.same({ "2:4", "flag" }, rows.workers)
    assert.same({ "PT1M", "flag" }, rows.aging)
    assert.same({ "a,b", "flag" }, rows.categories)
    assert.same({ "5:", "flag" }, rows.priority_range)
  end)

  it("have names for the sides of a pair", function()
    local rows = shown([[
      return { workers = { core = 1, max = 3 }, priority_range = { max = 9 } }
    ]], {})
    assert.same({ "1:3", "moonshift.lua" }, rows.workers)
    assert.same({ ":9", "moonshift.lua" }, rows.priority_range)
  end)

  it("have no password of a store", function()
    for url, expected in pairs {
      ["postgres://me:se@cret@host:5/db"] = "postgres://me@host:5/db",
      ["postgres://host/db?password=secret&schema=jobs"] =
        "postgres://host/db?password=&schema=jobs",
      ["postgres://me@/db?host=/run:x"] = "postgres://me@/db?host=/run:x",
      ["sqlite:a:b@c.db"] = "sqlite:a:b@c.db",
    } do
      assert.same({ expected, "flag" }, shown("return {}", { "--store", url }).store)
    end
  end)

  it("come from flags before variables before the file", function()
    local rows = shown("return { page = 1, queue = 2, lane_run = 3 }", {
      "--page", "7",
      env = { MOONSHIFT_PAGE = "8", MOONSHIFT_QUEUE = "9" },
    })
    assert.same({ "7", "flag" }, rows.page)
    assert.same({ "9", "environment" }, rows.queue)
    assert.same({ "3", "moonshift.lua" }, rows.lane_run)
  end)
end)

describe("a rule between settings", function()
  it("is broken where the file says so", function()
    local place = program.place { ["moonshift.lua"] = "return { priority_range = { 5, 1 } }" }
    local status, _, errors = program.run({ "settings" }, { dir = place.path })
    place.clean()
    assert.equal(78, status)
    assert.equal("moonshift: moonshift.lua: priority_range: min 5 is above max 1\n", errors)
  end)
end)

describe("a variable", function()
  local function refusal(name, value)
    local options = { dir = "/tmp", env = { [name] = value } }
    local status, _, errors = program.run({ "settings" }, options)
    assert.equal(78, status)
    return errors
  end

  it("that is no setting is refused", function()
    assert.equal('moonshift: unknown variable "MOONSHIFT_WORKRS" (did you mean '
      .. '"MOONSHIFT_WORKERS"?)\n', refusal("MOONSHIFT_WORKRS", "3"))
  end)

  it("with a bad value is refused by its name", function()
    assert.equal("moonshift: MOONSHIFT_PAGE 0: expected auto, or a whole number from 1 to 10000\n",
      refusal("MOONSHIFT_PAGE", "0"))
  end)
end)
