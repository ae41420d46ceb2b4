-- How busted reports to spec/run: failures in full, and "N passed, N failed" as the last line.
-- Errors outside a test (a file that does not load, a broken before_each) count as failed.
local busted = require "busted"

local function text_of(message)
  return type(message) == "string" and message or require("pl.pretty").write(message)
end

local function show(failure)
  local where = failure.trace or failure.element.trace or {}
  print(("  FAILED %s"):format(failure.name))
  print(("    %s:%s"):format(where.short_src or "?", where.currentline or "?"))
  print("    " .. text_of(failure.message):gsub("\n", "\n    "))
end

return function()
  local handler = require "busted.outputHandlers.base"()

  busted.subscribe({ "suite", "end" }, function()
    for _, list in ipairs { handler.failures, handler.errors } do
      for _, failure in ipairs(list) do
        show(failure)
      end
    end
    for _, pending in ipairs(handler.pendings) do
      print("  pending " .. pending.name)
    end
    print(("%d passed, %d failed"):format(#handler.successes, #handler.failures + #handler.errors))
    io.flush()
    return nil, true
  end)

  return handler
end
