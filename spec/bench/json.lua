-- Reads and writes JSON with Moonshift and with lua-cjson in turn and prints the ratio of both.
--
--   lua5.4 spec/bench/json.lua FILE…  (a JSON text each; LUA_CPATH finds core.so and cjson)
--
-- The figure is the least time of a few rounds; a ratio over 1 means that Moonshift is faster.
local rules = require("moonshift.core").rules
local cjson = require("cjson")

local ROUNDS, BYTES = 9, 4000000

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

-- The least CPU time of one call in µs.
local function time(fn, value, calls)
  collectgarbage()
  local from = os.clock()
  for _ = 1, calls do
    fn(value)
  end
  return (os.clock() - from) / calls * 1e6
end

local function compare(what, calls, ours, our_value, theirs, their_value)
  local best, other = math.huge, math.huge
  for _ = 1, ROUNDS do
    best = math.min(best, time(ours, our_value, calls))
    other = math.min(other, time(theirs, their_value, calls))
  end
  print(("%s %8.2f µs, lua-cjson %8.2f µs, ratio %.2f"):format(what, best, other, other / best))
end

for _, path in ipairs(arg) do
  local text = read(path)
  local calls = math.max(1, BYTES // #text)
  print(("%s, %d bytes"):format(path, #text))
  compare("  decode", calls, rules.decode, text, cjson.decode, text)
  compare("  encode", calls, rules.encode, rules.decode(text), cjson.encode, cjson.decode(text))
end
