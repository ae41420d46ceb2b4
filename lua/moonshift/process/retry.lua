-- Retries of activities that are expressions: they are asked at each failure, with the variables of
-- the place where the instance stands.
local definitions = require "moonshift.process.definitions"
local expression = require "moonshift.expression"
local frame = require "moonshift.process.frame"
local retry = require "moonshift.retry"
local rules = require "moonshift.rules"
local variables = require "moonshift.process.variables"

local retries = {}

-- The place of a job in its instance, as far as the frame has it. It sees variables from there.
local function place_of(job, walk)
  local row, token = walk.frame(job)
  local whole = row and row.frame and frame.decode(row.frame, rules.decode)
  if whole and row.turn then
    whole.outer.beyond = function()
      local around = frame.decode(row.around, rules.decode)
      return frame.find(around, row.body_token) or around.outer
    end
  end
  return whole and (frame.find(whole, token) or whole.outer)
end

-- strategy(text, walk) -> a strategy by this expression (see moonshift.retry); `walk` is C's.
function retries.strategy(text, walk)
  local compiled = expression.compile(text, { pure = true })
  return retry.asking(text, function(job)
    local place = place_of(job, walk)
    return place and compiled {
      now = walk.now(),
      get = function(_, name)
        local value, holder = variables.get(place, name)
        return value, holder ~= nil
      end,
    }
  end)
end

-- strategy_of(graph, name, walk) -> the strategy of a job definition of the graph, or nil. Names of
-- files in retries/ mean nothing here: the graph may be older than the folder.
function retries.strategy_of(graph, name, walk)
  for _, one in ipairs(definitions.of(graph)) do
    local text = one.name == name and one.declared.retry
    if one.name == name and one.retry then
      return retries.strategy(one.retry, walk)
    elseif text and rules.retry(text) then
      return retry.asking(text, function()
        return text
      end)
    end
  end
end

return retries
