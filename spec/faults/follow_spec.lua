-- Executors without a folder (rules §13): they take the files of a deployment from the store, and
-- load the next deployment of its name by themselves.
local executors = require "spec.support.executors"
local process = require "spec.support.process"

local handler = [[
local text = require "lib.text"
return {
  run = function(job)
    if job.payload and job.payload.fails then error("it fails") end
    return text
  end,
}
]]

describe("an executor without a folder", function()
  local place

  before_each(function()
    place = executors.place { ["shop/handlers/work.lua"] = handler,
      ["shop/moonshift.lua"] = "return { store = 'sqlite:elsewhere.db', workers = 3 }\n" }
    place.write("shop/lib/text.lua", 'return "first"\n')
    place.moonshift("deploy", place.path .. "/shop")
  end)

  after_each(function()
    place.remove()
  end)

  local function deploy(text)
    place.write("shop/lib/text.lua", ("return %q\n"):format(text))
    return place.moonshift("deploy", place.path .. "/shop")
  end

  -- Starts one in a folder of its own, which holds nothing.
  local function run(name, ...)
    local pid = place.start(name .. ".log", "run", "--deployment", "shop", "--name", name,
      "--log-format", "logfmt", ...)
    place.logged("event=started", 1, name .. ".log")
    return pid
  end

  local function loaded(name, deployment, count)
    place.logged('event="folder loaded" deployment=' .. deployment .. " ", count, name .. ".log")
  end

  -- What a job gives as its result, once it has run.
  local function result()
    local id = place.moonshift("enqueue", "work"):match("%d+")
    place.moonshift("job", "wait", id)
    return place.moonshift("log", "--job", id, "--json")
  end

  local function write(statement)
    process.run("sqlite3 -cmd '.timeout 60000' " .. process.quote(place.store) .. " "
      .. process.quote(statement))
  end

  it("runs jobs on the files that were deployed, with their lib/ and moonshift.lua", function()
    run("one")
    assert.matches('"result":"first"', result(), 1, true)
    place.moonshift("enqueue", "work", '{"fails":true}')
    place.logged('message="handlers/work.lua:4: it fails"', 1, "one.log")
    assert.matches(" workers=3 ", place.log("one.log"), 1, true)
    assert.same({}, place.sql("SELECT 1 FROM operation"))
    assert.same({ "1" }, place.sql("SELECT count(*) FROM deployment"))
  end)

  it("has the stock handlers that its settings name", function()
    run("one")
    run("two", "--stock", "shell")
    local function handlers(name)
      return tonumber(place.log(name .. ".log"):match("event=started .- handlers=(%d+)"))
    end
    assert.equal(handlers("one") + 1, handlers("two"))
  end)

  it("loads a new deployment of the name by itself, and so does every other", function()
    run("one")
    run("two", "--deployment-aware", "true")
    deploy("second")
    loaded("one", 2)
    loaded("two", 2)
    for _ = 1, 4 do
      assert.matches('"result":"second"', result(), 1, true)
    end
    assert.same({ "two" }, place.sql(
      "SELECT executor FROM registration WHERE deployment=2 AND executor IN ('two')"))
    assert.same({}, place.sql("SELECT 1 FROM operation"))
  end)

  it("follows a rollback, and what is deployed behind it", function()
    deploy("second")
    run("one")
    assert.matches("rolled back from deployment 2", deploy("first"), 1, true)
    loaded("one", 1)
    assert.matches('"result":"first"', result(), 1, true)
    deploy("second")
    loaded("one", 2)
    deploy("third")
    loaded("one", 3)
    assert.matches('"result":"third"', result(), 1, true)
  end)

  it("starts on the deployment that counts, were it an older one", function()
    deploy("second")
    deploy("first")
    run("one")
    assert.matches('"result":"first"', result(), 1, true)
    assert.matches("event=started .* deployment=1\n", place.log("one.log"))
  end)

  it("lets the deployment go that it had before, a day after the next one came", function()
    run("one")
    deploy("second")
    loaded("one", 2)
    write("UPDATE deployment SET loaded=loaded-90000000")
    run("two") -- it looks as it starts
    place.logged('event="old deployment removed" deployment=1', 1, "two.log")
    assert.same({ "2" }, place.sql("SELECT DISTINCT deployment FROM deployment_file"))
    assert.matches('"result":"second"', result(), 1, true)
  end)

  it("keeps what it has when it cannot load the new one", function()
    process.environment = "REFUSES=1"
    run("one")
    process.environment = ""
    place.write("shop/lib/text.lua", "if os.getenv('REFUSES') then error('not here') end\n"
      .. "return 'second'\n")
    place.moonshift("deploy", place.path .. "/shop")
    place.logged('event="folder refused"', 1, "one.log")
    assert.matches('reason="not here', place.log("one.log"), 1, true)
    assert.matches('"result":"first"', result(), 1, true)
  end)

  it("loads the new one later when the store refused to register it", function()
    run("one")
    write("CREATE TRIGGER refuses BEFORE INSERT ON registration WHEN NEW.executor='one'"
      .. " BEGIN SELECT RAISE(ABORT, 'not now'); END")
    deploy("second")
    place.logged('event="folder refused"', 1, "one.log")
    write("DROP TRIGGER refuses")
    result() -- a turn that writes has it look again
    loaded("one", 2)
    assert.matches('"result":"second"', result(), 1, true)
  end)

  it("is killed and comes back on the deployment that came meanwhile", function()
    local pid = run("one")
    process.kill(pid, "KILL")
    process.await_end(pid, 30)
    deploy("second")
    place.start("two.log", "run", "--deployment", "shop", "--log-format", "logfmt")
    place.logged("deployment=2", 1, "two.log")
    assert.matches('"result":"second"', result(), 1, true)
  end)
end)
