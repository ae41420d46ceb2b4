-- Each table has its writers: the statements in core/ are read, and a file that is not named fails.
local source = require "spec.support.source"

-- A file by its name in the rules' room, or in that of the engine.
local function rules(name)
  return "core/store/rules/" .. name .. ".c"
end

local function engine(name)
  return "core/store/sqlite/" .. name .. ".c"
end

local function server(name)
  return "core/store/postgres/" .. name .. ".c"
end

-- Where a job waits or runs: what every turn does, what commands do, and an engine many at a time.
local both = { rules "place/places", rules "place/places_hot" }
local many = { rules "place/places", rules "place/places_hot", engine "db/bulk_table",
    server "turn/bulk" }
-- What has ended: written as it happens, removed by age, and with its batch.
local history = { rules "record/history", rules "clean/clean", rules "batch/forget" }
-- A batch is filled, seeded, changed by commands, and cleared when its creator died.
local batch = { rules "batch/fill", rules "batch/seed", rules "batch/commands",
  rules "batch/left" }

local function with(list, ...)
  return table.move({ ... }, 1, select("#", ...), #list + 1, { table.unpack(list) })
end

-- Every table with all files that write it. Where a table has several, each has its own reason.
local writers = {
  ready = with(many, server "turn/set"), timer = many, parked = with(both, server "turn/set"),
  locked = with(many, server "turn/set", server "turn/lock_page",
    server "turn/unit_rows"), limited = with(both,
    server "turn/set"),
  -- On a server a trigger writes it; in a file it is a view of `meta`.
  occupancy = { server "db/statements", server "life/upgrade",
    "core/store/postgres/life/schema.h" },
  lane = { rules "place/places", "core/store/rules/place/places.h", server "turn/set" },

  -- The wide row: inserted one by one or as a set, changed in one place or as a set after failed
  -- runs, purged as ranges, cancelled as a set with what a unit ends.
  job = { rules "create/create", engine "db/bulk_table", server "turn/bulk", rules "ground/row",
    engine "turn/purge",
    server "turn/left", server "turn/set", server "life/upgrade" },
  conflicts = { rules "ground/row" }, suspect = { rules "place/suspects" },
  -- A success is written with others as a set; a command sets the date of removal.
  ended = { rules "record/history", engine "db/bulk_table", server "turn/bulk",
    server "turn/set", rules "clean/removal" },
  ended_by_job = { rules "record/history" }, ended_by_instance = { rules "record/history" },
  -- On a server failed runs are written as a set.
  attempt = with(history, server "turn/bulk"), line = history, snooze = history,
  -- Said by a run; ends with the job, also with those that died or were purged.
  progress = { rules "record/history", rules "work/settle", rules "job/job_commands",
    rules "work/executor", server "turn/set",
    engine "turn/purge" },
  -- Of a job, of a run that does not end, of a definition without a handler, of a refused row.
  incident = { rules "record/incident", rules "record/caller_incident",
    rules "process/stuck_instance", server "turn/bulk", rules "job/stuck",
    rules "record/handlers", rules "record/outbox", rules "clean/clean",
    rules "batch/forget", engine "db/statements", server "db/statements" },
  stuck = { rules "job/stuck" },

  -- Deployed, named by a job, changed by a command, its backlog counted, retired.
  definition = { rules "fleet/definition_rows", rules "ground/stream", rules "command/definitions",
    rules "place/backlog", rules "fleet/retire", rules "fleet/rename" },
  stream = { rules "ground/stream", rules "fleet/rename", server "life/upgrade" },
  deployment = { rules "fleet/deployment", rules "fleet/retire", rules "fleet/rename" },
  deployment_file = { rules "fleet/deployment", rules "fleet/retire", rules "fleet/rename" },
  folder_mark = { rules "fleet/folder_kept" }, folder_models = { rules "fleet/folder_kept" },
  registration = { rules "fleet/registration", rules "fleet/deployment",
    rules "fleet/retire", rules "fleet/rename" },
  -- Joins and leaves, is reaped, drained, publishes its handlers, owes a purge.
  executor = { rules "work/executor", rules "work/reap", rules "fleet/remote",
    rules "fleet/listener",
    rules "fleet/failing", rules "fleet/drain",
    engine "db/statements", server "db/statements", engine "turn/purge" },
  metric = { rules "record/metric", "core/store/rules/record/metric.h" },
  suspended_instance = { rules "process/suspend" },

  -- Of the engine on a server alone.
  note = { server "db/statements", server "beside/life_sign" },
  schema_version = { server "life/migrate", server "life/upgrade" },
  program = { server "beside/presence" },
  turn = { server "turn/turn" },
  lock_page = { server "turn/lock_page" },

  -- Of processes: a file a table, and a server many rows at a time.
  process = { rules "process/version" },
  process_version = { rules "process/version", rules "fleet/rename" },
  body = { rules "process/turn", server "turn/set" },
  -- The frame is written with the commit.
  body_turn = { rules "process/turn", rules "ground/frames", server "turn/set",
    server "turn/unit_rows" },
  instance = { rules "process/instance", rules "ground/frames", server "turn/set",
    server "turn/unit_rows" },
  subscription = { rules "process/subscription", server "turn/unit_rows" },
  kept_message = { rules "process/message", server "turn/unit_rows" },
  large_value = { rules "process/large_value", server "turn/unit_rows" },
  searched = { rules "process/searched", server "turn/unit_rows" },
  searched_name = { rules "process/searched" },
  user_task = { rules "process/user_task", server "turn/unit_rows" },
  past = { rules "process/past", server "turn/unit_rows" },
  trail = { rules "record/trail", server "turn/unit_rows" }, trail_of = { rules "record/trail" },

  operation = { rules "record/operation", server "turn/unit_rows", rules "clean/clean" },

  unique_key = { server "turn/set", server "turn/bulk", server "life/upgrade", rules "place/unique",
    rules "create/intake" },
  lane_backlog = { rules "place/backlog" },
  rate = { rules "place/rate_limit" },
  share = { rules "place/fair_share" }, served = { rules "place/fair_share" },
  intake = { rules "create/intake" },
  request = { rules "command/request" },
  api_token = { rules "command/token" },
  outbox = { rules "record/outbox", server "turn/set" },
  tray = { engine "beside/group_commit", engine "life/restore" },
  location = { engine "beside/location" },

  batch = with(batch, rules "batch/batch", rules "job/tally", rules "clean/clean"),
  batch_config = { rules "batch/fill", rules "batch/commands", rules "batch/left",
    rules "clean/clean" },
  batch_part = batch,
  -- A cycle goes on by itself; a command, a file or the end of an intake changes it.
  cycle = { rules "create/cycle", rules "schedule/schedule", rules "job/recycle",
    rules "create/intake" },
  schedule = { rules "schedule/schedule", rules "fleet/rename", rules "create/cycle",
    rules "schedule/commands" },
  occurrence = { rules "create/occurrence", rules "schedule/schedule" },

  -- Its keys belong to different nouns; the counters are those of state.c.
  meta = { server "turn/command", server "turn/transaction", rules "ground/state",
    engine "turn/purge", rules "record/history",
    rules "place/fair_share",
    rules "record/trail", rules "fleet/retire", rules "fleet/rename",
    rules "fleet/deployment", engine "db/statements",
    rules "place/occupancy" },
}

-- What is written is decided by store->rules. These read other settings, or hand all of them on:
-- docs/design.md says why.
local of_settings = { "batch", "cleanup", "cleanup", "fair_share", "fill", "left", "provision",
  "registration", "seed" }

-- The texts of C strings that stand side by side, joined; one string a line.
local function strings(text)
  text = text:gsub("/%*.-%*/", ""):gsub('"%s*\\?%s*"', "")
  local found = {}
  for line in text:gmatch('"([^"\n]*)"') do
    found[#found + 1] = line
  end
  return table.concat(found, "\n")
end

local patterns = { "INSERT INTO ([%l_]+)", "INSERT OR %u+ INTO ([%l_]+)", "REPLACE INTO ([%l_]+)",
  "UPDATE ([%l_]+)", "UPDATE OR %u+ ([%l_]+)", "DELETE FROM ([%l_]+)" }

describe("a table", function()
  local found = {}

  setup(function()
    for _, path in ipairs(source.files("core", "%.[ch]$")) do
      local sql = strings(source.read(path))
      for _, pattern in ipairs(patterns) do
        for name in sql:gmatch(pattern) do
          found[name] = found[name] or {}
          found[name][path] = true
        end
      end
    end
  end)

  local function sorted(set)
    local list = {}
    for name in pairs(set) do
      list[#list + 1] = name
    end
    table.sort(list)
    return list
  end

  for _, name in ipairs(sorted(writers)) do
    it(("%s is written by the files that are named for it"):format(name), function()
      local expected = { table.unpack(writers[name]) }
      table.sort(expected)
      assert.same(expected, sorted(found[name] or {}))
    end)
  end

  it("of the schema has a writer, and nothing else is written", function()
    local schema = {}
    for _, path in ipairs { "core/store/sqlite/schema.sql", server "life/schema",
    server "life/migrate",
      server "turn/lock_page" } do
      for name in source.read(path):gmatch("CREATE TABLE ([%l_]+)") do
        schema[name] = true
      end
    end
    assert.same(sorted(schema), sorted(writers))
    assert.same(sorted(schema), sorted(found))
  end)
end)

describe("the rules of the store", function()
  it("read only settings that no other program may stand in for", function()
    local found = {}
    for _, path in ipairs(source.files("core/store/rules", "%.[ch]$")) do
      local text = source.read(path)
      if text:find("store%->settings") or text:find("settings%->%l") then
        found[#found + 1] = path:match("([%w_]+)%.%a$")
      end
    end
    table.sort(found)
    assert.same(of_settings, found)
  end)
end)
