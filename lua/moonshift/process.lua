-- The words of processes/*.lua: `require "moonshift.process"`. A word makes an item of the list
-- that such a file returns; what the list means is read by moonshift.process.words.
local process = {}

-- The words by what they make. Each is called with a name, with a table, or with both in turn.
local WORDS = {
  "step", "task", "choose", "parallel", "each", "receive", "call", "send", "rule", "script",
  "manual", "pass", "inclusive", "first", "sub", "handle", "start", "finish", "wait", "throw",
  "boundary", "gateway",
}
local FIRST = 7 -- what words() returns

local Item = { __metatable = false }

local function line_of_caller()
  local info = debug.getinfo(3, "l")
  return info and info.currentline
end

-- An item with its name becomes complete when it is called with its table.
function Item:__call(content)
  if self.content ~= nil or type(content) ~= "table" then
    error(("%s %q: expected one table after the name"):format(self.word, tostring(self.id)), 2)
  end
  self.content = content
  return self
end

local function new_word(word)
  return function(given)
    local item = setmetatable({ word = word, line = line_of_caller() }, Item)
    if type(given) == "string" then
      item.id = given
    elseif type(given) == "table" and debug.getmetatable(given) ~= Item then
      item.content = given
    else
      error(("%s: expected a name or a table"):format(word), 2)
    end
    return item
  end
end

for _, word in ipairs(WORDS) do
  process[word] = new_word(word)
end

-- words() -> step, task, choose, parallel, each, receive, call
function process.words()
  local list = {}
  for i = 1, FIRST do
    list[i] = process[WORDS[i]]
  end
  return table.unpack(list)
end

-- is_item(value): true for what a word made.
function process.is_item(value)
  return debug.getmetatable(value) == Item
end

return setmetatable(process, {
  raises = true, -- for views of this module
  __index = function(_, name)
    error(("moonshift.process has no word %q"):format(tostring(name)), 2)
  end,
})
