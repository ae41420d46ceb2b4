local process = require "spec.support.process"
local program = require "spec.support.program"
local stores = require "spec.support.stores"

describe("enqueue", function()
  local place

  before_each(function()
    place = program.place {
      ["handlers/work.lua"] = "return function() end\n",
      ["handlers/sized.lua"] = "return { priority = function(job) return job.payload.size end,\n"
        .. "  run = function() end }\n",
    }
  end)

  after_each(function()
    place.clean()
  end)

  local function jobs(columns)
    return process.sql(place.store, "SELECT " .. columns .. " FROM job ORDER BY id")
  end

  local function milliseconds()
    local _, output = process.run("date +%s%3N")
    return tonumber(output)
  end

  local function refused(...)
    local status, output, errors = place.run("enqueue", ...)
    assert.equal("", output)
    return status, errors
  end

  -- Once the files are older than a disk's clock can tell, and the store knows them.
  local function until_unread()
    local deadline = os.time() + 60
    repeat
      os.remove(place.path .. "/evaluated")
      local status, _, errors = place.run("enqueue", "work")
      assert.equal(0, status, errors)
      local file = io.open(place.path .. "/evaluated")
      if not file then
        return
      end
      file:close()
    until os.time() > deadline
    error("each time all handlers are read")
  end

  local function says_that_it_is_read()
    place.write("handlers/other.lua", ('io.open("%s/evaluated", "w"):close() '):format(place.path)
      .. "return function() end\n")
  end

  it("reads no other handler of a folder that the store knows", function()
    says_that_it_is_read()
    until_unread()
    assert.equal(0, (place.run("enqueue", "sized", '{"size":7}')))
    local count = process.sql(place.store, "SELECT count(*) FROM deployment")
    assert.same({ "1" }, count)
    assert.same({ "7" }, process.sql(place.store, "SELECT priority FROM job ORDER BY id DESC"
      .. " LIMIT 1"))
    local status, errors = refused("wirk")
    assert.equal(4, status)
    assert.matches('did you mean "work"', errors)
  end)

  it("reads the folder again when any of its files has changed, come or gone", function()
    says_that_it_is_read()
    for _, change in ipairs {
      function() place.write("handlers/work.lua", "return { priority = 5, run = print }\n") end,
      function() place.write("handlers/more.lua", "return function() end\n") end,
      function() os.remove(place.path .. "/handlers/sized.lua") end,
    } do
      until_unread()
      local before = process.sql(place.store, "SELECT max(id) FROM deployment")[1]
      change()
      assert.equal(0, (place.run("enqueue", "work")))
      local after = process.sql(place.store, "SELECT max(id) FROM deployment")[1]
      assert.equal(tonumber(before) + 1, tonumber(after))
    end
    assert.same({ "5" }, process.sql(place.store, "SELECT priority FROM job ORDER BY id DESC"
      .. " LIMIT 1"))
  end)

  it("prints the id of the job", function()
    local status, output, errors = place.run("enqueue", "work", '{"a":1}')
    assert.equal(0, status, errors)
    assert.equal("1\n", output)
    assert.same({ '{"a":1}' }, jobs("payload"))
  end)

  it("prints one document with --json", function()
    local _, output = place.run("enqueue", "work", "--json")
    assert.equal('{"id":1,"outcome":"created"}\n', output)
  end)

  it("takes the payload from standard input", function()
    local status, output = program.run({ "enqueue", "work", "-" }, { dir = place.path,
      stdin = ' {"text": "é \\u0022 😀"}\n' })
    assert.equal(0, status)
    assert.equal("1\n", output)
    assert.same({ '{"text":"é \\" 😀"}' }, jobs("payload"))
  end)

  it("hands every flag on", function()
    local status, _, errors = place.run("enqueue", "work", "--at", "2030-01-02T03:04:05Z",
      "--priority", "7", "--lane", "l", "--exclusive", "true", "--instance", "i", "--root", "r",
      "--activity", "a", "--tenant", "t", "--category", "c", "--retries", "4")
    assert.equal(0, status, errors)
    local _, output = place.run("job", "show", "1", "--json")
    for _, part in ipairs { '"due":"2030-01-02T03:04:05.000Z"', '"priority":7', '"lane":"l"',
      '"exclusive":true', '"instance":"i"', '"root":"r"', '"activity":"a"', '"tenant":"t"',
      '"category":"c"', '"retries":4', '"state":"scheduled"' } do
      assert.truthy(output:find(part, 1, true), part .. " missing in " .. output)
    end
  end)

  it("makes a job due after a span", function()
    for id, span in ipairs { "5m", "2.5" } do
      local length, before = id == 1 and 300000 or 2500, milliseconds()
      assert.equal(0, (place.run("enqueue", "work", "--in", span)))
      local after, due = milliseconds(), tonumber(jobs("due")[id])
      assert(before + length <= due and due <= after + length, span .. " makes it " .. due)
    end
  end)

  it("names the flag whose span is none", function()
    local status, errors = refused("work", "--in", "5x")
    assert.equal(2, status)
    assert.equal('moonshift: --in: duration "5x": expected a unit: w, d, h, m, s or ms '
      .. '(position 2), as in "1h30m" or "PT1H30M"\n', errors)
  end)

  it("takes a time in the zone of the shell and says what it came to", function()
    local function at(text)
      local _, _, errors = program.run({ "enqueue", "work", "--at", text }, { dir = place.path,
        env = { TZ = "America/New_York", MOONSHIFT_ZONE = "Asia/Tokyo" } })
      return errors
    end
    assert.equal("moonshift: at 2026-12-24T18:00:00-05:00\n", at "2026-12-24 18:00")
    assert.equal("moonshift: at 2026-07-01T00:00:00-04:00\n", at "2026-07-01")
    assert.equal("", at "2026-12-24T18:00:00Z")
    assert.truthy(at("tomorrow 08:00"):find("^moonshift: at %d+%-%d+%-%d+T08:00:00%-0[45]:00\n$"))
    assert.same({ "1798153200000", "1782878400000", "1798135200000" },
      { table.unpack(jobs("due"), 1, 3) })
    assert.equal('moonshift: --at: time "next week": expected a time, such as '
      .. '"2026-12-24 18:00", "tomorrow 08:00", "+1h" or "now"\n', at "next week")
  end)

  it("asks the folder for a priority that is a function", function()
    assert.equal(0, (place.run("enqueue", "sized", '{"size":42}')))
    assert.same({ "42" }, jobs("priority"))
  end)

  it("makes no store where there is no folder", function()
    local elsewhere = program.place {}
    for _ = 1, 2 do
      local status, _, errors = program.run({ "enqueue", "work" }, { dir = elsewhere.path,
        env = { MOONSHIFT_STORE = stores.absent() } })
      assert.equal(4, status)
      assert.equal(('moonshift: no script folder here, and no store "%s" (expected -C DIR, '
        .. "MOONSHIFT_DIR, --store URL, or --unchecked)\n"):format(stores.absent()), errors)
    end
    elsewhere.clean()
  end)

  it("knows the handlers of the store where there is no folder", function()
    assert.equal(0, (place.run("enqueue", "work")))
    local status, output = program.run({ "enqueue", "work", "--store", "sqlite:" .. place.store },
      { dir = "/" })
    assert.equal(0, status)
    assert.equal("2\n", output)
  end)

  it("refuses an unknown handler and suggests one", function()
    local status, errors = refused("wrok")
    assert.equal(4, status)
    assert.equal('moonshift: unknown handler "wrok" (did you mean "work"?)\n', errors)
  end)

  it("writes an unknown handler that is not to be checked", function()
    local status, output = place.run("enqueue", "later", "--unchecked")
    assert.equal(0, status)
    assert.equal("1\n", output)
  end)

  it("refuses a payload that is not JSON, names the position and shows what is", function()
    local status, errors = refused("work", '{"a":1')
    assert.equal(2, status)
    local hint = " (expected JSON, in quotes for the shell: '{\"to\":\"a@b.example\"}', "
      .. "'\"text\"', 42)\n"
    assert.equal("moonshift: payload: '}' expected near end of file (line 1, column 6)" .. hint,
      errors)
    assert.truthy(select(2, refused("work", "hello")):find(hint, 1, true))
  end)

  it("refuses a due date that is none", function()
    local status, errors = refused("work", "--at", "2026-02-30")
    assert.equal(2, status)
    assert.truthy(errors:find('"2026-02-30"', 1, true), errors)
  end)

  it("refuses two due dates", function()
    assert.equal(2, (refused("work", "--at", "2026-02-03", "--in", "PT5M")))
  end)

  it("refuses flags that contradict --from", function()
    local status, errors = refused("--from", "x.jsonl", "--lane", "a")
    assert.equal(2, status)
    assert.equal("moonshift: --lane does not go with --from\n", errors)
  end)

  it("refuses to skip lines of nothing", function()
    local status, errors = refused("work", "--skip-bad")
    assert.equal(2, status)
    assert.equal("moonshift: --skip-bad goes with --from\n", errors)
  end)

  it("needs a handler", function()
    local status, errors = refused()
    assert.equal(2, status)
    assert.equal("moonshift: enqueue needs a HANDLER (or --from FILE)\n", errors)
  end)

  describe("with --count", function()
    it("prints how many, the first and the last", function()
      local status, output = place.run("enqueue", "work", "--count", "2500")
      assert.equal(0, status)
      local count, first, last = output:match("^(%d+) (%d+) (%d+)\n$")
      assert.equal("2500", count)
      assert.same({ first .. "|" .. last .. "|2500" }, process.sql(place.store,
        "SELECT min(id), max(id), count(*) FROM job"))
    end)

    it("prints every id with --ids", function()
      local _, output = place.run("enqueue", "work", "--count", "3", "--ids")
      assert.equal("1\n2\n3\n", output)
    end)

    it("prints one document with --json", function()
      local _, output = place.run("enqueue", "work", "--count", "2", "--json", "--ids")
      assert.equal('{"count":2,"first":1,"last":2,"kept":0,"replaced":0,"ids":[1,2]}\n', output)
    end)

    it("counts from one", function()
      local status, errors = refused("work", "--count", "0")
      assert.equal(2, status)
      assert.equal('moonshift: --count "0": expected an integer from 1\n', errors)
    end)
  end)

  describe("with --unique", function()
    it("prints the id of the job that is there, and says so", function()
      place.run("enqueue", "work", "--unique", "k")
      assert.same({ 0, "1\n", "moonshift: kept\n" },
        { place.run("enqueue", "work", "--unique", "k") })
      assert.same({ 0, "1\n", "moonshift: replaced\n" },
        { place.run("enqueue", "work", "7", "--unique", "k", "--on-conflict", "replace") })
      assert.same({ "7" }, jobs("payload"))
    end)

    it("says in its document what became of the job", function()
      place.run("enqueue", "work", "--unique", "k")
      local _, output, errors = place.run("enqueue", "work", "--unique", "k", "--json")
      assert.same({ '{"id":1,"outcome":"kept"}\n', "" }, { output, errors })
    end)

    it("ends with status 5 where it is refused", function()
      place.run("enqueue", "work", "--unique", "k")
      local status, errors = refused("work", "--unique", "k", "--on-conflict", "refuse")
      assert.equal(5, status)
      assert.equal('moonshift: unique "k" of "work" is held by job 1\n', errors)
    end)

    it("counts what was not created", function()
      local _, output, errors = place.run("enqueue", "work", "--unique", "k", "--count", "3")
      assert.same({ "3 1 1\n", "moonshift: 1 created, 2 kept, 0 replaced\n" }, { output, errors })
    end)

    it("holds its key for a time", function()
      place.run("enqueue", "work", "--unique", "k", "--unique-for", "3600")
      assert.same({ "60" }, process.sql(place.store, "SELECT (u.until-j.created+30000)/60000"
        .. " FROM unique_key u JOIN job j ON j.id=u.job")) -- the row is written a moment later
    end)

    it("is found by its key", function()
      place.run("enqueue", "work", "--unique", "k")
      place.run("enqueue", "work", "--unique", "l")
      local _, output = place.run("job", "list", "--unique", "l", "--json")
      assert.equal('"id":2', output:match('"id":%d'))
    end)

    it("goes with no --from", function()
      local status, errors = refused("--from", "x", "--unique", "k")
      assert.equal(2, status)
      assert.truthy(errors:find("--unique does not go with --from", 1, true))
    end)
  end)
end)

describe("a broken file in the folder", function()
  local place
  local broken = "return function( end\n"

  before_each(function()
    place = program.place { ["handlers/work.lua"] = "return function() end\n" }
    assert.equal(0, (place.run("deploy", ".")))
    place.write("handlers/broken.lua", broken)
  end)

  after_each(function()
    place.clean()
  end)

  it("does not stop who creates jobs of a handler that the store knows", function()
    local status, output, errors = place.run("enqueue", "work")
    assert.equal(0, status)
    assert.truthy(output:find("^%d+\n$"), output)
    assert.truthy(errors:find("^moonshift: warning: handlers/broken.lua:1: .*"
      .. "%(the handlers are taken as the store knows them%)\n$"), errors)
    place.write("handlers/work.lua", broken)
    assert.equal(0, (place.run("enqueue", "work")))
  end)

  it("does not stop a file of jobs either", function()
    place.write("jobs", '{"handler":"work"}\n{"handler":"work"}\n')
    local status, output, errors = place.run("enqueue", "--from", "jobs")
    assert.equal(0, status, errors)
    assert.equal("2 1 2\n", output)
    assert.truthy(errors:find("handlers/broken.lua:1", 1, true))
  end)

  it("is the error where the store does not know the handler", function()
    local status, output, errors = place.run("enqueue", "broken")
    assert.equal(78, status)
    assert.equal("", output)
    assert.truthy(errors:find("^moonshift: handlers/broken.lua:1: "), errors)
  end)

  it("that says the settings is the error", function()
    place.write("moonshift.lua", "return {")
    assert.equal(78, (place.run("enqueue", "work")))
  end)
end)

describe("a handler that the folder has lost", function()
  local place

  before_each(function()
    place = program.place {
      ["handlers/work.lua"] = "return function() end\n",
      ["handlers/gone.lua"] = "return function() end\n",
    }
    assert.equal(0, (place.run("deploy", ".")))
    os.remove(place.path .. "/handlers/gone.lua")
  end)

  after_each(function()
    place.clean()
  end)

  local function warned(...)
    local status, output, errors = place.run("enqueue", ...)
    assert.equal(0, status, errors)
    assert.truthy(output:find("^%d+\n$"), output)
    return errors
  end

  it("is taken with a warning that names the deployment", function()
    local warning = 'moonshift: warning: this folder has no handler "gone" since deployment 2 '
      .. "(only an executor with an older folder runs the job)\n"
    assert.equal(warning, warned("gone"))
    place.write("handlers/later.lua", "return function() end\n")
    assert.equal(warning, warned("gone"))
    assert.equal("", warned("gone", "--unchecked"))
    assert.equal("", warned("work"))
  end)

  it("is named once among the lines of a file", function()
    local line = '{"handler":"gone"}\n{"handler":"work"}\n{"handler": "gone", "payload": [1]}\n'
    place.write("jobs.jsonl", line:rep(50))
    local status, output, errors = place.run("enqueue", "--from", "jobs.jsonl")
    assert.same({ 0, "150" }, { status, output:match("^%d+") })
    assert.matches('no handler "gone" since deployment 2', errors, 1, true)
    local _, count = errors:gsub("\n", "")
    assert.equal(1, count)
    assert.equal("", select(3, place.run("enqueue", "--from", "jobs.jsonl", "--unchecked")))
  end)

  it("has no warning where it is back", function()
    assert.truthy(warned("gone") ~= "")
    place.write("handlers/gone.lua", "return function() end\n")
    assert.equal("", warned("gone"))
  end)
end)

describe("enqueue beside processes", function()
  local place

  local READ = [[
local reads = assert(io.open("reads", "a"))
reads:write("x")
reads:close()
local process = require "moonshift.process"
return { process.receive "wait" { message = "paid" } }
]]

  before_each(function()
    place = program.place {
      ["handlers/work.lua"] = "return { unique = function(job) return job.payload end,\n"
        .. "  run = function() end }\n",
      ["processes/order.lua"] = READ,
    }
  end)

  after_each(function()
    place.clean()
  end)

  -- How often the process has been read.
  local function reads()
    local file = assert(io.open(place.path .. "/reads"))
    local text = file:read("a")
    file:close()
    return #text
  end

  local function enqueue(variables, ...)
    local status, output, errors = program.run({ "enqueue", ... }, { dir = place.path,
      env = variables })
    assert.equal(0, status, errors)
    return output
  end

  it("reads no process of a folder that the store has", function()
    enqueue({}, "work", '"a"')
    local before = reads()
    assert.truthy(before > 0)
    local first = enqueue({}, "work", '"b"')
    assert.equal(first, enqueue({}, "work", '"b"'))
    assert.equal(before, reads())
    assert.same({ "2" }, process.sql(place.store, "SELECT count(*) FROM job"))
  end)

  it("names the handlers that it might mean all the same", function()
    enqueue({}, "work", '"a"')
    local status, _, errors = place.run("enqueue", "wrok")
    assert.equal(4, status)
    assert.truthy(errors:find('did you mean "work"', 1, true), errors)
  end)

  it("reads them where a file or a setting has changed, and deploys the whole", function()
    enqueue({}, "work", '"a"')
    local before = reads()
    enqueue({ MOONSHIFT_RETRY = "R7/PT1M" }, "work", '"b"')
    local changed = reads()
    assert.truthy(changed > before)
    assert.same({ "1" }, process.sql(place.store, "SELECT count(*) FROM definition"
      .. " WHERE name='process/order:command' AND properties LIKE '%R7/PT1M%'"))
    place.write("processes/order.lua", READ:gsub("paid", "sent"))
    enqueue({ MOONSHIFT_RETRY = "R7/PT1M" }, "work", '"c"')
    assert.truthy(reads() > changed)
    assert.same({ "2" }, process.sql(place.store, "SELECT count(*) FROM process_version"))
  end)

  it("reads them where an older folder counts again", function()
    enqueue({}, "work", '"a"')
    place.write("processes/order.lua", READ:gsub("paid", "sent"))
    enqueue({}, "work", '"b"')
    place.write("processes/order.lua", READ)
    local before = reads()
    enqueue({}, "work", '"c"')
    assert.truthy(reads() > before)
    assert.same({ "1" }, process.sql(place.store, "SELECT count(*) FROM process p"
      .. " JOIN process_version v ON v.id=p.current WHERE v.number=1"))
  end)
end)
