-- Proxies before a network face: a small one that knows its users (spec/support/proxy.py), and
-- those of the documentation.
local process = require "spec.support.process"

local proxies = {}

-- Starts the small one; what it is reached at, and what ends it.
function proxies.start(from, upstream)
  local told = os.tmpname()
  local pipe = io.popen(("python3 spec/support/proxy.py %s %s >%s"):format(from,
    process.quote((upstream:gsub("^unix:", ""))), told), "w")
  local port = process.await("the proxy listens", 60, function()
    return tonumber(process.read(told))
  end)
  os.remove(told)
  return "127.0.0.1:" .. math.tointeger(port), function()
    pipe:close()
  end
end

-- A port that was free just now.
function proxies.port()
  local _, port = process.run("python3 -c 'import socket; s = socket.socket(); "
    .. 's.bind(("127.0.0.1", 0)); print(s.getsockname()[1])' .. "'")
  return tonumber(port)
end

-- The block of docs/server.md that begins with this comment.
function proxies.documented(name)
  local text = process.read("docs/server.md")
  return assert(text:match("```ini\n# " .. name .. "\n(.-)```"), name)
end

-- Runs a program until the spec ends it.
function proxies.run(command, address)
  local pipe = io.popen("echo $$; exec " .. command .. " 2>&1")
  local pid = pipe:read("n")
  process.await("the proxy answers at " .. address, 60, function()
    return process.run("curl -s -o /dev/null http://" .. address .. "/health/live") == 0
  end)
  return function()
    os.execute(("kill -TERM %d"):format(pid))
    pipe:close()
  end
end

return proxies
