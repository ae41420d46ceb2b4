-- Script folders as they are read from disk.
local engines = require "spec.support.engines"
local moonshift = require "moonshift"

describe("folder", function()
  after_each(engines.clean)

  local function open(files)
    return moonshift.open { store = "sqlite::memory:", scripts = engines.folder(files) }
  end

  local function refused(files)
    local _, message, code = open(files)
    assert.equal("config", code)
    return message
  end

  it("reads folders in folders", function()
    local engine = assert(open { ["handlers/a/b/c.lua"] = "return function() end" })
    assert.equal("a/b/c", engine:definition("a/b/c").name)
  end)

  it("is known by the SHA-256 of its files: path, size and text of each, in their order", function()
    local process = require "spec.support.process"
    local files = { ["handlers/b.lua"] = "return function() end -- " .. ("long "):rep(1000),
      ["handlers/a.lua"] = "return function() end", ["moonshift.lua"] = "return {}" }
    local whole = {}
    for _, path in ipairs { "handlers/a.lua", "handlers/b.lua", "moonshift.lua" } do
      whole[#whole + 1] = path .. "\0" .. ("<I8"):pack(#files[path]) .. files[path]
    end
    local place = process.folder { all = table.concat(whole) }
    local _, sum = process.run("sha256sum <" .. place .. "/all")
    process.remove(place)
    assert.equal(sum:match("^%x+"), assert(open(files)):deployments()[1].hash)
  end)

  it("reads nothing that begins with a dot or does not end in .lua", function()
    assert(open {
      ["handlers/.x.lua"] = "not Lua",
      ["handlers/x.lua~"] = "not Lua",
      ["handlers/.git/x.lua"] = "not Lua",
    })
  end)

  it("reads models among its processes alone, of up to 8 MiB", function()
    local refusal = "processes/x.bpmn: 8388609 bytes (expected at most 8388608)"
    assert.equal(refusal, refused { ["processes/x.bpmn"] = ("x"):rep(8388609) })
    assert.equal("processes/x.bpmn:1: syntax error",
      refused { ["processes/x.bpmn"] = ("x"):rep(1048577) })
    assert.equal("processes/a/x.bpmn20.xml:1: syntax error",
      refused { ["processes/a/x.bpmn20.xml"] = "x" })
    assert(open { ["processes/x.xml"] = "x", ["lib/x.bpmn"] = "x" })
  end)

  it("has the stock scripts behind the user's", function()
    local engine = assert(open { ["handlers/log.lua"] = "return function() return 'mine' end" })
    assert.equal("mine", (engine:execute((engine:enqueue("log")))))
    assert.is_nil(engine:execute((engine:enqueue("noop"))))
  end)

  it("keeps handlers under moonshift/ for the stock scripts", function()
    assert.equal("handlers/moonshift/operate.lua: handlers under moonshift/ are reserved "
      .. "(expected another name)", refused {
        ["handlers/moonshift/operate.lua"] = "return function() end",
      })
    assert(open { ["handlers/moonshift.lua"] = "return function() end" })
  end)

  it("keeps the names of batches that everybody has", function()
    assert.equal("handlers/batch/x.lua: handlers under batch/ are reserved "
      .. "(expected batches/x.lua)", refused { ["handlers/batch/x.lua"] = "return function() end" })
    assert.equal("batches/suspend.lua: there is a type of batch of that name "
      .. "(expected another name)", refused { ["batches/suspend.lua"] = "return function() end" })
    local engine = assert(open { ["batches/suspend2.lua"] = "return function() end" })
    assert.equal("batches/suspend2.lua", engine:definition("batch/suspend2").file)
  end)

  it("names the first problem and counts the others", function()
    assert.equal("handlers/a.lua:1: returned 5 (expected a function, or a table with a function "
      .. '"run") (and 1 more: see moonshift check)', refused {
        ["handlers/a.lua"] = "return 5",
        ["handlers/b.lua"] = "return 5",
      })
  end)

  it("refuses binary chunks", function()
    assert.equal("handlers/x.lua:1: binary chunks are refused (expected Lua source text)",
      refused { ["handlers/x.lua"] = string.dump(function() end) })
  end)

  it("refuses a file of more than 1 MiB", function()
    assert.equal("handlers/x.lua: 1048577 bytes (expected at most 1048576)",
      refused { ["handlers/x.lua"] = (" "):rep(1048577) })
  end)

  it("limits the memory of loading", function()
    assert.equal("handlers/x.lua:1: loading needed more than the memory limit of 64 MiB",
      refused { ["handlers/x.lua"] = "local t = {} while true do t[#t + 1] = {} end" })
  end)

  it("skips a byte order mark", function()
    assert(open { ["handlers/x.lua"] = "\xEF\xBB\xBFreturn function() end" })
  end)

  it("says where a folder is not", function()
    local _, message = moonshift.open { store = "sqlite::memory:", scripts = "/nowhere" }
    assert.equal('script folder "/nowhere": No such file or directory', message)
  end)

  describe("moonshift.lua", function()
    it("sets", function()
      local engine = assert(open {
        ["moonshift.lua"] = "return { retries = 7, priority_range = { nil, 9 } }",
        ["handlers/x.lua"] = "return function() end",
      })
      assert.equal(7, engine:job((engine:enqueue("x"))).retries)
    end)

    it("must return a table", function()
      assert.equal("moonshift.lua:1: returned 5 (expected a table of settings)",
        refused { ["moonshift.lua"] = "return 5" })
    end)

    it("must hold values", function()
      assert.equal("moonshift.lua: setting.retry: cannot store a function (expected nil, boolean, "
        .. "number, text or table)", refused { ["moonshift.lua"] = "return { retry = print }" })
    end)

    it("is evaluated like every other file", function()
      assert.equal('moonshift.lua:1: unknown global "stroe"',
        refused { ["moonshift.lua"] = "return { store = stroe }" })
    end)
  end)
end)
