-- Rows of executors and of workers outside stand in one list: what counts the first leaves out the
-- others.
local faces = require "spec.support.faces"
local openmetrics = require "spec.support.openmetrics"
local process = require "spec.support.process"

describe("workers outside beside no executor", function()
  local folder, store, face

  local function post(path, body)
    return faces.head("POST " .. path, "Content-Type: application/json",
      "Content-Length: " .. #body) .. body
  end

  setup(function()
    local check = process.read("docs/monitoring.md"):match("```lua\n(%-%- check_jobs.-)```")
    folder = process.folder { ["handlers/topic/ocr.lua"] = "return {}", ["check_jobs.lua"] = check }
    store = "sqlite:" .. folder .. "/moonshift.db"
    face = faces.start(folder, "serve", "--http", "unix:" .. folder .. "/socket", "--open")
    local requests = { post("/v1/jobs", '{"handler":"topic/ocr"}') }
    for i = 1, 3 do
      requests[#requests + 1] = post("/v1/fetch", ('{"worker":"w%d","topics":["ocr"]}'):format(i))
    end
    assert.matches('^200 .*"handler":"topic/ocr"', face:ask_all(requests)[2])
  end)

  teardown(function()
    process.kill(face.pid)
    process.remove(folder)
  end)

  it("count as none in the figures", function()
    local text = table.concat(face:talk({ { "send", faces.head("GET /metrics",
      "Accept: application/openmetrics-text") }, { "read" } }), "\n")
    assert.matches("^200 ", text)
    local families = openmetrics.read(text:sub(5) .. "\n", "open")
    assert.same({ 0, 0, 0 }, { openmetrics.value(families, "moonshift_executors"),
      openmetrics.value(families, "moonshift_workers", { state = "running" }),
      openmetrics.value(families, "moonshift_workers", { state = "idle" }) })
  end)

  it("are no executors to top, which says that none runs", function()
    local status, output, errors = process.moonshift("top", "--store", store)
    assert.equal(0, status, errors)
    assert.matches("^executors 0 ", output)
    assert.matches("no executor runs on", errors)
  end)

  it("are none to the check of the docs", function()
    local _, output = process.run(("%s %s/check_jobs.lua %s"):format(
      os.getenv("SPEC_LUA") or "lua5.4", folder, store))
    assert.matches("CRITICAL: missing executors is 1", output)
  end)
end)
