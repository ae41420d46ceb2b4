-- Writes docs/terminal.svg: what a terminal shows while the five minutes of the README are
-- followed. Its commands are those of the page, and their output is the program's: `make picture`.
--
--   lua5.4 docs/terminal.lua >docs/terminal.svg
--
-- As a module: commands() -> those of the page that are shown, without their remarks.
local examples = require "spec.support.examples"
local pages = require "spec.support.pages"
local terminal = {}

local SECTION, MOST = "Five minutes", 122 -- letters a line
local WIDTH, HEIGHT, LEFT, TOP = 7.83, 19, 16, 26

local function section()
  for _, one in ipairs(pages.read("README.md").sections) do
    if one.heading == SECTION then
      return one
    end
  end
  error("README.md: no section " .. SECTION)
end

-- `init` makes another folder.
local function commands_of(text)
  local list = {}
  for line in text:gmatch("[^\n]+") do
    for command in (line:gsub("%s+#.*$", "") .. ";"):gmatch("%s*([^;]+);") do
      list[#list + 1] = command:find("^moonshift [^i]") and command or nil
    end
  end
  return list
end

function terminal.commands()
  local list = {}
  for _, block in ipairs(section().blocks) do
    if block.language == "sh" then
      table.move(commands_of(block.text), 1, 100, #list + 1, list)
    end
  end
  return list
end

-- Lines of the terminal: { text, typed }.
local function run()
  local lines, place = {}, examples.place()
  local function add(text, typed)
    lines[#lines + 1] = { text:gsub("\t", "  "):sub(1, MOST), typed }
  end
  for _, block in ipairs(section().blocks) do
    local text = block.language == "sh" and block.text or ""
    local list = commands_of(text)
    place:command(#list == 0 and text or text:match("^(.-)\nmoonshift [^i]") or "true")
    for _, command in ipairs(list) do
      place:command(text:find("sleep 1; " .. command, 1, true) and "sleep 1" or "true")
      add(command, true)
      local _, output, errors = place:command(command)
      for line in (output .. errors):gmatch("[^\n]+") do
        add(line)
      end
    end
  end
  place:remove()
  return lines
end

local function escaped(text)
  return (text:gsub("[&<>]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;" }))
end

local FRAME = [[
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img"
     aria-labelledby="title desc" font-family="monospace" font-size="13">
  <title id="title">A terminal</title>
  <desc id="desc">A job is created and run. It fails, is scheduled again, and succeeds in the next
    run. The log has both jobs: the one that failed once, with what it printed, and the one that it
    has created.</desc>
  <style>
    .back { fill: #f6f8fa; stroke: #c9d1d9 }
    .typed { fill: #10233f; font-weight: 600 }
    .said { fill: #3d4752 }
    .sign { fill: #2d7a3e }
    @media (prefers-color-scheme: dark) {
      .back { fill: #1d2430; stroke: #3d4752 }
      .typed { fill: #ffffff }
      .said { fill: #b8c2d0 }
      .sign { fill: #6cc07f }
    }
  </style>
  <rect class="back" x="0.5" y="0.5" width="%d" height="%d" rx="8"/>
]]

function terminal.page()
  local lines = run()
  local width, height = math.ceil(MOST * WIDTH) + 2 * LEFT, TOP + #lines * HEIGHT
  local out = { FRAME:format(width, height, width - 1, height - 1) }
  for i, line in ipairs(lines) do
    local sign = line[2] and '<tspan class="sign">$ </tspan>' or ""
    out[#out + 1] = ('  <text x="%d" y="%d" xml:space="preserve" class="%s">%s%s</text>\n'):format(
      LEFT, TOP + (i - 1) * HEIGHT, line[2] and "typed" or "said", sign, escaped(line[1]))
  end
  return table.concat(out) .. "</svg>\n"
end

if arg and arg[0] and arg[0]:find("terminal%.lua$") then
  io.write(terminal.page())
end

return terminal
