-- Each worker of the example as its page starts it: what it has counted is in the store.
local faces = require "spec.support.faces"
local json = require("moonshift").json
local process = require "spec.support.process"

local TEXTS = { [[to be or not to be]], [[an it's "quoted" text]], "" }
local WORDS = { 6, 4, 0 }

describe("examples/workers", function()
  local dir, store, face, token

  local function moonshift(...)
    local words = { ... }
    words[#words + 1] = "--store"
    words[#words + 1] = store
    local status, output, errors = process.moonshift(table.unpack(words))
    assert.equal(0, status, errors)
    return output
  end

  setup(function()
    dir = process.folder()
    store = "sqlite:" .. dir .. "/moonshift.db"
    process.run("cp -R examples/workers/. " .. process.quote(dir))
    face = faces.start(dir, "run", "--http", "127.0.0.1:0")
    token = moonshift("token", "create", "counter", "--scope", "work"):match("ms_%w+")
  end)

  teardown(function()
    process.kill(face.pid)
    process.remove(dir)
  end)

  -- Waits for the end of a worker that does so many rounds. What it has printed.
  local function work(name, rounds)
    local line = "MOONSHIFT_URL=http://%s MOONSHIFT_TOKEN=%s %s examples/workers/%s %d"
    local interpreter = name == "worker.js" and "node" or ""
    local status, output, errors = process.run(line:format(face.addresses[1], token, interpreter,
      name, rounds))
    assert.equal(0, status, output .. errors)
    return output
  end

  -- The ids of new jobs with these texts.
  local function enqueue()
    local ids = {}
    for i, text in ipairs(TEXTS) do
      local payload = assert(json.encode { text = text })
      ids[i] = tonumber(moonshift("enqueue", "topic/wordcount", payload))
    end
    return ids
  end

  local function result(id)
    local rows = json.decode(moonshift("log", "--job", tostring(id), "--json"))
    assert.equal("successful", rows[1].outcome)
    return rows[1].result
  end

  local function counts(name, rounds)
    local ids = enqueue()
    local output = work(name, rounds)
    assert.equal(#ids, select(2, output:gsub("%d+ complete\n", "")), output)
    for i, id in ipairs(ids) do
      assert.same({ words = WORDS[i] }, result(id))
    end
  end

  local function present(program)
    return process.run("command -v " .. program) == 0
  end

  it("counts in Python", function()
    counts("worker.py", 2)
  end)

  it("counts in JavaScript", function()
    if not present "node" then
      return pending("no node")
    end
    counts("worker.js", 2)
  end)

  it("counts in the shell", function()
    if not present "curl" or not present "jq" then
      return pending("no curl or no jq")
    end
    counts("worker.sh", 3)
  end)

  it("hands back what it cannot do with the reason", function()
    local id = tonumber(moonshift("enqueue", "topic/wordcount", "{}"))
    work("worker.py", 2)
    local row = json.decode(moonshift("job", "show", tostring(id), "--json"))
    assert.equal("KeyError: 'text'", row.message)
    assert.equal(2, row.retries)
  end)
end)
