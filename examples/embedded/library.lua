-- A program with its own store: library.lua lend READER BOOK [AFTER] notes that a book is due,
-- library.lua work runs the reminders that are, library.lua list shows the others. Run it as
-- lua5.4 examples/embedded/library.lua …; the store is library.db in the working directory, or
-- the one whose URL is STORE.
local moonshift = require "moonshift"

local folder = arg[0]:match("^(.*)/") or "."
local engine = assert(moonshift.open {
  store = os.getenv("STORE") or "sqlite:library.db",
  scripts = folder .. "/scripts",
})

local verbs = {}

function verbs.lend(reader, book, after)
  local id = assert(engine:enqueue("remind", { reader = reader, book = book },
    { after = after or "P28D", lane = reader }))
  print(("reminder %d at %s"):format(id, engine:job(id).due))
end

function verbs.work()
  local run = assert(engine:drain())
  print(("%d done, %d failed"):format(run.done, run.failed))
end

function verbs.list()
  engine:jobs({ handler = "remind" }):each(function(job)
    print(("%d  %s  %s  %s"):format(job.id, job.due, job.payload.reader, job.payload.book))
  end)
end

local verb = verbs[arg[1]]
if not verb then
  io.stderr:write("usage: library.lua lend READER BOOK [AFTER] | work | list\n")
  os.exit(2)
end
verb(table.unpack(arg, 2))
engine:close()
