-- Runs the code of a page as a reader would: from top to bottom, in one scratch folder.
--
--   ```lua whose first line is "-- handlers/x.lua"   is written to that file
--   ```lua                                           runs; blocks that follow each other are one
--                                                    program, a file or a shell block ends it
--   ```sh                                            runs with the program on the PATH, each line
--                                                    must succeed
--   ```text right behind a block that runs           is what that block prints; … stands for
--                                                    anything in a line, alone for any lines
--   ```lua sketch, ```sh sketch                      does not run
local process = require "spec.support.process"

local quote = process.quote
local lua = os.getenv("SPEC_LUA") or "lua5.4"
local busted = os.getenv("BUSTED") or "/usr/bin/busted"
local program = process.command():match("^'(.*)'$")
local root = io.popen("pwd"):read("l")
local SEPARATOR = "\31"

local Place = {}
Place.__index = Place

local examples = {}

local function write(path, text)
  os.execute("mkdir -p " .. quote(path:match("^(.*)/")))
  local file <close> = assert(io.open(path, "wb"))
  file:write(text)
end

-- Commands by the names that the pages use, for the program and interpreter under test.
local function write_commands(folder)
  local path = lua:find("/", 1, true) and lua:sub(1, 1) ~= "/" and root .. "/" .. lua or lua
  local commands = {
    moonshift = 'exec ' .. quote(program) .. ' "$@"',
    ["lua5.4"] = ("exec %s \"$@\""):format(path == "lua5.4" and "/usr/bin/lua5.4" or quote(path)),
    busted = ('[ "$1" = --lua=lua5.4 ] && shift; exec lua5.4 %s "$@"'):format(quote(busted)),
  }
  for name, line in pairs(commands) do
    write(("%s/%s"):format(folder, name), "#!/bin/sh\n" .. line .. "\n")
  end
  os.execute("chmod +x " .. quote(folder) .. "/*")
end

-- A scratch folder: { folder, run(section), remove() }.
function examples.place()
  local base = process.folder()
  local self = setmetatable({ base = base, folder = base .. "/folder" }, Place)
  os.execute("mkdir " .. quote(self.folder))
  write_commands(base .. "/bin")
  return self
end

function Place:remove()
  process.remove(self.base)
end

-- Runs a command in the folder: status, what it printed, what went to standard error.
function Place:command(line)
  return process.run(("cd %s && PATH=%s:$PATH && unset MOONSHIFT_DIR\n%s"):format(
    quote(self.folder), quote(self.base .. "/bin"), line))
end

-- ---- what was printed against what the page says ----

-- How wide a column is says nothing: two blanks stand for any number.
local function lines_of(text)
  local lines = {}
  for line in (text:gsub("%s+$", "") .. "\n"):gmatch("([^\n]*)\n") do
    lines[#lines + 1] = (line:gsub("%s+$", ""):gsub("^ +", ""):gsub("  +", "  "))
  end
  return lines
end

local function line_matches(expected, line)
  local pattern = expected:gsub("[%^$().[%]*+?%%-]", "%%%0"):gsub("…", ".*")
  return line:find("^" .. pattern .. "$") ~= nil
end

local function matches(expected, lines, i, j)
  if i > #expected then
    return j > #lines
  elseif expected[i] == "…" then
    return matches(expected, lines, i + 1, j)
      or j <= #lines and matches(expected, lines, i, j + 1)
  end
  return j <= #lines and line_matches(expected[i], lines[j])
    and matches(expected, lines, i + 1, j + 1)
end

-- Fails with both texts if `printed` is not what the page says.
local function compare(page, block, printed)
  local expected, lines = lines_of(block.text), lines_of(printed)
  if not matches(expected, lines, 1, 1) then
    error(("%s:%d: the page says\n%s\nbut this was printed\n%s"):format(page.path, block.line,
      table.concat(expected, "\n"), table.concat(lines, "\n")), 0)
  end
end

-- ---- running ----

-- The text block right behind block i, or nil.
local function output_of(section, i)
  local next_block = section.blocks[i + 1]
  return next_block and next_block.language == "text" and next_block or nil
end

function Place:shell(page, block, output)
  local script = self.base .. "/example.sh"
  write(script, "set -e\n" .. block.text)
  local status, printed = self:command("sh " .. quote(script) .. " 2>&1")
  if status ~= 0 then
    error(("%s:%d: ended with %d\n%s"):format(page.path, block.line, status, printed), 0)
  elseif output then
    compare(page, output, printed)
  end
end

-- Blocks of one program: their lines stand where they stand in the page, so that errors name them.
local function program_text(blocks)
  local parts, at = {}, 1
  for _, one in ipairs(blocks) do
    local _, lines = one.block.text:gsub("\n", "")
    parts[#parts + 1] = ("\n"):rep(one.block.line + 1 - at) .. one.block.text
      .. ('io.write("\\%d")\n'):format(SEPARATOR:byte()) -- where the closing fence stands
    at = one.block.line + 2 + lines
  end
  return table.concat(parts)
end

function Place:program(page, blocks)
  local script = self.base .. "/" .. page.path:gsub("%W", "_") .. ".lua"
  write(script, program_text(blocks))
  local status, printed, errors = self:command("lua5.4 " .. quote(script))
  if status ~= 0 then
    error(("%s: ended with %d\n%s%s"):format(page.path, status, printed, errors), 0)
  end
  local i = 0
  for part in printed:gmatch("([^" .. SEPARATOR .. "]*)" .. SEPARATOR) do
    i = i + 1
    if blocks[i].output then
      compare(page, blocks[i].output, part)
    end
  end
end

local function runs(block)
  return not block.sketch and (block.language == "lua" or block.language == "sh")
end

function Place:step(page, block, output)
  if block.file then
    write(self.folder .. "/" .. block.file, block.text)
  else
    self:shell(page, block, output)
  end
end

-- Runs a section's blocks in their order; raises what is not as the page says.
function Place:run(page, section)
  local waiting = {}
  local function flush()
    if #waiting > 0 then
      self:program(page, waiting)
      waiting = {}
    end
  end
  for i, block in ipairs(section.blocks) do
    if runs(block) and (block.language == "sh" or block.file) then
      flush()
      self:step(page, block, output_of(section, i))
    elseif runs(block) then
      waiting[#waiting + 1] = { block = block, output = output_of(section, i) }
    end
  end
  flush()
end

-- True if anything in the section runs or is written.
function examples.has_code(section)
  for _, block in ipairs(section.blocks) do
    if runs(block) then
      return true
    end
  end
  return false
end

return examples
