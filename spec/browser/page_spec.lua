-- The page in a real browser, where there are one, node, and the packages playwright-core and
-- axe-core (npm install playwright-core axe-core; NODE_PATH names where they are).
local faces = require "spec.support.faces"
local process = require "spec.support.process"
local program = require "spec.support.program"

-- What is missing; nil: nothing.
local function missing()
  local status = process.run("node -e 'require(\"playwright-core\"); require(\"axe-core\")'")
  if status ~= 0 then
    return "node with playwright-core and axe-core"
  end
  status = process.run("command -v chromium")
  return status ~= 0 and "chromium" or nil
end

describe("the page", function()
  local lacks = missing()
  local look = lacks and pending or it
  local folder, face

  local function start()
    folder = process.folder {
      ["handlers/boom.lua"] = "return { retry = 'R1/PT1S', run = function(job)\n"
        .. "  print '<b class=injected>tried</b>'\n"
        .. "  error('image <b class=injected>truncated</b>', 0)\nend }\n",
      ["handlers/reserve_stock.lua"] = "return function() end\n",
      ["schedules/nightly.lua"] = "return { cycle = '0 2 * * *', handler = 'boom' }\n",
      ["processes/order.lua"] = [[
local p = require "moonshift.process"
return {
  p.start "ordered" {},
  p.step "reserve" { name = "<img src=x onerror=alert(1)>", run = "reserve_stock" },
  p.task "approve" { name = "Approve the order" },
}
]],
    }
    face = faces.start(folder, "run", "--http", "127.0.0.1:0", "--open")
  end

  local function stop()
    assert.equal(0, face:stop())
    process.remove(folder)
  end

  local function run(...)
    local status, output, errors = program.run({ ... }, { dir = folder })
    assert.equal(0, status, errors)
    return output
  end

  look("shows every screen without a serious finding, and is led by keys alone", function()
    start()
    for i = 1, 3 do
      run("enqueue", "boom", ('{"n":%d,"name":"<script>alert(1)</script>"}'):format(i))
    end
    local instance = run("process", "start", "order", "--key", "<i>o-1</i>"):match("%d+")
    process.await("three jobs are dead", 60, function()
      return select(2, run("job", "list", "--state", "dead", "--json"):gsub('"id"', "")) == 3
    end)
    local job = run("job", "list", "--state", "dead", "--json"):match('"id":(%d+)')
    local line = "CHROMIUM=$(command -v chromium) node spec/browser/look.js %s %s %s"
    local status, output = process.run(line:format(face.addresses[1], job, instance))
    assert.equal("15 screens\n", output)
    assert.equal(0, status)
    stop()
  end)

  it("has three files of less than 120 KB together", function()
    local size = 0
    for _, name in ipairs { "page.html", "page.css", "page.js" } do
      size = size + #process.read("core/http/ui/" .. name)
    end
    assert.is_true(size < 120 * 1024, size)
  end)
end)
