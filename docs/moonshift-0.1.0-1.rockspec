-- For a checkout: luarocks --lua-version=5.4 make docs/moonshift-0.1.0-1.rockspec
-- `make rockspec SOURCE=git+https://…` writes one whose source is the tag in that repository.
-- The Makefile builds, LuaRocks says where to. libpq and libcurl are loaded when they are used.
rockspec_format = "3.0"
package = "moonshift"
version = "0.1.0-1"
source = { url = "git+file://.", tag = "v0.1.0" }
description = {
  summary = "A durable job executor scripted in Lua",
  detailed = [[
    Jobs live in an SQLite file or a PostgreSQL database and are run by handlers in Lua: now or
    later, by priority, one at a time per key, retried by rules. The module opens such a store and
    may carry its own executor.]],
}
supported_platforms = { "linux" }
dependencies = { "lua >= 5.4, < 5.5" }
external_dependencies = {
  SQLITE = { header = "sqlite3.h" },
  LIBEV = { header = "ev.h" },
  JANSSON = { header = "jansson.h" },
  LIBMD = { header = "sha2.h" },
  EXPAT = { header = "expat.h" },
  LIBPQ = { library = "pq" },
  LIBCURL = { library = "curl" },
}
build = {
  type = "make",
  build_variables = {
    LUA = "$(LUA)",
    LUA_INCDIR = "$(LUA_INCDIR)",
    CFLAGS = "$(CFLAGS) -g",
    WERROR = "",
  },
  install_variables = {
    LUA = "$(LUA)",
    prefix = "$(PREFIX)",
    bindir = "$(BINDIR)",
    luadir = "$(LUADIR)",
    cmoddir = "$(LIBDIR)",
    DESTDIR = "/", -- LuaRocks moves the files on: there is nothing to export yet
    pkgconfigdir = "",
    unitdir = "",
  },
}
