local soak = require "lib.soak"
return soak.handler(function()
  local pipe = io.popen("sleep 0.05; echo done")
  assert(pipe:read("l") == "done", "the child said nothing")
  assert(pipe:close())
end)
