-- Retries by expressions, which are asked at each failure.
local engines = require "spec.support.engines"
local models = require "spec.support.models"
local moonshift = require "moonshift"

local MODEL = models.line [[<serviceTask id="x" c:class="A" c:asyncBefore="true"><extensionElements>
  <c:failedJobRetryTimeCycle>${again}</c:failedJobRetryTimeCycle></extensionElements>
  </serviceTask>]]

describe("a retry by an expression", function()
  after_each(engines.clean)

  -- The retries and the due date of the job after its first failure.
  local function failed(variables, model)
    local engine = assert(moonshift.open {
      store = "sqlite::memory:",
      clock = moonshift.clock.virtual("2026-01-01T00:00:00Z"),
      scripts = engines.folder {
        ["processes/p.bpmn"] = model or MODEL,
        ["handlers/a.lua"] = "return function() error 'no' end",
        ["handlers/b.lua"] = "return function() end",
      },
    })
    assert(engine:start("p", { variables = variables }))
    engine:drain()
    local job = engine:jobs():list()[1]
    engine:close()
    return ("%d %s"):format(job.retries, job.due)
  end

  it("sees the variables of its instance", function()
    assert.equal("4 2026-01-01T00:07:00.000Z", failed { again = "R5/PT7M" })
    assert.equal("2 2026-01-01T00:09:00.000Z", failed { again = "R3/PT9M" })
  end)

  it("is that of its own activity", function()
    local task = [[<serviceTask id="%s" c:class="%s" c:asyncBefore="true"><extensionElements>
      <c:failedJobRetryTimeCycle>${%s}</c:failedJobRetryTimeCycle></extensionElements>
      </serviceTask>]]
    local model = models.process('<startEvent id="s"/>'
      .. '<sequenceFlow id="f1" sourceRef="s" targetRef="w"/>' .. task:format("w", "B", "other")
      .. '<sequenceFlow id="f2" sourceRef="w" targetRef="x"/>' .. task:format("x", "A", "again")
      .. '<sequenceFlow id="f3" sourceRef="x" targetRef="e"/><endEvent id="e"/>')
    assert.equal("4 2026-01-01T00:07:00.000Z",
      failed({ other = "R9/PT9H", again = "R5/PT7M" }, model))
  end)

  it("is that of the version on which its instance runs", function()
    local text = [[local p = require "moonshift.process"
      return { p.step "w%d" { run = "b", async = true, retry = "${other}" },
        p.step "x%d" { run = "a", async = true, retry = "${%s}" } }]]
    local files = { ["handlers/a.lua"] = "return function() error 'no' end",
      ["handlers/b.lua"] = "return function() end" }
    files["processes/p.lua"] = text:format(1, 1, "again")
    local store = "sqlite:" .. engines.folder {} .. "/jobs.db"
    local engine
    local function open()
      engine = assert(moonshift.open { store = store, scripts = engines.folder(files),
        clock = moonshift.clock.virtual("2026-01-01T00:00:00Z") })
    end
    open()
    assert(engine:start("p", { variables = { again = "R5/PT7M", other = "R9/PT9H" } }))
    engine:close()
    files["processes/p.lua"] = text:format(2, 2, "other")
    open()
    engine:drain()
    local job = engine:jobs():list()[1]
    engine:close()
    assert.equal("4 2026-01-01T00:07:00.000Z", ("%d %s"):format(job.retries, job.due))
  end)
end)
