-- The README's own code, run as it is printed there.
local process = require "spec.support.process"

local lua = os.getenv("SPEC_LUA") or "lua5.4"
local busted = os.getenv("BUSTED") or "/usr/bin/busted"
local program = process.command():match("^'(.*)'$")

local PROMISE = "Every job whose creation was acknowledged will be executed at least once, or end"
  .. " in a visible incident. Most jobs execute exactly once. A job can run again if the process or"
  .. " machine failed while it ran, or if it lost its lock. The *result* of a job is committed at"
  .. " most once: a worker that lost its lock cannot commit. Jobs of one lane never run at the same"
  .. " time, unless one of them ran on after its lock was lost; its result is then refused."
  .. ' "Acknowledged" means synced to disk.'

describe("the README", function()
  local readme, dir

  setup(function()
    local file <close> = assert(io.open("README.md"))
    readme = file:read("a")
    dir = process.folder()
  end)

  teardown(function()
    process.remove(dir)
  end)

  -- The first code block below a heading.
  local function code(heading, language)
    local _, from = readme:find("\n#+ " .. heading .. "\n")
    return assert(readme:match("```" .. language .. "\n(.-)```", from), heading)
  end

  -- Runs shell lines in a folder below `dir`, the program on the path; standard output.
  local function run(folder, lines)
    local bin = program:match("^(.*)/")
    local status, output, errors = process.run(("cd %s/%s && PATH=%s:$PATH && set -e\n%s"):format(
      process.quote(dir), folder, process.quote(bin), lines))
    assert.equal(0, status, output .. errors)
    return output
  end

  -- The file that a code block names in its first line.
  local function write(text)
    local path = text:match("^%-%- ([%w_/]+%.lua)")
    run("shop", "mkdir -p $(dirname " .. path .. ")")
    local file <close> = assert(io.open(dir .. "/shop/" .. path, "w"))
    file:write(text)
    return path
  end

  it("makes the promise in these words", function()
    local lines = readme:match("\n(> Every job .-)\n\n")
    assert.equal(PROMISE, (lines:gsub("^> ", ""):gsub("\n> ", " ")))
  end)

  it("takes five minutes", function()
    local lines = code("Five minutes", "sh"):match("^(.*)\nmoonshift run +#")
    local output = run(".", lines)
    assert.truthy(output:find("\nsend_invoice +by_amount +R5/PT5S +PT5M "), output)
    assert.truthy(output:find("\n1\nID  HANDLER       STATE  PRIORITY  RETRIES\n"
      .. " 1  send_invoice  ready        21        5\n", 1, true), output)
    assert.truthy(output:find("\nattempt +2\n.*\nstate +scheduled\n.*\nstack\n"), output)
    assert.truthy(run("shop", "moonshift job due none 1; moonshift run --drain; moonshift log")
      :find('["to a@b.example: your invoice 7"]', 1, true))
  end)

  it("shows a rule, a strategy and a listener that load", function()
    for _, heading in ipairs { "A priority rule", "A retry strategy", "A listener" } do
      write(code(heading, "lua"))
    end
    assert.truthy(run("shop", "moonshift check"):find("send_invoice", 1, true))
  end)

  it("shows a spec that passes", function()
    local path = write(code("Their spec", "lua"))
    run("shop", ("%s %s %s"):format(lua, busted, path))
  end)

  it("shows a program that runs", function()
    write("-- program.lua\n" .. code("The module", "lua")
      .. "assert(id == 1 and ids[1] == 2 and ids[2] == 3)\n")
    run("shop", "mkdir scripts && cp -r handlers priorities scripts && " .. lua .. " program.lua")
  end)
end)
