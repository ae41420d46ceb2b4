-- Reads the SQL statements of C sources: string literals as the compiler sees them.
local statements = {}

-- The letters of db_query, as types of PostgreSQL. Those of db_read stand behind its columns.
local types = {
  i = "bigint", n = "bigint", z = "bigint", T = "bigint", t = "text", b = "bytea",
  d = "double precision",
}
local verbs = { SELECT = true, INSERT = true, UPDATE = true, DELETE = true, WITH = true,
  REPLACE = true, PRAGMA = true, CREATE = true, DROP = true, ALTER = true, VACUUM = true,
  BEGIN = true, ATTACH = true }
-- What these are given is a part of a question; the whole is read as it is asked.
local parts = { query_add = true, text_add = true }

local function unescaped(literal)
  return (literal:gsub('\\(.)', { n = "\n", t = "\t", ['"'] = '"', ["\\"] = "\\" }))
end

-- Calls visit(text, line, before) for each run of literals, joined; `before` is the code between it
-- and the one before. Only what the file itself says.
local function each_literal(path, source, visit)
  local here, line, before, text, from = false, 1, "", nil, nil
  local function flush()
    if text then
      visit(text, from, before)
      text, before = nil, ""
    end
  end
  for row in source:gmatch("([^\n]*)\n") do
    local number, file = row:match('^# (%d+) "([^"]*)"')
    if number then
      here, line = file == path, tonumber(number)
    else
      local at = 1
      while here do
        local first, last = row:find('"[^"\\]*"', at)
        local escaped = row:find('"[^"]*\\', at)
        if escaped and (not first or escaped <= first) then
          first, last = escaped, escaped
          repeat
            last = row:find('["\\]', last + 1)
            local slash = row:sub(last, last) == "\\"
            last = slash and last + 1 or last
          until not slash
        end
        local code = row:sub(at, (first or 0) - 1)
        if code:find("%S") then
          flush()
          before = before .. code
        end
        if not first then
          break
        end
        from = text and from or line
        text = (text or "") .. unescaped(row:sub(first + 1, last - 1))
        at = last + 1
      end
      line = line + 1
    end
  end
  flush()
end

-- A list of { path, line, sql, types } of one file; `types` is nil where they are not said.
function statements.of(path, source)
  local found, last = {}, nil
  each_literal(path, source, function(text, line, before)
    local kinds = text:match("^[inzTtbd]*$") or text:match("^[infTtj]+<([inzTtbd]*)$")
    if last and before:match("^%s*,%s*$") and kinds then
      last.types = kinds:gsub(".", function(letter)
        return types[letter] .. ", "
      end):sub(1, -3)
    end
    last = nil
    local whole = not text:find("[=<>(,]%s*$") and not text:find(" WHERE [%w_.]+$")
    local part = parts[before:match("([%w_]+)%s*%([^()]*$")]
    if verbs[text:match("^%s*(%u+)%s")] and whole and not part then
      last = { path = path, line = line, sql = text }
      found[#found + 1] = last
    end
  end)
  return found
end

-- ?1 becomes $1; a bare ? the next number.
function statements.numbered(sql)
  local count = 0
  return (sql:gsub("%?(%d*)", function(number)
    count = count + 1
    return "$" .. (number ~= "" and number or count)
  end))
end

return statements
