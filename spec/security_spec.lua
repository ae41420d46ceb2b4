-- docs/security.md, line by line: each line of the page names the sentence here that proves it.
local process = require "spec.support.process"
local program = require "spec.support.program"
local rules = require("moonshift.core").rules

describe("a handler", function()
  local place

  local TRIES = [[
return function(job)
  local store, found = job.payload.store, {}
  local function tell(what, done, message)
    found[#found + 1] = what .. " " .. (done and "opened" or tostring(message))
  end
  for _, suffix in ipairs(job.payload.suffixes) do
    local path = store .. suffix
    local full = os.getenv("PWD") .. "/" .. path
    for _, name in ipairs { path, "./" .. path, "lib/../" .. path, full } do
      tell(name, io.open(name, "a"))
      tell(name, loadfile(name))
      tell(name, os.remove(name))
      tell(name, os.rename(name, "elsewhere"))
      tell(name, os.rename("handlers/tries.lua", name))
      tell(name, pcall(io.lines, name))
      tell(name, pcall(io.output, name))
    end
  end
  local file = io.open("found", "w")
  file:write(table.concat(found, "\n"), "\n")
  file:close()
end
]]

  before_each(function()
    place = program.place { ["handlers/tries.lua"] = TRIES, ["lib/x.lua"] = "",
      ["handlers/near.lua"] = [[return function()
        for _, name in ipairs { "moonshift.db-notes", "moonshift.db-slots-x", "other.db-tray" } do
          assert(io.open(name, "w")):close()
        end
      end]] }
  end)

  after_each(function()
    place.clean()
  end)

  local function run(...)
    assert.equal(0, (place.run("enqueue", ...)))
    local status, _, errors = place.run("run", "--drain")
    assert.equal(0, status, errors)
  end

  local function all_refused(count)
    local found = 0
    for line in process.read(place.path .. "/found"):gmatch("[^\n]+") do
      assert.truthy(line:find("this is the store's file", 1, true), line)
      found = found + 1
    end
    assert.equal(count, found)
  end

  it("is refused every file of the store, by whatever name, there or not", function()
    run("tries", '{"store":"moonshift.db","suffixes":["","-wal","-shm","-journal","-gate","-tray",'
      .. '"-slots-1","-slots-77","-bell-1","-bell-77"]}')
    all_refused(10 * 4 * 7)
  end)

  it("may use files beside the store that are not of it", function()
    run("near")
    assert.same({ "1" }, process.sql(place.store, "SELECT count(*) FROM ended WHERE outcome=1"))
  end)

  it("is refused a second name of a file of the store", function()
    place.run("stats")
    run("near")
    process.run(("cd %s && ln moonshift.db second && ln -s moonshift.db-gate third"):format(
      place.path))
    run("tries", '{"store":"","suffixes":["second","third"]}')
    all_refused(2 * 4 * 7)
  end)
end)

describe("another user of the machine, who may write into the folder of the store", function()
  local place

  before_each(function()
    place = program.place { ["handlers/work.lua"] = "return function() end", ["secret"] = "text" }
    assert.equal(0, (place.run("enqueue", "work")))
  end)

  after_each(function()
    place.clean()
  end)

  for _, suffix in ipairs { "-gate", "-tray" } do
    for kind, link in pairs { link = "ln -s", ["hard link"] = "ln" } do
      it(("gets no file by a %s in the place of %s"):format(kind, suffix), function()
        process.run(("cd %s && rm -f moonshift.db%s && %s secret moonshift.db%s"):format(place.path,
          suffix, link, suffix))
        local status, _, errors = place.run("enqueue", "work")
        assert.equal(74, status)
        assert.truthy(errors:find("moonshift.db" .. suffix .. '" is a ', 1, true), errors)
        assert.equal("text", process.read(place.path .. "/secret"))
      end)
    end
  end

  it("gets none by links in the places of an executor's slots and bell", function()
    process.run(("cd %s && ln -s secret moonshift.db-slots-1 && ln secret moonshift.db-bell-1")
      :format(place.path))
    assert.equal(0, (place.run("run", "--drain")))
    assert.equal("text", process.read(place.path .. "/secret"))
  end)
end)

describe("text that somebody has made up", function()
  local place

  before_each(function()
    place = program.place { ["handlers/work.lua"] = [[
return function(job)
  local refused = {}
  for _, options in ipairs { { lane = "a\0b" }, { tenant = "a\0b" }, { unique = "a\0b" },
    { category = "a\0b" }, { instance = "a\0b" }, { activity = "a\0b" } } do
    refused[#refused + 1] = not pcall(job.enqueue, job, "work", {}, options)
  end
  refused[#refused + 1] = not pcall(job.enqueue, job, "work\0x")
  for i, one in ipairs(refused) do
    assert(one, "taken: " .. i)
  end
  job:progress(0.5, "a\0b")
  print("a\0b")
  error("a\0b", 0)
end]] }
  end)

  after_each(function()
    place.clean()
  end)

  it("has no zero byte in a name, and U+FFFD for one in messages and lines", function()
    assert.equal(0, (place.run("enqueue", "work", "--retries", "1")))
    local _, _, log = place.run("run", "--drain")
    assert.truthy(log:find("a\u{FFFD}b", 1, true), log)
    assert.same({ "a\u{FFFD}b" }, process.sql(place.store, "SELECT message FROM job"))
    assert.same({ "a\u{FFFD}b" }, process.sql(place.store, "SELECT text FROM progress"))
    assert.same({ "1" }, process.sql(place.store, "SELECT count(*) FROM job"))
  end)
end)

describe("text that looks like code", function()
  local place

  -- For the database, the shell, a format, a path, and an expression.
  local TEXTS = { "x'; DROP TABLE job; --", 'x" OR 1=1 --', "x%' OR '1'='1", "$(touch pwned)",
    "`touch pwned`", "; touch pwned", "%s%n%d", "../../pwned", "${payload.x}",
    "${os.execute('touch pwned')}", "x) UNION SELECT * FROM job --" }
  local FILTERS = { lane = "--lane", tenant = "--tenant", category = "--category",
    instance = "--instance", unique = "--unique" }

  before_each(function()
    place = program.place { ["handlers/work.lua"] = "return function() error('no', 0) end" }
  end)

  after_each(function()
    place.clean()
  end)

  it("is found as it is by every filter, and changes nothing else", function()
    local lines = {}
    for i, text in ipairs(TEXTS) do
      lines[i] = rules.encode { handler = "work", lane = text, tenant = text, category = text,
        instance = text, unique = text, payload = { text = text, [text] = i } }
    end
    local file = assert(io.open(place.path .. "/jobs.jsonl", "w"))
    file:write(table.concat(lines, "\n"), "\n")
    file:close()
    local status, _, errors = place.run("enqueue", "--from", "jobs.jsonl")
    assert.equal(0, status, errors)
    for i, text in ipairs(TEXTS) do
      local searches = { { "--payload", "text=" .. text } }
      for _, flag in pairs(FILTERS) do
        searches[#searches + 1] = { flag, text }
      end
      for _, words in ipairs(searches) do
        local _, output, problem = place.run("job", "list", "--json", table.unpack(words))
        local found = rules.decode(output)
        assert.equal(1, found and #found, words[1] .. " " .. words[2] .. ": " .. problem)
        assert.equal(i, found[1].id)
      end
    end
    assert.is_nil(io.open(place.path .. "/pwned"))
    assert.same({ tostring(#TEXTS) }, process.sql(place.store, "SELECT count(*) FROM job"))
  end)

  it("is refused as a field to sort by, and finds nothing as a path into payloads", function()
    place.run("enqueue", "work")
    for _, text in ipairs(TEXTS) do
      assert.equal(2, (place.run("job", "list", "--sort", text)))
      local status, output = place.run("job", "list", "--json", "--payload", text .. "=1")
      assert.is_true(status == 2 or (status == 0 and #rules.decode(output) == 0), text .. output)
    end
    assert.same({ "1" }, process.sql(place.store, "SELECT count(*) FROM job"))
  end)
end)

describe("the page on security", function()
  it("names a proof that is there for each of its lines", function()
    local count, offenders = 0, {}
    for line in process.read("docs/security.md"):gmatch("[^\n]+") do
      local path, sentence = line:match('^| .+%. | `(spec/[%w_./]+)` "([^"]+)" |$')
      if path and process.read(path):find(sentence, 1, true) then
        count = count + 1
      elseif path or line:find("| `spec/", 1, true) then
        offenders[#offenders + 1] = line
      end
    end
    assert.same({}, offenders)
    assert.is_true(count >= 20, count .. " lines")
  end)
end)
