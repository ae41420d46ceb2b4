local process = require "spec.support.process"
local program = require "spec.support.program"

local bad = table.concat({
  '\xef\xbb\xbf{"handler":"work","payload":{"n":1},"priority":5,"lane":"a"}\r',
  "",
  '{"handler":"wrok"}',
  '{"handler":"work","payload":}',
  "[1]",
  '{"handler":"work","prioritty":5}',
  '{"handler":"work","due":"2030-01-01T00:00:00Z"}',
}, "\n")

local complaints = [[
moonshift: orders.jsonl:3: unknown handler "wrok" (did you mean "work"?)
moonshift: orders.jsonl:4: JSON: unexpected token near '}' (line 1, column 29)
moonshift: orders.jsonl:5: expected a JSON object with handler and payload
moonshift: orders.jsonl:6: job: unknown key "prioritty" (did you mean "priority"?)
]]

describe("enqueue --from", function()
  local place

  before_each(function()
    place = program.place {
      ["handlers/work.lua"] = "return function() end\n",
      ["orders.jsonl"] = bad,
    }
  end)

  after_each(function()
    place.clean()
  end)

  local function write(name, text)
    local file = assert(io.open(place.path .. "/" .. name, "wb"))
    file:write(text)
    file:close()
  end

  local function count()
    return tonumber(process.sql(place.store, "SELECT count(*) FROM job")[1])
  end

  it("names every bad line and writes nothing", function()
    local status, output, errors = place.run("enqueue", "--from", "orders.jsonl")
    assert.equal(2, status)
    assert.equal("", output)
    assert.equal(complaints .. "moonshift: orders.jsonl: 4 bad lines, nothing written "
      .. "(--skip-bad keeps the rest)\n", errors)
    assert.equal(0, count())
  end)

  it("keeps the rest with --skip-bad and lists the bad ones", function()
    local status, output, errors = place.run("enqueue", "--from", "orders.jsonl", "--skip-bad")
    assert.equal(0, status)
    assert.equal("2 1 2\n", output)
    assert.equal(complaints, errors)
    assert.same({ "5|a|", "0||1893456000000" }, process.sql(place.store,
      "SELECT priority, lane_key, due FROM job ORDER BY id"))
  end)

  it("asks a definition's functions once for each line", function()
    write("handlers/asked.lua", [[
      local asked = 0
      local function count()
        asked = asked + 1
        return asked
      end
      return {
        priority = count,
        unique = function() return "k" .. count() end,
        run = function() end,
      }
    ]])
    local lines = {}
    for i = 1, 4100 do
      lines[i] = ('{"handler":"%s","payload":%d}\n'):format(i % 1000 == 0 and "asked" or "work", i)
    end
    lines[1500] = '{"handler":"asked","priority":"high"}\n'
    write("many.jsonl", table.concat(lines))
    assert.equal(0, (place.run("enqueue", "--from", "many.jsonl", "--skip-bad")))
    assert.same({ "1000|1|k2", "2000|3|k4", "3000|5|k6", "4000|7|k8" }, process.sql(place.store,
      "SELECT payload, priority, unique_key FROM job WHERE unique_key IS NOT NULL"
      .. " ORDER BY id"))
  end)

  it("goes on behind a line that is read in full", function()
    local long = '{"handler":"work","payload":1' .. ("0"):rep(120) .. ".0}"
    write("long.jsonl", table.concat({ '{"handler":"work","payload":1}', "[1]", long, "[2]",
      '{"handler":"work","payload":3}' }, "\n"))
    local status, output = place.run("enqueue", "--from", "long.jsonl", "--skip-bad")
    assert.same({ 0, "3 1 3\n" }, { status, output })
    assert.same({ "1", "1e+120", "3" },
      process.sql(place.store, "SELECT payload FROM job ORDER BY id"))
  end)

  it("goes on behind the lines that it keeps from the first reading", function()
    local lines, blanks = {}, (" "):rep(3000)
    for i = 1, 4100 do -- 12 MB
      lines[i] = ('{"handler":"work",%s"priority":%d}\n'):format(blanks, i)
    end
    lines[100], lines[4000] = "[]\n", "[]\n"
    write("wide.jsonl", table.concat(lines))
    local status, output = place.run("enqueue", "--from", "wide.jsonl", "--skip-bad")
    assert.same({ 0, "4098 1 4098\n" }, { status, output })
    assert.same({ "0" }, process.sql(place.store, "SELECT count(*) FROM job WHERE priority<>id"
      .. " + CASE WHEN id>3998 THEN 2 WHEN id>99 THEN 1 ELSE 0 END"))
  end)

  it("does not ask for a priority that is overridden", function()
    write("handlers/never.lua",
      'return { priority = function() error("asked") end, run = function() end }\n')
    local line = '{"handler":"never"}\n'
    write("never.jsonl", line:rep(3))
    assert.equal(2, (place.run("enqueue", "--from", "never.jsonl")))
    assert.equal(0, (place.run("definition", "priority", "never", "9")))
    assert.equal(0, (place.run("enqueue", "--from", "never.jsonl")))
    assert.same({ "9", "9", "9" }, process.sql(place.store, "SELECT priority FROM job"))
  end)

  it("says in its document how many were skipped", function()
    local _, output = place.run("enqueue", "--from", "orders.jsonl", "--skip-bad", "--json")
    assert.equal('{"count":2,"first":1,"last":2,"kept":0,"replaced":0,"skipped":4}\n', output)
  end)

  it("creates one job for each key", function()
    local line = '{"handler":"work","unique":"k","on_conflict":"%s","unique_for":60}\n'
    local status, output, errors = program.run({ "enqueue", "--from", "-" }, { dir = place.path,
      stdin = line:format("keep") .. line:format("replace") .. line:format("keep") })
    assert.equal(0, status)
    assert.same({ "3 1 1\n", "moonshift: 1 created, 1 kept, 1 replaced\n" }, { output, errors })
  end)

  describe("with lines that are refused as they are written", function()
    local line = '{"handler":"work","unique":"%s","on_conflict":"refuse"}\n'

    before_each(function()
      local text = {}
      for i = 1, 5000 do
        text[i] = line:format(i % 4000 == 7 and "same" or i)
      end
      write("keys.jsonl", table.concat(text))
    end)

    it("writes nothing if there is one", function()
      local status, _, errors = place.run("enqueue", "--from", "keys.jsonl")
      assert.equal(5, status)
      assert.equal('moonshift: keys.jsonl:4007: unique "same" of "work" is held by job 7 '
        .. '(nothing written)\n', errors)
      assert.equal(0, count())
      assert.same({ "0" }, process.sql(place.store, "SELECT count(*) FROM unique_key"))
    end)

    it("goes on with --skip-bad, lists and counts them", function()
      local status, output, errors = place.run("enqueue", "--from", "keys.jsonl", "--skip-bad",
        "--json")
      assert.equal(0, status)
      assert.equal('{"count":4999,"first":1,"last":4999,"kept":0,"replaced":0,"skipped":1}\n',
        output)
      assert.equal('moonshift: keys.jsonl:4007: unique "same" of "work" is held by job 7\n', errors)
      assert.equal(4999, count())
    end)

    it("leaves all of them out", function()
      local text = {}
      for i = 1, 1200 do -- more than one transaction takes
        text[i] = line:format(i)
      end
      write("all.jsonl", table.concat(text))
      place.run("enqueue", "--from", "all.jsonl", "--skip-bad")
      local status, output, errors = place.run("enqueue", "--from", "all.jsonl", "--skip-bad")
      assert.equal(0, status)
      assert.equal("0 - -\n", output)
      assert.equal(1200, select(2, errors:gsub("\n", "\n")))
    end)
  end)

  it("reads lines as they are written in other ways", function()
    write("odd.jsonl", table.concat({
      ' { "payload" : [ 1.50 , "\\u00e4" ] , "handler" : "work" } ',
      '{"handler":"work","payload":{"a":{"b":[]},"text":"a\\"b"},"tenant":"t"}',
      '{"handler":"work","payload":null,"lane":"\\u006c","exclusive":false}',
    }, "\n"))
    assert.equal(0, (place.run("enqueue", "--from", "odd.jsonl")))
    assert.same({ '[1.5,"ä"]||', '{"a":{"b":[]},"text":"a\\"b"}||t', "null|l|" },
      process.sql(place.store, "SELECT payload, lane_key, tenant FROM job ORDER BY id"))
  end)

  it("reads standard input", function()
    local status, output = program.run({ "enqueue", "--from", "-", "--ids" }, { dir = place.path,
      stdin = '{"handler":"work"}\n{"handler":"work"}\n' })
    assert.equal(0, status)
    assert.equal("1\n2\n", output)
  end)

  it("reads a pipe, which it cannot read twice", function()
    local script = [[cd %s && yes '{"handler":"work"}' | head -2500 | %s]]
    local status, output = process.run(script:format(place.path,
      place.line("enqueue", "--from", "-")))
    assert.equal(0, status)
    assert.truthy(output:find("^2500 "))
    assert.equal(2500, count())
  end)

  it("ends where a pipe or a device does not", function()
    for _, word in ipairs { "/dev/zero", "- </dev/zero", "- --skip-bad </dev/zero" } do
      local status, _, errors = process.run(("cd %s && %s %s"):format(place.path,
        place.line("enqueue", "--from"), word))
      assert.equal(2, status)
      assert.truthy(errors:find(": a line longer than 6356992 bytes (nothing written)", 1, true),
        errors)
    end
  end)

  it("leaves half of the room to others", function()
    local disk = place.path .. "/disk"
    process.run("mkdir " .. disk)
    if process.run("mount -t tmpfs -o size=3m tmpfs " .. disk) ~= 0 then
      return pending("a file system of its own cannot be mounted here")
    end
    local status, _, errors = process.run(("cd %s && yes '{\"handler\":\"work\"}' | TMPDIR=%s %s")
      :format(place.path, disk, place.line("enqueue", "--from", "-")))
    process.run("umount " .. disk)
    assert.equal(74, status, errors)
    assert.truthy(errors:find("standard input: has no end, or is too long", 1, true), errors)
    assert.equal(0, count())
  end)

  it("takes an empty file for what it is", function()
    write("empty.jsonl", "")
    local status, output = place.run("enqueue", "--from", "empty.jsonl")
    assert.equal(0, status)
    assert.equal("0 - -\n", output)
  end)

  it("takes unknown handlers that are not to be checked", function()
    write("later.jsonl", '{"handler":"later"}\n')
    local status, output = place.run("enqueue", "--from", "later.jsonl", "--unchecked")
    assert.equal(0, status)
    assert.equal("1 1 1\n", output)
  end)

  it("gives up after twenty bad lines", function()
    write("bad.jsonl", ("[]\n"):rep(1000))
    local status, _, errors = place.run("enqueue", "--from", "bad.jsonl")
    assert.equal(2, status)
    assert.truthy(errors:find("bad.jsonl: 20 bad lines or more, nothing written", 1, true), errors)
  end)

  it("refuses a line without end", function()
    write("long.jsonl", ('"'):rep(8 << 20))
    local status, _, errors = place.run("enqueue", "--from", "long.jsonl")
    assert.equal(2, status)
    assert.truthy(errors:find("long.jsonl:1: longer than 6356992 bytes", 1, true), errors)
  end)

  it("refuses a file that is not there, and a folder", function()
    local status, _, errors = place.run("enqueue", "--from", "none.jsonl")
    assert.equal(4, status)
    assert.equal("moonshift: none.jsonl: No such file or directory\n", errors)
    status, _, errors = place.run("enqueue", "--from", "handlers")
    assert.equal(74, status)
    assert.equal("moonshift: handlers: Is a directory\n", errors)
  end)

  it("shows its progress on a terminal", function()
    write("many.jsonl", ('{"handler":"work"}\n'):rep(20000))
    local status, output = program.run({ "enqueue", "--from", "many.jsonl" }, { dir = place.path,
      terminal = 80 })
    assert.equal(0, status)
    assert.truthy(output:find("\rchecking byte ", 1, true), output)
    assert.truthy(output:find("20000 1 20000", 1, true), output)
  end)

  it("stops when it is interrupted", function()
    -- It gets the signal once it minds INT and TERM, and sleeps: it reads what nobody writes.
    local script = [[cd %s; mkfifo in; exec 3<>in; %s <&3 & pid=$!
      until [ "$(grep -cE '^State:.S|^SigCgt:.*[4-7c-f]...$' /proc/$pid/status)" = 2 ]; do
        sleep 0.02
      done; kill -INT $pid; wait $pid]]
    local status, _, errors = process.run(script:format(place.path,
      place.line("enqueue", "--from", "-")))
    assert.equal(130, status)
    assert.equal("moonshift: interrupted\n", errors)
  end)
end)

describe("enqueue --from, of more lines than one transaction takes", function()
  local place

  before_each(function()
    place = program.place { ["handlers/work.lua"] = "return function() end\n" }
  end)

  after_each(function()
    place.clean()
  end)

  local function write(lines)
    local file = assert(io.open(place.path .. "/jobs.jsonl", "wb"))
    file:write(table.concat(lines, "\n"))
    file:close()
  end

  local function plain(count)
    local lines = {}
    for i = 1, count do
      lines[i] = ('{"handler":"work","payload":%d}'):format(i)
    end
    return lines
  end

  it("gives ids in the order of the lines", function()
    write(plain(9001))
    local status, output = place.run("enqueue", "--from", "jobs.jsonl")
    assert.equal("0 9001 1 9001\n", status .. " " .. output)
    local rows = process.sql(place.store, "SELECT id, payload FROM job ORDER BY id")
    assert.equal(9001, #rows)
    for i, row in ipairs(rows) do
      assert.equal(i .. "|" .. i, row)
    end
    assert.same({ "9001" }, process.sql(place.store, "SELECT count(*) FROM ready"))
    assert.equal(0, (place.run("check", "--store", "sqlite:" .. place.store)))
  end)

  it("replaces the jobs of others only with the end", function()
    place.run("enqueue", "work", '"old"', "--unique", "k", "--in", "P1D")
    local lines = plain(4500)
    lines[10] = '{"handler":"work","payload":"new","unique":"k","on_conflict":"replace"}'
    lines[4400] = '{"handler":"work","unique":"refused","on_conflict":"refuse"}'
    lines[4401] = lines[4400]
    write(lines)
    assert.equal(5, (place.run("enqueue", "--from", "jobs.jsonl")))
    assert.same({ '1|"old"' }, process.sql(place.store, "SELECT id, payload FROM job"))
    local status, output = place.run("enqueue", "--from", "jobs.jsonl", "--skip-bad", "--json")
    assert.equal(0, status)
    assert.truthy(output:find('"count":4499,', 1, true), output)
    assert.truthy(output:find('"kept":0,"replaced":1,"skipped":1', 1, true), output)
    assert.same({ '"new"' }, process.sql(place.store, "SELECT payload FROM job WHERE id=1"))
  end)
end)
