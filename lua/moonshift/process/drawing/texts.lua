-- Texts of a picture: how wide they are, and how they are broken into lines. No font is at hand, so
-- widths are guesses that are rather too large than too small.
local texts = {}

local MOST = 400 -- characters of a text that are looked at
local ELLIPSIS = "…"

texts.SIZE, texts.LINE = 12, 15 -- of what stands in a shape, in pixels
texts.SMALL, texts.SMALL_LINE = 11, 14 -- of what stands beside one

local NARROW, WIDE = {}, {}
for character in ("iljtfI.,:;'|!()[]{} -"):gmatch "." do
  NARROW[character:byte()] = true
end
for character in ("mwMW@%"):gmatch "." do
  WIDE[character:byte()] = true
end

-- The width of a character in a font of size 1.
local function width_of(code)
  if code >= 0x300 and code < 0x370 then
    return 0
  elseif NARROW[code] then
    return 0.4
  elseif WIDE[code] or code >= 0x1100 then
    return 1.02
  end
  return code >= 0x41 and code <= 0x5A and 0.72 or 0.62
end

-- clean(text) -> the text as UTF-8 that XML may have, with single blanks, and not too long
function texts.clean(text)
  local codes = {}
  text = tostring(text):gsub("%s+", " ")
  local position = 1
  while position <= #text and #codes < MOST do
    local bad = utf8.len(text, position, position) == nil
    local code = bad and 0xFFFD or utf8.codepoint(text, position)
    local is_plain = code >= 0x20 and code ~= 0x7F and code < 0xFFFE or code >= 0x10000
    codes[#codes + 1] = is_plain and code or 0xFFFD
    position = bad and position + 1 or utf8.offset(text, 2, position)
  end
  local cut = position <= #text and ELLIPSIS or ""
  return (utf8.char(table.unpack(codes)):gsub("^ ", ""):gsub(" $", "")) .. cut
end

-- width(text, size) -> its width in pixels; the text is clean
function texts.width(text, size)
  local sum = 0
  for _, code in utf8.codes(text) do
    sum = sum + width_of(code)
  end
  return sum * size
end

-- How many bytes of a word fit, one character at least. A name in parts is cut between two of them.
local function fitting(word, width, size)
  local sum, good = 0, 0
  for position, code in utf8.codes(word) do
    local character = utf8.char(code)
    good = character:find "%u" and word:sub(1, position - 1):find "%l$" and position - 1 or good
    sum = sum + width_of(code)
    if sum * size > width and position > 1 then
      return good > 1 and good or position - 1
    end
    good = character:find "[_./:-]" and position or good
  end
  return #word
end

-- The words of a text; those wider than a line are cut into pieces.
local function pieces(text, width, size)
  local list = {}
  for word in text:gmatch "%S+" do
    while word ~= "" do
      local size_fitting = fitting(word, width, size)
      list[#list + 1] = { text = word:sub(1, size_fitting), goes_on = size_fitting < #word }
      word = word:sub(size_fitting + 1)
    end
  end
  return list
end

local function with_ellipsis(line, width, size)
  while line ~= "" and texts.width(line .. ELLIPSIS, size) > width do
    line = line:sub(1, utf8.offset(line, -1) - 1)
  end
  return line .. ELLIPSIS
end

-- lines(text, width, size, most) -> the lines of a text, and the width of the widest. What is more
-- than `most` lines is left out.
function texts.lines(text, width, size, most)
  local list, line, joined = {}, "", true
  for _, piece in ipairs(pieces(texts.clean(text), width, size)) do
    local longer = line .. (joined and "" or " ") .. piece.text
    if line ~= "" and texts.width(longer, size) > width then
      list[#list + 1], line = line, piece.text
    else
      line = longer
    end
    joined = piece.goes_on
  end
  list[#list + 1] = line ~= "" and line or nil
  if #list > most then
    list[most] = with_ellipsis(list[most], width, size)
    list = table.move(list, 1, most, 1, {})
  end
  local widest = 0
  for _, one in ipairs(list) do
    widest = math.max(widest, texts.width(one, size))
  end
  return list, widest
end

return texts
