-- The project's own source as the architecture spec looks at it: files, includes, functions.
local source = {}

function source.read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

function source.exists(path)
  local file = io.open(path, "rb")
  return file ~= nil and file:close()
end

-- Every file under the folders whose name matches the pattern, sorted.
function source.files(folders, pattern)
  local pipe = io.popen("find " .. folders .. " -type f | LC_ALL=C sort")
  local files = {}
  for path in pipe:lines() do
    if path:find(pattern) then
      files[#files + 1] = path
    end
  end
  pipe:close()
  return files
end

function source.lines(path)
  local lines = {}
  for line in io.lines(path) do
    lines[#lines + 1] = line
  end
  return lines
end

local function blank(text)
  return (text:gsub("[^\n]", " "))
end

local codes = {}

-- The text of a C file without its comments and string literals; lines stay where they are.
function source.c_code(path)
  if not codes[path] then
    local text = source.read(path)
    text = text:gsub("\\[\"'\\]", "  ")
    text = text:gsub('"[^"\n]*"', blank)
    codes[path] = text:gsub("/%*.-%*/", blank):gsub("//[^\n]*", blank)
  end
  return codes[path]
end

-- The same for Lua: comments and short strings.
function source.lua_code(path)
  local text = source.read(path)
  text = text:gsub("\\[\"'\\]", "  ")
  text = text:gsub("%[%[.-%]%]", blank):gsub('"[^"\n]*"', blank):gsub("'[^'\n]*'", blank)
  return (text:gsub("%-%-[^\n]*", blank))
end

-- Every include of a C file: { line, name, own = true for "…" }.
function source.includes(path)
  local includes = {}
  for number, line in ipairs(source.lines(path)) do
    local open, name = line:match('^#%s*include%s+([<"])([^>"]+)')
    if open then
      includes[#includes + 1] = { line = number, name = name, own = open == '"' }
    end
  end
  return includes
end

-- Every function of a C file: { name, first, last, static }. Functions begin and end in the first
-- column.
function source.c_functions(path)
  local functions, first, name, static = {}, nil, nil, false
  for number, line in ipairs(source.lines(path)) do
    if line:find("^[%a_]") and line:find("%(") and not line:find(";%s*$") then
      first, name = number, line:match("([%w_]+)%(")
      static = line:find("^static") ~= nil
    elseif line == "}" and first then
      functions[#functions + 1] = { name = name, first = first, last = number, static = static }
      first = nil
    elseif line:find("^}") then
      first = nil
    end
  end
  return functions
end

local known = {}

-- Every function of a C file with its code: { name, first, text }, without comments and literals.
function source.c_bodies(path)
  if known[path] then
    return known[path]
  end
  local lines, bodies = {}, {}
  for line in (source.c_code(path) .. "\n"):gmatch("(.-)\n") do
    lines[#lines + 1] = line
  end
  for _, one in ipairs(source.c_functions(path)) do
    local text = table.concat(lines, "\n", one.first, one.last)
    bodies[#bodies + 1] = { name = one.name, first = one.first, text = text }
  end
  known[path] = bodies
  return bodies
end

-- Every function of a Lua file that takes more than a line, nested ones included.
function source.lua_functions(path)
  local functions, open = {}, {}
  for number, line in ipairs(source.lines(path)) do
    local indent = #line:match("^ *")
    if line:find("function[^%a].*%)%s*$") and not line:find("^%s*%-%-") then
      open[indent] = { name = line:match("function%s*([%w_.:]*)"), first = number }
    elseif line:find("^ *end[,)%s}]*") and not line:find("^ *end%w") and open[indent] then
      open[indent].last = number
      functions[#functions + 1] = open[indent]
      open[indent] = nil
    end
  end
  return functions
end

return source
