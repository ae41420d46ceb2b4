local process = require "spec.support.process"
local statements = require "spec.postgres.statements"

describe("the statements of a C source", function()
  local function of(...)
    return statements.of("a.c", '# 7 "a.c"\n' .. table.concat({ ... }, "\n") .. "\n")
  end

  it("are literals joined, with their line and the types of their parameters", function()
    local found = of("x = db_run(db, error,", '  "DELETE FROM job"',
      '  " WHERE id=?1 AND at<?2", "iT",')
    assert.equal(1, #found)
    assert.equal("DELETE FROM job WHERE id=?1 AND at<?2", found[1].sql)
    assert.equal("bigint, bigint", found[1].types)
    assert.equal(8, found[1].line)
  end)

  it("are read behind a literal with quotes and in a table", function()
    local found = of([[say("a \"SELECT\" b"); static t[] = {"SELECT 1", "waiting"};]])
    assert.equal(1, #found)
    assert.equal("SELECT 1", found[1].sql)
    assert.is_nil(found[1].types)
  end)

  it("are not the parts of a question, nor what a header says", function()
    assert.same({}, of('query_add(query, "SELECT ");', '"SELECT id FROM job WHERE id>"'))
    assert.same({}, of('# 3 "b.h"', '"SELECT 1"'))
  end)

  it("have their parameters numbered as PostgreSQL does", function()
    assert.equal("a=$2 AND b=$1", statements.numbered("a=?2 AND b=?1"))
    assert.equal("a=$1 AND b=$2", statements.numbered("a=? AND b=?"))
  end)
end)

describe("libpq", function()
  local URL = "postgres://nobody@/nowhere?host=/nowhere"

  -- Another library stands in its place.
  local function instead(make)
    local folder = process.folder()
    process.run(make .. " " .. process.quote(folder .. "/libpq.so.5"))
    local status, _, errors = process.run(("LD_LIBRARY_PATH=%s %s"):format(process.quote(folder),
      process.command("stats", "--store", URL)))
    process.remove(folder)
    assert.equal(78, status, errors)
    return errors
  end

  it("is no part of what a command on a file loads", function()
    local _, needed = process.run("ldd " .. process.command())
    assert.truthy(needed:find("libsqlite3", 1, true), needed)
    assert.is_nil(needed:find("libpq", 1, true))
  end)

  it("is named where it is missing or too old", function()
    local missing = instead("touch")
    assert.truthy(missing:find("a store on a server needs libpq.so.5: ", 1, true), missing)
    local old = instead(("cp $(ldd %s | sed -n 's/.*libmd.so.0 => \\([^ ]*\\).*/\\1/p')"):format(
      process.command()))
    assert.truthy(old:find("libpq.so.5 is too old: it has no PQ", 1, true), old)
  end)
end)
