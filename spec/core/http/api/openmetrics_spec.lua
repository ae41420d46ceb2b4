-- What /metrics answers beside a real executor, read by a strict parser.
local faces = require "spec.support.faces"
local openmetrics = require "spec.support.openmetrics"
local process = require "spec.support.process"

local SLOW = [[
return function(job)
  local until_ = os.clock() + 0.02
  while os.clock() < until_ do end
end]]

describe("/metrics", function()
  local folder, face

  local function ask(form, address, ...)
    local accept = form == "open" and "Accept: application/openmetrics-text" or "Accept: text/plain"
    local request = faces.head("GET /metrics", accept, ...)
    return table.concat(face:talk({ { "send", request }, { "read" } }, address), "\n")
  end

  -- Read strictly, in both forms.
  local function figures(form)
    local answer = ask(form or "open")
    assert.equal("200 ", answer:sub(1, 4), answer)
    return openmetrics.read(answer:sub(5) .. "\n", form or "open")
  end

  local function counted(name, key)
    local histogram = figures()[name].histograms[key]
    return histogram and histogram.count or 0
  end

  -- The figures of the store are a second old at most.
  local function await(what, test)
    process.await(what, 60, test)
  end

  setup(function()
    folder = process.folder {
      ["handlers/quick.lua"] = "return function(job) end",
      ["handlers/slow.lua"] = SLOW,
      ["handlers/bad.lua"] = "return { retry = 'R1/PT0S', run = function() error('no') end }",
      ["handlers/topic/ocr.lua"] = "return {}",
      jobs = ('{"handler":"quick"}\n'):rep(30) .. '{"handler":"slow"}\n{"handler":"bad"}\n',
    }
    local store = "sqlite:" .. folder .. "/moonshift.db"
    face = faces.start(folder, "run", "--http", "unix:" .. folder .. "/socket,127.0.0.1:0",
      "--workers", "3", "--metrics-from", "127.0.0.0/8")
    process.moonshift("enqueue", "--store", store, "--from", folder .. "/jobs")
    await("all have run", function()
      return counted("moonshift_job_start_delay_seconds", "") == 32
    end)
  end)

  teardown(function()
    process.kill(face.pid)
    process.remove(folder)
  end)

  it("has runs by handler, in classes that are those of the time they took", function()
    local runs = figures().moonshift_job_run_seconds.histograms
    assert.equal(30, runs['handler="quick"'].count)
    assert.equal(1, runs['handler="bad"'].count)
    local slow = runs['handler="slow"']
    assert.equal(1, slow.count)
    assert.truthy(slow.sum >= 0.01, slow.sum) -- two clocks need not agree to the millisecond
    for _, bucket in ipairs(slow.buckets) do
      assert.equal(bucket[1] >= slow.sum and 1 or 0, bucket[2], bucket[1])
    end
  end)

  it("has how long jobs waited, and commits took", function()
    local families = figures()
    local commits = families.moonshift_store_commit_seconds.histograms[""]
    assert.truthy(commits.count > 0 and commits.sum > 0)
    assert.truthy(families.moonshift_job_start_delay_seconds.histograms[""].sum >= 0)
    assert.equal(24, #families.moonshift_job_run_seconds.histograms['handler="quick"'].buckets + 1)
  end)

  it("agrees with the counters of the store, once those are written", function()
    await("they are", function()
      local families = figures()
      return openmetrics.value(families, "moonshift_jobs_ended",
        { handler = "quick", outcome = "successful" }) == 30 and
        openmetrics.value(families, "moonshift_jobs_ended",
          { handler = "bad", outcome = "failed" }) == 1 and
        openmetrics.value(families, "moonshift_jobs", { state = "dead" }) == 1
    end)
  end)

  it("counts requests by route and status, and nothing that a client may choose", function()
    local function count(route, status)
      return openmetrics.value(figures(), "moonshift_http_requests",
        { route = route, status = status }) or 0
    end
    local jobs, gone = count("GET /v1/jobs/{id}", "404"), count("other", "404")
    face:ask(faces.head "GET /v1/jobs/999999")
    face:ask(faces.head "GET /v1/jobs/999998")
    face:ask(faces.head "GET /no/such/path")
    assert.equal(jobs + 2, count("GET /v1/jobs/{id}", "404"))
    assert.equal(gone + 1, count("other", "404"))
    assert.truthy(figures().moonshift_http_request_seconds.histograms['route="GET /metrics"'])
  end)

  it("counts fetches that wait, and those that do no more", function()
    local body = '{"worker":"w","topics":["ocr"],"wait":"PT60S"}'
    local post = faces.head("POST /v1/fetch", "Content-Type: application/json",
      "Content-Length: " .. #body) .. body
    local get = faces.head("GET /metrics")
    local part = 'moonshift_fetches_parked{topic="ocr"} 1'
    local answers = face:talk {
      { "on", "waits" }, { "send", post },
      { "on", "looks" }, { "shows", get, part, 1 },
      { "on", "waits" }, { "close" },
      { "on", "looks" }, { "shows", get, part, 0 },
    }
    assert.same({ "shown", "shown" }, answers)
  end)

  it("is the same in Prometheus' own form, and tells of the process", function()
    local families = figures "prometheus"
    assert.equal("counter", families.moonshift_jobs_ended_total.type)
    assert.truthy(openmetrics.value(families, "process_resident_memory_bytes") > 1e6)
    assert.truthy(openmetrics.value(families, "process_open_fds") > 3)
    local started = openmetrics.value(families, "process_start_time_seconds")
    assert.truthy(math.abs(os.time() - started) < 3600, started)
  end)

  it("has all that the alert rules and the dashboard of the docs ask for", function()
    local families, count = figures "prometheus", 0
    local rules = process.read("docs/monitoring.md"):match("```yaml\ngroups:.-```")
    for name in (rules .. process.read("docs/grafana.json")):gmatch("moonshift_[%l_]+") do
      count = count + 1
      assert.truthy(families[name] or families[name:gsub("_bucket$", "")], name)
    end
    assert.truthy(count > 20, count)
  end)

  it("is read without a token from the networks of metrics_from, and nothing else is", function()
    local near = face.addresses[2]
    assert.matches("^200 # HELP", ask("open", near))
    assert.matches("^401 ", ask("open", near, "Authorization: Bearer ms_no"))
    assert.matches("^401 ", face:ask(faces.head "GET /v1/stats", near))
  end)
end)
