local executors = require "spec.support.executors"
local process = require "spec.support.process"
local program = require "spec.support.program"

describe("backup and restore #file", function()
  local place

  before_each(function()
    place = executors.at(program.place { ["handlers/work.lua"] = "return function() end\n" })
    for i = 1, 3 do
      place.run("enqueue", "work", tostring(i))
    end
  end)

  after_each(function()
    place.clean()
  end)

  local function said(status, text, ...)
    local code, output, errors = place.run(...)
    assert.equal(status, code, errors)
    assert.truthy((output .. errors):find(text, 1, true), output .. errors)
    return output
  end

  local function files()
    local _, list = process.run("ls " .. place.path)
    return (list:gsub("\n", " "))
  end

  local function payloads(store)
    local rows = process.sql(store, "SELECT CAST(payload AS TEXT) FROM job ORDER BY id")
    return table.concat(rows, " ")
  end

  it("copies the store into a whole file", function()
    said(0, "copy.db: ", "backup", "copy.db")
    assert.equal("1 2 3", payloads(place.path .. "/copy.db"))
    said(0, "nothing is wrong", "check", "--store", "copy.db")
    assert.is_nil(files():find("partial", 1, true))
    said(0, '{"file":"other.db","bytes":', "backup", "other.db", "--json")
  end)

  it("replaces a file only with --force, and the store never", function()
    said(0, "", "backup", "copy.db")
    place.run("enqueue", "work", "4")
    said(5, "copy.db: is there already (expected --force)", "backup", "copy.db")
    assert.equal("1 2 3", payloads(place.path .. "/copy.db"))
    said(0, "", "backup", "copy.db", "--force")
    assert.equal("1 2 3 4", payloads(place.path .. "/copy.db"))
    said(5, "is the store itself", "backup", "moonshift.db", "--force")
    said(5, "is no regular file", "backup", "handlers", "--force")
  end)

  it("says where it cannot write", function()
    local status, _, errors = place.run("backup", "nowhere/copy.db")
    assert.equal(4, status)
    assert.truthy(errors:find("nowhere/copy.db-partial-", 1, true), errors)
  end)

  it("clears what a backup has left that was killed", function()
    process.run(("touch %s/copy.db-partial-999999999"):format(place.path)) -- no such process
    process.run(("touch %s/copy.db-partial-1"):format(place.path))
    said(0, "", "backup", "copy.db")
    assert.is_nil(files():find("partial-9999", 1, true))
    assert.truthy(files():find("partial-1 ", 1, true))
  end)

  it("brings the store back, and moves the one that is there aside", function()
    said(0, "", "backup", "copy.db")
    place.run("job", "cancel", "1", "2", "3")
    place.run("enqueue", "work", "4")
    local output = said(0, "restored, 0 jobs that ran can be taken again", "restore", "copy.db")
    assert.equal("1 2 3", payloads(place.store))
    local aside = output:match("the store that was there is now (%S+)")
    assert.equal("4", payloads(aside))
    said(0, "1000004\n", "enqueue", "work", "5")
    said(0, "nothing is wrong", "check", "--store", "moonshift.db")
    said(0, "restore", "operations")
  end)

  it("makes a store where there is none", function()
    said(0, "", "backup", "copy.db")
    local output = said(0, '"aside":null,"freed":0}', "restore", "copy.db", "--store", "new.db",
      "--json")
    assert.truthy(output:find('{"store":"sqlite:new.db"', 1, true))
    assert.equal("1 2 3", payloads(place.path .. "/new.db"))
  end)

  it("refuses what is no sound backup, and leaves the store alone", function()
    local function write(name, text)
      local file = assert(io.open(place.path .. "/" .. name, "wb"))
      file:write(text)
      file:close()
    end
    said(0, "", "backup", "copy.db")
    write("text", "no database at all, but a text that is long enough to be one\n")
    write("short", process.read(place.path .. "/copy.db"):sub(1, 9000))
    said(4, "nothing: No such file", "restore", "nothing")
    said(5, "has a write-ahead log beside it", "restore", "moonshift.db", "--store", "new.db")
    for _, name in ipairs { "text", "short", "handlers" } do
      local status, _, errors = place.run("restore", name)
      assert.is_true(status > 0)
      assert.truthy(errors:find(name .. ": ", 1, true), errors)
    end
    assert.equal("1 2 3", payloads(place.store))
    assert.is_nil(files():find("partial", 1, true))
    assert.is_nil(files():find("before", 1, true))
  end)

  it("refuses while somebody has the store open", function()
    said(0, "", "backup", "copy.db")
    local pid = place.executor()
    said(5, "executors or writers have it open", "restore", "copy.db")
    place.stop(pid)
    local reader = ("sqlite3 -cmd '.timeout 60000' %s 'BEGIN' 'SELECT count(*) FROM job'"
      .. " '.shell touch %s/held' "
      .. "'.shell while [ -e %s/held ]; do sleep 0.02; done' >/dev/null & echo $!"):format(
      place.store, place.path, place.path)
    local _, process_id = process.run(reader)
    process.await("the reader", 30, function()
      return io.open(place.path .. "/held")
    end)
    said(5, "process " .. process_id:match("%d+") .. " has it open", "restore", "copy.db")
    os.remove(place.path .. "/held")
    process.await_end(tonumber(process_id), 30)
    said(0, "restored", "restore", "copy.db")
  end)
end)
