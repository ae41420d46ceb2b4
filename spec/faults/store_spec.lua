-- Stores that are damaged, foreign, newer, or out of room.
local executors = require "spec.support.executors"
local process = require "spec.support.process"

local handlers = { ["handlers/work.lua"] = "return function() end\n" }
local gated = {
  ["handlers/work.lua"] = handlers["handlers/work.lua"],
  ["handlers/gated.lua"] = [[
return function()
  os.execute("echo >$GATE.run; until [ -e $GATE ] || [ ! -e ${GATE%/*} ]; do sleep 0.02; done")
end
]],
}

describe("a store", function()
  local dir, path

  before_each(function()
    dir = process.folder(handlers)
    path = dir .. "/jobs.db"
  end)

  after_each(function()
    process.remove(dir)
  end)

  local function verb(words)
    return process.run(process.command(table.unpack(words)) .. " -C " .. dir .. " --store sqlite:"
      .. path)
  end

  local function write(text)
    local file = assert(io.open(path, "wb"))
    file:write(text)
    file:close()
  end

  it("that is not a database is refused with 65, named and left alone", function()
    write(("no database "):rep(1000))
    local status, _, errors = verb { "run", "--drain" }
    assert.equal(65, status)
    assert.truthy(errors:find(path, 1, true), errors)
    assert.equal(("no database "):rep(1000), process.read(path))
  end)

  describe("that has lost its write-ahead log", function()
    local function mode()
      return process.sql(path, "PRAGMA journal_mode")[1]
    end

    before_each(function()
      assert.equal(0, (verb { "enqueue", "work" }))
      process.run(("cd %s && sqlite3 jobs.db \"VACUUM INTO 'copy.db'\" && rm -f jobs.db*"
        .. " && mv copy.db jobs.db"):format(dir))
      assert.equal("delete", mode())
    end)

    it("is named by check, and not touched", function()
      local status, _, errors = process.run(process.command("check", "--store", "sqlite:" .. path))
      assert.equal(65, status)
      assert.truthy(errors:find("the journal mode delete holds up all writing", 1, true), errors)
      assert.equal("delete", mode())
    end)

    it("has it again as soon as it is opened for writing", function()
      local status, _, errors = verb { "run", "--drain", "--log-level", "info" }
      assert.equal(0, status, errors)
      assert.truthy(errors:find("write-ahead log made again", 1, true), errors)
      assert.equal("wal", mode())
      assert.equal(0, (process.run(process.command("check", "--store", "sqlite:" .. path))))
    end)

    it("says why it cannot have it while somebody reads", function()
      local held = io.popen(("sqlite3 -cmd '.timeout 60000' %s 'BEGIN'"
        .. " 'SELECT count(*) FROM job' '.shell cat'"):format(path), "w")
      process.await("a reader", 20, function()
        local status = process.run(("sqlite3 %s 'BEGIN EXCLUSIVE' 'COMMIT'"):format(path))
        return status ~= 0
      end)
      local pid = process.start(dir .. "/log", "run", dir, "--drain", "--log-level", "warn",
        "--store", "sqlite:" .. path)
      process.await("a line", 20, function()
        return process.read(dir .. "/log"):find("readers hold up writing", 1, true)
      end)
      held:close()
      process.await_end(pid, 60)
      assert.equal(0, (verb { "enqueue", "work" }))
      assert.equal("wal", mode())
    end)
  end)

  it("of a newer schema is refused with 78 and names both versions", function()
    assert.equal(0, (verb { "run", "--drain" }))
    process.run("sqlite3 -cmd '.timeout 60000' " .. path .. " 'PRAGMA user_version=99'")
    local status, _, errors = verb { "stats" }
    assert.equal(78, status)
    assert.truthy(errors:find("99", 1, true), errors)
  end)

  it("of another program is refused and left alone", function()
    process.run("sqlite3 -cmd '.timeout 60000' " .. path .. " 'CREATE TABLE song(id)'")
    local status, _, errors = verb { "enqueue", "work" }
    assert.is_true(status == 65 or status == 78, errors)
    assert.same({ "song" }, process.sql(path, "SELECT name FROM sqlite_master"))
  end)

  it("that was dumped is refused with what it lacks, and taken once that is there", function()
    assert.equal(0, (verb { "enqueue", "work" }))
    process.run(("cd %s && sqlite3 jobs.db .dump | sqlite3 copy.db && rm -f jobs.db*"
      .. " && mv copy.db jobs.db"):format(dir))
    local status, _, errors = verb { "enqueue", "work" }
    assert.equal(78, status)
    assert.truthy(errors:find("as .dump of sqlite3 makes", 1, true), errors)
    local lacks = errors:match "PRAGMA application_id=%d+; PRAGMA user_version=%d+;"
    process.run(("sqlite3 %s '%s'"):format(path, lacks))
    assert.equal(0, (verb { "enqueue", "work" }))
    assert.same({ "2" }, process.sql(path, "SELECT count(*) FROM job"))
  end)

  it("with overwritten pages fails with 65 and never looks healthy", function()
    assert.equal(0, (verb { "enqueue", "work", "--count", "2000" }))
    process.run("sqlite3 -cmd '.timeout 60000' " .. path .. " 'PRAGMA wal_checkpoint(TRUNCATE)'")
    process.run(("dd if=/dev/urandom of=%s bs=4096 seek=2 count=60 conv=notrunc"):format(path))
    assert.equal(65, (verb { "check", "--store" }))
  end)

  it("that is missing is not made by a question", function()
    local status, _, errors = verb { "job", "list" }
    assert.equal(4, status)
    assert.truthy(errors:find(path, 1, true), errors)
    assert.is_nil(io.open(path))
  end)
end)

describe("a running executor", function()
  local place, dir, path, pid

  before_each(function()
    place = executors.place(handlers)
    dir, path = place.path, place.store
    pid = place.executor()
  end)

  after_each(function()
    place.remove()
  end)

  for _, suffix in ipairs { "", "-wal", "-shm", "-gate" } do
    it("ends when jobs.db" .. suffix .. " is not the file it was", function()
      local file = path .. suffix
      process.run(("cp %s %s.copy && mv %s.copy %s"):format(file, file, file, file))
      process.await_end(pid, 5)
      local expected = ('moonshift: store file "%s" was moved, removed or replaced while in use')
        :format(file)
      local log = process.read(dir .. "/log")
      assert.truthy(log:find(expected, 1, true), log)
    end)
  end
end)

describe("a store that a newer program brings up to date", function()
  local dir, path, pid
  local newer = "PRAGMA user_version=99; ALTER TABLE job ADD COLUMN news TEXT"
  local expected = "schema 99 is newer than this program's %d+ %(upgrade moonshift%)"

  before_each(function()
    dir = process.folder {
      ["handlers/work.lua"] = "return function() end\n",
      ["handlers/long.lua"] = "return function() os.execute('sleep 60') end\n",
    }
    path, pid = dir .. "/jobs.db", nil
    assert.equal(0, (process.moonshift("deploy", dir, "--store", "sqlite:" .. path)))
  end)

  after_each(function()
    if pid then
      process.kill(pid, "KILL")
      process.await_end(pid, 5)
    end
    process.remove(dir)
  end)

  local function command(...)
    return process.moonshift(...)
  end

  local function start()
    pid = process.start_watched(dir .. "/log", "run", dir, "--store", "sqlite:" .. path,
      "--workers", "1")
    process.await("the executor", 5, function()
      return process.read(dir .. "/log"):find("event=started", 1, true)
    end)
  end

  local function upgrade()
    local status, _, errors = process.run(("sqlite3 -cmd '.timeout 60000' %s '%s'"):format(path,
      newer))
    assert.equal(0, status, errors)
  end

  it("is left by an executor that has nothing to do, with 78 and the reason", function()
    start()
    upgrade()
    assert.equal(78, process.await_status(pid, 5))
    local log = process.read(dir .. "/log")
    assert.truthy(log:find(expected), log)
  end)

  it("gets back what an executor was running, with nothing counted", function()
    for _ = 1, 3 do
      assert.equal(0, (command("enqueue", "long", "-C", dir, "--store", "sqlite:" .. path)))
    end
    start()
    process.await("a run", 5, function()
      return process.sql(path, "SELECT count(*) FROM locked")[1] ~= "0"
    end)
    upgrade()
    assert.equal(78, process.await_status(pid, 10))
    assert.same({ "3|0|0" }, process.sql(path, "SELECT (SELECT count(*) FROM ready),"
      .. " (SELECT count(*) FROM locked), (SELECT count(*) FROM attempt)"))
    assert.same({ "1|3|0" }, process.sql(path,
      "SELECT DISTINCT attempt, retries, crashes FROM job"))
    assert.same({ "0" }, process.sql(path, "SELECT state FROM executor"))
  end)

  it("is refused to a program that has it open", function()
    process.environment = ""
    local script = ([[
      local moonshift = require "moonshift"
      local engine = assert(moonshift.open { store = "sqlite:%s", scripts = "%s" })
      assert(engine:enqueue("work"))
      os.execute("sqlite3 -cmd '.timeout 60000' %s '%s'")
      print(engine:enqueue("work"))
      print(pcall(function() return engine:jobs({}):count() end))
    ]]):format(path, dir, path, newer)
    local file = assert(io.open(dir .. "/host.lua", "w"))
    file:write(script)
    file:close()
    local _, output, errors = process.run((os.getenv("SPEC_LUA") or "lua5.4") .. " "
      .. dir .. "/host.lua")
    local count = select(2, output:gsub(expected, ""))
    assert.equal(2, count, output .. errors)
    assert.same({ "1" }, process.sql(path, "SELECT count(*) FROM job"))
  end)
end)

describe("a store that is cut short under an executor", function()
  local dir, path, pid

  before_each(function()
    dir = process.folder(handlers)
    path = dir .. "/jobs.db"
    assert.equal(0, (process.moonshift("enqueue", "work", "-C", dir, "--store", "sqlite:" .. path,
      "--count", "100")))
    pid = process.start_watched(dir .. "/log", "run", dir, "--store", "sqlite:" .. path)
    process.await("all jobs", 10, function()
      return process.sql(path, "SELECT count(*) FROM ended")[1] == "100"
    end)
  end)

  after_each(function()
    process.kill(pid, "CONT")
    process.kill(pid, "KILL")
    process.await_end(pid, 5)
    process.remove(dir)
  end)

  local function command(...)
    return process.moonshift(...)
  end

  local function ended()
    return process.await_status(pid, 5), process.read(dir .. "/log")
  end

  -- Who reads the log's index at that moment meets the end of its file before he looks at it.
  local MET = "moonshift: a file of the store was cut short while in use"

  local DAMAGE = {
    [": > "] = { "", "-wal", "-shm" },
    ["truncate -s 100 "] = { "", "-wal", "-shm" },
    ["rm "] = { "", "-wal", "-shm", "-gate" },
  }

  for damage, suffixes in pairs(DAMAGE) do
    for _, suffix in ipairs(suffixes) do
      local doing = damage .. "jobs.db" .. suffix

      it("by " .. doing .. " is left with 74, also by one that has nothing to do", function()
        process.freeze(pid, path)
        process.run(damage .. path .. suffix)
        process.kill(pid, "CONT")
        local status, log = ended()
        assert.equal(74, status)
        local seen = log:find('moonshift: store file "' .. path .. suffix .. '" was ', 1, true)
        assert.truthy(seen or suffix == "-shm" and log:find(MET, 1, true), log)
      end)

      it("by " .. doing .. " is not written to any more when it is told to end", function()
        process.freeze(pid, path)
        process.run(damage .. path .. suffix)
        process.kill(pid, "TERM")
        process.kill(pid, "CONT")
        assert.equal(74, (ended()))
      end)
    end
  end

  it("acknowledges nothing that would lie behind what is gone", function()
    process.freeze(pid, path)
    process.run(": > " .. path .. "-wal")
    local status, _, errors = command("enqueue", "work", "-C", dir, "--store", "sqlite:" .. path)
    assert.equal(74, status)
    assert.truthy(errors:find("jobs.db", 1, true), errors)
    assert.truthy(errors:find("was cut short", 1, true), errors)
    process.kill(pid, "CONT")
    assert.equal(74, (ended()))
    assert.same({ "ok" }, process.sql(path, "PRAGMA integrity_check"))
  end)

  it("by a tool that vacuums it is not", function()
    for _, statement in ipairs { "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)" } do
      assert.equal(0, (process.run(("sqlite3 -cmd '.timeout 60000' %s '%s'"):format(path,
        statement))))
    end
    assert.equal(0, (command("enqueue", "work", "-C", dir, "--store", "sqlite:" .. path)))
    process.await("the job", 5, function()
      return process.sql(path, "SELECT count(*) FROM ended")[1] == "101"
    end)
    process.kill(pid, "TERM")
    assert.equal(0, (ended()))
  end)
end)

-- What the file system answers is injected from outside.
describe("a disk that fails", function()
  local dir, path

  before_each(function()
    dir = process.folder(handlers)
    path = dir .. "/jobs.db"
  end)

  after_each(function()
    process.remove(dir)
  end)

  local function verb(before, ...)
    return process.run(("%s%s -C %s --store sqlite:%s"):format(before, process.command(...), dir,
      path))
  end

  -- A sanitizer cannot look for leaks under strace.
  local function failing_sync(errno, n)
    return ("strace -E ASAN_OPTIONS=detect_leaks=0 -f -qq -o /dev/null -e trace=fdatasync"
      .. " -e inject=fdatasync:error=%s:when=%d "):format(errno, n)
  end

  for _, errno in ipairs { "EIO", "ENOSPC" } do
    it("at a sync with " .. errno .. " ends the executor with 74 and loses nothing", function()
      assert.equal(0, (verb("", "enqueue", "work", "--count", "50")))
      for n = 1, 8 do
        local status, _, errors = verb(failing_sync(errno, n), "run", "--drain")
        assert.is_true(status == 74 or (status == 0 and n > 1), n .. ": " .. status .. errors)
      end
      assert.equal(0, (verb("", "run", "--drain")))
      assert.same({ "50" }, process.sql(path, "SELECT count(DISTINCT job) FROM ended"))
      assert.same({ "ok" }, process.sql(path, "PRAGMA integrity_check"))
    end)
  end
end)

describe("a full disk", function()
  local disk, dir, pid

  -- The result is larger than what is left of the log's file, so that it needs the disk.
  local large = {
    ["handlers/work.lua"] = gated["handlers/work.lua"],
    ["handlers/gated.lua"] = gated["handlers/gated.lua"]:gsub("end\n$",
      '  return ("x"):rep(900 * 1024)\nend\n'),
  }

  before_each(function()
    dir, disk = process.folder(large), process.folder()
    local status = process.run("mount -t tmpfs -o size=6m tmpfs " .. disk)
    if status ~= 0 then
      disk = nil
    end
  end)

  after_each(function()
    if pid then
      process.kill(pid, "KILL")
      process.await_end(pid, 5)
    end
    if disk then
      process.run("umount -l " .. disk)
    end
    process.remove(dir)
  end)

  local function verb(words)
    return process.run(process.command(table.unpack(words)) .. " -C " .. dir .. " --store sqlite:"
      .. disk .. "/jobs.db")
  end

  local function fill()
    process.run("dd if=/dev/zero of=" .. disk .. "/filler bs=4096")
  end

  it("refuses creation with a clear message and loses nothing acknowledged", function()
    if not disk then
      return pending("mounting a small disk needs root")
    end
    assert.equal(0, (verb { "enqueue", "work", "--count", "100" }))
    fill()
    local status, _, errors = verb { "enqueue", "work", "--count", "20000" }
    assert.equal(74, status)
    assert.truthy(errors:find("no room on the disk", 1, true), errors)
    os.remove(disk .. "/filler")
    local drained, _, text = verb { "run", "--drain" }
    assert.equal(0, drained, text)
    local done = tonumber(process.sql(disk .. "/jobs.db", "SELECT count(*) FROM ended")[1])
    assert.is_true(done >= 100)
  end)

  it("pauses a running executor, which resumes by itself", function()
    if not disk then
      return pending("mounting a small disk needs root")
    end
    assert.equal(0, (verb { "enqueue", "gated", "--priority", "1" }))
    assert.equal(0, (verb { "enqueue", "work", "--count", "1000" }))
    process.environment = "GATE=" .. dir .. "/gate"
    pid = process.start(dir .. "/log", "run", dir, "--store", "sqlite:" .. disk .. "/jobs.db",
      "--workers", "1")
    process.environment = ""
    process.await("the run", 10, function()
      return process.read(dir .. "/gate.run") ~= ""
    end)
    fill()
    os.execute("touch " .. dir .. "/gate")
    process.await("the pause", 10, function()
      return process.read(dir .. "/log"):find("full", 1, true)
    end)
    os.remove(disk .. "/filler")
    process.await("every job's end", 20, function()
      return process.sql(disk .. "/jobs.db", "SELECT count(*) FROM ended")[1] == "1001"
    end)
  end)
end)
