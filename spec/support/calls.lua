-- Who calls what in core/, as the sources say: which functions a file defines, and which names of
-- functions stand in the functions of another file. So a header that serves several sources counts
-- as those that define what is named. A call through a table of functions is none of its caller's.
local source = require "spec.support.source"
local calls = {}

-- Words of C that are followed by a bracket, and attributes.
local none = { main = true, __attribute__ = true }

-- The functions of a file, in order, each with the words in it that may be names of functions. What
-- stands outside of functions is the last one, without a name; in a header it counts for nothing.
local function functions_of(path, code)
  local list, now, outside = {}, nil, { words = {} }
  for line in code:gsub("#[^\n]*", ""):gmatch("[^\n]*") do
    local name = line:match("^[%a_][^;=]-([%w_]+)%(")
    if name and not line:find(";%s*$") then
      now = { name = name, static = line:find("^static") ~= nil, words = {} }
    end
    local words = (now or outside).words
    for before, word in line:gmatch("([%.>]?)%f[%w_]([%a_][%w_]*)") do
      words[word] = before == "" or words[word]
    end
    if now then
      now.open = now.open or line:find("{%s*$") ~= nil
      list[#list + 1] = line == "}" and now or nil
      if line:find("^}") or not now.open and line:find(";%s*$") then
        now = nil
      end
    end
  end
  if path:find("%.c$") then
    list[#list + 1] = outside
  end
  return list
end

-- { PATH = text of the file } of all C files below `folder`.
function calls.texts(folder)
  local texts = {}
  for _, path in ipairs(source.files(folder, "%.[ch]$")) do
    texts[path] = source.c_code(path)
  end
  return texts
end

-- Every call between functions: visit(path, function, path of the called, called). The function is
-- nil where a table of the file names the called one.
function calls.each(texts, visit)
  local files, home = {}, {}
  for path, code in pairs(texts) do
    files[path] = { list = functions_of(path, code), own = {} }
    for _, one in ipairs(files[path].list) do
      if one.name and not none[one.name] then
        files[path].own[one.name] = true
        if path:find("%.h$") or not one.static then
          home[one.name] = path
        end
      end
    end
  end
  for path, file in pairs(files) do
    for _, one in ipairs(file.list) do
      for word, named in pairs(one.words) do
        local to = file.own[word] and path or home[word]
        if named and to and word ~= one.name then
          visit(path, one.name, to, word)
        end
      end
    end
  end
end

return calls
