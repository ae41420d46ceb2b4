-- The stock handlers http, webhook and mail: what they ask and send, and which answers are failures
-- of which kind.
local json = require("moonshift").json
local hmac = require "moonshift.hmac"
local process = require "spec.support.process"
local program = require "spec.support.program"
local testing = require "moonshift.testing"

describe("the stock handler http", function()
  local function engine_with(answer, more)
    local options = { stock = { "http", "webhook", "mail" }, http = answer }
    for key, value in pairs(more or {}) do
      options[key] = value
    end
    return testing.engine(options)
  end

  -- The job after one run with this answer, nil if it is done; the engine and its id.
  local function run(payload, answer)
    local engine = engine_with(function()
      return answer
    end)
    local id = engine:enqueue("http", payload)
    engine:drain()
    return engine:job(id), engine, id
  end

  it("asks what its payload says, and keeps the answer", function()
    local asked
    local engine = engine_with(function(request)
      asked = request
      return { status = 201, headers = { ["Content-Type"] = "application/json" },
        json = { id = 7 } }
    end)
    local id = engine:enqueue("http", { method = "POST", url = "https://x.example/a",
      json = { n = 1 } })
    engine:drain()
    assert.equal('{"n":1}', asked.body)
    assert.equal("POST", asked.method)
    assert.truthy(asked.headers["idempotency-key"])
    assert.same({ id = 7 }, engine:log({ job = id, outcome = "successful" }):one().result.json)
  end)

  it("knows which answers no retry mends", function()
    for status, permanent in pairs { [400] = true, [404] = true, [422] = true, [408] = false,
      [425] = false, [429] = false, [500] = false, [503] = false, [302] = false } do
      local job = run({ url = "http://x.example/" }, { status = status, body = "no" })
      assert.equal(permanent and "dead" or "scheduled", job.state, status)
      assert.equal(("answered %d: no"):format(status), job.message)
    end
  end)

  it("expects what the payload says", function()
    assert.is_nil(run({ url = "http://x.example/", expect = { 404, "5xx" } }, { status = 404 }))
    assert.is_nil(run({ url = "http://x.example/", expect = { 404, "5xx" } }, { status = 503 }))
    local job = run({ url = "http://x.example/", expect = { 404 } }, { status = 200 })
    assert.equal("answered 200: ", job.message)
  end)

  it("obeys Retry-After", function()
    local job = run({ url = "http://x.example/" }, { status = 429,
      headers = { ["Retry-After"] = "120" } })
    assert.equal("2026-01-01T00:02:00.000Z", job.due)
    assert.equal(2, job.retries)
  end)

  it("gives up at once where the payload is no request", function()
    for payload, message in pairs {
      [{}] = "url: expected a text",
      [{ url = "http://x.example/", timeout = "soon" }] = "http.request: timeout: duration",
    } do
      local job = run(payload, { status = 200 })
      assert.equal("dead", job.state)
      assert.truthy(job.message:find(message, 1, true), job.message)
    end
  end)

  it("serves a service task with its type", function()
    local path = process.folder { ["processes/order.bpmn"] = [[
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:f="http://flowable.org/bpmn" targetNamespace="x">
<process id="order" isExecutable="true">
  <startEvent id="start"/><sequenceFlow id="a" sourceRef="start" targetRef="ask"/>
  <serviceTask id="ask" f:type="http" f:resultVariable="answer"><extensionElements>
    <f:field name="requestMethod" stringValue="POST"/>
    <f:field name="requestUrl"><f:expression>http://x.example/${id}</f:expression></f:field>
    <f:field name="requestHeaders" stringValue="X-Key: 5&#10;Accept: text/plain"/>
  </extensionElements></serviceTask>
  <sequenceFlow id="b" sourceRef="ask" targetRef="wait"/>
  <userTask id="wait"/>
</process></definitions>]] }
    local asked
    local engine = engine_with(function(request)
      asked = request
      return { status = 200, body = "fine" }
    end, { scripts = path })
    local id = assert(engine:start("order", { variables = { id = 8 } }))
    process.remove(path)
    assert.equal("http://x.example/8", asked.url)
    assert.equal("5", asked.headers["x-key"])
    assert.truthy(asked.headers["idempotency-key"])
    assert.equal("fine", engine:instance(id).variables.answer.body)
  end)

  local function connector(beside, scripts)
    return { ["processes/rates.bpmn"] = [[
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:c="http://camunda.org/schema/1.0/bpmn" targetNamespace="x">
<process id="rates" isExecutable="true">
  <startEvent id="start"/><sequenceFlow id="a" sourceRef="start" targetRef="ask"/>
  <serviceTask id="ask" c:asyncAfter="true"><extensionElements><c:connector><c:inputOutput>
    <c:inputParameter name="url">http://x.example/${currency}</c:inputParameter>
    <c:inputParameter name="method">POST</c:inputParameter>
    <c:inputParameter name="headers"><c:map><c:entry key="X-Of">${currency}</c:entry></c:map>
    </c:inputParameter>
    <c:inputParameter name="payload">{"n":1}</c:inputParameter>
    <c:outputParameter name="rate">${S(response).prop("rate").numberValue()}</c:outputParameter>
    <c:outputParameter name="response">${response}</c:outputParameter>
    <c:outputParameter name="kind">${headers.get("content-type")}</c:outputParameter>
    <c:outputParameter name="status">${statusCode}</c:outputParameter></c:inputOutput>
    <c:connectorId>http-connector</c:connectorId></c:connector>]] .. (beside or "") .. [[
  </extensionElements></serviceTask>
  <sequenceFlow id="b" sourceRef="ask" targetRef="wait"/>
  <userTask id="wait"/>
</process></definitions>]], ["handlers/own.lua"] = scripts }
  end

  it("serves Camunda's http-connector, whose outputs see the answer", function()
    local path = process.folder(connector [[<c:inputOutput>
      <c:outputParameter name="twice">${rate * 2}</c:outputParameter></c:inputOutput>]])
    local asked
    local engine = engine_with(function(request)
      asked = request
      return { status = 404, body = '{"rate": 1.50}',
        headers = { ["Content-Type"] = "application/json" } }
    end, { scripts = path })
    local id = assert(engine:start("rates", { variables = { currency = "EUR", response = "old" } }))
    process.remove(path)
    assert.same({ "POST", "http://x.example/EUR", '{"n":1}', "EUR" },
      { asked.method, asked.url, asked.body, asked.headers["x-of"] })
    assert.same({ currency = "EUR", rate = 1.5, response = '{"rate": 1.50}', status = 404,
      kind = "application/json", twice = 3.0 }, engine:instance(id).variables)
  end)

  describe("beside it, webhook,", function()
    local getenv, variables = os.getenv, {}

    setup(function()
      os.getenv = function(name) -- luacheck: ignore 122
        return variables[name] or getenv(name)
      end
    end)

    teardown(function()
      os.getenv = getenv -- luacheck: ignore 122
    end)

    before_each(function()
      variables = { WEBHOOK_SECRET = "secret" }
    end)

    local function check_signature(request)
      assert.equal("t=1767225600,v1=" .. hmac("secret", "1767225600." .. request.body),
        request.headers["moonshift-signature"])
    end

    it("posts what it is given, signed", function()
      local asked
      local engine = engine_with(function(request)
        asked = request
        return { status = 204 }
      end)
      engine:enqueue("webhook", { url = "https://x.example/hook", body = { a = 1 } })
      assert.same({ done = 1, failed = 0 }, engine:drain())
      assert.equal('{"a":1}', asked.body)
      check_signature(asked)
    end)

    it("tells of incidents", function()
      variables.WEBHOOK_URL = "https://x.example/incidents"
      local told = {}
      local engine = engine_with(function(request)
        told[#told + 1] = request
        return { status = 200 }
      end, { notify = { incident = "webhook" }, handlers = { fails = function()
        error("no", 0)
      end } })
      engine:enqueue("fails", {}, { retries = 1 })
      engine:drain()
      assert.equal(1, #told)
      assert.equal("https://x.example/incidents", told[1].url)
      assert.equal("fails", json.decode(told[1].body).handler)
      check_signature(told[1])
    end)

    it("is told again no earlier than its receiver wants", function()
      local engine = engine_with(function()
        return { status = 503, headers = { ["Retry-After"] = "7200" } }
      end)
      local id = engine:enqueue("webhook", { url = "https://x.example/", body = {} })
      engine:drain()
      assert.equal("2026-01-01T02:00:00.000Z", engine:job(id).due)
    end)

    it("is dead without a secret", function()
      variables.WEBHOOK_SECRET = nil
      local engine = engine_with(function() end)
      local id = engine:enqueue("webhook", { url = "https://x.example/", body = {} })
      engine:drain()
      assert.equal("dead", engine:job(id).state)
      assert.truthy(engine:job(id).message:find("WEBHOOK_SECRET is not set", 1, true))
    end)
  end)
end)

describe("the stock handler mail", function()
  local place

  before_each(function()
    place = program.place { ["moonshift.lua"] = 'return { stock = { "mail" } }',
      ["bin/sendmail"] = '#!/bin/sh\necho "$@" >args\ncat >mail\nexit "${SENDMAIL_STATUS:-0}"\n' }
    os.execute("chmod +x " .. process.quote(place.path .. "/bin/sendmail"))
  end)

  after_each(function()
    place.clean()
  end)

  local function send(payload, variables)
    assert.equal(0, (place.run("enqueue", "mail", json.encode(payload))))
    local env = { PATH = place.path .. "/bin:" .. os.getenv "PATH" }
    for name, value in pairs(variables or {}) do
      env[name] = value
    end
    program.run({ "run", "--drain" }, { dir = place.path, env = env })
    return process.read(place.path .. "/mail"), process.read(place.path .. "/args")
  end

  it("hands a mail to sendmail", function()
    local mail, args = send { to = { "a@x.example", "b@x.example" }, from = "c@x.example",
      subject = "Grüße", text = "Hallo\n" }
    assert.equal("-i -t\n", args)
    assert.truthy(mail:find("To: a@x.example, b@x.example\n", 1, true), mail)
    assert.truthy(mail:find("Subject: =?UTF-8?B?R3LDvMOfZQ==?=\n", 1, true), mail)
    assert.truthy(mail:find("\n\nSGFsbG8K\n", 1, true), mail)
  end)

  it("lets no field become another header", function()
    local mail = send { to = "a@x.example", subject = "x\nBcc: b@x.example", text = "" }
    assert.equal("", mail)
    assert.truthy(select(2, place.run("job", "list", "--columns", "message")):find(
      "subject: expected a text of one line", 1, true))
  end)

  it("is dead where sendmail puts the mail down", function()
    send({ to = "nobody@x.example", text = "" }, { SENDMAIL_STATUS = "67" })
    local _, shown = place.run("job", "list", "--columns", "state,message")
    assert.truthy(shown:find("dead%s+sendmail ended with status 67"), shown)
  end)

  it("tells MAIL_TO of what has no address", function()
    local mail = send({ kind = "incident", cause = "failedJob of x", why = "no" },
      { MAIL_TO = "ops@x.example" })
    assert.truthy(mail:find("To: ops@x.example\n", 1, true), mail)
    assert.truthy(mail:find("Subject: failedJob of x\n", 1, true), mail)
  end)
end)
