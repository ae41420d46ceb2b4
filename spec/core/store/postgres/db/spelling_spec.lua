-- Functions that statements call are the server's own by name, wherever better ones may stand.
local source = require "spec.support.source"

-- What SQL has a form of its own for, and the functions that the schema of a store has.
local FORMS = { "any", "array", "bit", "cast", "coalesce", "exists", "extract", "from", "known",
  "nullif", "position", "values" }
local OWN = { "json_group_array", "payload_json", "enqueue", "outbox_place", "occupancy_move" }

local function set(list)
  local names = {}
  for _, name in ipairs(list) do
    names[name] = true
  end
  return names
end

-- The names of the schema's tables: columns follow them in brackets.
local function tables()
  local names = {}
  for _, path in ipairs { "core/store/sqlite/schema.sql", "core/store/postgres/turn/lock_page.c",
    "core/store/postgres/life/migrate.c", "core/store/postgres/life/schema.c",
    "core/store/sqlite/upgrade_8.sql" } do
    for name in source.read(path):gmatch("CREATE TABLE ([%a_]+)") do
      names[name] = true
    end
  end
  return names
end

-- Names that a statement of this text gives to a table with its columns. Most have one letter.
local function given(text, name)
  return #name == 1 or text:find("AS " .. name .. "(", 1, true)
    or text:find(") " .. name .. "(", 1, true) or text:find("WITH " .. name .. "(", 1, true)
    or text:find("RECURSIVE " .. name .. "(", 1, true)
end

describe("functions in statements of a server", function()
  local qualified = {}
  for name in source.read("core/store/postgres/db/spelling.c"):match("functions%[%] = (%b{})")
    :gmatch('"([%a_]+)"') do
    qualified[name] = true
  end

  it("are all spelled with their schema", function()
    local forms, own, known, seen = set(FORMS), set(OWN), tables(), 0
    for _, path in ipairs(source.files("core/store/rules core/store/postgres", "%.[ch]$")) do
      local text = source.read(path):gsub("/%*.-%*/", ""):gsub('"%s*\n%s*"', "")
      for literal in text:gmatch('"([^"\n]*)"') do
        literal = literal:gsub("%%s%.", "") -- the schema of the store, which is printed
        if literal:find("%u%u%u") then -- a statement has words in capitals
          for at, name in literal:gmatch("()([%a_][%w_%.]*)%(") do
            local lower = name:lower()
            local fine = forms[lower] or own[lower] or known[name] or qualified[name]
              or name:find("^pg_catalog%.") or name:find("%u") or given(literal, name)
            seen = seen + (qualified[name] and 1 or 0)
            assert.truthy(fine, ("%s: %s( in %s"):format(path, name, literal:sub(at - 20, at + 40)))
          end
        end
      end
    end
    assert.truthy(seen > 60, seen)
  end)
end)
