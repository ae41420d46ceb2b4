-- Files of lines, as editors and shells make them.
local program = require "spec.support.program"
local rules = require("moonshift.core").rules

local MARK = "\xEF\xBB\xBF"
local files = {
  ["handlers/w.lua"] = "return function(job) return job.payload end",
  ["processes/p.lua"] = [[local p = require "moonshift.process"
    return { p.start "told" { message = "go" }, p.task "t" {} }]],
  ["batches/b.lua"] = [[return { invocations = 10, run = function(job, ids)
    for _, id in ipairs(ids) do job:log(("%q"):format(id)) end
  end }]],
}

describe("a byte order mark at the start of a file or of standard input", function()
  local place

  before_each(function()
    place = program.place(files)
  end)

  after_each(function()
    place.clean()
  end)

  -- The output of a command line that is given `text` as standard input, and as a file.
  local function both(text, ...)
    local words, outputs = { ... }, {}
    local path = place.path .. "/given"
    local file = assert(io.open(path, "wb"))
    file:write(MARK .. text)
    file:close()
    for i, name in ipairs { "-", path } do
      words[#words + 1] = name
      local status, output, errors = program.run(words, { dir = place.path, stdin = MARK .. text })
      assert.equal(0, status, errors)
      words[#words], outputs[i] = nil, output
    end
    return outputs
  end

  it("is passed over in jobs, starts and messages", function()
    both('{"handler":"w","payload":1}\r\n\r\n{"handler":"w","payload":2}', "enqueue", "--from")
    assert.same({ "2 instances started\n", "2 instances started\n" },
      both('{"key":"a"}\n{"key":"b"}\n', "process", "start", "p", "--from"))
    assert.same({ "1 messages given\n", "1 messages given\n" },
      both('{"key":"a"}', "message", "go", "--from"))
    local _, output = place.run("job", "list", "--json")
    assert.equal(4, #rules.decode(output))
  end)

  it("is passed over in the ids of a batch", function()
    both("a.ppm\nb.ppm\n", "batch", "create", "b", "--ids-from")
    assert.equal(0, (place.run("run", ".", "--drain", "--log-level", "error")))
    local _, output = place.run("log", "--handler", "batch/b", "--outcome", "successful", "--json")
    for _, row in ipairs(rules.decode(output)) do
      assert.same({ '"a.ppm"', '"b.ppm"' }, row.lines)
    end
  end)

  it("is passed over in a payload and in a crontab", function()
    local _, output, errors = program.run({ "enqueue", "w", "-" },
      { dir = place.path, stdin = MARK .. '{"n":1}' })
    assert.truthy(output:find "^%d+\n$", errors)
    local status
    status, _, errors = program.run({ "import", "crontab", "-" },
      { dir = place.path, stdin = MARK .. "*/5 * * * * echo hi\n" })
    assert.equal(0, status, errors)
  end)
end)
