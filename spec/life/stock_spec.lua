-- The stock handlers that a folder has: the harmless ones, and those it asks for.
local engines = require "spec.support.engines"
local moonshift = require "moonshift"
local program = require "spec.support.program"

local UNKNOWN = 'unknown handler "shell" (a stock handler for which the folder must ask: '
  .. 'stock = { "shell" } in moonshift.lua)'

describe("the stock handlers", function()
  local place

  after_each(function()
    engines.clean()
    if place then
      place.clean()
      place = nil
    end
  end)

  local function job(command)
    return { command = command }
  end

  it("are noop and log unless the folder asks for others", function()
    local engine = engines.private { ["handlers/a.lua"] = [[return function(job)
      return select(2, pcall(job.enqueue, job, "shell", { command = "true" }))
    end]] }
    assert.is_number((engine:enqueue("noop")))
    assert.is_number((engine:enqueue("log", "hello")))
    assert.same({ nil, UNKNOWN, "not_found" }, { engine:enqueue("shell", job("true")) })
    assert.matches(UNKNOWN, (engine:execute((engine:enqueue("a")))), 1, true)
    assert.same({ nil, 'config of "enqueue": ' .. UNKNOWN, "not_found" },
      { engine:batch { type = "enqueue", ids = { job("true") }, config = { handler = "shell" } } })
  end)

  it("are added by the setting, beside the harmless ones", function()
    local engine = engines.private({}, { stock = { "shell" } })
    local id = engine:enqueue("shell", job("echo hello"))
    assert.is_number((engine:enqueue("noop")))
    assert.same({ done = 2, failed = 0 }, engine:drain())
    assert.same({ "hello" }, engine:log({ job = id, outcome = "successful" }):one().lines)
  end)

  it("hold no more of what a command writes than its attempt keeps", function()
    local engine = engines.private({}, { stock = { "shell" }, memory_limit = "8MiB" })
    local id = engine:enqueue("shell", job("yes " .. ("x"):rep(999) .. " | head -n 24000"))
    assert.same({ done = 1, failed = 0 }, engine:drain())
    local lines = engine:log({ job = id, outcome = "successful" }):one().lines
    assert.equal(("x"):rep(999), lines[1])
  end)

  it("give way to a file of the folder, which need not be asked for", function()
    local engine = engines.private { ["handlers/shell.lua"] = "return function() return 5 end" }
    assert.equal(5, (engine:execute((engine:enqueue("shell")))))
  end)

  it("are refused by a name that is none", function()
    local function refusal(stock)
      return select(2, moonshift.open { store = "sqlite::memory:", stock = stock })
    end
    assert.equal('stock: no stock handler "shel" (did you mean "shell"?)', refusal { "shel" })
    assert.equal('stock: no stock handler "posts" (expected http, log, mail, noop, shell, webhook)',
      refusal { "posts" })
    assert.matches("^stock: no stock handler", refusal { "moonshift/operate" })
    assert.equal('stock "shell": expected a list of texts', refusal "shell")
    assert.matches("expected a list of texts", refusal { 5 }, 1, true)
  end)

  it("are listed by check, and asked for by a flag or a variable, too", function()
    place = program.place { ["handlers/a.lua"] = "return function() end" }
    assert.is_nil(select(2, place.run("check")):match("\nshell "))
    local file = assert(io.open(place.path .. "/moonshift.lua", "w"))
    file:write('return { stock = { "shell" } }')
    file:close()
    assert.matches("\nshell .* yes ", select(2, place.run("check")))
    os.remove(place.path .. "/moonshift.lua")
    local status, _, errors = program.run({ "run", "--drain", "--stock", "shell" },
      { dir = place.path })
    assert.equal(0, status, errors)
    assert.equal(0, (program.run({ "enqueue", "shell", '{"command":"echo x"}' },
      { dir = place.path, env = { MOONSHIFT_STOCK = "shell" } })))
  end)

  it("run by hand only where they are asked for, whatever the store knows", function()
    place = program.place { ["moonshift.lua"] = 'return { stock = { "shell" } }' }
    assert.equal(0, (place.run("run", "--drain")))
    os.remove(place.path .. "/moonshift.lua")
    local _, id = place.run("enqueue", "shell", '{"command":"touch ran"}')
    id = id:match("%d+")
    local status, _, errors = place.run("job", "execute", id)
    assert.is_true(status ~= 0)
    assert.equal("moonshift: " .. UNKNOWN .. "\n", errors)
    assert.is_nil((io.open(place.path .. "/ran")))
    local env = { MOONSHIFT_STOCK = "shell" }
    assert.equal(0, (program.run({ "job", "execute", id }, { dir = place.path, env = env })))
    assert(io.open(place.path .. "/ran")):close()
  end)

  it("leave jobs alone where the executor's folder does not ask for them", function()
    local engine = engines.private { ["handlers/a.lua"] = "return function() end" }
    local id = assert(engine:enqueue("shell", job("true"), { unchecked = true }))
    assert.same({ done = 0, failed = 0 }, engine:drain())
    assert.equal("ready", engine:job(id).state)
  end)

  describe("shell", function()
    local engine

    -- The outcome of one run: the lines of a success, else the message.
    local function ran(payload)
      engine = engine or engines.private({}, { stock = { "shell" } })
      local id = engine:enqueue("shell", payload)
      engine:drain()
      local entry = engine:log({ job = id, outcome = { "successful", "failed" } }):one()
      return entry.message or table.concat(entry.lines or {}, "|"), entry.lines
    end

    before_each(function()
      engine = nil
    end)

    it("takes the program that reads the command", function()
      assert.equal("a b", (ran { command = "echo $'a b'", shell = "/bin/bash" }))
      assert.equal("/bin/bash", (ran { command = "echo $SHELL", shell = "/bin/bash" }))
    end)

    it("takes directory, variables and input, whatever they hold", function()
      assert.equal("/tmp", (ran { command = "pwd", cwd = "/tmp" }))
      assert.equal(os.getenv("HOME"), (ran { command = "pwd", cwd = "~" }))
      assert.equal("it's $X `id`|5", (ran { command = 'echo "$A"; echo $N',
        env = { A = "it's $X `id`", N = 5 } }))
      assert.equal("one %s '|two", (ran { command = "cat", stdin = "one %s '\ntwo\n" }))
      assert.equal("", (ran { command = "cat" }))
    end)

    it("takes statuses that are no failure", function()
      assert.equal("command ended with status 3", (ran { command = "exit 3" }))
      assert.equal("", (ran { command = "exit 3", accept = 3 }))
      assert.equal("", (ran { command = "exit 4", accept = { 3, 4 } }))
      assert.equal("command ended with signal 9", (ran { command = "kill -9 $$", accept = { 9 } }))
    end)

    it("fails where the command cannot begin", function()
      local message, lines = ran { command = "echo no", cwd = "/not there" }
      assert.equal("command ended with status 126", message)
      assert.matches("/not there", lines[1], 1, true)
      message, lines = ran { command = "echo no", user = "nobody at all" }
      assert.equal("command ended with status 126", message)
      assert.matches("nobody at all", lines[1], 1, true)
    end)

    it("runs as another user, in that user's environment", function()
      local me = io.popen("id -un"):read()
      assert.equal(me, (ran { command = "id -un", user = me }))
      if me == "root" then
        assert.equal("nobody|nobody", (ran { command = "id -un; echo $LOGNAME", user = "nobody" }))
      end
    end)

    it("refuses what it does not know, by name", function()
      for text, payload in pairs {
        ["payload.command: expected a text"] = {},
        ["payload.cmd: unknown (known: command, shell, cwd, env, stdin, user, accept)"] =
          { command = "true", cmd = "x" },
        ["payload.env: expected names of letters, digits and underscores"] =
          { command = "true", env = { ["a;b"] = "x" } },
        ["payload.env.A: expected a text"] = { command = "true", env = { A = {} } },
        ["payload.stdin: expected a text"] = { command = "true", stdin = 5 },
        ["payload.accept: expected exit statuses from 0 to 255"] =
          { command = "true", accept = "all" },
      } do
        assert.equal(text, (ran(payload)))
      end
    end)
  end)
end)
