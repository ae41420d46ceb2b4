-- Machines disagree about the time. What a statement of a server decides about others is decided by
-- the server's clock, or by an instant that the caller was handed.
local source = require "spec.support.source"

local function files(folder)
  return source.files(folder, "%.[ch]$")
end

-- Each call that asks the database or runs a statement in it, with its arguments.
local function calls(text)
  local list = {}
  local asks = { db_run = true, db_query = true, db_value = true, db_read = true }
  for name, arguments in text:gmatch("(db_%a+)(%b())") do
    if asks[name] then
      list[#list + 1] = arguments
    end
  end
  return list
end

-- A machine's clock since it booted means the same to all processes of that boot. These compare it
-- with what stands beside the boot's name.
local BOOT = {
  ["core/store/rules/work/reap.c"] = "clock_since_boot",
}

describe("the time in statements of a server", function()
  it("is never this machine's", function()
    local seen = 0
    for _, folder in ipairs { "core/store/postgres", "core/store/rules" } do
      for _, path in ipairs(files(folder)) do
        for _, arguments in ipairs(calls(source.c_code(path))) do
          seen = seen + 1
          local clock = arguments:match("clock_[%a_]+")
          assert.truthy(not clock or clock == BOOT[path], path .. ": " .. arguments)
        end
      end
    end
    assert.truthy(seen > 300, seen)
  end)

  it("is not taken from this machine elsewhere, but to be compared with the server's", function()
    for _, folder in ipairs { "core/store/postgres", "core/store/rules" } do
      for _, path in ipairs(files(folder)) do
        local own = source.c_code(path):find("clock_system", 1, true)
        assert.truthy(not own or path == "core/store/postgres/turn/server_clock.c", path)
      end
    end
  end)

  it("has one spelling", function()
    for _, path in ipairs(files("core/store/postgres")) do
      local text = source.read(path):gsub("/%*.-%*/", ""):lower()
      for _, word in ipairs { "[^%w_]now%(%)", "current_timestamp", "localtimestamp",
        "statement_timestamp", "transaction_timestamp", "timeofday" } do
        assert.falsy(text:find(word), path .. ": " .. word)
      end
      local _, spelt = text:gsub("extract%(epoch from clock_timestamp%(%)%)", "")
      assert.equal(path == "core/store/postgres/db/connection.h" and 1 or 0, spelt, path)
    end
  end)
end)
