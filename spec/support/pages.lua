-- Markdown pages as the documentation specs look at them: sections, code blocks, links, anchors.
local pages = {}

local function read(path)
  local file <close> = assert(io.open(path))
  return file:read("a")
end

-- The anchor of a heading: lower case, no punctuation, dashes for blanks.
local function anchor(heading)
  local plain = heading:gsub("`", ""):gsub("%[(.-)%]%(.-%)", "%1"):lower()
  return (plain:gsub("[^%w%s_-]", ""):gsub("%s", "-"))
end

local function add_heading(page, level, heading, line)
  local name = anchor(heading)
  local count = page.anchors[name]
  page.anchors[name] = (count or 0) + 1
  if count then
    page.anchors[name .. "-" .. count] = 1
  end
  if level <= 2 then
    page.section = { heading = heading, line = line, blocks = {} }
    table.insert(page.sections, page.section)
  end
end

local function add_links(page, text, line)
  for target in text:gsub("`[^`]*`", ""):gmatch("%]%(([^)%s]+)%)") do
    table.insert(page.links, { target = target, line = line })
  end
end

-- A fence's words, "lua sketch": language, sketch; and what the block says.
local function open_block(page, words, line)
  local block = { language = words:match("^%S*"), line = line, lines = {} }
  block.sketch = words:match("%s(%S+)%s*$") == "sketch"
  table.insert(page.section.blocks, block)
  return block
end

-- The file that a block of Lua names in its first line: "-- handlers/x.lua", or nil.
local function named_file(block)
  return block.language == "lua" and block.text:match("^%-%- ([%w_/.-]+%.lua)%f[^%w]") or nil
end

local function close_block(block)
  block.text = table.concat(block.lines, "\n") .. "\n"
  block.file = named_file(block)
end

-- read(path) -> { path, text, sections, links, anchors }. sections: { heading, line, blocks } for
-- each heading of the first two levels; blocks: { language, sketch, file, line, text }; links:
-- { target, line }; anchors: a set of names.
function pages.read(path)
  local page = { path = path, text = read(path), sections = {}, links = {}, anchors = {} }
  local number, block = 0, nil
  add_heading(page, 1, "", 1)
  for line in page.text:gmatch("([^\n]*)\n") do
    number = number + 1
    local fence, level, heading = line:match("^```(.*)$"), line:match("^(#+) (.*)$")
    if block and fence then
      close_block(block)
      block = nil
    elseif block then
      table.insert(block.lines, line)
    elseif fence then
      block = open_block(page, fence, number)
    elseif level then
      add_heading(page, #level, heading, number)
    else
      add_links(page, line, number)
    end
  end
  assert(not block, path .. ": a code block has no end")
  return page
end

local function blank(text)
  return (text:gsub("[^\n]", " "))
end

-- The text of a page, or of the manual page, without its code; lines stay where they are.
function pages.prose(path)
  local text = "\n" .. read(path)
  if path:find("%.1$") then
    text = text:gsub("\n%.It Pa[^\n]*", blank):gsub("\n%.Pa[^\n]*", blank)
  end
  return (text:gsub("\n```.-\n```", blank):gsub("`[^`\n]*`", blank):sub(2))
end

-- The README and every page of docs/, by path.
function pages.all()
  local list = { pages.read("README.md") }
  local pipe = io.popen("LC_ALL=C ls docs/*.md")
  for path in pipe:lines() do
    list[#list + 1] = pages.read(path)
  end
  pipe:close()
  return list
end

return pages
