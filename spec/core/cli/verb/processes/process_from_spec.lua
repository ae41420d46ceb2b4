-- Many commands to processes from a file of JSON lines.
local process = require "spec.support.process"
local rules = require("moonshift.core").rules

local files = {
  ["processes/wait.lua"] = [[
    local process = require "moonshift.process"
    return { process.step "book" { run = "book" },
      process.receive "paid" { message = "paid", key = "${instance.key}" } }]],
  ["handlers/book.lua"] = [[return function(job)
    assert(job.variables.n ~= 1500, "no room")
  end]],
}

describe("commands to processes from a file", function()
  local folder

  before_each(function()
    folder = process.folder(files)
  end)

  after_each(function()
    process.remove(folder)
  end)

  local function run(...)
    local words = { ... }
    words[#words + 1] = "--store"
    words[#words + 1] = "sqlite:" .. folder .. "/jobs.db"
    words[#words + 1] = "-C"
    words[#words + 1] = folder
    local status, output, errors = process.run(process.command(table.unpack(words)))
    return { status, output, (errors:gsub(folder .. "/", "")) }
  end

  local function write(lines)
    local file = assert(io.open(folder .. "/lines.jsonl", "w"))
    file:write(table.concat(lines, "\n"), "\n")
    file:close()
    return folder .. "/lines.jsonl"
  end

  local function orders(count)
    local lines = {}
    for i = 1, count do
      lines[i] = ('{"key":"o-%d","variables":{"n":%d}}'):format(i, i)
    end
    return lines
  end

  local function instances()
    return #rules.decode(run("instance", "list", "--json", "--limit", "5000")[2])
  end

  it("start instances and give them messages, in more than one transaction", function()
    local path = write(orders(1200))
    assert.same({ 0, "1200 instances started\n", "" }, run("process", "start", "wait", "--from",
      path))
    assert.equal(1200, instances())
    assert.same({ 0, "1200 messages given\n", "" }, run("message", "paid", "--from", path))
    assert.equal(0, instances())
  end)

  it("say the ids of the instances in the order of the lines", function()
    local answer = run("process", "start", "wait", "--json", "--from", write(orders(3)))
    local ids = rules.decode(answer[2]).instances
    assert.equal(3, #ids)
    local row = rules.decode(run("instance", "show", tostring(ids[2]), "--json")[2])
    assert.same({ "o-2", 2 }, { row.key, row.variables.n })
  end)

  it("name the line that fails, and how many are written before it", function()
    assert.same({ 1, "", "moonshift: lines.jsonl:1500: handlers/book.lua:2: no room (1000 before "
      .. "it are written)\n" }, run("process", "start", "wait", "--from", write(orders(1600))))
    assert.equal(1000, instances())
    assert.same({ 4, "", 'moonshift: lines.jsonl:1: message "paid": nothing waits for it (nothing '
      .. "written)\n" }, run("message", "paid", "--from", write { '{"key":"o-x"}', "" }))
  end)

  it("are refused as a whole if a line is wrong", function()
    local function refused(line, message)
      assert.same({ 2, "", "moonshift: lines.jsonl:2: " .. message .. "\n" },
        run("process", "start", "wait", "--from", write { "{}", line }))
    end
    refused('{"kye":"a"}', 'unknown key "kye"')
    refused('{"key":5}', "key 5: expected a text")
    refused('{"variables":[]}', "variables []: expected an object")
    refused("[]", "the line []: expected an object")
    assert.equal(4, run("process", "start", "wait", "--from", folder .. "/none")[1])
    assert.same({ 2, "", 'moonshift: unexpected "n=1" (--from has the variables itself)\n' },
      run("process", "start", "wait", "n=1", "--from", write { "{}" }))
  end)
end)
