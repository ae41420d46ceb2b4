-- What a command says, and how it ends, when the server of its store refuses it.
local executors = require "spec.support.executors"
local postgres = require "spec.support.postgres"
local process = require "spec.support.process"

describe("a server that refuses", function()
  if not postgres.programs() then
    it("ends a command", function()
      return pending("no initdb in /usr/lib/postgresql")
    end)
    return
  end

  local server, place, url

  setup(function()
    server = postgres.start()
    url = postgres.url(server, "jobs")
  end)

  teardown(function()
    postgres.stop(server)
  end)

  before_each(function()
    place = executors.place { ["handlers/work.lua"] = "return function() end\n" }
  end)

  after_each(function()
    place.remove()
  end)

  local function psql(text)
    assert.equal("", postgres.say(server, text))
  end

  -- The URL with something else in it.
  local function instead(pattern, text)
    return (url:gsub(pattern, text))
  end

  local function refused(status, what, at, ...)
    local words = select("#", ...) > 0 and { ... } or { "enqueue", "work" }
    local code, _, errors = process.moonshift("--store", at, "-C", place.path,
      table.unpack(words))
    assert.equal(status, code, errors)
    assert.truthy(errors:find(what, 1, true), errors)
  end

  it("because it is not there: 69", function()
    refused(69, "cannot connect", instead("host=[^&]*", "host=/nowhere"))
    refused(69, "cannot connect", instead("host=[^&]*", "host=/nowhere"), "run", "--drain")
    refused(69, "cannot connect", "postgres://owner@127.0.0.1:1/postgres", "stats")
  end)

  it("because of the role or the database: 78", function()
    refused(78, 'role "ghost" does not exist', instead("owner@", "ghost@"))
    refused(78, 'database "ghost" does not exist', instead("/postgres%?", "/ghost?"))
  end)

  it("because the role may not log in: 78", function()
    psql "CREATE ROLE outside NOLOGIN;"
    refused(78, 'role "outside" is not permitted to log in', instead("owner@", "outside@"))
  end)

  it("because it has no connection left: 74", function()
    psql "CREATE ROLE single LOGIN CONNECTION LIMIT 0;"
    refused(74, "too many connections for role", instead("owner@", "single@"))
  end)

  it("because it is read only: 69, though it may be asked", function()
    place.url = url
    place.enqueue("work", 1)
    psql "ALTER DATABASE postgres SET default_transaction_read_only=on;"
    refused(69, "the server is read only (expected the primary)", url)
    assert.truthy(place.moonshift("job", "list"):find("work", 1, true))
    psql "SET default_transaction_read_only=off; ALTER DATABASE postgres RESET ALL;"
  end)
end)
