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
local function run(server, command, programs)
  local user = output("getent passwd postgres") ~= "" and "postgres" or "nobody"
  local drop = output("id -u") == "0\n" and ("runuser -u %s -- "):format(user) or ""
  local text, fine = output(("cd %s && %s%s%s/%s 2>&1"):format(server.folder, drop,
    server.environment or "", programs or server.programs, command))
  assert(fine, text)
end

local SETTINGS = "-k %s -c listen_addresses='' -c fsync=off -c full_page_writes=off" ..
  " -c max_connections=200 -c deadlock_timeout=100ms"

-- Starts what is in its data, or starts it again. `how`: "start" or "-m immediate restart".
local function launch(server, how)
  run(server, ("pg_ctl -D %s/data -w -t 600 -o %s %s -l %s/log"):format(server.folder,
    quoted(SETTINGS:format(server.folder) .. (server.settings or "")), how, server.folder))
end

-- What initdb makes is kept beside what was built: a copy takes a third of the time. One that
-- another user has kept cannot be copied.
local function make_data(server)
  local data, build = server.folder .. "/data", os.getenv("BUILD") or "build"
  local kept = ("%s/initdb-%s"):format(build, server.programs:match("([^/]+)/bin$"))
  if os.execute(("cp -a %s %s 2>/dev/null"):format(kept, data)) then
    return
  end
  os.execute("rm -rf " .. data)
  run(server, ("initdb -D %s -U owner --no-sync -A trust -E UTF8 --locale=C"):format(data))
  os.execute(([[{ cp -a %s %s.$$ && mv -T %s.$$ %s || rm -rf %s.$$; } 2>/dev/null]]):format(data,
    kept, kept, kept, kept))
end

-- A running server { folder, programs, settings }, whose owner is "owner". End it with stop.
-- `settings`: flags behind ours.
function postgres.start(settings)
  local server = { programs = assert(postgres.programs()), settings = settings }
  -- The path of a socket has 107 bytes at most.
  server.folder = output("mktemp -d /tmp/moonshift-postgres-XXXXXX"):gsub("\n", "")
  os.execute("chmod 777 " .. server.folder)
  local fine, why = pcall(function()
    make_data(server)
    launch(server, "start")
  end)
  if not fine then
    postgres.stop(server)
    error(why, 0)
  end
  return server
end

-- As a crash would have it: no connection is ended, the log is replayed. A killed one starts.
function postgres.restart(server)
  launch(server, "-m immediate restart")
end

function postgres.stop(server)
  for _, standby in ipairs(server.standbys or {}) do
    pcall(run, standby, ("pg_ctl -D %s/data -w -t 600 -m immediate stop"):format(standby.folder))
  end
  for _, path in ipairs(server.pools or {}) do
    os.execute(("kill $(cat %s) 2>/dev/null"):format(path))
  end
  pcall(run, server, ("pg_ctl -D %s/data -w -t 600 -m immediate stop"):format(server.folder))
  os.execute("rm -rf " .. server.folder)
end

-- Makes the server a standby of the primary, whatever it was before, and starts it.
function postgres.follow(server, primary)
  os.execute(("rm -rf %s/data"):format(server.folder))
  run(primary, ("pg_basebackup -U owner -D %s/data -R -X stream -c fast"
    .. " -d 'application_name=standby host=%s'"):format(server.folder, primary.folder))
  launch(server, "start")
end

-- A standby of the server, in a folder inside its own. Returns what postgres.url and postgres.psql
-- take; it ends with the server. `environment`: words before its programs.
function postgres.standby(server, environment)
  local folder = server.folder .. "/s"
  os.execute(("mkdir %s && chmod 777 %s"):format(folder, folder))
  local standby = { programs = server.programs, folder = folder, settings = server.settings,
    environment = environment }
  postgres.follow(standby, server)
  server.standbys = server.standbys or {}
  table.insert(server.standbys, standby)
  return standby
end

-- What is written from here on does not come to the standby.
function postgres.hold_back(standby)
  local path = standby.folder .. "/hold_back.sql"
  local file = assert(io.open(path, "w"))
  file:write("ALTER SYSTEM SET primary_conninfo='';\nSELECT pg_reload_conf();\n")
  file:close()
  postgres.psql(standby, path)
end

-- The server is gone as after a crash, or is already (nil), and the standby is the primary.
function postgres.promote(server, standby)
  if server then
    run(server, ("pg_ctl -D %s/data -w -t 600 -m immediate stop"):format(server.folder))
  end
  run(standby, ("pg_ctl -D %s/data -w -t 600 promote"):format(standby.folder))
end

local POOL = [[
[databases]
postgres = host=%s dbname=postgres
[pgbouncer]
unix_socket_dir = %s
listen_port = %d
auth_type = trust
auth_file = %s/users
pool_mode = %s
default_pool_size = %d
max_client_conn = 200
server_login_retry = 1
logfile = %s/pool-%s.log
pidfile = %s/pool-%s.pid
]]

-- The program of pgbouncer; nil: it is not installed.
function postgres.pooler()
  local file = io.open("/usr/sbin/pgbouncer")
  return file and file:close() and "/usr/sbin/pgbouncer"
end

-- Starts a pool before the server that hands out connections by the "session", or four by the
-- "transaction". Returns its port; stop ends it. `target`: the folder of the server's socket, if
-- that is another one.
function postgres.pool(server, mode, target)
  local port = 6000 + #(server.pools or {})
  local folder, ini = server.folder, ("%s/pool-%s.ini"):format(server.folder, mode)
  local function write(path, text)
    local file = assert(io.open(path, "w"))
    file:write(text)
    file:close()
    os.execute("chmod 644 " .. path)
  end
  write(folder .. "/users", '"owner" ""\n')
  local size = mode == "session" and 20 or 4
  write(ini, POOL:format(target or folder, folder, port, folder, mode, size, folder, mode, folder,
    mode))
  server.pools = server.pools or {}
  table.insert(server.pools, ("%s/pool-%s.pid"):format(folder, mode))
  run(server, ("pgbouncer -q -d %s >/dev/null"):format(ini), "/usr/sbin")
  return port
end

-- The store of this schema; `database`: where it is not "postgres".
function postgres.url(server, schema, database)
  return ("postgres://owner@/%s?host=%s&schema=%s"):format(database or "postgres", server.folder,
    schema)
end

-- The same of several servers, of which one is the primary.
function postgres.urls(servers, schema)
  local folders = {}
  for i, server in ipairs(servers) do
    folders[i] = server.folder
  end
  return ("postgres://owner@/postgres?host=%s&schema=%s&target_session_attrs=read-write"):format(
    table.concat(folders, ","), schema)
end

-- Rows of a statement on a store, as texts with "|" between their columns.
function postgres.rows(server, schema, statement)
  local rows = {}
  local text = output(("PGOPTIONS='-c search_path=%s' %s/psql -XqAt -h %s -U owner -d postgres"
    .. " -c %s 2>&1"):format(schema, server.programs, quoted(server.folder), quoted(statement)))
  for line in text:gmatch("[^\n]+") do
    rows[#rows + 1] = line
  end
  return rows
end

-- What psql says to a file of SQL.
function postgres.psql(server, file)
  return (output(("%s/psql -X -q -h %s -U owner -d postgres -v VERBOSITY=terse -f %s 2>&1"):format(
    server.programs, quoted(server.folder), quoted(file))))
end

-- The same of a text.
function postgres.say(server, text)
  local path = server.folder .. "/statements.sql"
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  return postgres.psql(server, path)
end

return postgres
