-- The example to its end, and its figures.
local process = require "spec.support.process"

local lua = os.getenv("SPEC_LUA") or "lua5.4"

describe("examples/thumbnails", function()
  local dir

  before_each(function()
    dir = process.folder()
  end)

  after_each(function()
    process.remove(dir)
  end)

  it("makes every thumbnail, the damaged image's once it is mended", function()
    local command = "MOONSHIFT=%s LUA=%s STORE=%s sh examples/thumbnails/run.sh 4 %s"
    local status, output, errors = process.run(command:format(process.command(), lua,
      process.store(dir .. "/jobs.db"), dir))
    assert.equal(0, status, output .. errors)
    assert.matches("\nFAILED +JOB  REASON\n%S*/13%.ppm +%d+  %S*/13.ppm: 29400 of 58800 bytes",
      output)
    assert.matches("\n1 job retried\n", output)
    assert.matches("\n 1  thumbnail  holiday  completed  100    24    24       0   24  ", output)
    local report = output:match("== the report[^\n]*\n(.*)$"):gsub("  +", "  ")
    assert.equal("thumbnails  24 of 24  right\n"
      .. "of the right size  24 of 24  right\n"
      .. "of the colours of their image  24 of 24  right\n"
      .. "the contact sheet  384 × 256  right\n"
      .. "the thumbnails are right\n", report)
  end)

  it("notices a thumbnail that is not right", function()
    process.run(("mkdir -p %s/i %s/t && %s examples/thumbnails/generate %s/i"):format(dir, dir, lua,
      dir))
    local status, output = process.run(("%s examples/thumbnails/report %s/i %s/t %s/s.ppm"):format(
      lua, dir, dir, dir))
    assert.equal(1, status)
    assert.matches("thumbnails +0 of 24 +WRONG\n", output)
  end)
end)
