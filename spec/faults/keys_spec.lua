-- Several clients ask the network face for the same under one key, again and again, while the face
-- dies and executors work: each is done once, and all are told the same.
local executors = require "spec.support.executors"
local moonshift = require "moonshift"
local process = require "spec.support.process"

local CLIENTS, KEYS, DEATHS = 6, 12, 4
local json = moonshift.json

local files = {
  ["handlers/note.lua"] = "return function() end\n",
  ["processes/order.lua"] = [[
local p = require "moonshift.process"
return { p.step "note" { run = function() end, async = true },
  p.receive "paid" { message = "paid", key = "${execution.businessKey}" } }
]],
  ["processes/alarm.lua"] = [[
local p = require "moonshift.process"
return { p.start "fire" { signal = "fire" },
  p.step "note" { run = function() end, async = true } }
]],
}

describe("requests under a key", function()
  local place, engine, socket

  before_each(function()
    place = executors.place(files)
    socket = place.path .. "/socket"
    engine = assert(moonshift.open { store = place.url })
  end)

  after_each(function()
    engine:close()
    place.remove()
  end)

  local function serve()
    os.remove(place.path .. "/face")
    local pid = place.start("face", "serve", "-C", place.path, "--http", "unix:" .. socket)
    place.logged("http listens", 1, "face")
    return pid
  end

  local function answers()
    local list = {}
    for line in process.read(place.path .. "/answers"):gmatch("[^\n]+") do
      list[#list + 1] = { line:match("^(%d+) (%S+) (%d+) (.*)$") }
    end
    return list
  end

  -- Starts the clients; kills the face again and again until all of them have their answers.
  local function ask(requests)
    local lines = {}
    for i, one in ipairs(requests) do
      lines[i] = json.encode(one)
    end
    place.write("requests", table.concat(lines, "\n") .. "\n")
    place.write("answers", "")
    local face = serve()
    os.execute(("python3 spec/support/again.py %s %d <%s/requests >%s/answers &"):format(socket,
      CLIENTS, place.path, place.path))
    local all = CLIENTS * #requests
    for death = 1, DEATHS do
      process.await("answers", 60, function()
        return #answers() >= all * death // (DEATHS + 1)
      end)
      process.kill(face, "KILL")
      process.await_end(face, 60)
      face = serve()
    end
    process.await("all answers", 60, function()
      return #answers() == all
    end)
    place.stop(face)
  end

  -- What each key was answered with: status and content, which all clients were told alike.
  local function told()
    local by = {}
    for _, one in ipairs(answers()) do
      local _, key, status, content = table.unpack(one)
      local answer = status .. " " .. content
      assert.equal(by[key] or answer, answer, key)
      by[key] = answer
    end
    return by
  end

  local function backlog()
    place.enqueue("note", 200)
    place.executor("--workers", "2", "--name", "one")
    place.executor("--workers", "2", "--name", "two")
  end

  it("start one instance, and give one message", function()
    backlog()
    local starts, messages = {}, {}
    for i = 1, KEYS do
      starts[i] = { path = "/v1/processes/order/start", key = "start-" .. i,
        body = { key = "o" .. i } }
      messages[i] = { path = "/v1/messages", key = "paid-" .. i,
        body = { message = "paid", key = "o" .. i, keep = "PT1H" } }
    end
    ask(starts)
    local ids = {}
    for key, answer in pairs(told()) do
      local id = json.decode(answer:match("^200 (.*)$")).instance
      assert.is_nil(ids[id])
      ids[id] = key
    end
    ask(messages)
    for _, answer in pairs(told()) do
      assert.matches("^20[02] ", answer)
    end
    process.await("the end of all instances", 60, function()
      return engine:instances({}):count() == 0
    end)
    assert.equal(KEYS, engine:past_instances({}):count())
  end)

  it("give one signal, and make one batch", function()
    backlog()
    local requests = {}
    for i = 1, KEYS do
      requests[i] = i % 2 == 0 and { path = "/v1/signals", key = "fire-" .. i,
        body = { signal = "fire" } }
        or { path = "/v1/batches", key = "batch-" .. i,
          body = { type = "set-job-priority", ids = { 1, 2, 3 }, config = { priority = i },
            name = "b" .. i } }
    end
    ask(requests)
    for key, answer in pairs(told()) do
      assert.matches(key:find("batch") and "^201 " or "^20[02] ", answer)
    end
    process.await("the end of all instances", 60, function()
      return engine:past_instances({}):count() == KEYS // 2
        and engine:instances({}):count() == 0
    end)
    local names = {}
    for _, batch in ipairs(json.decode(place.moonshift("batch", "list", "--json"))) do
      assert.is_nil(names[batch.name])
      names[batch.name] = true
    end
    assert.is_true(names.b1 and names.b11)
  end)
end)
