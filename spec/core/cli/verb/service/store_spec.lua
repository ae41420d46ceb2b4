local executors = require "spec.support.executors"
local postgres = require "spec.support.postgres"
local process = require "spec.support.process"
local program = require "spec.support.program"

local FILES = { ["handlers/work.lua"] = "return function() end\n" }

describe("store create, store migrate and store grants #file", function()
  local place

  before_each(function()
    place = executors.at(program.place(FILES))
  end)

  after_each(function()
    place.clean()
  end)

  local function said(status, text, ...)
    local code, output, errors = place.run(...)
    assert.equal(status, code, errors)
    assert.truthy((output .. errors):find(text, 1, true), output .. errors)
    return output
  end

  it("makes a file once, and says which schema it has", function()
    said(0, "made, schema 8", "store", "create")
    said(0, "schema 8 already", "store", "create")
    said(0, '"was":8,"schema":8,"oldest":8,"waits":0,"for":null', "store", "migrate", "--json")
  end)

  it("migrates nothing that is not there", function()
    said(4, "no such file", "store", "migrate")
  end)

  it("knows no roles of a file", function()
    said(78, "a file has no roles", "store", "grants")
  end)

  it("prints what is granted to roles of these names, and asks no server", function()
    local url = "postgres://nowhere.invalid/jobs?schema=first"
    local text = said(0, "", "store", "grants", "--store", url, "--worker", 'A "b"')
    for _, line in ipairs { 'ALL TABLES IN SCHEMA "first" TO "A ""b""";',
      'SCHEMA IF NOT EXISTS "first" AUTHORIZATION "moonshift_owner";',
      'GRANT SELECT ON ALL TABLES IN SCHEMA "first" TO "moonshift_reader";' } do
      assert.truthy(text:find(line, 1, true), text)
    end
    said(0, '{"statements":["CREATE SCHEMA', "store", "grants", "--store", url, "--json")
    said(2, "without control characters", "store", "grants", "--store", url, "--owner", "a\nb")
  end)
end)

describe("the roles of a server", function()
  if not postgres.programs() then
    it("have the rights that are granted", function()
      return pending("no initdb in /usr/lib/postgresql")
    end)
    return
  end

  local server, place

  setup(function()
    server = postgres.start()
  end)

  teardown(function()
    postgres.stop(server)
  end)

  before_each(function()
    place = executors.place(FILES)
  end)

  after_each(function()
    place.remove()
  end)

  local function psql(text)
    assert.equal("", postgres.say(server, text))
  end

  local function url(role, schema)
    return (postgres.url(server, schema):gsub("owner@", role .. "@"))
  end

  -- Runs a verb as a role; its whole output.
  local function as(role, schema, status, ...)
    local code, output, errors = process.moonshift("--store", url(role, schema), "-C", place.path,
      ...)
    assert.equal(status, code, errors)
    return output .. errors
  end

  local function has(text, what)
    assert.truthy(text:find(what, 1, true), text)
  end

  local function granted(schema)
    psql(as("owner", schema, 0, "store", "grants"))
  end

  it("let the owner make it, the worker run it and the reader ask", function()
    psql("CREATE ROLE moonshift_owner LOGIN; CREATE ROLE moonshift_worker LOGIN;" ..
      "CREATE ROLE moonshift_reader LOGIN;")
    granted("first")
    has(as("moonshift_worker", "first", 78, "enqueue", "work"),
      'cannot make it (expected "moonshift store create" as the owner of its tables)')
    has(as("moonshift_worker", "first", 4, "job", "list"),
      'empty (create it with "moonshift store create")')
    has(as("moonshift_owner", "first", 0, "store", "create"), "made, schema 8")
    as("moonshift_worker", "first", 0, "enqueue", "work", "--count", "20")
    as("moonshift_worker", "first", 0, "run", "--drain")
    as("moonshift_worker", "first", 0, "definition", "suspend", "work")
    has(as("moonshift_reader", "first", 0, "log", "--json"), '"work"')
  end)

  -- All of these are words of SQL that cannot stand for a name without quotes.
  it("have stores in schemas that are called as words of SQL are", function()
    psql('CREATE ROLE "user" LOGIN;')
    for _, word in ipairs { "order", "check", "end", "window" } do
      psql(as("owner", word, 0, "store", "grants", "--owner", "owner", "--worker", "user",
        "--reader", "user"))
      has(as("owner", word, 0, "store", "create"), "made, schema 8")
      psql(as("owner", word, 0, "store", "functions", "--enqueuer", "user"))
      psql(([[DO $$ BEGIN PERFORM "%s".enqueue('work', NULL); END $$;]]):format(word))
      as("user", word, 0, "enqueue", "work")
      as("user", word, 0, "run", "--drain")
      local _, entries = as("user", word, 0, "log", "--json"):gsub('"outcome":"successful"', "")
      assert.equal(2, entries)
      as("owner", word, 0, "store", "migrate")
    end
  end)

  it("are told of a store without a version, and back up and restore by other tools", function()
    as("owner", "third", 0, "store", "create")
    for verb, tool in pairs { backup = "pg_dump --schema=third", restore = "pg_restore" } do
      local expected = ("by its own tools (expected %s)"):format(tool)
      has(as("owner", "third", 78, verb, "jobs.db"), expected)
    end
    psql("DELETE FROM third.schema_version;")
    for _, words in ipairs { { "stats" }, { "store", "migrate" }, { "run", "--drain" } } do
      has(as("owner", "third", 65, table.unpack(words)),
        "damaged: schema_version has no row (expected one)")
    end
  end)

  it("make no store of the tables of another program", function()
    psql("CREATE SCHEMA other; CREATE TABLE other.schema_version(n bigint);")
    has(as("owner", "other", 78, "store", "create"),
      'not a moonshift store (its schema holds "schema_version" of another program)')
  end)

  it("are told by name what they lack", function()
    psql("CREATE ROLE stranger LOGIN;")
    as("owner", "second", 0, "store", "create")
    local all = "USAGE on schema second; SELECT, INSERT, UPDATE, DELETE on all tables; " ..
      "SELECT on all views\n"
    has(as("stranger", "second", 78, "run", "--drain"), 'the role "stranger" lacks rights')
    has(as("stranger", "second", 78, "run", "--drain"), all)
    psql("GRANT USAGE ON SCHEMA second TO stranger;" ..
      "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA second TO stranger;" ..
      "REVOKE UPDATE, DELETE ON second.lane, second.rate FROM stranger;" ..
      "REVOKE INSERT ON second.job FROM stranger;")
    local text = as("stranger", "second", 78, "run", "--drain")
    has(text, "INSERT on tables job; UPDATE, DELETE on tables lane, rate\n")
    as("stranger", "second", 0, "job", "list")
    psql("REVOKE SELECT ON second.job FROM stranger;")
    has(as("stranger", "second", 78, "job", "list"), "SELECT on tables job\n")
  end)
end)
