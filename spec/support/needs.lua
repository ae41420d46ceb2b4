-- The programs that specs and steps start and that a build does not need, for `spec/run --as-is`.
local needs = {}

-- A program, and the texts by which a file is known that starts it.
local PROGRAMS = {
  { os.getenv("BUSTED") or "/usr/bin/busted", "^spec/[%w_/]+_spec%.lua\n", "^examples/" },
  { "sqlite3", "sqlite3 [-%%]", "process%.sql%(", "process%.change%(", "process%.holding%(" },
  { "python3", "python3" },
  { "openssl", "openssl" },
  { "strace", "strace %-" },
  { "faketime", "faketime" },
  { "zsh", "%f[%w]zsh %-" },
  { "fish", "%f[%w]fish %-" },
  { "lua5.1", "lua5%.1" },
  { "luajit", "luajit" },
  { "clang", "CC=clang" },
  { "clang-format", "clang%-format" },
  { "luacheck", "and luacheck" },
}

-- What all start, and what of it is asked for is seen where it is asked.
local EVERYWHERE = { process = true, stores = true, needs = true, postgres = true }

local function read(path)
  local file <close> = io.open(path)
  return file and file:read("a") or ""
end

-- The text of a file and of the modules of spec/support that it requires, each once.
local function text_of(path, seen)
  if seen[path] then
    return ""
  end
  seen[path] = true
  local text = read(path)
  local texts = { text }
  for name in text:gmatch('require "spec%.support%.([%w_]+)"') do
    if not EVERYWHERE[name] then
      texts[#texts + 1] = text_of(("spec/support/%s.lua"):format(name), seen)
    end
  end
  return table.concat(texts, "\n")
end

local function is_here(program)
  return os.execute(("command -v '%s' >/dev/null"):format(program)) == true
end

-- Patterns of what cannot be started here, with the names of their programs.
local function missing()
  local list = {}
  for _, entry in ipairs(PROGRAMS) do
    if not is_here(entry[1]) then
      list[#list + 1] = entry
    end
  end
  return list
end

-- The first program that a task { name, command } starts and that is not here.
local function lacking(task, absent)
  local text
  for _, entry in ipairs(absent) do
    text = text or ("%s\n%s\n%s"):format(task.name, task.command, text_of(task.name, {}))
    for i = 2, #entry do
      if text:find(entry[i]) then
        return entry[1]
      end
    end
  end
end

-- The tasks that can be done with what is here. Says of the others why they are left out.
function needs.possible(tasks)
  local absent, list = missing(), {}
  for _, task in ipairs(tasks) do
    local program = lacking(task, absent)
    if program then
      print(("  pending %s: no %s here"):format(task.name, program))
    else
      list[#list + 1] = task
    end
  end
  return list
end

return needs
