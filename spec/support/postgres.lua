-- A PostgreSQL server of its own in a temporary folder, listening on a socket there. What it has
-- written is worth nothing: it never syncs.
local postgres = {}

local function quoted(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

local function output(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read("a")
  return text, pipe:close()
end

-- The folder of initdb and the other programs; nil: no server is installed.
function postgres.programs()
  local path = output("ls /usr/lib/postgresql/*/bin/initdb 2>/dev/null"):match("[^\n]+")
  return path and path:match("^(.*)/initdb$")
end

-- A server refuses to run as root.
local function run(server, command)
  local user = output("getent passwd postgres") ~= "" and "postgres" or "nobody"
  local drop = output("id -u") == "0\n" and ("runuser -u %s -- "):format(user) or ""
  local text, fine = output(("cd %s && %s%s/%s 2>&1"):format(server.folder, drop, server.programs,
    command))
  assert(fine, text)
end

local SETTINGS = "-k %s -c listen_addresses='' -c fsync=off -c full_page_writes=off" ..
  " -c max_connections=200 -c deadlock_timeout=100ms -c autovacuum_naptime=5s"

-- A running server { folder, programs }, whose owner is "owner". End it with stop.
function postgres.start()
  local server = { programs = assert(postgres.programs()) }
  -- The path of a socket has 107 bytes at most.
  server.folder = output("mktemp -d /tmp/moonshift-postgres-XXXXXX"):gsub("\n", "")
  os.execute("chmod 777 " .. server.folder)
  local fine, why = pcall(function()
    run(server, ("initdb -D %s/data -U owner --no-sync -A trust -E UTF8 --locale=C"):format(
      server.folder))
    run(server, ("pg_ctl -D %s/data -w -t 600 -o %s start -l %s/log"):format(server.folder,
      quoted(SETTINGS:format(server.folder)), server.folder))
  end)
  if not fine then
    postgres.stop(server)
    error(why, 0)
  end
  return server
end

-- As a crash would have it: no connection is ended, the log is replayed.
function postgres.restart(server)
  run(server, ("pg_ctl -D %s/data -w -t 600 -m immediate -o %s restart -l %s/log"):format(
    server.folder, quoted(SETTINGS:format(server.folder)), server.folder))
end

function postgres.stop(server)
  pcall(run, server, ("pg_ctl -D %s/data -w -t 600 -m immediate stop"):format(server.folder))
  os.execute("rm -rf " .. server.folder)
end

-- The store of this schema.
function postgres.url(server, schema)
  return ("postgres://owner@/postgres?host=%s&schema=%s"):format(server.folder, schema)
end

-- What psql says to a file of SQL.
function postgres.psql(server, file)
  return (output(("%s/psql -X -q -h %s -U owner -d postgres -v VERBOSITY=terse -f %s 2>&1"):format(
    server.programs, quoted(server.folder), quoted(file))))
end

return postgres
