require "spec.support.scripts"
local priority = require "moonshift.priority"

describe("priority", function()
  local files = { by_amount = print }

  describe("resolve", function()
    it("takes a whole number, also as a float", function()
      assert.same({ constant = 20 }, priority.resolve(20.0, files))
      assert.equal("integer", math.type(priority.resolve(20.0, files).constant))
    end)

    it("takes a function, and remembers its file", function()
      assert.same({ fn = print, shown = "function", file = "the function of handlers/a.lua" },
        priority.resolve(print, files, "handlers/a.lua"))
    end)

    it("takes the name of a file", function()
      assert.same({ fn = print, shown = "by_amount", file = "priorities/by_amount.lua" },
        priority.resolve("by_amount", files))
    end)

    it("suggests a name", function()
      local _, message = priority.resolve("by_amout", files)
      assert.equal('priority "by_amout": no such file in priorities/ (did you mean "by_amount"?)',
        message)
    end)

    for _, value in ipairs { 1.5, 0 / 0, true } do
      it("refuses " .. tostring(value), function()
        local _, message = priority.resolve(value, files)
        assert.equal(("priority: got %s (expected a whole number, a function, the name of a file "
          .. "in priorities/ or an expression such as ${payload.priority})"):format(
          tostring(value)), message)
      end)
    end
  end)

  describe("ask", function()
    local function ask(value)
      return priority.ask({ fn = function() return value end, file = "priorities/p.lua" }, {})
    end

    it("gives what the function returns", function()
      assert.equal(7, ask(7.0))
    end)

    it("refuses text", function()
      assert.error(function()
        ask("high")
      end, 'priorities/p.lua returned the string "high" (expected a whole number)')
    end)

    it("takes nothing for no opinion", function()
      assert.is_nil(ask(nil))
    end)
  end)
end)
