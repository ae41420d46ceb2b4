-- The sentences of the project: of the comments in C and Lua, of Markdown and the manual page. Code
-- blocks, tables and lists of names are no sentences.
local source = require "spec.support.source"

local prose = {}

-- Paragraphs of a file are lists of { text =, line = }; a line that ends one is false.
local function paragraphs(lines)
  local list, open = {}, nil
  for _, one in ipairs(lines) do
    if not one or one.text:find("^%s*$") then
      open = nil
    else
      if not open or one.begins then
        open = {}
        list[#list + 1] = open
      end
      open[#open + 1] = one
      open = not one.ends and open or nil
    end
  end
  return list
end

-- ---- what a file has of them ----

-- A line of a comment: code is indented by four; an item of a list, or of one with two columns,
-- begins anew; a rule is none.
local function comment_line(text, number, begins)
  if text:find("^    ") or text:find("^%s*%-%-%-%-") or text:find("^%s*[-*=]+%s*$") then
    return false
  end
  begins = begins or text:find("^%s*[-*] ") or text:find("^%s*%S+  +%S")
    or text:find(" -> ", 1, true)
  return { text = text:gsub("^%s*[-*] ", ""), line = number, begins = begins }
end

local function c_lines(path)
  local lines, inside = {}, false
  for number, line in ipairs(source.lines(path)) do
    local rest = inside and line:gsub("^%s*%*%f[^*/] ?", "", 1) or line:gsub('"[^"]*"', '""')
    local first = not inside
    while rest do
      if not inside then
        local _, at = rest:find("/%*+ ?")
        rest, inside, first = at and rest:sub(at + 1), at ~= nil, true
      end
      if inside then
        local at = rest:find("%*/")
        lines[#lines + 1] = comment_line(at and rest:sub(1, at - 1) or rest, number, first)
        inside, rest = not at, at and rest:sub(at + 2)
      end
    end
  end
  return lines
end

local function lua_lines(path)
  local lines = {}
  for number, line in ipairs(source.lines(path)) do
    local own = line:match("^%s*%-%-+ ?(.*)$")
    if own and own:find("^[@|]") then
      own = "" -- for editors
    end
    local before, beside = line:match("^(.-%S)%s+%-%- (.*)$")
    if before and select(2, before:gsub("[\"']", "")) % 2 == 1 then
      beside = nil
    end
    if own then
      lines[#lines + 1] = comment_line(own, number)
    else
      lines[#lines + 1] = false
      lines[#lines + 1] = beside and comment_line(beside, number) or nil
      lines[#lines + 1] = false
    end
  end
  return lines
end

local function markdown_lines(path)
  local lines, code = {}, nil
  for number, line in ipairs(source.lines(path)) do
    local fence = line:match("^%s*(```+)")
    if fence then
      code = not code and fence or nil
    end
    if code or fence or line:find("^%s*|") or line:find("^%s*<") or line:find("^    ") then
      lines[#lines + 1] = false
    else
      local text = line:gsub("^%s*>%s?", ""):gsub("^#+ ", "")
      local item = text:find("^%s*[-*+] ") or text:find("^%s*%d+%. ")
      text = text:gsub("^%s*[-*+] ", ""):gsub("^%s*%d+%. ", "")
      lines[#lines + 1] = { text = text, line = number, begins = item ~= nil,
        ends = line:find("^#") ~= nil }
    end
  end
  return lines
end

local function manual_lines(path)
  local lines, code = {}, false
  for number, line in ipairs(source.lines(path)) do
    code = line:find("^%.nf") ~= nil or line:find("^%.EX") ~= nil
      or code and not line:find("^%.fi") and not line:find("^%.EE")
    local emphasis = line:match("^%.[BIR][BIR]? (.*)$")
    if code or line:find("^%.") and not emphasis then
      lines[#lines + 1] = false
    else
      local text = (emphasis or line):gsub("\\f.", ""):gsub("\\", "")
      lines[#lines + 1] = { text = text, line = number }
    end
  end
  return lines
end

local readers = { c = c_lines, h = c_lines, lua = lua_lines, md = markdown_lines,
  ["1"] = manual_lines }

-- ---- sentences ----

local ABBREVIATED = { ["e.g."] = true, ["i.e."] = true, ["vs."] = true, ["etc."] = true,
  ["cf."] = true }

-- Code between backticks is one word; of a link only the text counts.
local function words_of(paragraph)
  local words, texts, line = {}, {}, 1
  for i, one in ipairs(paragraph) do
    texts[i] = one.text
  end
  local text = table.concat(texts, "\n"):gsub("`[^`]*`", function(code)
    return (code:gsub("[ \t.!?]+", "_"):gsub("\n", "_\n", 1):gsub("(\n)(%S)", "%1_%2"))
  end)
  for word, blank in (text:gsub("%]%([^)]*%)", "]") .. "\n"):gmatch("(%S*)(%s)") do
    if word:find("[%w\128-\255]") and not word:find("^_") then
      words[#words + 1] = { text = word, line = paragraph[math.min(line, #paragraph)].line }
    end
    line = line + (blank == "\n" and 1 or 0)
  end
  return words
end

local function ends_sentence(word)
  return word:find("[.!?][\"'`)%]*_]*$") and not ABBREVIATED[word:lower():gsub("^%(", "")]
end

-- Names between commas, five or more of them in a row, count as one word.
local function count(sentence)
  local total, names, length = 0, 0, 0
  local function close()
    total = total + (names >= 5 and 1 or length)
    names, length = 0, 0
  end
  local part = 0
  for _, word in ipairs(sentence) do
    part = part + 1
    if word.text:find(",$") then
      if part > 2 then
        close()
        total = total + part
      else
        names, length = names + 1, length + part
      end
      part = 0
    end
  end
  close()
  return total + part
end

-- Every sentence of the file of more than `most` words: { line, count, text }.
function prose.long(path, most)
  local reader, found = readers[path:match("%.(%w+)$")], {}
  for _, paragraph in ipairs(paragraphs(reader(path))) do
    local sentence = {}
    local function close()
      local length = count(sentence)
      if length > most then
        local texts = {}
        for i, word in ipairs(sentence) do
          texts[i] = word.text
        end
        found[#found + 1] = { line = sentence[1].line, count = length,
          text = table.concat(texts, " ") }
      end
      sentence = {}
    end
    for _, word in ipairs(words_of(paragraph)) do
      sentence[#sentence + 1] = word
      if ends_sentence(word.text) then
        close()
      end
    end
    if #sentence > 0 then
      close()
    end
  end
  return found
end

return prose
