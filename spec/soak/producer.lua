-- A program with the module: producer.lua one|many[+die] DRAFTS FOLDER STORE
local moonshift = require "moonshift"
local probe = require "probe"

local mode, path, folder, store = table.unpack(arg)
local drafts = dofile(path)

local function note(event, draft, job)
  local is = event == "intent" and draft[4] or {}
  probe.write("P", event, job, nil, nil, is.priority, is.lane, is.due, is.retries, is.hash,
    draft[4].note)
end

-- A full disk, or a server that is away now, may have taken the job all the same.
local function refused(draft, code)
  local unsure = code == "full" or code == "unavailable"
  note(unsure and "unknown" or "nack", draft)
end

local engine, why = moonshift.open { scripts = folder, store = store }
if not engine then
  io.stderr:write(why, "\n")
  os.exit(3)
end

if mode:find("many") then
  for _, draft in ipairs(drafts) do
    note("intent", draft)
  end
  local ids, _, code = engine:enqueue_many(drafts)
  for i, draft in ipairs(drafts) do
    if ids then
      note(draft[1] == "single" and "held" or "ack", draft, ids[i])
    else
      refused(draft, code)
    end
  end
else
  for _, draft in ipairs(drafts) do
    note("intent", draft)
    local id, outcome, code = engine:enqueue(draft[1], draft[2], draft[3])
    if id then
      note(outcome == "kept" and "kept" or "ack", draft, id)
    else
      refused(draft, code)
    end
  end
end
if mode:find("die") then
  probe.die()
end
engine:close()
