-- Fetches that wait at a face whose session a server has ended while nobody waited.
local executors = require "spec.support.executors"
local faces = require "spec.support.faces"
local json = require("moonshift").json
local postgres = require "spec.support.postgres"
local process = require "spec.support.process"

local EXECUTORS = 16 -- the lock of an executor has this number more than its row

describe("fetches that wait on a server", function()
  if not postgres.programs() then
    it("are answered after a session was lost", function()
      return pending("no initdb in /usr/lib/postgresql")
    end)
    return
  end

  local server, place, face

  before_each(function()
    server = postgres.start()
    place = executors.place { ["handlers/topic/ocr.lua"] = "return {}" }
    place.url = postgres.url(server, "jobs")
    place.executor("--lock-time", "PT10S")
    local socket = place.path .. "/socket"
    place.start("face", "serve", place.path, "--http", "unix:" .. socket, "--open")
    face = setmetatable({ addresses = { socket } }, { __index = faces })
    place.logged("http listens", 1, "face")
  end)

  after_each(function()
    place.remove()
    postgres.stop(server)
  end)

  local function one(statement)
    return postgres.rows(server, "jobs", statement)[1]
  end

  local function fetch(worker, topic)
    return faces.post("/v1/fetch", { worker = worker, topics = { topic }, wait = "PT20M" })
  end

  -- The handler of the job that a waiting fetch is answered with, once another program creates it.
  local function answered(worker, topic)
    local said = face:talk { { "on", worker }, { "send", fetch(worker, topic) }, { "on", "asker" },
      { "shows", faces.head "GET /v1/executors", ('"name":"%s"'):format(worker), 1 },
      { "shell", process.command("enqueue", "--store", place.url, "topic/" .. topic) },
      { "first" }, { "read" } }
    local jobs = json.decode(said[#said]:match "^200 (.*)$" or "{}").jobs
    return jobs and jobs[1] and jobs[1].handler or table.concat(said, "\n")
  end

  -- Ends the session of what listens, and waits until an executor takes it for dead. It may have
  -- heard of the loss before itself, and listens anew when somebody waits.
  local function bury()
    local id = one "SELECT id FROM executor WHERE kind=2 AND state=1"
    if not id then
      return
    end
    assert.equal("t", one(("SELECT pg_terminate_backend(pid, 60000) FROM pg_locks WHERE"
      .. " locktype='advisory' AND objsubid=2 AND objid=%d"):format(EXECUTORS + tonumber(id))))
    process.await("its row is gone", 60, function()
      return one("SELECT state FROM executor WHERE id=" .. id) == "0"
    end)
  end

  it("are answered, though nobody waited when it was lost", function()
    assert.equal("topic/ocr", answered("w1", "ocr"))
    bury()
    assert.equal("topic/ocr", answered("w2", "ocr"))
    bury()
    assert.equal("topic/mail", answered("w3", "mail"))
    bury()
    one "DELETE FROM executor WHERE kind=2"
    assert.equal("topic/mail", answered("w4", "mail"))
  end)
end)
