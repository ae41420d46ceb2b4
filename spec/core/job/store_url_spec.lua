-- Passwords of store URLs, also of texts that are almost URLs, are in no message and no list.
local process = require "spec.support.process"

describe("a password in a store URL", function()
  local port = "127.0.0.1:1"
  for _, url in ipairs {
    "postgres://me:secret@" .. port .. "/db", "postgres:/me:secret@" .. port .. "/db",
    "postgres:me:secret@" .. port .. "/db", "postgres//me:secret@" .. port .. "/db",
    "postgres:///me:secret@" .. port .. "/db", "me:secret@" .. port .. "/db",
    "POSTGRES://me:secret@" .. port .. "/db", " postgres://me:secret@" .. port .. "/db",
    "postgres://me:sec\1ret@" .. port .. "/db", "postgres://me:secret@" .. port .. "/db\2",
    "postgres:/\1/me:secret@" .. port .. "/db", "postgres:/me:sec\nret@" .. port .. "/db",
    "postgres://me:se@cret@" .. port .. "/db", "postgres:/me:se/cret@" .. port .. "/db",
    "postgres:/me@" .. port .. "/db?password=secret", "postgres://h/db?passwrd=secret",
    "postgres://h/db?pass\1word=secret", "postgres://h/db?PASSWORD=secret&schema=x",
    "postgres://h/db?sslpassword=sec\1ret",
  } do
    it(("is not shown of %q"):format(url), function()
      local dir = process.folder { ["moonshift.lua"] = ("return { store = %q }"):format(url) }
      for _, words in ipairs { { "stats", "--store", url }, { "settings", "--store", url },
        { "settings", "-C", dir }, { "check", "-C", dir }, { "job", "list", "-C", dir } } do
        local _, output, errors = process.moonshift(table.unpack(words))
        local said = output .. errors
        assert.is_nil(said:find("secret", 1, true), said)
        assert.is_nil(said:find("sec\\u0001ret", 1, true) or said:find("cret@", 1, true)
          or said:find("ret@", 1, true) or said:find("u0001ret", 1, true), said)
      end
      process.remove(dir)
    end)
  end

  it("hides nothing of a file's name", function()
    local _, output = process.moonshift("settings", "--store", "sqlite:/tmp/a:b@c.db")
    assert.matches("sqlite:/tmp/a:b@c.db", output, 1, true)
  end)
end)
