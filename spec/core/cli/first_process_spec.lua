-- The program as the first process of a container.
local process = require "spec.support.process"

local LEAVES = [[return function(job)
  os.execute "sh -c 'sleep 0.1 & echo $! >left'"
  local file = assert(io.open "left")
  local path = "/proc/" .. file:read "n" .. "/stat"
  file:close()
  for _ = 1, 600 do
    local there = io.open(path)
    if not there then
      return "gone"
    end
    there:close()
    os.execute "sleep 0.1"
  end
  error("a zombie", 0)
end]]

local has_namespaces = os.execute "unshare -pf --mount-proc true 2>/dev/null"

describe("the first process of a container", function()
  local folder

  before_each(function()
    folder = process.folder { ["handlers/leaves.lua"] = LEAVES,
      ["handlers/no.lua"] = "return function() end" }
  end)

  after_each(function()
    process.remove(folder)
  end)

  -- A command line of the program there: status, output, errors.
  local function run(...)
    return process.run(("cd %s && unshare -pf --mount-proc %s"):format(process.quote(folder),
      process.command(...)))
  end

  local test = has_namespaces and it or pending

  test("waits for what jobs leave behind", function()
    assert.equal(0, (run("enqueue", "leaves")))
    local status, _, errors = run("run", ".", "--drain", "--log-level", "error")
    assert.equal(0, status, errors)
    local _, output = run("log", "--outcome", "successful", "--json")
    assert.truthy(output:find('"result":"gone"', 1, true), output)
  end)

  test("ends with the status of its child", function()
    local status, _, errors = run("enqueue", "nothing")
    assert.equal((process.run(process.command("enqueue", "nothing", "-C", folder))), status)
    assert.truthy(errors:find 'unknown handler "nothing"', errors)
  end)

  test("hands signals on", function()
    local status, output = process.run(("cd %s && { unshare -pf --mount-proc %s & } 2>log; "
      .. "for i in $(seq 600); do grep -q event=started log && break; sleep 0.1; done; "
      .. "kill -TERM $(pgrep -P $!); wait $!; echo $?; grep -c event=stopped log"):format(
      process.quote(folder), process.command("run", ".")))
    assert.equal("0\n1\n", output)
    assert.equal(0, status)
  end)
end)
