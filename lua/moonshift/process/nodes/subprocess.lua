-- A sub-process is a scope of tokens; the walk leaves it when the last of them has gone.
local scopes = require "moonshift.process.scopes"

local subprocess = {}

function subprocess.enter(w, inst, token, step)
  token.state = "scope"
  scopes.open(w, inst, token, step.start)
end

return subprocess
