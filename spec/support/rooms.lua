-- The rooms of core/, lowest first. A room calls and includes itself and the rooms above it in this
-- list; of those that it is apart from it knows nothing. docs/contributing.md prints the list, and
-- spec/architecture_spec.lua holds the sources against it.
local rooms = {
  { "core/base", "what the C library lacks: errors, clock, log, text, JSON, arenas, crash points" },
  { "core/time", "spans, cron, cycles, zones, rates, retries: pure functions of time" },
  { "core/job", "a job and its fields, definitions, outcomes, commands, settings" },
  { "core/store", "what every engine of the store offers" },
  { "core/store/sql", "the seam below the rules: prepare, bind, step; no name of a database" },
  { "core/store/rules/ground", "an open store" },
  { "core/store/rules/place", "where a job is, in which order, what keeps it from starting" },
  { "core/store/rules/record", "what is written about work" },
  { "core/store/rules/create", "new jobs, and the next of a cycle" },
  { "core/store/rules/job", "what is done to jobs" },
  { "core/store/rules/batch", "batches" },
  { "core/store/rules/schedule", "schedules" },
  { "core/store/rules/process", "instances of processes, and what they wait for" },
  { "core/store/rules/fleet", "executors and deployments" },
  { "core/store/rules/clean", "history that goes" },
  { "core/store/rules/command", "the door of verbs" },
  { "core/store/rules/work", "the turn: acquire, settle, reap" },
  { "core/store/rules/ask", "the door of questions", apart = { "core/store/rules/work" } },
  { "core/store/sqlite/db", "SQLite as a driver, its statements and files" },
  { "core/store/sqlite/turn", "a transaction: the gate, syncs, readers that hold old states" },
  { "core/store/sqlite/beside", "files beside the database: bells, slots, the mailbox" },
  { "core/store/sqlite/life", "open, migrate, back up" },
  { "core/store/postgres/db", "PostgreSQL as a driver, its sessions and statements",
    apart = { "core/store/sqlite" } },
  { "core/store/postgres/turn", "a transaction: the gate, pages, sets, the server's clock",
    apart = { "core/store/sqlite" } },
  { "core/store/postgres/beside", "what a session holds beside it: locks, bells, slots",
    apart = { "core/store/sqlite" } },
  { "core/store/postgres/life", "open, migrate, upgrade, rights", apart = { "core/store/sqlite" } },
  { "core/script", "C calls Lua: states, folders, limits; `natives` is what C gives to Lua",
    also = "core/script/natives", apart = { "core/store" } },
  { "core/process", "models of processes are read, and units of their walks" },
  { "core/engine", "creation, deployments, questions: one engine for all faces" },
  { "core/engine/process", "commands to processes, walked on the caller's thread" },
  { "core/engine/command", "operator's commands" },
  { "core/run/pool", "worker threads, the queue, work items" },
  { "core/run", "the executor: turns, the loop, leases" },
  { "core/lua", "Lua calls C: the objects behind `require \"moonshift\"`" },
  { "core/bench", "the measurements of `moonshift bench`" },
  { "core/cli/words", "what was typed" },
  { "core/cli/shown", "what is seen" },
  { "core/cli", "the door of the command line, and the table of its verbs" },
  { "core/cli/wait", "used by several verbs" },
  { "core/cli/verb/jobs", "verbs on jobs, batches, schedules" },
  { "core/cli/verb/processes", "verbs on processes and definitions" },
  { "core/cli/verb/service", "verbs on the program, the store and its executors" },
  { "core", "the programs" },
}

-- What runs uphill all the same, and the reason: "FILE NAME".
rooms.spared = {
  ["core/store/rules/create/cycle.c commands_cancel"] = "goes with a hook of schedules",
  ["core/store/rules/create/cycle.c store/rules/job/job_commands.h"] =
    "goes with a hook of schedules",
}

return rooms
