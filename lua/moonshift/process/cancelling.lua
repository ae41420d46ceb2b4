-- What a cancellation would end (rules §23): nothing is called, and nothing is written.
local called = require "moonshift.process.called"
local frame = require "moonshift.process.frame"
local rules = require "moonshift.rules"

local cancelling = {}

-- The activities where an instance stands, each once, in the order of their tokens.
local function activities_of(inst)
  local names, seen = rules.array {}, {}
  for _, token in ipairs(inst.frame.list) do
    local at = token ~= inst.frame.outer and not frame.watches(token) and token.state ~= "scope"
      and token.at:match "^[^#]+"
    if at and not seen[at] then
      seen[at] = true
      names[#names + 1] = at
    end
  end
  return names
end

-- An instance, and behind it those that it called.
local function add(w, inst, told)
  told[#told + 1] = { instance = inst.id, cancels = activities_of(inst) }
  for _, token in ipairs(not w.cause.skip_called and inst.frame.list or {}) do
    local inner = token.state == "call" and token.more and w:instance(token.more)
    if inner then
      add(w, inner, told)
    end
  end
end

-- trial(w, inst) -> { { instance, cancels } … }: the instance, those that it called, and the
-- activity of the one that called it
function cancelling.trial(w, inst)
  local told = rules.array {}
  add(w, inst, told)
  local caller, token = called.caller(w, inst)
  if caller then
    told[#told + 1] = { instance = caller.id, cancels = rules.array { token.at:match "^[^#]+" } }
  end
  return told
end

return cancelling
