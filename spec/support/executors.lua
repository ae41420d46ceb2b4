-- Real executors on a folder: started, waited for, read, killed.
local process = require "spec.support.process"

local executors = {}

-- Adds to a place that has a path (its folder) and a store (the file) what executors need:
-- place.url is what --store wants, place.pids all that was started.
function executors.at(place)
  place.pids, place.url = {}, "sqlite:" .. place.store

  -- Writes a file of the place, "handlers/work.lua".
  function place.write(name, text)
    local path = place.path .. "/" .. name
    os.execute("mkdir -p " .. process.quote(path:match("^(.+)/")))
    local file = assert(io.open(path, "wb"))
    file:write(text)
    file:close()
  end

  -- Runs a verb on the store to its end, which must be a good one. Its output.
  function place.moonshift(...)
    local status, output, errors = process.moonshift("--store", place.url, ...)
    assert(status == 0, errors)
    return output
  end

  -- Creates so many jobs of the folder's handler and gives their ids, as texts.
  function place.enqueue(handler, count, ...)
    local ids = {}
    for id in place.moonshift("enqueue", handler, "-C", place.path, "--count", tostring(count),
      "--ids", ...):gmatch("%d+") do
      ids[#ids + 1] = id
    end
    return ids
  end

  -- Starts the program on the store with these words behind the verb; `log` is a file of the place.
  -- So is what a killed executor of a server leaves behind.
  function place.start(log, verb, ...)
    local words = { ... }
    if verb == "run" and place.url:find("^postgres") then
      table.move({ "--state-dir", place.path }, 1, 2, #words + 1, words)
    end
    local pid = process.start(place.path .. "/" .. log, verb, "--store", place.url,
      table.unpack(words))
    place.pids[#place.pids + 1] = pid
    return pid
  end

  -- Starts a command with the folder on the store; `log` is a file of the place.
  function place.command(log, ...)
    local words = { ... }
    table.move({ "-C", place.path, "--store", place.url }, 1, 4, #words + 1, words)
    os.remove(place.path .. "/" .. log)
    local pid = process.start(place.path .. "/" .. log, table.unpack(words))
    place.pids[#place.pids + 1] = pid
    return pid
  end

  -- Runs these commands at the same time, and gives how many of them said what, without numbers.
  function place.race(list)
    local pids, said = {}, {}
    for i, words in ipairs(list) do
      pids[i] = place.command("race" .. i, table.unpack(words))
    end
    for i, pid in ipairs(pids) do
      process.await_end(pid, 60)
      local text = place.log("race" .. i):gsub("%d+", "N")
      said[text] = (said[text] or 0) + 1
    end
    return said
  end

  -- Waits until a file of the place is there.
  function place.there(name)
    process.await(name, 20, function()
      local file = io.open(place.path .. "/" .. name)
      return file and file:close()
    end)
  end

  -- The text of a log of the place.
  function place.log(log)
    return process.read(place.path .. "/" .. (log or "log"))
  end

  -- Waits until a text stands in the log, so many times in all.
  function place.logged(text, count, log)
    process.await(text, 10, function()
      local at, found = 1, 0
      repeat
        local _, last = place.log(log):find(text, at, true)
        found = last and found + 1 or found
        at = last and last + 1
      until not at or found >= (count or 1)
      return found >= (count or 1)
    end)
  end

  -- Starts an executor on the folder and waits until it works. Its log is `log`, logfmt.
  function place.executor(...)
    local _, before = place.log():gsub("event=started", "")
    local pid = place.start("log", "run", "-C", place.path, "--log-format", "logfmt", ...)
    place.logged("event=started", before + 1)
    return pid
  end

  -- Ends a process as TERM does and waits for it.
  function place.stop(pid)
    process.kill(pid, "TERM")
    process.await_end(pid, 30)
  end

  -- Rows of the store, by SQL, as texts.
  function place.sql(statement)
    return process.sql(place.store, statement)
  end

  -- Kills what still runs.
  function place.kill()
    for _, pid in ipairs(place.pids) do
      if process.alive(pid) then
        process.kill(pid, "KILL")
        process.await_end(pid, 5)
      end
    end
  end

  return place
end

-- A folder of its own with these files, as process.folder has them, and a store beside them.
function executors.place(files)
  local path = process.folder(files)
  local place = executors.at { path = path, store = path .. "/jobs.db" }

  -- Kills what still runs and removes the folder.
  function place.remove()
    place.kill()
    process.remove(path)
  end

  return place
end

return executors
