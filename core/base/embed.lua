-- Writes C that holds each file named on the command line, for core/base/embedded.h. Modules are
-- there a second time as this interpreter compiles them: a program start then needs half the work.

-- A literal is read ten times as fast by a compiler as a list of numbers. "?" may begin a trigraph.
local function literal(text)
  return '"' .. text:gsub("[^ !#->@-%[%]-~]", function(byte)
    return byte == "\n" and '\\n"\n"' or ("\\%03o"):format(byte:byte())
  end) .. '"'
end

-- What `lua -v` says of its release, as lua_ident has it.
local function release()
  local pipe <close> = assert(io.popen(arg[-1] .. " -v 2>&1"))
  return pipe:read("a"):match("Lua [%d.]+ ") or "unknown"
end

local function array(name, text)
  print(("static const char %s[] = %s;"):format(name, literal(text)))
end

-- The last two members of the entry.
local function code(i, path, text)
  if not path:find("^lua/") then
    return "0, 0"
  end
  array("code_" .. i, string.dump(assert(load(text, "@" .. path, "t"))))
  return ("code_%d, sizeof code_%d - 1"):format(i, i)
end

-- FNV-1a, of 64 bits.
local function digest(hash, text)
  for i = 1, #text do
    hash = (hash ~ text:byte(i)) * 0x100000001b3
  end
  return hash
end

print('#include "base/embedded.h"\n')
local hash = 0xcbf29ce484222325
local entries = {}
for i, path in ipairs(arg) do
  local text = assert(io.open(path, "rb")):read("a")
  array("file_" .. i, text)
  hash = digest(hash, text)
  entries[i] = ('    {"%s", file_%d, sizeof file_%d - 1, %s},'):format(path, i, i,
    code(i, path, text))
end
print(('\nconst char embedded_release[] = "%s";'):format(release()))
print(('const char embedded_digest[] = "%016x";'):format(hash))
print("\nconst struct embedded embedded_files[] = {")
print(table.concat(entries, "\n"))
print("    {0, 0, 0, 0, 0}};")
