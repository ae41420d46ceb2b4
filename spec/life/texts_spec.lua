-- Texts from payloads, options and filters are data: none of them is compiled, opened, put into a
-- statement's text or given to a shell.
local engines = require "spec.support.engines"

describe("a text from outside", function()
  local engine, proof

  -- Each would do harm in one of the languages it could be taken for.
  local function hostile()
    return {
      ('${os.execute("touch %s")}'):format(proof),
      ('#{io.open("%s", "w")}'):format(proof),
      ('"); os.execute("touch %s") --'):format(proof),
      ("$(touch %s)"):format(proof),
      ("`touch %s`; touch %s"):format(proof, proof),
      "'; DELETE FROM job; --",
      '"; DROP TABLE job; --',
      "x' OR '1'='1",
      "id; DELETE FROM job",
      "../../../../etc/passwd",
      "%s%s%n%d",
    }
  end

  before_each(function()
    proof = os.tmpname()
    os.remove(proof)
    engine = engines.private {
      ["handlers/note.lua"] = [[return {
        retry = "${retry}", unique = function(job) return job.payload.unique end,
        run = function(job) return job.payload.text end,
      }]],
      ["handlers/make.lua"] = [[return function(job)
        job:enqueue("note", { text = job.payload }, { lane = job.payload, tenant = job.payload })
      end]],
      ["handlers/ask.lua"] = [[return function(job)
        local engine = job.engine
        local fine = pcall(function() return engine:jobs({ tenant = job.payload }):count() end)
        local wanted = { [job.payload] = job.payload }
        pcall(function() return engine:jobs({ payload = wanted }):ids() end)
        pcall(function() return engine:jobs():sort(job.payload):ids() end)
        return fine
      end]],
    }
  end)

  after_each(function()
    engine:close()
    engines.clean()
    assert.is_nil((io.open(proof)), "a text was run")
    os.remove(proof)
  end)

  it("is kept as it is in every field of a job", function()
    for _, text in ipairs(hostile()) do
      local id = assert(engine:enqueue("note", { text = text, [text] = text, retry = text }, {
        lane = text, instance = text, root = text, activity = text, tenant = text,
        category = text,
      }))
      local job = engine:job(id)
      for _, field in ipairs { "lane", "instance", "root", "activity", "tenant", "category" } do
        assert.equal(text, job[field])
      end
      assert.equal(text, job.payload[text])
      assert.equal(text, engine:execute(id))
    end
  end)

  it("is compared as it is in every filter, and sorts by nothing", function()
    engine:enqueue("note")
    for _, text in ipairs(hostile()) do
      for _, filter in ipairs {
        "lane", "instance", "root", "tenant", "category", "handler", "exception", "unique",
      } do
        assert.equal(0, engine:jobs({ [filter] = text }):count())
      end
      pcall(engine.jobs, engine, { [text] = text })
      pcall(function() return engine:jobs({ payload = { [text] = text, a = text } }):ids() end)
      pcall(function() return engine:jobs():sort(text):ids() end)
      pcall(function() return engine:log({ handler = text }):sort(text):list() end)
      pcall(function() return engine:incidents({ message = text }):list() end)
      pcall(function() return engine:operations({ who = text, entity = text }):list() end)
      pcall(function() return engine:batches({ type = text }):list() end)
      pcall(function() return engine:definitions({ name = text }) end)
    end
    assert.equal(1, engine:jobs():count())
  end)

  it("names no handler, zone, cycle or type of batches that is not there", function()
    for _, text in ipairs(hostile()) do
      assert.is_nil((engine:enqueue(text)))
      assert.is_nil((engine:enqueue("note", nil, { cycle = "0 8 * * *", zone = text })))
      assert.is_nil((engine:enqueue("note", nil, { cycle = text })))
      assert.is_nil((engine:enqueue("note", nil, { at = text })))
      assert.is_nil((engine:batch { type = text, ids = { 1 } }))
      pcall(function() return engine:definition(text):set_retries(1) end)
      pcall(engine.suspend_instance, engine, text)
    end
    assert.equal(0, engine:jobs():count())
  end)

  it("stays data where a handler hands it on", function()
    for _, text in ipairs(hostile()) do
      engine:enqueue("make", text)
      engine:enqueue("ask", text)
    end
    local ended = engine:drain()
    assert.equal(3 * #hostile(), ended.done)
    assert.equal(#hostile(), engine:log({ handler = "note", outcome = "successful" }):count())
  end)
end)
