-- What workers hand back over the network while nobody can say whether a commit has come to pass.
local executors = require "spec.support.executors"
local faces = require "spec.support.faces"
local json = require("moonshift").json
local models = require "spec.support.models"
local postgres = require "spec.support.postgres"
local process = require "spec.support.process"

local INSTANCES, PLAIN = 4, 3

local MODEL = models.process('<startEvent id="s"/><serviceTask id="x" c:type="external" '
  .. 'c:topic="pack"/><endEvent id="e"/><sequenceFlow id="a" sourceRef="s" targetRef="x"/>'
  .. '<sequenceFlow id="b" sourceRef="x" targetRef="e"/>')

describe("a settlement whose commit is unknown", function()
  if not postgres.programs() then
    it("is told as such", function()
      return pending("no initdb in /usr/lib/postgresql")
    end)
    return
  end

  local server, place, face

  before_each(function()
    server = postgres.start()
    place = executors.place { ["processes/p.bpmn"] = MODEL,
      ["handlers/topic/pack.lua"] = "return {}" }
    place.url = postgres.url(server, "jobs")
    local socket = place.path .. "/socket"
    place.start("face", "serve", place.path, "--http", "unix:" .. socket, "--open")
    face = setmetatable({ addresses = { socket } }, { __index = faces })
    place.logged("http listens", 1, "face")
  end)

  after_each(function()
    place.remove()
    postgres.stop(server)
  end)

  local function ask(path, body)
    local status, content = face:ask(faces.post(path, body)):match("^(%d+) (.*)$")
    return status, json.decode(content)
  end

  local function row(statement)
    return postgres.rows(server, "jobs", statement)[1]
  end

  -- From now on commits wait for a standby that is not there; or no longer.
  local function stall(name)
    postgres.say(server, ("ALTER SYSTEM SET synchronous_standby_names='%s';"):format(name))
    row "SELECT pg_reload_conf()"
    process.await("the setting", 60, function()
      return (row "SHOW synchronous_standby_names" or "") == name
    end)
  end

  -- Hands back what waits, and cuts each connection whose commit has begun.
  local function cut(outcomes)
    stall "nobody"
    local cutter = place.path .. "/cutter"
    local file = assert(io.open(cutter, "w"))
    file:write("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event='SyncRep'"
      .. " \\watch 0.05\n")
    file:close()
    local psql = ("%s/psql -XqAt -h %s -U owner -d postgres -f %s >/dev/null 2>&1"):format(
      server.programs, server.folder, cutter)
    local pipe = io.popen("echo $$; exec " .. psql)
    local pid = pipe:read("n")
    local status, said = ask("/v1/settle", { worker = "w", outcomes = outcomes })
    process.kill(pid)
    pipe:close()
    stall ""
    return status, said
  end

  -- Of how many the lock is lost; the others are completed.
  local function verdicts(outcomes)
    local status, said = ask("/v1/settle", { worker = "w", outcomes = outcomes })
    local lost = 0
    assert.equal("200", status)
    for _, one in ipairs(said.outcomes) do
      lost = lost + (one.code == "conflict" and 1 or 0)
      assert.is_true(one.code == "conflict" or one.code == nil, one.code)
    end
    return lost
  end

  it("is told as such, and changes nothing when it is handed back again", function()
    for _ = 1, INSTANCES do
      local status, said = ask("/v1/processes/p/start", json.decode "{}")
      assert.equal("200", status, json.encode(said))
    end
    for _ = 1, PLAIN do
      assert.equal("201", (ask("/v1/jobs", { handler = "topic/pack" })))
    end
    local _, fetched = ask("/v1/fetch", { worker = "w", topics = { "pack" }, max = 100,
      lock = "PT1H" })
    assert.equal(INSTANCES + PLAIN, #fetched.jobs)
    local outcomes = {}
    for i, job in ipairs(fetched.jobs) do
      outcomes[i] = { id = job.id, token = job.token, outcome = "complete" }
    end
    local status, said = cut(outcomes)
    assert.same({ "500", "io" }, { status, said.code })
    assert.matches("a commit has not ended", said.detail, 1, true)
    -- What was written is lost to the worker, the rest is done now; then nothing is left to do.
    local lost = verdicts(outcomes)
    assert.is_true(lost > 0)
    assert.equal(INSTANCES + PLAIN, (verdicts(outcomes)))
    assert.equal("0", row "SELECT count(*) FROM instance")
    assert.same({ tostring(INSTANCES + PLAIN) }, postgres.rows(server, "jobs", "SELECT count(*)"
      .. " FROM ended e JOIN stream s ON s.id=e.stream WHERE s.topic='pack' AND e.outcome=1"))
  end)
end)
