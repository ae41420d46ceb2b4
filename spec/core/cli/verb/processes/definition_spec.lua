local program = require "spec.support.program"

describe("definition", function()
  local place

  before_each(function()
    place = program.place {
      ["handlers/work.lua"] = "return { priority = 3, run = function() end }\n",
      ["handlers/fail.lua"] = "return { retry = 'R1/PT1S', run = function() error('no', 0) end }\n",
    }
    place.run("enqueue", "work")
  end)

  after_each(function()
    place.clean()
  end)

  local function job(id)
    return select(2, place.run("job", "show", tostring(id), "--json"))
  end

  local function last_operation()
    return select(2, place.run("operations", "--json", "--sort", "id:desc", "--limit", "1"))
  end

  -- Status and the one line of the error.
  local function refused(...)
    local status, output, errors = place.run("definition", ...)
    assert.equal("", output)
    return status, errors
  end

  describe("list", function()
    it("shows names, overrides and where the jobs are", function()
      place.run("definition", "priority", "work", "9")
      local _, output = place.run("definition", "list", "--name", "work")
      assert.truthy(output:find("NAME +PRIORITY +OVERRIDE +SUSPENDED +JOBS\n"), output)
      assert.truthy(output:find("work +3 +9 +no +1 ready\n"), output)
    end)

    it("shows limits and rates of operators", function()
      place.run("definition", "limit", "work", "2", "--cluster")
      place.run("definition", "rate", "work", "10/1m")
      local _, output = place.run("definition", "list", "--overridden")
      assert.truthy(output:find("NAME +PRIORITY +LIMIT +RATE +SUSPENDED +JOBS\n"), output)
      assert.truthy(output:find('work +3 +{"cluster":2} +10/PT1M +no', 1), output)
    end)

    it("is one document with --json", function()
      local _, output = place.run("definition", "list", "--json", "--sort", "name:desc",
        "--limit", "1")
      assert.truthy(output:find('^%[{.*"name":"work"'), output)
      assert.truthy(output:find('"counts":{"ready":1,"scheduled":0', 1, true), output)
    end)

    it("filters", function()
      place.run("definition", "suspend", "fail")
      local _, output = place.run("definition", "list", "--suspended", "--json")
      assert.truthy(output:find('"name":"fail"', 1, true))
      assert.is_nil(output:find('"name":"work"', 1, true))
      assert.equal("[]\n", select(2, place.run("definition", "list", "--overridden", "--json")))
    end)
  end)

  describe("show", function()
    it("shows one", function()
      local _, output = place.run("definition", "show", "work")
      assert.truthy(output:find("\nname +work\n"), output)
      assert.truthy(output:find("\ncounts +1 ready\n"), output)
    end)

    it("refuses a name that is none", function()
      local status, errors = refused("show", "wrk")
      assert.equal(4, status)
      assert.equal('moonshift: unknown definition "wrk"\n', errors)
    end)
  end)

  describe("priority", function()
    it("is for jobs created from now on, with --cascade for all", function()
      assert.equal('definition "work" has another priority for later jobs\n',
        select(2, place.run("definition", "priority", "work", "9")))
      assert.truthy(job(1):find('"priority":3,', 1, true))
      local _, output = place.run("definition", "priority", "work", "9", "--cascade", "--json")
      assert.equal('{"count":1}\n', output)
      assert.truthy(job(1):find('"priority":9,', 1, true))
    end)

    it("is cleared, and the log says what it was", function()
      place.run("definition", "priority", "work", "-9")
      assert.equal(0, (place.run("definition", "priority", "work", "--clear")))
      assert.truthy(last_operation():find('"old":"-9","new":null', 1, true), last_operation())
      place.run("enqueue", "work")
      assert.truthy(job(2):find('"priority":3,', 1, true))
    end)

    it("refuses neither, both and what is no number", function()
      local either = "moonshift: definition priority: expected either N, perhaps with --cascade,"
        .. " or --clear\n"
      assert.same({ 2, either }, { refused("priority", "work") })
      assert.same({ 2, either }, { refused("priority", "work", "9", "--clear") })
      assert.same({ 2, either }, { refused("priority", "work", "--clear", "--cascade") })
      assert.same({ 2, 'moonshift: priority "high": expected a 64-bit integer\n' },
        { refused("priority", "work", "high") })
      assert.same({ 4, 'moonshift: unknown definition "wrk"\n' },
        { refused("priority", "wrk", "1") })
    end)
  end)

  describe("limit and rate", function()
    it("say what they have done", function()
      for _, words in ipairs {
        { "another limit", "limit", "work", "none" },
        { "its own limit again", "limit", "work", "--clear" },
        { "another rate", "rate", "work", "10/1m" },
        { "its own rate again", "rate", "work", "--clear" },
      } do
        local status, output = place.run("definition", table.unpack(words, 2))
        assert.same({ 0, 'definition "work" has ' .. words[1] .. "\n" }, { status, output })
      end
    end)

    it("refuse what means nothing, and say what stops all", function()
      local _, zero = refused("limit", "work", "0")
      assert.truthy(zero:find('got "0" (expected a whole number from 1', 1, true), zero)
      assert.truthy(zero:find("definition suspend", 1, true), zero)
      assert.equal(2, (refused("limit", "work", "none", "--cluster")))
      assert.equal(2, (refused("limit", "work", "3", "--clear")))
      assert.equal(2, (refused("rate", "work")))
      assert.equal(2, (refused("rate", "work", "often")))
      assert.equal(4, (refused("limit", "wrk", "3")))
    end)
  end)

  describe("suspend and activate", function()
    it("are for later jobs, with --include-jobs for all", function()
      assert.equal('definition "work" suspended\n',
        select(2, place.run("definition", "suspend", "work")))
      assert.truthy(job(1):find('"state":"ready"', 1, true))
      assert.equal("1 job suspended\n",
        select(2, place.run("definition", "suspend", "work", "--include-jobs")))
      assert.truthy(job(1):find('"state":"suspended"', 1, true))
      assert.equal("1 job activated\n",
        select(2, place.run("definition", "activate", "work", "--include-jobs")))
      assert.truthy(job(1):find('"state":"ready"', 1, true))
    end)

    it("at a date name the job that will do it", function()
      local status, output = place.run("definition", "suspend", "work", "--at",
        "2126-01-01T00:00:00Z")
      assert.equal(0, status)
      assert.equal("job 2 will do it at 2126-01-01T00:00:00.000Z\n", output)
      assert.truthy(job(2):find('"handler":"moonshift/operate"', 1, true))
      local _, document = place.run("definition", "activate", "work", "--at",
        "2126-01-01T00:00:00Z", "--json")
      assert.equal('{"count":0,"job":3}\n', document)
    end)

    it("are done at their date by whoever runs", function()
      place.run("definition", "suspend", "work", "--include-jobs", "--at", "2020-01-01T00:00:00Z")
      place.run("job", "priority", "9", "2")
      place.run("run", "--drain", "--categories", "mail")
      assert.truthy(job(1):find('"state":"suspended"', 1, true))
    end)

    it("refuse a date that is none", function()
      local status, errors = refused("suspend", "work", "--at", "soon")
      assert.equal(2, status)
      assert.truthy(errors:find('^moonshift: at: time "soon": expected a time, such as "'), errors)
    end)
  end)

  describe("retries", function()
    it("are for its dead jobs only", function()
      local _, dead = place.run("enqueue", "fail")
      place.run("run", "--drain")
      local _, ready = place.run("enqueue", "fail")
      assert.equal("1 job retried\n", select(2, place.run("definition", "retries", "fail", "4")))
      assert.truthy(job(math.tointeger(dead)):find('"retries":4,', 1, true))
      assert.truthy(job(math.tointeger(ready)):find('"retries":1,', 1, true))
      assert.equal("[]\n", select(2, place.run("incident", "list", "--open", "--json")))
      assert.truthy(last_operation():find('"verb":"set_definition_retries"', 1, true))
    end)

    it("are not negative", function()
      local status, errors = refused("retries", "work", "-1")
      assert.equal(2, status)
      assert.equal('moonshift: retries "-1": expected an integer from 0 to 2147483647\n', errors)
    end)
  end)
end)
