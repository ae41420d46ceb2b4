-- Many runs of a script, each in a process of its own, as many at a time as there are processors.
local process = require "spec.support.process"

-- What each of them printed, by plan: a line of arguments.
return function(script, plans)
  local dir = process.folder { plans = table.concat(plans, "\n") .. "\n" }
  process.run(("xargs -P $(nproc) -L 1 sh -c 'lua5.4 %s \"$@\" >%s/$1-$2-$3-$4 2>&1' - <%s/plans")
    :format(script, dir, dir))
  local outputs = {}
  for _, plan in ipairs(plans) do
    outputs[plan] = process.read(dir .. "/" .. plan:gsub(" ", "-"))
  end
  process.remove(dir)
  return outputs
end
