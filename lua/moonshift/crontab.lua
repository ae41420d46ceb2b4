-- Turns a crontab into files of schedules/, one for each line that runs something (rules §14). As a
-- program it is handed { files, zone, system } and returns what `read` does.
local crontab = {}

local function set(text)
  local words = {}
  for word in text:gmatch("%S+") do
    words[word] = true
  end
  return words
end

-- ---- the name of a file ----

-- What only looks whether something is there or waits, what only leads to a program, options with
-- a program's text behind them, and suffixes that say nothing.
local LOOKS = set "cd test [ [[ : true command echo export umask set . source sleep fi done"
local LEADS = set([[env exec nice ionice chrt nohup setsid time timeout flock sudo doas su runuser
  chronic cronic systemd-cat systemd-run if then do ! sh bash dash zsh ksh perl python python2
  python3 php ruby node lua run-parts { (]])
local OPTIONS = { ["-u"] = 1, ["-g"] = 1 } -- with how many words behind them
local TEXTS = set "-e -r"
local SUFFIXES = set "sh bash py pl rb php js lua"

local function slug(word)
  local name = word:match("([^/]+)/*$") or ""
  local base, suffix = name:match("^(.+)%.(%a+)$")
  if suffix and SUFFIXES[suffix] then
    name = base
  end
  name = name:lower():gsub("[^%w_]+", "-"):gsub("^%-+", ""):gsub("%-+$", "")
  return name:sub(1, 60)
end

local function is_passed(word)
  return word:find("^[-+<>$%d|]") or word:find("^[%a_][%w_]*=") or slug(word) == ""
end

-- The program of one part of a command. Nil and perhaps another name: it has none of its own, but
-- is the text of a program, or nothing behind what leads to one.
local function program_of(part)
  local lead, skips = nil, 0
  for word in part:gmatch("%S+") do
    word = word:gsub("[\"'`(){}]", "")
    local base = word:match("([^/]+)$") or word
    if skips > 0 and not is_passed(word) then
      skips = skips - 1
    elseif LOOKS[base] then
      return nil
    elseif lead and TEXTS[word] then
      return nil, slug(lead)
    elseif LEADS[base] then
      lead, skips = base, base == "flock" and 1 or 0
    elseif is_passed(word) then
      skips = skips + (OPTIONS[word] or 0)
    else
      return slug(word)
    end
  end
  return nil, lead and slug(lead)
end

local function name_of(command, number)
  local second
  for part in (command:gsub("&&", "\n"):gsub("||", "\n"):gsub("[;|\n]", "\n")):gmatch("[^\n]+") do
    local name, less = program_of(part)
    if name and name ~= "" then
      return name
    end
    second = second or less ~= "" and less or nil
  end
  return second or "line-" .. number
end

local function unique_name(name, used)
  local n, free = 1, name
  while used[free] do
    n = n + 1
    free = name .. "-" .. n
  end
  used[free] = true
  return free
end

-- ---- when ----

local FIELDS = { "minute", "hour", "day", "month", "weekday" }
local FIRST, LAST = { 0, 0, 1, 1, 0 }, { 59, 23, 31, 12, 7 }
local MACROS = set "@yearly @annually @monthly @weekly @daily @midnight @hourly"

-- One item of a list as moonshift reads it, or nil and what is wrong. A step beyond the field means
-- its first value.
local function item_of(item, at)
  local range, step = item:match("^(.-)/(%d+)$")
  if step and not (range == "*" or range:find("-", 1, true)) then
    return nil, ('"%s" in the %s: some crons run at %s alone, others step on from it (write %s or'
      .. ' %s-%d/%s)'):format(item, FIELDS[at], range, range, range, LAST[at], step)
  elseif item:find("~", 1, true) then
    return nil, ('"%s" in the %s: a random value is no date of a cycle (write one value, and jitter'
      .. ' = "PT1H" beside it)'):format(item, FIELDS[at])
  elseif range == "*" and tonumber(step) > LAST[at] then
    return tostring(FIRST[at]), ('"%s" in the %s means %d'):format(item, FIELDS[at], FIRST[at])
  end
  return item
end

local function field_of(field, at, notes)
  local items = {}
  for item in field:gmatch("[^,]+") do
    local good, note = item_of(item, at)
    if not good then
      return nil, note
    end
    notes[#notes + 1] = note
    items[#items + 1] = good
  end
  return table.concat(items, ",")
end

local function cycle_of(fields, notes)
  local parts = {}
  for at, field in ipairs(fields) do
    local part, problem = field_of(field, at, notes)
    if not part then
      return nil, problem
    end
    parts[at] = part
  end
  return table.concat(parts, " ")
end

-- ---- what ----

-- The command, and what it reads: all behind the first bare "%", where each other one ends a line.
local function command_of(text)
  local command, input, at = {}, nil, 1
  while at <= #text do
    local byte, into = text:sub(at, at), input or command
    if byte == "\\" and text:sub(at + 1, at + 1) == "%" then
      into[#into + 1] = "%"
      at = at + 1
    elseif byte == "\\" and not input then
      into[#into + 1] = text:sub(at, at + 1)
      at = at + 1
    elseif byte == "%" and not input then
      input = {}
    else
      into[#into + 1] = byte == "%" and "\n" or byte
    end
    at = at + 1
  end
  local read = table.concat(input or {})
  if read ~= "" and read:sub(-1) ~= "\n" then
    read = read .. "\n"
  end
  return table.concat(command), read ~= "" and read or nil
end

-- "cd / && run-parts DIRECTORY", perhaps behind "test -x PROGRAM ||" and in brackets: the same in
-- fewer words, its directory, and what it does. nil: it is another command.
local function parts_of(command)
  local program, rest = command:match("^%s*test %-x (%S+)%s*||%s*(.-)%s*$")
  rest = rest or command:match("^%s*(.-)%s*$")
  rest = rest:match("^{%s*(.-)%s*;%s*}$") or rest:match("^%(%s*(.-)%s*%)$") or rest
  local cwd, parts = rest:match("^cd (/%S*)%s*&&%s*(.+)$")
  parts = parts or rest
  local directory = (parts:match("^run%-parts([%w%s/_.=-]+)$") or ""):match("%s(/%S+)$")
  if not directory then
    return nil
  end
  return program and ("test -x %s || %s"):format(program, parts) or parts, cwd,
    ("Runs each program in %s%s."):format(directory,
      program and (", unless %s is there"):format(program) or "")
end

-- ---- the file ----

local function quoted(text)
  local plain = not text:find("[%c]") and text:find('[\\"]') and not text:find("]]", 1, true)
    and text:sub(-1) ~= "]"
  if plain then
    return "[[" .. text .. "]]"
  end
  return '"' .. text:gsub('[%c\\"]', { ["\n"] = "\\n", ["\t"] = "\\t", ["\\"] = "\\\\",
    ['"'] = '\\"' }):gsub("%c", function(c) return ("\\%d"):format(c:byte()) end) .. '"'
end

local function sorted(map)
  local names = {}
  for name in pairs(map) do
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

local RESERVED = set([[and break do else elseif end false for function goto if in local nil not or
  repeat return then true until while]])

local function env_text(env)
  local lines = {}
  for _, name in ipairs(sorted(env)) do
    local key = RESERVED[name] and ('["%s"]'):format(name) or name
    lines[#lines + 1] = ("      %s = %s,\n"):format(key, quoted(env[name]))
  end
  return #lines > 0 and "    env = {\n" .. table.concat(lines) .. "    },\n" or ""
end

local function file_text(job)
  local out = {}
  local function add(format, ...)
    out[#out + 1] = format:format(...)
  end
  for _, comment in ipairs(job.comments) do
    add("-- %s\n", comment)
  end
  add("-- crontab, line %d: %s\nreturn {\n  handler = \"shell\",\n", job.line, job.source)
  local starts = job.cycle == "@reboot"
  add(starts and "  at = %s,\n" or "  cycle = %s,\n", quoted(starts and "start" or job.cycle))
  if job.zone and not starts then
    add("  zone = %s,\n", quoted(job.zone))
  end
  add("  payload = {\n    command = %s,\n", quoted(job.command))
  for _, key in ipairs { "shell", "user", "cwd", "stdin" } do
    if job[key] then
      add("    %s = %s,\n", key, quoted(job[key]))
    end
  end
  add("%s  },\n}\n", (env_text(job.env):gsub("%%", "%%%%")))
  return table.concat(out)
end

-- ---- the lines ----

local Reader = {}
Reader.__index = Reader

function Reader:say(format, ...)
  local text = format:format(...)
  self.said[#self.said + 1] = { name = self.name, line = self.line, text = text }
end

local MAIL = "mail is not sent: output is kept (moonshift log --schedule NAME), and the setting"
  .. " notify tells of failures"

-- What variables mean to cron itself.
local MEANINGS = {
  SHELL = function(reader, value) reader.shell = value ~= "/bin/sh" and value or nil end,
  CRON_TZ = function(reader, value) reader.zone = value ~= "" and value or nil end,
  MAILTO = function(reader, value)
    if value ~= "" then
      reader:say("MAILTO=%s: %s", value, MAIL)
    end
  end,
  MAILFROM = function(reader, value) reader:say("MAILFROM=%s: %s", value, MAIL) end,
  RANDOM_DELAY = function(reader, value)
    reader:say('RANDOM_DELAY=%s: not carried over (write jitter = "PT%sM" into the files)', value,
      value)
  end,
}

-- A quoted value keeps its blanks; nothing in it is replaced.
function Reader:variable(name, value)
  value = value:gsub("%s+$", "")
  value = value:match("^\"(.*)\"$") or value:match("^'(.*)'$") or value
  if MEANINGS[name] then
    MEANINGS[name](self, value)
  elseif not name:find("^[%a_][%w_]*$") then
    self:say("%s=%s: not carried over (a name has letters, digits and underscores)", name, value)
  else
    self.env[name] = value
  end
end

-- The name and the value of a line that sets a variable; a name may be quoted as a value is.
local function variable_of(line)
  local quote, name, value = line:match("^([\"'])(.-)%1%s*=%s*(.*)$")
  if quote then
    return name, value
  end
  return line:match("^([^%s=\"']+)%s*=%s*(.*)$")
end

-- The fields of the line, and what is behind them.
local function split(line, count)
  local fields, rest = {}, line
  for _ = 1, count do
    local field, behind = rest:match("^(%S+)%s*(.*)$")
    if not field then
      return nil
    end
    fields[#fields + 1], rest = field, behind
  end
  return fields, rest
end

-- The cycle, and the rest of the line. nil: it was said why not.
function Reader:times(line)
  local macro = line:match("^@%S*")
  if not macro then
    local fields, rest = split(line, 5)
    if not fields then
      return self:say("expected five fields and a command")
    end
    local notes = {}
    local cycle, problem = cycle_of(fields, notes)
    for _, note in ipairs(notes) do
      self:say("%s", note)
    end
    if not cycle then
      return self:say("%s", problem)
    end
    return cycle, rest
  end
  local rest = line:sub(#macro + 1):gsub("^%s+", "")
  local word = macro:lower()
  if word == "@every_minute" then
    return "* * * * *", rest
  elseif word == "@reboot" or MACROS[word] then
    return word, rest
  end
  local span = word == "@every" and rest:match("^%S+")
  self:say("%s%s", macro, span and (' %s: not of cron (write cycle = "R/PT%s")'):format(span,
    span:upper()) or ": unknown")
end

function Reader:run(line)
  local cycle, rest = self:times(line:gsub("^%-", ""))
  if not cycle then
    return
  end
  local user
  if self.system then
    user, rest = rest:match("^(%S+)%s*(.*)$")
  end
  local command, stdin = command_of(rest or "")
  if not command:find("%S") then
    return self:say("no command")
  end
  local fine, problem = self.dates(cycle, { zone = self.zone, count = 1 })
  if not fine then
    return self:say("%s", problem)
  end
  local env = {}
  for name, value in pairs(self.env) do
    env[name] = value
  end
  local parts, cwd, what = parts_of(command)
  self.comments[#self.comments + 1] = what
  local job = { line = self.line, source = line:gsub("%s+$", ""), comments = self.comments,
    cycle = cycle, zone = self.zone, command = parts or command, stdin = stdin,
    shell = self.shell, user = user, cwd = cwd or "~", env = env }
  local name = unique_name(name_of(command, self.line), self.used)
  self.files[#self.files + 1] = { path = "schedules/" .. name .. ".lua", name = self.name,
    line = self.line,
    text = file_text(job) }
end

function Reader:read(line)
  local text = line:gsub("^%s+", "")
  local comment = text:match("^#+%s*(.-)%s*$")
  local name, value = variable_of(text)
  if comment then
    self.comments[#self.comments + 1] = comment ~= "" and comment or nil
    return
  elseif name then
    self:variable(name, value)
  elseif text ~= "" then
    self:run(text)
  end
  self.comments = {}
end

local function read_file(file, asked, into)
  local reader = setmetatable({ files = into.files, said = into.said, used = into.used, env = {},
    comments = {}, line = 0, name = file.name, zone = asked.zone,
    system = asked.system or file.system,
    dates = require "moonshift.dates" }, Reader)
  for line in (file.text .. "\n"):gmatch("(.-)\r?\n") do
    reader.line = reader.line + 1
    reader:read(line)
  end
end

-- read { files = { { name, text, system } }, zone, system }
-- -> { files = { { path, name, line, text } }, said = { { name, line, text } } }.
-- zone: of the machine that the crontab is of; nil: that of the folder. system, of a file or of
-- all: a user stands before each command. What cannot be carried over is said by file and line.
function crontab.read(asked)
  local into = { files = {}, said = {}, used = {} }
  for _, file in ipairs(asked.files) do
    read_file(file, asked, into)
  end
  return { files = into.files, said = into.said }
end

local asked = ...
return type(asked) == "table" and crontab.read(asked) or crontab
