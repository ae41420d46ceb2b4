-- The stores of the specs over PostgreSQL. Specs name stores of SQLite; where SPEC_STORE is given,
-- "postgres://…?schema={}", each of them is a schema instead: "sqlite::memory:" a fresh one,
-- "sqlite:PATH" the one of that path. `spec/postgres/specs` starts the server and makes what
-- `stores.prepare` says. Loaded as busted's helper, it turns what the module opens.
--
-- Making a schema takes a tenth of a second, emptying one some milliseconds. So a schema is given
-- out again when no session has it open and the folder of its path is gone.
local stores = { template = os.getenv("SPEC_STORE") }

-- spec.empty(name) makes a schema what the schema "template" was when spec.remember() was called.
-- One whose tables have changed goes; one that is not there is none. A session that has just begun
-- pays for every table that it opens, so tables whose files are empty are left alone. A large table
-- gets a new file.
-- spec.fresh(kept) empties a schema that is not in use, and gives its name. Where there is none, it
-- gives the name of one that is still to be made. The session that asked has it from then on. A
-- session of the program is named as its schema is.
stores.prepare = [[
CREATE SCHEMA spec;
CREATE SEQUENCE spec.number;
CREATE FUNCTION spec.size(relation oid) RETURNS bigint LANGUAGE sql AS $$
  SELECT (pg_stat_file(pg_relation_filepath(relation))).size $$;
CREATE FUNCTION spec.relations(name text)
RETURNS TABLE(id oid, relation name, kind "char", columns bigint) LANGUAGE sql AS $$
  SELECT oid, relname, relkind, (SELECT count(*) FROM pg_attribute WHERE attrelid=c.oid
      AND NOT attisdropped) FROM pg_class c
    WHERE relnamespace=name::regnamespace AND relkind IN ('r', 'i', 'S') $$;
CREATE TABLE spec.template(relation name, kind "char", columns bigint, filled bool, start bigint,
  value bigint);
CREATE FUNCTION spec.remember() RETURNS void LANGUAGE sql AS $$
  INSERT INTO spec.template SELECT relation, kind, columns, kind='r' AND spec.size(id)>0,
    (SELECT seqstart FROM pg_sequence WHERE seqrelid=id),
    CASE WHEN kind='S' THEN pg_sequence_last_value(id) END FROM spec.relations('template') $$;
-- A trigger that counts rows would count them in a table that is emptied, too.
CREATE FUNCTION spec.empty(name text) RETURNS void LANGUAGE plpgsql
  SET session_replication_role TO replica AS $$
DECLARE one record; bytes bigint;
BEGIN
  IF to_regnamespace(name) IS NULL THEN
    RETURN;
  ELSIF EXISTS(SELECT 1 FROM spec.template t FULL JOIN spec.relations(name) r USING (relation, kind)
      WHERE r.columns IS DISTINCT FROM t.columns) THEN
    EXECUTE format('DROP SCHEMA %I CASCADE', name);
    RETURN;
  END IF;
  FOR one IN SELECT * FROM spec.template JOIN spec.relations(name) USING (relation, kind) LOOP
    bytes := CASE one.kind WHEN 'r' THEN spec.size(one.id) END;
    IF bytes > 100000 THEN
      EXECUTE format('TRUNCATE %I.%I', name, one.relation);
    ELSIF bytes > 0 THEN
      EXECUTE format('DELETE FROM %I.%I', name, one.relation);
    END IF;
    IF one.filled THEN
      EXECUTE format('INSERT INTO %I.%I SELECT * FROM template.%I', name, one.relation,
        one.relation);
    ELSIF one.kind='S' AND pg_sequence_last_value(one.id) IS DISTINCT FROM one.value THEN
      PERFORM setval(one.id::regclass, coalesce(one.value, one.start), one.value IS NOT NULL);
    END IF;
  END LOOP;
END $$;
CREATE FUNCTION spec.fresh(kept text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE found text;
BEGIN
  FOR found IN SELECT n.nspname FROM pg_namespace n WHERE starts_with(n.nspname, 'spec_')
    AND n.nspname <> ALL(kept)
    AND EXISTS(SELECT 1 FROM pg_class c WHERE c.relnamespace=n.oid AND c.relname='schema_version')
    AND NOT EXISTS(SELECT 1 FROM pg_stat_activity a WHERE a.application_name=n.nspname)
    ORDER BY n.oid LOOP
    IF pg_try_advisory_lock(hashtext(found)::bigint) THEN
      PERFORM spec.empty(found);
      RETURN found;
    END IF;
  END LOOP;
  found := 'spec_' || nextval('spec.number');
  PERFORM pg_advisory_lock(hashtext(found)::bigint);
  RETURN found;
END $$;
]]

local session -- of psql, for the whole spec file
local schemas = {} -- by path

-- A psql that lives as long as this process; what it says comes through a pipe with a name.
local function connect()
  local host = stores.template:match("host=([^&]+)")
  local name = os.tmpname()
  os.remove(name)
  os.execute("mkfifo " .. name)
  local writer = assert(io.popen(("exec psql -X -q -A -t -h %s -U owner -d postgres >%s 2>&1")
    :format(host, name), "w"))
  session = { writer = writer, reader = assert(io.open(name)) }
  os.remove(name)
end

-- Rows of a question as texts with "|" between their columns.
local function ask(question)
  if not session then
    connect()
  end
  session.writer:write(question, ";\nSELECT '(end)';\n")
  session.writer:flush()
  local rows = {}
  for line in session.reader:lines() do
    if line == "(end)" then
      return rows
    end
    rows[#rows + 1] = line
  end
  error("psql has ended: " .. table.concat(rows, "\n"))
end

-- Schemas of paths whose folder is there still.
local function kept()
  local names = {}
  for path, name in pairs(schemas) do
    local folder = path:match("^(.*)/") or "."
    if os.rename(folder, folder) then
      names[#names + 1] = ("'%s'"):format(name)
    else
      schemas[path] = nil
    end
  end
  return table.concat(names, ",")
end

local function fresh()
  local name = ask(("SELECT spec.fresh(ARRAY[%s]::text[])"):format(kept()))[1]
  assert(name and name:find("^spec_%d+$"), name)
  return name
end

-- The schema of a path; it is made the first time that it is asked for.
local function of(path)
  schemas[path] = schemas[path] or fresh()
  return schemas[path]
end

-- The URL that stands for one of SQLite; every other word is given back. A relative path begins in
-- `folder`, if that is given.
function stores.url(url, folder)
  local path = stores.template and type(url) == "string" and url:match("^sqlite:(.+)$")
  if not path then
    return url
  end
  local absolute = path:sub(1, 1) == "/" and path or folder and folder .. "/" .. path or path
  local name = path == ":memory:" and fresh() or of(absolute)
  return (stores.template:gsub("{}", name))
end

-- The URL of a store that nobody has made.
function stores.absent()
  return stores.template and stores.template:gsub("{}", "absent"):gsub("&application_name=.*$", "")
    or "sqlite:absent.db"
end

-- What messages call the store of this path.
function stores.shown(path)
  return stores.template and stores.url("sqlite:" .. path):gsub("&application_name=.*$", "") or path
end

-- A payload is bytes there, which psql tells in hex.
local function payload(bar, digits)
  return bar .. digits:gsub("%x%x", function(byte)
    return string.char(tonumber(byte, 16))
  end)
end

-- json_extract(column, '$.key'), as a text.
local function extract(column, key)
  return ("(%s::json->>'%s')"):format(column, key)
end

-- Rows of the store of this path, put to the database by its own tool; nil: it is a file.
function stores.sql(path, question)
  if not schemas[path] then
    return nil
  end
  question = question:gsub("json_extract%(([%w_.]+), '%$%.([%w_]+)'%)", extract)
  local rows = ask(("SET search_path=%s; %s; SET search_path=public"):format(schemas[path],
    (question:gsub(";%s*$", ""))))
  for i, row in ipairs(rows) do
    rows[i] = ("|" .. row):gsub("(|)\\x(%x+)", payload):sub(2)
  end
  return rows
end

-- The first part of the lock that a transaction takes: FNV-1a of the schema's name.
local function class(name)
  local sum = 2166136261
  for i = 1, #name do
    sum = (sum ~ name:byte(i)) * 16777619 & 0xFFFFFFFF
  end
  return sum < 1 << 31 and sum or sum - (1 << 32)
end

-- A command of the shell that runs another one while nobody else writes to the store of this path;
-- nil: it is a file.
function stores.holding(path, command)
  local host = stores.template and stores.template:match("host=([^&]+)")
  return host and ([[psql -X -q -h %s -U owner -d postgres -c BEGIN -c ]]
    .. [["SELECT pg_advisory_xact_lock(%d, 1)" -c '\! %s' -c COMMIT >/dev/null]]):format(host,
      class(of(path)), (command:gsub("'", "'\\''")))
end

if stores.template then
  local core = require "moonshift.core"
  local open = core.open
  core.open = function(given)
    if given.settings and given.settings.store then
      given.settings.store = stores.url(given.settings.store)
    end
    return open(given)
  end
end

return stores
