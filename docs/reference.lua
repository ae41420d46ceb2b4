-- Writes docs/reference.md from the annotations in lua/moonshift: `make reference`. They are those
-- of LuaLS, so what an editor shows and what the page says are one text.
--
--   lua5.4 docs/reference.lua >docs/reference.md
--
-- As a module: read() -> { class, … }, and page() -> the text of the page. A class is { name, text,
-- parent, fields, functions, choices }; a field { name, type, text }; a function { name, call,
-- text, params, returns, args }, with params and returns like fields.
local reference = {}

-- The files, in the order of the page; and how a call of a class is written.
local FILES = { "init", "engine", "query", "definitions", "batches", "deployments", "history",
  "outside", "tokens", "face", "processes", "schedules", "executor", "dates", "json", "testing",
  "process/meta", "process/instance/meta", "process/migration/meta", "http/meta", "folder/meta",
  "meta" }
local CALLS = {
  ["moonshift"] = "moonshift.", ["moonshift.engine"] = "engine:", ["moonshift.query"] = "query:",
  ["moonshift.definition"] = "definition:", ["moonshift.batch"] = "batch:",
  ["moonshift.executor"] = "executor:", ["moonshift.testing"] = "testing.",
  ["moonshift.activity"] = "job:", ["moonshift.process"] = "process.",
  ["moonshift.job"] = "job:", ["moonshift.job.engine"] = "job.engine:",
  ["moonshift.event"] = "event:", ["moonshift.clocks"] = "moonshift.clock.",
  ["moonshift.clock"] = "clock:", ["moonshift.json"] = "moonshift.json.",
  ["moonshift.http"] = "http.", ["moonshift.face"] = "face:",
}
local ORDER = { "moonshift", "moonshift.engine", "moonshift.query", "moonshift.definition",
  "moonshift.batch", "moonshift.executor", "moonshift.face", "moonshift.clocks", "moonshift.clock",
  "moonshift.json", "moonshift.testing", "moonshift.job", "moonshift.activity",
  "moonshift.job.engine", "moonshift.http", "moonshift.event", "moonshift.process" }
local ELSEWHERE = { ["moonshift.settings"] = true } -- its fields have a page of their own

local HEAD = [[
# Reference of the Lua API

Every function, object and option of `require "moonshift"`, and of the `job` that a handler gets.
This page is written by `make reference` from the annotations in `lua/moonshift`; edit those.
Editors with lua-language-server read the same annotations: add the folder that holds `moonshift/`
to `workspace.library`, and they complete `engine:` and `job:`.

- A function that can fail returns nil, a message and a [code](#moonshiftcode). Message and code
  are not listed below.
- Misuse raises an error: a number where text is wanted, for instance.
- A `?` behind a name or a type means that the value may be absent.
]]

-- ---- reading ----

-- "name? type text" or, of a return, "type name text".
local function split(words, named)
  local depth, at = 0, #words + 1
  local name, rest = "", words
  if named then
    name, rest = words:match("^(%S+)%s*(.*)$")
    at = #rest + 1
  end
  for i = 1, #rest do
    local c = rest:sub(i, i)
    if c:find("[({<\"]") and not (c == '"' and depth > 0 and rest:sub(i + 1):find('^[ |]')) then
      depth = depth + (c == '"' and 0 or 1)
    elseif c:find("[)}>]") then
      depth = depth - 1
    elseif c == " " and depth == 0 and rest:sub(i - 1, i - 1) ~= ":" then
      at = i
      break
    end
  end
  local kind, text = rest:sub(1, at - 1), rest:sub(at + 1)
  if not named then
    name, text = text:match("^(%S*)%s*(.*)$")
  end
  return { name = name, type = kind, text = text }
end

local function new_block()
  return { text = {}, fields = {}, params = {}, returns = {}, choices = {} }
end

local TAGS = {
  param = function(block, words) table.insert(block.params, split(words, true)) end,
  ["return"] = function(block, words) table.insert(block.returns, split(words)) end,
  field = function(block, words) table.insert(block.fields, split(words, true)) end,
  class = function(block, words)
    block.class, block.parent = words:match("^([%w_.]+):?%s*(.-)$")
  end,
  alias = function(block, words) block.class, block.type = words:match("^(%S+)%s*(.*)$") end,
}

local function read_comment(block, line)
  local tag, words = line:match("^%-%-%-@(%l+)%s*(.*)$")
  local choice, meaning = line:match('^%-%-%-| "(.-)"%s*(.*)$')
  if choice then
    table.insert(block.choices, { name = choice, text = meaning })
  elseif TAGS[tag] then
    TAGS[tag](block, words)
  elseif not tag then
    table.insert(block.text, (line:gsub("^%-%-%-%s*", "")))
  end
end

local function close_class(classes, block)
  local class = classes[block.class]
  if not class then
    class = { name = block.class, functions = {}, fields = {} }
    classes[block.class] = class
    table.insert(classes, class)
  end
  class.text = class.text or #block.text > 0 and table.concat(block.text, "\n") or nil
  class.parent = block.parent ~= "" and block.parent or class.parent
  class.type = class.type or block.type
  class.choices = class.choices or block.choices
  table.move(block.fields, 1, #block.fields, #class.fields + 1, class.fields)
  return class
end

-- A function of a module that is no class, such as engine.open, is kept by that name.
local function close_function(state, block, owner, name, args)
  local made = {
    name = name, args = {}, text = table.concat(block.text, "\n"), params = block.params,
    returns = block.returns,
  }
  for arg in args:gmatch("[^%s,]+") do
    table.insert(made.args, arg)
  end
  local class = state.owners[owner]
  if class then
    table.insert(class.functions, made)
  else
    state.loose[owner .. "." .. name] = made
  end
end

local function read_code(state, block, line)
  local owner, name, args = line:match("^%s*function ([%w_]+)[.:]([%w_]+)%((.-)%)")
  local plain = line:match("^return function%((.-)%)")
  if block.class then
    local class = close_class(state.classes, block)
    state.owners[line:match("^%s*local ([%w_]+)") or ""] = class
    state.table = line:find("{$") and class or nil
  elseif owner then
    close_function(state, block, owner, name, args)
  elseif plain and #block.text > 0 then
    close_function(state, block, state.file, state.file, plain)
  end
  local key, from = line:match("^  ([%w_]+) = ([%w_.]+),")
  if state.table and key and from then
    table.insert(state.links, { class = state.table, name = key, from = from })
  end
  state.table = not line:find("^}") and state.table or nil
end

local function read_file(state, name)
  local block = new_block()
  state.file, state.owners, state.table = name, {}, nil
  for line in io.lines(("lua/moonshift/%s.lua"):format(name)) do
    local bare = line:gsub("^%s+", "")
    if bare:find("^%-%-%-") then
      read_comment(block, bare)
    else
      if block.class or bare ~= "" then
        read_code(state, block, line)
      end
      block = new_block()
    end
  end
  if block.class then
    close_class(state.classes, block)
  end
end

function reference.read()
  local state = { classes = {}, loose = {}, links = {} }
  for _, name in ipairs(FILES) do
    read_file(state, name)
  end
  for _, link in ipairs(state.links) do
    local made = state.loose[link.from] or state.loose[link.from .. "." .. link.from]
    if made then
      local copy = {}
      for key, value in pairs(made) do
        copy[key] = value
      end
      copy.name = link.name
      table.insert(link.class.functions, copy)
    end
  end
  return state.classes
end

-- ---- writing ----

local function linked(kind)
  local code = "`" .. kind:gsub("moonshift%.[%w_.]+", "`[%0](#%0)`") .. "`"
  code = code:gsub("%(#(.-)%)", function(name) return "(#" .. name:gsub("%.", "") .. ")" end)
  return (code:gsub("``", ""))
end

local function item(out, label, one)
  local text = one.text ~= "" and ": " .. one.text or ""
  out[#out + 1] = ("- %s%s%s\n"):format(label, linked(one.type), text)
end

-- nil, message, code are told once, at the head of the page.
local function is_failure(one)
  return one.name == "code" or one.name == "message" and one.text == "of a failure"
end

local function write_function(out, class, made)
  local args = {}
  for i, param in ipairs(made.params) do
    args[i] = param.name
  end
  out[#out + 1] = ("\n### `%s%s(%s)`\n\n%s\n\n"):format(CALLS[class.name], made.name,
    table.concat(args, ", "), made.text)
  for _, param in ipairs(made.params) do
    item(out, ("`%s` "):format(param.name), param)
  end
  for _, one in ipairs(made.returns) do
    if not is_failure(one) then
      item(out, ("returns `%s` "):format(one.name), one)
    end
  end
end

local function write_fields(out, class)
  if #class.fields == 0 or ELSEWHERE[class.name] then
    return
  end
  out[#out + 1] = "\n| field | type | |\n|---|---|---|\n"
  for _, field in ipairs(class.fields) do
    out[#out + 1] = ("| `%s` | %s | %s |\n"):format(field.name,
      linked((field.type:gsub("|", "\\|"))), field.text)
  end
end

local function write_class(out, class)
  out[#out + 1] = ("\n## %s\n"):format(class.name)
  if class.text then
    out[#out + 1] = "\n" .. class.text .. "\n"
  end
  if class.parent then
    out[#out + 1] = ("\nIt has the fields of %s%s\n"):format(
      class.parent:gsub("[^, ]+", linked):gsub(", ", " and "),
      #class.fields > 0 and ", and:" or ".")
  elseif class.type and class.type ~= "" then
    out[#out + 1] = ("\nIt is %s.\n"):format(linked(class.type))
  end
  write_fields(out, class)
  if class.choices and #class.choices > 0 then
    out[#out + 1] = "\n| code | meaning |\n|---|---|\n"
    for _, choice in ipairs(class.choices) do
      out[#out + 1] = ("| `%s` | %s |\n"):format(choice.name, choice.text)
    end
  end
  for _, made in ipairs(class.functions) do
    write_function(out, class, made)
  end
end

function reference.page()
  local classes, out, done = reference.read(), { HEAD }, {}
  for _, name in ipairs(ORDER) do
    done[name] = true
    write_class(out, assert(classes[name], name))
  end
  for _, class in ipairs(classes) do
    if not done[class.name] then
      write_class(out, class)
    end
  end
  return table.concat(out)
end

if ... then
  return reference
end
io.write(reference.page())
