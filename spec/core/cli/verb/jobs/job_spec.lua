local process = require "spec.support.process"
local program = require "spec.support.program"
local rules = require("moonshift.core").rules
local stores = require "spec.support.stores"

describe("job", function()
  local place

  before_each(function()
    place = program.place {
      ["handlers/work.lua"] = "return function() end\n",
      ["handlers/fail.lua"] = "return { retry = 'R1/PT1S', run = function(job)\n"
        .. "  error('no luck with ' .. (job.payload.n or 'it')) end }\n",
    }
  end)

  after_each(function()
    place.clean()
  end)

  -- A dead job with the id 1.
  local function dead()
    place.run("enqueue", "fail", '{"n":"seven"}')
    place.run("run", "--drain")
  end

  local function ids(...)
    local _, output, errors = place.run("job", "list", "--json", ...)
    local list = {}
    for id in output:gmatch('"id":(%d+)') do
      list[#list + 1] = id
    end
    return table.concat(list, " "), errors
  end

  describe("list --columns", function()
    it("shows any column, in the order that is asked for", function()
      place.run("enqueue", "work", "--tenant", "acme")
      local _, output = place.run("job", "list", "--columns", "tenant,id,unique,lock-owner")
      assert.equal("TENANT  ID  UNIQUE  LOCK OWNER\nacme     1\n", output)
      assert.equal('[{"tenant":"acme","id":1,"unique":null}]\n',
        select(2, place.run("job", "list", "--json", "--columns", "tenant,id,unique")))
    end)

    it("refuses one that is not there, and names those that are", function()
      local status, _, errors = place.run("incident", "list", "--columns", "id,sort-of")
      assert.equal(2, status)
      assert.truthy(errors:find('unknown column "sort_of" (known: id, type, ', 1, true), errors)
      assert.truthy(select(3, place.run("job", "list", "--columns", "prioritty")):find(
        'unknown column "prioritty" (did you mean "priority"? known: ', 1, true))
    end)

    it("knows each member of the rows", function()
      local core = require "moonshift.core"
      dead()
      place.run("batch", "create", "suspend", "--handler", "fail")
      for list, kind in pairs {
        ["job list"] = "jobs", ["log"] = "log", ["operations"] = "operations",
        ["incident list"] = "incidents", ["batch list"] = "batches",
        ["definition list"] = "definitions", ["deployment list"] = "deployments",
        ["executor list --gone"] = "executors", ["instance list --text"] = "suspended_instances",
        ["schedule list"] = "schedules", ["dates @daily"] = "dates",
      } do
        local words, known = {}, {}
        for word in (list .. " --json"):gmatch("%S+") do
          words[#words + 1] = word
        end
        for _, column in ipairs(core.columns()[kind]) do
          known[column[1]] = true
        end
        local _, output, errors = place.run(table.unpack(words))
        local rows = rules.decode(output)
        assert.truthy(rows[1] or kind == "suspended_instances" or kind == "schedules", errors)
        for _, row in ipairs(rows) do
          for member in pairs(row) do
            assert.truthy(known[member], ("%s: %s"):format(kind, member))
          end
        end
      end
    end)

    it("goes with every list", function()
      place.run("enqueue", "work")
      for list, columns in pairs {
        ["job list"] = "state,rev", ["log"] = "job,tenant", ["operations"] = "query",
        ["incident list"] = "how", ["batch list"] = "who,percent", ["definition list"] = "name",
        ["deployment list"] = "hash", ["schedule list"] = "source", ["executor list"] = "lease",
        ["instance list --text"] = "since", ["instance list --ended"] = "how",
        ["instance list"] = "started", ["dates 0+3+*+*+*"] = "utc",
      } do
        local words = {}
        for word in list:gmatch("%S+") do
          words[#words + 1] = (word:gsub("+", " "))
        end
        words[#words + 1] = "--columns"
        words[#words + 1] = columns
        local status, _, errors = place.run(table.unpack(words))
        assert.equal("0 " .. list, ("%d %s"):format(status, list), errors)
      end
    end)
  end)

  describe("list", function()
    it("is one document with --json", function()
      place.run("enqueue", "work", '{"a":[1,2.5,null]}', "--in", "PT1H")
      local status, output = place.run("job", "list", "--json")
      assert.equal(0, status)
      assert.truthy(output:find('^%[{"id":1,'))
      assert.truthy(output:find('"payload":{"a":[1,2.5,null]}', 1, true))
      assert.truthy(output:find('"due":"%d+-%d+-%d+T%d+:%d+:%d+%.%d%d%dZ"'))
      assert.truthy(output:find('"lane":null', 1, true))
    end)

    it("is an empty document where nothing matches", function()
      place.run("enqueue", "work")
      local _, output = place.run("job", "list", "--json", "--handler", "fail")
      assert.equal("[]\n", output)
    end)

    it("filters", function()
      local function create(...)
        return select(2, place.run("enqueue", ...)):match("%d+")
      end
      local function found(list, ...)
        assert.equal(table.concat(list, " "), (ids(...)))
      end
      local a = create("work", '{"invoice":7}', "--priority", "5", "--lane", "a,b")
      local b = create("fail", "--in", "PT1H", "--tenant", "acme")
      local c = create("work", "--priority", "50", "--category", "mail")
      found({ a, c }, "--handler", "work")
      found({ a, b, c }, "--handler", "work,fail")
      found({ b }, "--state", "scheduled")
      found({ a }, "--lane", "a,b")
      found({ b, c }, "--id", b .. "," .. c)
      found({ c }, "--min-priority", "6")
      found({ a }, "--payload", "invoice=7")
      local d = create("work", '{"invoice":8,"customer":{"no":3,"name":"x=y"},"paid":true}')
      found({ a, d }, "--payload", "invoice=7", "--payload", "invoice=8")
      found({ d }, "--payload", "invoice=8", "--payload", "customer.no=3")
      found({ d }, "--payload", "customer.name=x=y", "--payload", "paid=true")
      place.run("job", "delete", "--payload", "customer.no=3")
      found({ a, c }, "--executable")
      found({ b }, "--tenant", "acme")
      found({ c }, "--category", "mail", "--handler", "work")
      found({ a, b, c }, "--suspended=false")
    end)

    it("sorts and pages", function()
      place.run("enqueue", "work", "--count", "5")
      assert.equal("5 4", (ids("--sort", "id:desc", "--limit", "2")))
      assert.equal("3 4", (ids("--limit", "2", "--page", "2")))
    end)

    it("shows 50 jobs unless told otherwise", function()
      place.run("enqueue", "work", "--count", "60")
      assert.equal(50, select(2, (ids()):gsub("%d+", "")))
      assert.equal(60, select(2, (ids("--limit", "100")):gsub("%d+", "")))
    end)

    it("refuses a flag that is no filter, a state that is none, an order that is none", function()
      place.run("enqueue", "work")
      local status, _, errors = place.run("job", "list", "--hander", "x")
      assert.equal(2, status)
      assert.equal('moonshift: unknown flag "--hander" (did you mean "--handler"?)\n', errors)
      assert.equal(2, (place.run("job", "list", "--state", "redy")))
      assert.equal(2, (place.run("job", "list", "--sort", "colour")))
    end)

    it("refuses an order that it cannot read", function()
      local status, _, errors = place.run("job", "list", "--sort", "id:up")
      assert.equal(2, status)
      assert.equal('moonshift: --sort "id:up": expected FIELD, FIELD:asc or FIELD:desc\n', errors)
    end)

    it("makes no store", function()
      for _ = 1, 2 do
        local status, _, errors = place.run("job", "list", "--store", stores.absent())
        assert.equal(4, status)
        assert.truthy(errors:find("absent", 1, true), errors)
      end
    end)

    it("makes no file #file", function()
      local status, _, errors = place.run("job", "list")
      assert.equal(4, status)
      assert.truthy(errors:find("moonshift.db", 1, true), errors)
      assert.is_nil(io.open(place.store))
    end)
  end)

  describe("stack", function()
    it("is the plain text of the last failure", function()
      dead()
      local status, output = place.run("job", "stack", "1")
      assert.equal(0, status)
      local first = "^handlers/fail.lua:2: no luck with seven\nstack traceback:\n"
      assert.truthy(output:find(first), output)
    end)

    it("is refused for a job that has not failed, or is not there", function()
      place.run("enqueue", "work")
      local status, _, errors = place.run("job", "stack", "1")
      assert.equal(4, status)
      assert.equal("moonshift: job 1 has not failed\n", errors)
      status, _, errors = place.run("job", "stack", "7")
      assert.equal(4, status)
      assert.equal("moonshift: no job 7\n", errors)
    end)
  end)

  describe("show", function()
    it("shows the fields that are there, one a line", function()
      place.run("enqueue", "work", '{"a":1}', "--lane", "x")
      local status, output = place.run("job", "show", "1")
      assert.equal(0, status)
      assert.truthy(output:find("\nhandler +work\n"), output)
      assert.truthy(output:find('\npayload +{"a":1}\n'), output)
      assert.is_nil(output:find("tenant", 1, true))
    end)

    it("shows the stack of the last failure", function()
      dead()
      local _, output = place.run("job", "show", "1")
      assert.truthy(output:find("no luck with seven", 1, true), output)
      assert.truthy(output:find("\nstack\n    ", 1, true), output)
      assert.truthy(output:find("handlers/fail.lua:2:", 1, true), output)
    end)

    it("is an object with --json", function()
      dead()
      local _, output = place.run("job", "show", "1", "--json")
      assert.truthy(output:find('^{"id":1,'))
      assert.truthy(output:find('"state":"dead"', 1, true))
      assert.truthy(output:find('"stack":"', 1, true))
    end)

    it("answers an unknown id with 4", function()
      place.run("enqueue", "work")
      local status, output, errors = place.run("job", "show", "77")
      assert.equal(4, status)
      assert.equal("", output)
      assert.truthy(errors:find("77", 1, true), errors)
    end)

    it("says of a job that has ended where its story is", function()
      place.run("enqueue", "work")
      place.run("run", "--drain")
      for _, verb in ipairs { "show", "retry", "cancel", "execute" } do
        local status, _, errors = place.run("job", verb, "1")
        assert.equal("4 moonshift: job 1 has ended (see moonshift log --job 1)\n",
          status .. " " .. errors)
      end
      local _, _, errors = place.run("job", "cycle", "R/PT1H", "1")
      assert.equal("moonshift: job 1 has ended (see moonshift log --job 1)\n", errors)
    end)

    it("says where jobs are found that other systems call otherwise", function()
      place.run("enqueue", "work")
      local status, _, errors = place.run("job", "list", "--state", "failed")
      assert.equal('2 moonshift: filter "state": "failed" is no state (a job that waits for its '
        .. "retry is scheduled, one that has given up is dead; the log has the failures: "
        .. "moonshift log --outcome failed)\n", status .. " " .. errors)
      for state, part in pairs { done = "--outcome successful", ended = "moonshift log)",
        retrying = "is scheduled", active = "is locked" } do
        _, _, errors = place.run("job", "list", "--state", state)
        assert.truthy(errors:find(part, 1, true), errors)
      end
    end)

    it("refuses an id that is none", function()
      local status, _, errors = place.run("job", "show", "abc")
      assert.equal(2, status)
      assert.equal('moonshift: id "abc": expected an integer from 1\n', errors)
    end)
  end)

  describe("retry", function()
    it("gives the configured number of runs and resolves the incident", function()
      dead()
      local status, output = place.run("job", "retry", "1")
      assert.equal(0, status)
      assert.equal("1 job retried\n", output)
      assert.same({ "1" }, process.sql(place.store, "SELECT retries FROM job"))
      assert.equal("[]\n", select(2, place.run("incident", "list", "--open", "--json")))
    end)

    it("gives as many runs as are asked for, at the time asked for", function()
      dead()
      local status, _, errors = place.run("job", "retry", "1", "--retries", "5", "--due",
        "2030-01-01T00:00:00Z")
      assert.equal(0, status, errors)
      assert.same({ "5|1893456000000" }, process.sql(place.store, "SELECT retries, due FROM job"))
    end)

    it("changes all or none", function()
      dead()
      assert.equal(4, (place.run("job", "retry", "1", "99")))
      assert.same({ "0" }, process.sql(place.store, "SELECT retries FROM job"))
    end)

    it("answers with a number with --json", function()
      dead()
      local _, output = place.run("job", "retry", "1", "--json")
      assert.equal('{"count":1}\n', output)
    end)
  end)

  describe("delete", function()
    it("deletes several", function()
      place.run("enqueue", "work", "--count", "3")
      local status, output = place.run("job", "delete", "1", "3")
      assert.equal(0, status)
      assert.equal("2 jobs deleted\n", output)
      assert.equal("2", (ids()))
    end)

    it("answers an unknown id with 4 and deletes nothing", function()
      place.run("enqueue", "work")
      local status, _, errors = place.run("job", "delete", "1", "9")
      assert.equal(4, status)
      assert.truthy(errors:find("9", 1, true), errors)
      assert.equal("1", (ids()))
    end)
  end)

  it("suspends and activates", function()
    place.run("enqueue", "work")
    assert.equal("1 job suspended\n", select(2, place.run("job", "suspend", "1")))
    assert.equal("1", (ids("--state", "suspended")))
    assert.equal("1 job activated\n", select(2, place.run("job", "activate", "1")))
    assert.equal("1", (ids("--state", "ready")))
  end)

  it("changes a priority and a due date", function()
    place.run("enqueue", "work")
    assert.equal("1 job changed\n", select(2, place.run("job", "priority", "-9", "1")))
    assert.equal(0, (place.run("job", "due", "2030-01-01T00:00:00Z", "1")))
    assert.same({ "-9|1893456000000" }, process.sql(place.store, "SELECT priority, due FROM job"))
    assert.equal(0, (place.run("job", "due", "none", "1")))
    assert.same({ "-9|" }, process.sql(place.store, "SELECT priority, due FROM job"))
  end)

  it("cancels", function()
    place.run("enqueue", "work")
    assert.equal("1 job cancelled\n", select(2, place.run("job", "cancel", "1")))
    assert.equal("", (ids()))
  end)

  it("executes by hand", function()
    place.run("enqueue", "work", "--in", "PT1H")
    assert.equal(0, (place.run("job", "execute", "1")))
    assert.equal("", (ids()))
    local _, id = place.run("enqueue", "fail")
    local status, _, errors = place.run("job", "execute", (id:gsub("\n", "")))
    assert.equal(1, status)
    assert.truthy(errors:find("no luck with it", 1, true), errors)
  end)
end)
