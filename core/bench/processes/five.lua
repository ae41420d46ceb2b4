local step = require "moonshift.process".words()

local list = {}
for i = 1, 5 do
  list[i] = step("work" .. i) { run = "noop", async = true }
end
return list
