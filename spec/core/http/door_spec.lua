-- Requests that wait for the end of a job, while an executor with several workers runs a backlog.
local faces = require "spec.support.faces"
local json = require("moonshift").json
local process = require "spec.support.process"

local JOBS, WAITING, TOGETHER = 200, 30, 10

describe("requests that wait for the end of a job", function()
  local folder, store, face, runner

  before_each(function()
    folder = process.folder {
      ["handlers/note.lua"] = "return function(job)\n"
        .. "  local file <close> = assert(io.open(job.payload.file, 'a'))\n"
        .. "  file:write(job.payload.n, '\\n')\n"
        .. "  if job.payload.n % 10 == 0 and job.attempt == 1 then error('again') end\n"
        .. "  return { n = job.payload.n }\nend\n",
      ["moonshift.lua"] = "return { failed_job_wait = 'PT0.1S', workers = 4 }\n",
    }
    store = "sqlite:" .. folder .. "/moonshift.db"
    face = faces.start(folder, "serve", "--http", "unix:" .. folder .. "/socket")
  end)

  after_each(function()
    process.kill(face.pid)
    if runner then
      process.kill(runner)
      process.await_end(runner, 60)
    end
    process.remove(folder)
  end)

  local function create()
    local jobs = {}
    for i = 1, JOBS do
      jobs[i] = { handler = "note", payload = { n = i, file = folder .. "/done" } }
    end
    local answer = face:ask(faces.post("/v1/jobs", jobs))
    return json.decode(answer:match("^201 (.*)$")).items
  end

  it("are answered each with its own, once it has ended", function()
    local items, steps, wanted = create(), {}, {}
    for i = 1, WAITING + TOGETHER do
      wanted[i] = i <= WAITING and i * 6 or JOBS -- the last ones wait for one job
      steps[#steps + 1] = { "on", tostring(i) }
      steps[#steps + 1] = { "send",
        faces.head(("GET /v1/jobs/%d?wait=PT2M"):format(items[wanted[i]].id)) }
    end
    for i = 1, WAITING + TOGETHER do
      steps[#steps + 1] = { "on", tostring(i) }
      steps[#steps + 1] = { "read" }
    end
    runner = process.start_watched(folder .. "/log-run", "run", folder, "--store", store)
    for i, line in ipairs(face:talk(steps)) do
      local ended = json.decode(line:match("^200 (.*)$"))
      assert.same({ "ended", "successful", { n = wanted[i] } },
        { ended.state, ended.outcome, ended.result }, line)
    end
    process.await("all have run", 60, function()
      local _, lines = process.read(folder .. "/done"):gsub("\n", "")
      return lines == JOBS + JOBS // 10
    end)
  end)
end)
