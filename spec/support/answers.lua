-- A server of answers, good and bad: spec/support/answers.py.
local process = require "spec.support.process"

local answers = {}

-- A certificate authority, and leaves of it: as they should be, out of date, for another name; and
-- one of another authority.
local CERTIFICATES = [[
cd %s && exec >certificates.log 2>&1 </dev/null
key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:prime256v1 -out $1.key; }
authority() { key $1 && openssl req -x509 -key $1.key -days 9 -subj "/CN=$1" -out $1.pem; }
sign() { printf 'subjectAltName=%%s' $4 >$1.san
  openssl x509 -req -in leaf.csr -CA $2.pem -CAkey $2.key -set_serial 7 -days $3 -extfile $1.san \
    -out $1.pem; }
authority ca && authority other && key leaf && openssl req -new -key leaf.key -subj "/CN=leaf" \
  -out leaf.csr && sign good ca 9 DNS:localhost,IP:127.0.0.1 && sign expired ca -1 IP:127.0.0.1 \
  && sign wrong ca 9 DNS:elsewhere.example && sign strange other 9 IP:127.0.0.1
]]

-- Starts it: { path, ports = { name = number }, url(name), log(), stop() }. `tls`: it has
-- certificates, and ca is the file of their authority.
function answers.start(tls)
  local server = { path = process.folder(), ports = {} }
  server.ca = server.path .. "/ca.pem"
  if tls then
    assert(os.execute(("sh -c %s"):format(process.quote(CERTIFICATES:format(server.path)))),
      process.read(server.path .. "/certificates.log"))
  end
  local pipe = io.popen(("python3 -B spec/support/answers.py %s >%s/errors 2>&1 & echo $!"):format(
    server.path, server.path))
  server.pid = pipe:read("n")
  pipe:close()
  local text = process.await("the server", 5, function()
    local ports = process.read(server.path .. "/ports")
    return ports ~= "" and ports
  end)
  for name, port in text:gmatch("(%w+) (%d+)") do
    server.ports[name] = math.tointeger(tonumber(port))
  end

  -- The URL of one of its ports, "plain" unless another one is named.
  function server.url(name, scheme, host)
    return ("%s://%s:%d"):format(scheme or "http", host or "127.0.0.1",
      server.ports[name or "plain"])
  end

  -- How many requests for this path it has seen.
  function server.seen(line)
    local count = 0
    for one in process.read(server.path .. "/log"):gmatch("[^\n]+") do
      count = count + (one == line and 1 or 0)
    end
    return count
  end

  function server.stop()
    os.execute("kill -KILL " .. server.pid)
    process.remove(server.path)
  end

  return server
end

return answers
