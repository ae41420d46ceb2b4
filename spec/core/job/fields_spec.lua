-- A job's fields stand in one list. A column that is added there, in the schema and in an upgrade
-- is a field of a job everywhere. Builds a copy of the program that has such a column.
local process = require "spec.support.process"
local rules = require("moonshift.core").rules

local quote = process.quote

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

-- Puts `new` behind the only place that has `old`.
local function add(path, old, new)
  local text = process.read(path)
  local _, last = text:find(old, 1, true)
  assert(last and not text:find(old, last, true), path .. " has no single " .. old)
  write(path, text:sub(1, last) .. new .. text:sub(last + 1))
end

local function shell(...)
  local status, output, errors = process.run(table.concat({ ... }, " "))
  assert.equal(0, status, output .. errors)
  return output
end

-- What does not know a job's fields is not compiled again: Make tells by the dates. With sanitizers
-- all is compiled, as the copy has none.
local function keep_objects(build)
  if os.getenv("SPEC_TESTING") and os.getenv("SPEC_TESTING") ~= os.getenv("SPEC_PROGRAM") then
    local from = os.getenv("SPEC_PROGRAM"):match("^(.*)/")
    shell("mkdir", quote(build), "&& cp -rp", quote(from .. "/core"), quote(from .. "/gen"),
      quote(build))
  end
end

describe("a column that is added to the list of fields", function()
  local tree, store, url

  -- The copy's program; the words that follow are quoted.
  local function copy(...)
    local words = { quote(tree .. "/build/moonshift") }
    for _, word in ipairs { ... } do
      words[#words + 1] = quote(word)
    end
    return shell(table.concat(words, " "))
  end

  -- Lua text run by a host of the copy's module, with `engine`.
  local function host(text)
    write(tree .. "/host.lua", ([[
      local engine = assert(require("moonshift").open { scripts = %q, store = %q })
      %s
      engine:close()]]):format(tree .. "/shop", url, text))
    return shell("cd", quote(tree), "&& LUA_PATH='lua/?.lua;lua/?/init.lua'",
      "LUA_CPATH='build/lua/?.so' lua5.4 host.lua")
  end

  lazy_setup(function()
    tree = process.folder { ["shop/handlers/call.lua"] = [[
      return function(job)
        if job.payload.next then
          job:enqueue("call", nil, { region = job.region .. " again" })
        end
        return { region = job.region, seen = #job.engine:jobs({ region = job.region }):list() }
      end]] }
    store = tree .. "/jobs.db"
    url = "sqlite:" .. store
    shell("cp -rp core lua scripts Makefile", quote(tree))
    keep_objects(tree .. "/build")
    -- A job of the program as it is, in a store that the copy will bring up to date.
    shell(process.command("enqueue", "call", "--in", "1h", "-C", tree .. "/shop", "--store", url))
    add(tree .. "/core/job/fields.h",
      '"tenant",          ROW,    tenant,          NAME,  FIND)    \\\n',
      '    FIELD(region, TEXT, "region", ROW, region, NAME, FIND) \\\n')
    local schema = tree .. "/core/store/sqlite/schema.sql"
    local text = process.read(schema)
    local head, rest = text:match("^(.-CREATE TABLE job%(.-)(%) STRICT;.*)$")
    write(schema, head:gsub("%s*%-%-[^\n]*$", "") .. ", region TEXT" .. rest)
    local last = 2
    local upgrade = tree .. "/core/store/sqlite/upgrade_%d.sql"
    while process.read(upgrade:format(last)) ~= "" do
      last = last + 1
    end
    write(upgrade:format(last), "ALTER TABLE job ADD COLUMN region TEXT;")
    shell("cd", quote(tree), "&& env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u BUILD -u LUA",
      "-u SANITIZE make -s all CFLAGS=-O0 WARN=")
    host [[
      engine:enqueue("call", { next = true }, { region = "north" })
      engine:enqueue("call", nil, { region = "south", unique = "one" })
      engine:enqueue_many {
        { "call", nil, { region = "west" } }, { "call", nil, { region = "east", priority = 3 } },
      }]]
  end)

  lazy_teardown(function()
    process.remove(tree)
  end)

  it("is null in jobs that were there", function()
    local jobs = rules.decode(copy("job", "list", "--json", "--store", url))
    assert.equal(5, #jobs)
    assert.equal(rules.null, jobs[1].region)
  end)

  it("is kept by every way to create a job, and shown as JSON", function()
    local regions = {}
    for _, job in ipairs(rules.decode(copy("job", "list", "--json", "--store", url))) do
      regions[#regions + 1] = job.region ~= rules.null and job.region or nil
    end
    assert.same({ "north", "south", "west", "east" }, regions)
  end)

  it("is a filter and a sort key", function()
    assert.equal("east\neast north south west\n", host [[
      local list, found = {}, engine:jobs({ region = { "east", "nowhere" } }):list()
      for _, job in ipairs(engine:jobs({ state = "ready" }):sort("region"):list()) do
        list[#list + 1] = job.region
      end
      print(found[1].region)
      print(table.concat(list, " "))]])
  end)

  it("is read from lines of a file, and checked as a name", function()
    write(tree .. "/lines", '{"handler":"call","region":"line"}\n')
    copy("enqueue", "--from", tree .. "/lines", "-C", tree .. "/shop", "--store", url)
    local job = rules.decode(copy("job", "list", "--json", "--store", url))[6]
    assert.equal("line", job.region)
    write(tree .. "/lines", '{"handler":"call","region":7}\n')
    local status, _, errors = process.run(quote(tree .. "/build/moonshift") .. " enqueue --from "
      .. quote(tree .. "/lines") .. " -C " .. quote(tree .. "/shop") .. " --store " .. quote(url))
    assert.not_equal(0, status)
    assert.truthy(errors:find("region 7: expected a text", 1, true), errors)
  end)

  it("is a field of the job that a handler gets, and of those that it creates", function()
    copy("run", "--drain", tree .. "/shop", "--store", url)
    local results = {}
    for _, entry in ipairs(rules.decode(copy("log", "--json", "--store", url))) do
      if entry.result and entry.result ~= rules.null then
        results[#results + 1] = entry.result.region .. " " .. math.tointeger(entry.result.seen)
      end
    end
    table.sort(results)
    assert.same({ "east 1", "line 1", "north 1", "north again 1", "south 1", "west 1" }, results)
  end)
end)
