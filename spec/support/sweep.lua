-- Many runs of a script, each in a process of its own, twice as many at a time as there are
-- processors: half of the time they sleep.
local process = require "spec.support.process"

local lua = os.getenv("LUA") or "lua5.4"

-- What each of them printed, by plan: a line of arguments.
return function(script, plans)
  local lines, outputs = {}, {}
  for i, plan in ipairs(plans) do
    lines[i] = ("%d %s\n"):format(i, plan)
  end
  local dir = process.folder { plans = table.concat(lines) }
  process.run(("xargs -P $((2 * $(nproc))) -L 1 sh -c"
    .. " 'at=$1; shift; %s %s \"$@\" >%s/$at 2>&1' - <%s/plans"):format(lua, script, dir, dir))
  for i, plan in ipairs(plans) do
    outputs[plan] = process.read(dir .. "/" .. i)
  end
  process.remove(dir)
  return outputs
end
