-- Several executors with different folders, in processes of their own.
local executors = require "spec.support.executors"
local process = require "spec.support.process"

local function handler(name)
  return { ["handlers/" .. name .. ".lua"] = "return function() end" }
end

describe("nodes with different folders on one store", function()
  local place, store, left, right

  before_each(function()
    place = executors.place(handler("left"))
    left, right, store = place.path, process.folder(handler("right")), place.store
  end)

  after_each(function()
    place.remove()
    process.remove(right)
  end)

  local function command(...)
    local status, output, errors = process.moonshift(...)
    assert.equal(0, status, output .. errors)
    return output
  end

  local function enqueue(name, ...)
    return command("enqueue", name, "--store", "sqlite:" .. store, "--unchecked", ...)
  end

  local function start(folder, ...)
    return place.executor("--workers", "1", "-C", folder, ...)
  end

  local function stop(pid)
    place.stop(pid)
  end

  local function count(what)
    return tonumber(process.sql(store, "SELECT count(*) FROM " .. what)[1])
  end

  local function await(what, question, expected)
    process.await(what, 10, function()
      return count(question) == expected
    end)
  end

  it("run each their own jobs, and fail none", function()
    start(left, "--name", "left")
    start(right, "--name", "right")
    enqueue("left", "--count", "20")
    enqueue("right", "--count", "20")
    await("all jobs", "ended", 40)
    assert.equal(0, count("attempt"))
    assert.equal(0, count("incident"))
    assert.same({ "left|20", "right|20" }, process.sql(store,
      "SELECT d.name, count(*) FROM ended n JOIN stream s ON s.id=n.stream"
      .. " JOIN definition d ON d.id=s.definition GROUP BY d.name"))
  end)

  it("leave alone what nobody serves, and tell of it once, until somebody does", function()
    start(left, "--name", "left-1")
    start(left, "--name", "left-2")
    enqueue("right", "--count", "3")
    await("the incident", "incident WHERE type='missingHandler' AND ended IS NULL", 1)
    assert.equal(3, count("ready"))
    assert.equal(3, count("job WHERE retries=3 AND attempt=1"))
    start(right, "--name", "right")
    await("the jobs", "ended", 3)
    await("the end of it", "incident WHERE ended IS NULL", 0)
    assert.equal(1, count("incident"))
  end)

  it("tell of it when the last one that served it dies", function()
    start(left, "--name", "left")
    local pid = start(right, "--name", "right")
    process.kill(pid)
    process.await_end(pid, 5)
    enqueue("right")
    await("the incident", "incident WHERE type='missingHandler' AND ended IS NULL", 1)
  end)

  it("are drained with the incident left behind", function()
    enqueue("left")
    enqueue("right")
    command("run", left, "--store", "sqlite:" .. store, "--drain", "--log-level", "error")
    assert.equal(1, count("ended"))
    assert.equal(1, count("incident WHERE type='missingHandler' AND ended IS NULL"))
    command("run", right, "--store", "sqlite:" .. store, "--drain", "--log-level", "error")
    assert.equal(2, count("ended"))
    assert.equal(0, count("incident WHERE ended IS NULL"))
  end)

  it("notice a registration at once", function()
    start(left, "--name", "node", "--deployment-aware", "true")
    command("deployment", "unregister", "1", "--name", "node", "--store", "sqlite:" .. store)
    enqueue("left")
    command("deploy", right, "--store", "sqlite:" .. store) -- another writer rings, too
    assert.equal(1, count("ready"))
    command("deployment", "register", "1", "--name", "node", "--store", "sqlite:" .. store)
    await("the job", "ended", 1)
  end)

  it("serve the backlog of the folder as it was before a restart", function()
    stop(start(left, "--name", "node", "--deployment-aware", "true"))
    enqueue("left")
    local file = assert(io.open(left .. "/handlers/left.lua", "w"))
    file:write("-- edited\nreturn function() end")
    file:close()
    start(left, "--name", "node", "--deployment-aware", "true")
    await("the job", "ended", 1)
    assert.equal(2, count("registration"))
  end)
end)

describe("run with several folders", function()
  local left, right, pid

  before_each(function()
    left, right = process.folder(handler("left")), process.folder(handler("right"))
    pid = nil
    for name, folder in pairs { left = left, right = right } do
      local file = assert(io.open(folder .. "/moonshift.lua", "w"))
      file:write(("return { store = 'sqlite:%s.db', name = %q }"):format(name, name))
      file:close()
    end
  end)

  after_each(function()
    if pid then
      process.kill(pid)
      process.await_end(pid, 5)
    end
    process.remove(left)
    process.remove(right)
  end)

  local function enqueue(folder, name, ...)
    local status, _, errors = process.moonshift("enqueue", name, "-C", folder, ...)
    assert.equal(0, status, errors)
  end

  local function ended(folder, name)
    return process.sql(folder .. "/" .. name .. ".db", "SELECT count(*) FROM ended")[1]
  end

  local function logged(text, times)
    process.await("the log to say " .. text, 10, function()
      return select(2, process.read(left .. "/log"):gsub(text, "")) >= (times or 1)
    end)
  end

  local function start(...)
    pid = process.start(left .. "/log", "run", left, right, "--workers", "1", ...)
    logged("event=started", 2)
  end

  it("serves an engine for each and is drained when all are", function()
    enqueue(left, "left", "--count", "300")
    enqueue(right, "right", "--count", "5")
    local status, _, errors = process.moonshift("run", left, right, "--drain")
    assert.equal(0, status, errors)
    assert.equal("300", ended(left, "left"))
    assert.equal("5", ended(right, "right"))
  end)

  it("goes by the name of the first", function()
    start()
    assert.truthy(process.read(left .. "/log"):find("executor=left/1 store=sqlite:" .. right, 1,
      true))
  end)

  it("stops all on TERM and gives every lock back", function()
    start()
    enqueue(right, "right")
    process.await("the job", 5, function()
      return ended(right, "right") == "1"
    end)
    process.kill(pid, "TERM")
    process.await_end(pid, 5)
    for name, folder in pairs { left = left, right = right } do
      assert.same({ "0" }, process.sql(folder .. "/" .. name .. ".db",
        "SELECT count(*) FROM executor WHERE state<>0"))
    end
    pid = nil
  end)

  it("loads all again on HUP", function()
    start()
    for _, folder in ipairs { left, right } do
      local file = assert(io.open(folder .. "/handlers/late.lua", "w"))
      file:write("return function() end")
      file:close()
    end
    process.kill(pid, "HUP")
    logged("folder loaded", 2)
    enqueue(right, "late")
    process.await("the new handler", 5, function()
      return ended(right, "right") == "1"
    end)
  end)

  it("has a loop for each named acquisition of the first", function()
    local file = assert(io.open(right .. "/moonshift.lua", "w"))
    file:write("return { store = 'sqlite:right.db', acquisition = 'slow' }")
    file:close()
    enqueue(right, "right", "--count", "5")
    local status, _, errors = process.moonshift("run", left, right, "--drain", "--acquisitions",
      '{"slow":{"page":1}}')
    assert.equal(0, status, errors)
    assert.equal("5", ended(right, "right"))
  end)

  it("refuses a folder with a problem, whichever it is", function()
    local file = assert(io.open(right .. "/handlers/right.lua", "w"))
    file:write("return 5")
    file:close()
    local status, _, errors = process.moonshift("run", left, right, "--drain")
    assert.equal(78, status)
    assert.truthy(errors:find("handlers/right.lua", 1, true), errors)
  end)

  it("refuses an acquisition that nobody declared", function()
    local status, _, errors = process.moonshift("run", left, right, "--acquisition", "slow")
    assert.equal(78, status)
    assert.equal('moonshift: acquisition "slow" is not declared (expected default, or a name in'
      .. " acquisitions)\n", errors)
  end)

  it("stops at once though a folder is being loaded without end", function()
    start()
    local file = assert(io.open(left .. "/handlers/left.lua", "w"))
    file:write(('io.open("%s/loads", "w"):close() while true do end'):format(left))
    file:close()
    process.kill(pid, "HUP")
    process.await("the folder to be loaded", 5, function()
      return io.open(left .. "/loads")
    end)
    process.kill(pid, "TERM")
    process.await_end(pid, 5)
    -- By itself loading ends with these words.
    assert.is_nil(process.read(left .. "/log"):find("took longer", 1, true))
    pid = nil
  end)
end)
