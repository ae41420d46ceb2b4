-- Plain English: one fact a sentence. About 25 words are wanted; more than 35 fail.
local prose = require "spec.support.prose"
local source = require "spec.support.source"

local MOST = 35

local rooms = "core lua scripts examples spec docs README.md"

local function offenders(path)
  local list = {}
  for _, one in ipairs(prose.long(path, MOST)) do
    list[#list + 1] = ("%s:%d: %d words: %s"):format(path, one.line, one.count, one.text)
  end
  return list
end

-- The numbers of words of the sentences of more than `most` words in a file with this text.
local function counts(suffix, most, text)
  local path, list = os.tmpname(), {}
  local file = assert(io.open(path .. suffix, "w"))
  file:write(text)
  file:close()
  for _, one in ipairs(prose.long(path .. suffix, most)) do
    list[#list + 1] = one.count
  end
  os.remove(path .. suffix)
  os.remove(path)
  return list
end

describe("prose", function()
  for _, kind in ipairs { "%.[ch]$", "%.lua$", "%.md$", "%.1$" } do
    it("has no sentence of more than " .. MOST .. " words in " .. kind, function()
      local list = {}
      for _, path in ipairs(source.files(rooms, kind)) do
        table.move(offenders(path), 1, #offenders(path), #list + 1, list)
      end
      assert.equal("", table.concat(list, "\n"))
    end)
  end
end)

describe("a sentence", function()
  it("of a C file is in a comment, and goes over lines", function()
    assert.same({ 6, 3 }, counts(".c", 2, [[
int one two three four; /* six words
                         * in all of this. */
/* Two more. No
 * more now!
 *
 * Two
 */ int five(six, seven, eight);
const char *none = "/* this is none of it";
]]))
  end)

  it("of a Lua file is in a comment; what is for editors is none", function()
    assert.same({ 4, 3 }, counts(".lua", 2, [[
-- Four words of
-- Lua. Two here
local one = two -- three beside it
local text = "-- this is no comment"
---@field text string what an editor shows
]]))
  end)

  it("of Markdown is no code and no table; a heading stands alone", function()
    assert.same({ 5, 5, 3 }, counts(".md", 2, [[
# A heading of five words

Five words: [two words](https://example.org/a) each.

```sh
this is not a sentence
```

| this is | no sentence |

- three words here
- two only
]]))
  end)

  it("of the manual page is no code", function()
    assert.same({ 4 }, counts(".1", 2, [[
.SH TWO WORDS
Four words \fBin\fP
it.
.nf
this is no sentence
.fi
]]))
  end)

  it("does not end at an abbreviation, nor in code", function()
    assert.same({ 7 }, counts(".md", 2, "Some names, e.g. `job.lua and more`, in one sentence.\n"))
  end)

  it("counts five names in a row as one word", function()
    assert.same({ 5 }, counts(".md", 2, "Settings: a, b, c, d, e, f and some others.\n"))
  end)
end)
