"""The store of a soak: a file of SQLite, or a PostgreSQL server of its own with proxies before it."""
import glob
import json
import os
import sqlite3
import subprocess
import time

import proxies

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
LEFT_OUT = ("deployment_file", "line")  # tables that no check reads


def text_of(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


class File:
    """A database file on a disk of its own."""

    kind = "file"

    def __init__(self, world):
        self.path = os.path.join(world.disk, "soak.db")

    def begin(self):
        pass

    def url(self, _node=None):
        return "sqlite:" + self.path

    def flags(self, _node):
        return []

    def watch(self):
        """The store exists: from here on its triggers write down what happens."""
        store = sqlite3.connect(self.path)
        store.executescript(text_of("witness.sql"))
        store.close()

    def ask(self, sql, *values):
        """The rows, or None where the store cannot be asked now."""
        try:
            store = sqlite3.connect("file:%s?mode=ro" % self.path, uri=True, timeout=5)
            try:
                return store.execute(sql, values).fetchall()
            finally:
                store.close()
        except sqlite3.Error:
            return None

    def log_size(self):
        return os.path.getsize(self.path + "-wal")

    def dump(self):
        """All tables and what SQLite says of the file, after everybody has gone."""
        store = sqlite3.connect(self.path)
        store.text_factory = lambda raw: raw.decode("utf-8", "replace")
        tables = [row[0] for row in store.execute(
            "SELECT name FROM sqlite_schema WHERE type='table' AND name NOT LIKE 'sqlite_%'")]
        dump = {"integrity": [row[0] for row in store.execute("PRAGMA integrity_check")],
                "foreign": [list(row) for row in store.execute("PRAGMA foreign_key_check")]}
        for table in tables:
            if table in LEFT_OUT:
                continue
            rows = store.execute("SELECT * FROM %s" % table)
            names = [column[0] for column in rows.description]
            dump[table] = [dict(zip(names, map(plain, row))) for row in rows]
        store.close()
        return dump

    def end(self):
        pass


def plain(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


SCHEMA = "soak"
DIRECT = ("north", "south")  # their proxies stand before the server itself, the others' before pools
POOLS = {"east": "session", "west": "transaction"}
AWAY = 60  # seconds until a server that was killed answers again


def installed():
    return bool(glob.glob("/usr/lib/postgresql/*/bin/initdb"))


class Server:
    """A PostgreSQL server in a folder of its own. What starts, restarts and ends it is
    spec/support/postgres.lua, as it is for the specs."""

    kind = "server"

    def __init__(self, world):
        self.world = world
        self.folder = None
        self.proxies = {}
        self.ports = {}

    def lua(self, code):
        """Runs Lua code that knows `postgres` and, once it is started, `server`."""
        known = "" if not self.folder else "local server = { folder = '%s', pools = { %s } }\n" % (
            self.folder, ", ".join("'%s/pool-%s.pid'" % (self.folder, mode)
                                   for mode in self.ports)) + \
            "server.programs = postgres.programs()\n"
        done = subprocess.run(
            ["lua5.4", "-e", "package.path = './?.lua;' .. package.path\n"
             "local postgres = require 'spec.support.postgres'\n" + known + code],
            cwd=SOURCE, text=True, capture_output=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return done.stdout.strip()

    def begin(self):
        self.folder = self.lua("io.write(postgres.start().folder)")
        for node in DIRECT:
            self._proxy(node, 5432)
        pooled = os.path.exists("/usr/sbin/pgbouncer")
        for node, mode in POOLS.items() if pooled else ():
            self.ports[mode] = int(self.lua(
                "server.pools = server.pools or {} io.write(postgres.pool(server, '%s'))" % mode))
            self._proxy(node, self.ports[mode])

    def _proxy(self, node, port):
        folder = os.path.join(self.folder, node)
        os.mkdir(folder)
        self.proxies[node] = proxies.Proxy(
            os.path.join(folder, ".s.PGSQL.%d" % port),
            os.path.join(self.folder, ".s.PGSQL.%d" % port))

    def url(self, node=None):
        """An executor comes through its proxy, all others come straight."""
        way = self.folder if node not in self.proxies else "%s/%s" % (self.folder, node)
        mode = POOLS.get(node) if node in self.proxies else None
        return "postgres://owner@/postgres?host=%s&schema=%s" % (way, SCHEMA) + (
            "&port=%d&pool=%s" % (self.ports[mode], mode) if mode else "")

    def flags(self, node):
        return ["--listen-url", self.url()] if POOLS.get(node) == "transaction" else []

    def psql(self, *words, timeout=30):
        return subprocess.run(
            ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-U", "owner", "-d",
             "postgres", *words], text=True, capture_output=True, check=False, timeout=timeout,
            env=dict(os.environ, PGOPTIONS="-c search_path=" + SCHEMA))

    def watch(self):
        done = self.psql("-f", os.path.join(HERE, "witness_server.sql"))
        if done.returncode != 0:
            raise RuntimeError(done.stderr)

    def ask(self, sql, *values):
        for value in values:
            sql = sql.replace("?", "'%s'" % str(value).replace("'", "''"), 1)
        try:
            done = self.psql("-c", "SELECT row_to_json(asked) FROM (%s) AS asked" % sql)
        except subprocess.TimeoutExpired:
            return None
        if done.returncode != 0:
            return None
        return [tuple(value for _, value in json.loads(row, object_pairs_hook=list))
                for row in done.stdout.splitlines()]

    def log_size(self):
        return 0  # is the server's own affair

    def dump(self):
        dump = {"integrity": ["ok"], "foreign": []}  # `moonshift check` compares the tables
        for (table,) in self.ask("SELECT relname FROM pg_class WHERE relkind='r' AND relnamespace="
                                 "'%s'::regnamespace" % SCHEMA):
            if table not in LEFT_OUT:
                order = "ORDER BY seq" if table == "witness" else ""
                done = self.psql("-c", "SELECT row_to_json(t) FROM (SELECT * FROM \"%s\" %s) AS t" % (
                    table, order), timeout=300)
                if done.returncode != 0:
                    raise RuntimeError(done.stderr)
                dump[table] = [json.loads(row) for row in done.stdout.splitlines()]
        return dump

    def end(self):
        for proxy in self.proxies.values():
            proxy.end()
        if self.folder:
            self.lua("postgres.stop(server)")
            self.folder = None

    # ---- what is done to it

    def backends(self):
        """Processes of the server that serve executors and commands."""
        return [pid for (pid,) in self.ask(
            "SELECT pid FROM pg_stat_activity WHERE backend_type='client backend'"
            " AND pid<>pg_backend_pid() AND application_name<>'psql'") or []]

    def restart(self):
        self.lua("postgres.restart(server)")

    def await_answer(self):
        end = time.monotonic() + AWAY
        while time.monotonic() < end and self.ask("SELECT 1") is None:
            time.sleep(0.05)
