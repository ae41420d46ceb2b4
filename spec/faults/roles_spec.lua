-- Other roles of the server: what they could put into the schema of a store would run with the
-- rights of the role that opens it.
local executors = require "spec.support.executors"
local postgres = require "spec.support.postgres"
local process = require "spec.support.process"

describe("another role of the server", function()
  if not postgres.programs() then
    it("puts nothing into a store", function()
      return pending("no initdb in /usr/lib/postgresql")
    end)
    return
  end

  local server, place, schema
  local number = 0

  local function psql(text)
    assert.equal("", postgres.say(server, text))
  end

  setup(function()
    server = postgres.start()
    psql("CREATE ROLE evil LOGIN; CREATE ROLE maker LOGIN;"
      .. " GRANT CREATE ON DATABASE postgres TO maker;")
  end)

  teardown(function()
    postgres.stop(server)
  end)

  before_each(function()
    number = number + 1
    schema = "jobs_" .. number
    place = executors.place { ["handlers/work.lua"] = "return function() end\n" }
    place.url = postgres.url(server, schema):gsub("owner@", "maker@")
  end)

  after_each(function()
    place.remove()
  end)

  local function moonshift(...)
    return process.moonshift("--store", place.url, ...)
  end

  local function refused(what, ...)
    local status, _, errors = moonshift(...)
    assert.equal(78, status, errors)
    assert.truthy(errors:find(what, 1, true), errors)
  end

  local function everything_is_refused(what)
    refused(what, "enqueue", "work", "-C", place.path)
    refused(what, "job", "list")
    refused(what, "store", "migrate")
    refused(what, "run", place.path, "--drain")
  end

  it("may not be allowed to create in the schema", function()
    place.moonshift("store", "create")
    psql(("GRANT CREATE ON SCHEMA %s TO evil;"):format(schema))
    everything_is_refused('lets the role "evil" create in it')
    psql(("REVOKE CREATE ON SCHEMA %s FROM evil; GRANT ALL ON SCHEMA %s TO PUBLIC;"):format(schema,
      schema))
    everything_is_refused("lets every role create in it")
    psql(("REVOKE ALL ON SCHEMA %s FROM PUBLIC;"):format(schema))
    place.enqueue("work", 1)
  end)

  it("may not own the schema of tables that it has not made", function()
    place.moonshift("store", "create")
    psql(("ALTER SCHEMA %s OWNER TO evil; GRANT ALL ON SCHEMA %s TO maker;"):format(schema, schema))
    everything_is_refused('is owned by the role "evil", which has not made its tables')
  end)

  -- As an administrator prepares it. What the maker has made there is no other program's.
  it("may own the schema if it is a superuser, and the maker's are the tables", function()
    psql(("CREATE SCHEMA %s; GRANT CREATE, USAGE ON SCHEMA %s TO maker;"):format(schema, schema))
    place.moonshift("store", "create")
    assert.same({ "maker" }, postgres.rows(server, schema, ("SELECT tableowner FROM pg_tables"
      .. " WHERE tablename='job' AND schemaname='%s'"):format(schema)))
    place.enqueue("work", 1)
    assert.equal(0, (moonshift("run", place.path, "--drain")))
  end)

  it("may not own the schema in which a store is created", function()
    psql(("CREATE SCHEMA %s AUTHORIZATION evil; GRANT ALL ON SCHEMA %s TO maker;"):format(schema,
      schema))
    refused('is owned by the role "evil", which has not made its tables', "store", "create")
    assert.same({ "0" }, postgres.rows(server, schema,
      ("SELECT count(*) FROM pg_class WHERE relnamespace='%s'::regnamespace"):format(schema)))
  end)

  for _, one in ipairs {
    { "functions", [[CREATE FUNCTION %s.unnest(bigint[]) RETURNS SETOF bigint LANGUAGE sql
      AS 'SELECT 1::bigint';]], "holds the function unnest(bigint[]) of another program" },
    { "functions of our names", [[CREATE FUNCTION %s.payload_json(bigint) RETURNS jsonb LANGUAGE sql
      AS 'SELECT NULL::jsonb';]], "holds the function payload_json(bigint) of another program" },
    { "operators", [[CREATE OPERATOR %s.= (FUNCTION=pg_catalog.int8eq, LEFTARG=bigint,
      RIGHTARG=bigint);]], "holds the operator = of another program" },
    { "types", "CREATE TYPE %s.text AS (value bigint);", "holds the type text of another program" },
    { "domains", "CREATE DOMAIN %s.bytea AS bigint;", "holds the type bytea of another program" },
  } do
    it("has no " .. one[1] .. " in the schema", function()
      place.moonshift("store", "create")
      psql(one[2]:format(schema))
      everything_is_refused(one[3])
    end)
  end

  it("has no tables in the schema", function()
    place.moonshift("store", "create")
    psql(("CREATE TABLE %s.bait(id bigint); ALTER TABLE %s.bait OWNER TO evil;"):format(schema,
      schema))
    everything_is_refused('holds "bait" of the role "evil"')
  end)
end)
