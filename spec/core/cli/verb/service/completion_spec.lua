local answers = require "spec.support.answers"
local process = require "spec.support.process"
local program = require "spec.support.program"

describe("completion", function()
  local path

  -- The script for this shell as a file.
  local function script(shell)
    local status, output, errors = program.run { "completion", shell }
    assert.equal(0, status)
    assert.equal("", errors)
    path = os.tmpname()
    local file = assert(io.open(path, "w"))
    file:write(output)
    file:close()
    return path
  end

  after_each(function()
    os.remove(path or "")
  end)

  -- What a shell prints, sorted; it finds the program by its name.
  local function lines(shell, text)
    local folder = process.command():match("^'(.*)/[^/]*'$")
    local status, output, errors = process.run(("HOME=/tmp PATH=%s:$PATH %s %s"):format(
      process.quote(folder), shell, process.quote(text)))
    assert.equal(0, status, errors)
    assert.equal("", errors)
    local list = {}
    for line in output:gmatch("[^\n]+") do
      list[#list + 1] = line
    end
    table.sort(list)
    return list
  end

  local cases = {
    { "moonshift enq", { "enqueue" } },
    { "moonshift -C shop job l", { "list" } },
    { "moonshift incident ", { "annotate", "list", "removal-time", "resolve", "show" } },
    { "moonshift job list --st", { "--state", "--store" } },
    { "moonshift completion z", { "zsh" } },
    { "moonshift help job wh", { "why" } },
    { "moonshift job list --state s", { "scheduled", "suspended" } },
    { "moonshift job list --columns id,unique,una", {} },
    { "moonshift job list --columns id,uni", { "id,unique" } },
    { "moonshift enqueue x --zone Europe/Berl", { "Europe/Berlin" } },
  }

  it("of bash knows verbs, their second words, their flags and values", function()
    local file = script "bash"
    local ask = [[source %s; COMP_WORDS=(%s%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1));
      _moonshift; for word in "${COMPREPLY[@]}"; do printf '%%s\n' "$word"; done]]
    for _, case in ipairs(cases) do
      local line = ask:format(file, case[1], case[1]:find(" $") and '""' or "")
      assert.same(case[2], lines("bash -c", line), case[1])
    end
  end)

  it("of bash completes behind =, where the shell cuts the word", function()
    local ask = "source %s; COMP_WORDS=(moonshift job list --state = d); COMP_CWORD=5; "
      .. "_moonshift; echo ${COMPREPLY[@]}"
    assert.same({ "dead" }, lines("bash -c", ask:format(script "bash")))
  end)

  it("of zsh knows them with what they do", function()
    local file = script "zsh"
    local ask = [[compdef() { }; _files() { }; _describe() { print -l -- $list }; source %s;
      words=(%s%s); CURRENT=${#words}; _moonshift]]
    for _, case in ipairs(cases) do
      local found = {}
      local text = ask:format(file, case[1], case[1]:find(" $") and '""' or "")
      for i, line in ipairs(lines("zsh -fc", text)) do
        found[i] = line:match("^[^:]+")
      end
      assert.same(case[2], found, case[1])
    end
  end)

  it("of fish knows them with what they do", function()
    local file = script "fish"
    for _, case in ipairs(cases) do
      local ask = ("source %s; complete -C %s"):format(file, process.quote(case[1]))
      local found = {}
      for i, line in ipairs(lines("fish --no-config -c", ask)) do
        found[i] = line:match("^[^\t]+")
      end
      assert.same(case[2], found, case[1])
    end
  end)

  it("of another shell is refused", function()
    local status, _, errors = program.run { "completion", "tcsh" }
    assert.equal(2, status)
    assert.equal('moonshift: completion "tcsh": expected bash, zsh or fish\n', errors)
  end)
end)

describe("completion words", function()
  local place

  before_each(function()
    place = program.place {
      ["handlers/mail.lua"] = "return function() end\n",
      ["handlers/later.lua"] = "return function() end\n",
      ["batches/resize.lua"] = "return function() end\n",
      ["schedules/night.lua"] = 'return { handler = "mail", cycle = "0 3 * * *" }\n',
      ["processes/order.lua"] = 'local step = require "moonshift.process".words()\n'
        .. 'return { step "charge" { run = "mail", async = true } }\n',
    }
  end)

  after_each(function()
    place.clean()
  end)

  -- The candidates that a command line prints.
  local function candidates(line)
    local status, output, errors = process.run(line)
    assert.equal("0 ", status .. " " .. errors)
    local list = {}
    for word in output:gmatch("([^\t\n]+)\t") do
      list[#list + 1] = word
    end
    return table.concat(list, " ")
  end

  -- The candidates for the last of these words, by a program whose time never ends: it has
  -- inherited that the signal for it is blocked.
  local function words(...)
    return candidates(("cd %s && env --block-signal=ALRM %s </dev/null"):format(
      process.quote(place.path), place.line("completion", "words", "--", ...)))
  end

  -- The same of the store, as a pattern.
  local function offers(expected, ...)
    assert.matches("^" .. expected .. "$", (words(...)))
  end

  it("are the folder's where there is no store", function()
    assert.equal("later mail", words("enqueue", ""))
    assert.equal("night", words("schedule", "run", ""))
    assert.equal("", words("job", "show", ""))
    assert.is_nil(io.open(place.store))
  end)

  it("are the store's where there is one", function()
    place.run("enqueue", "mail")
    place.run("enqueue", "later")
    offers("3 2 1", "job", "show", "") -- the schedule has a job, too
    offers("3 2 1", "job", "priority", "9", "")
    offers("2", "job", "retry", "1", "2")
    place.run("process", "start", "order")
    offers("order", "process", "start", "")
    offers("%-%-process=order", "instance", "list", "--process=o")
    offers("%d+", "instance", "why", "")
    offers("mail,later", "job", "list", "--handler", "mail,la")
    offers("later mail log noop", "enqueue", "")
  end)

  it("are people, tenants and what else jobs have, each once", function()
    for _ = 1, 2 do
      place.run("enqueue", "mail", "--tenant", "acme", "--lane", "north", "--category", "slow",
        "--activity", "ship", "--root", "big-1", "--instance", "ord-1")
    end
    place.run("enqueue", "mail", "--tenant", "zenith")
    place.run("job", "priority", "9", "1")
    assert.equal("zenith acme", words("job", "list", "--tenant", ""))
    assert.equal("acme,zenith", words("log", "--tenant", "acme,z"))
    assert.equal("north", words("job", "list", "--lane", ""))
    assert.equal("slow", words("enqueue", "mail", "--category", "s"))
    assert.equal("ship", words("job", "list", "--activity", ""))
    assert.equal("big-1", words("job", "list", "--root", ""))
    assert.equal("set_priority", words("operations", "--verb", "set"))
    assert.truthy(words("operations", "--who", "") ~= "")
    assert.equal("cause", words("incident", "list", "--by", ""))
  end)

  it("are the names of deployments, each once, for the old name alone", function()
    place.write("moonshift.lua", 'return { deployment = "shop" }\n')
    assert.equal(0, (place.run("deploy", ".")))
    place.write("handlers/more.lua", "return function() end\n")
    assert.equal(0, (place.run("deploy", ".")))
    offers("shop", "deployment", "rename", "")
    assert.equal("", words("deployment", "rename", "shop", ""))
    offers("%d+ %d+", "deployment", "delete", "")
  end)

  it("are the tokens that count", function()
    for _, name in ipairs { "ci", "desk", "past", "again" } do
      assert.equal(0, (place.run("token", "create", name, "--scope", "read",
        "--expires", name == "past" and "PT0.001S" or "P1D")))
    end
    assert.equal(0, (place.run("token", "revoke", "desk")))
    assert.equal(0, (place.run("token", "revoke", "again")))
    assert.equal(0, (place.run("token", "create", "again", "--scope", "read")))
    offers("again ci", "token", "revoke", "")
    assert.equal("", words("token", "create", ""))
  end)

  it("are the users and groups that tasks may be done by, each once", function()
    place.write("processes/ask.lua", [[
local _, task = require "moonshift.process".words()
return {
  task "first" { candidates = { users = "ann, bob", groups = "clerks" } },
}
]])
    assert.equal("", words("task", "list", "--candidate", ""))
    for _ = 1, 2 do
      assert.equal(0, (place.run("process", "start", "ask")))
    end
    offers("ann bob clerks", "task", "list", "--candidate", "")
    offers("%-%-candidate=clerks", "task", "list", "--candidate=c")
  end)

  it("are the types of batches, stock and of the folder, without a store", function()
    assert.equal("resize recalculate-due-date restart", words("batch", "create", "re"))
    assert.equal("suspend suspend-instances", words("batch", "create", "suspend"))
    assert.equal("set-job-retries", words("batch", "create", "set-job-r"))
    assert.equal("enqueue", words("batch", "create", "en"))
    assert.equal("", words("batch", "create", "resize", ""))
    assert.is_nil(io.open(place.store))
  end)

  it("are settings and their values where a verb takes settings", function()
    assert.equal("--history-ttl-operations", words("settings", "--history-ttl-o"))
    assert.equal("none failures full", words("settings", "--history", ""))
  end)

  it("are of the store and the folder that stand before", function()
    place.run("enqueue", "mail")
    assert.equal("2 1", candidates("cd /tmp && env --block-signal=ALRM " .. process.command(
      "completion", "words", "--", "-C", place.path, "--store", "sqlite:" .. place.store, "job",
      "show", "") .. " </dev/null"))
  end)

  it("are those of a list's help, of a setting, or of a usage", function()
    assert.equal("error warn info debug", words("run", "--log-level", ""))
    assert.equal("none failures full", words("run", "--history", ""))
    assert.equal("", words("run", "--retry", ""))
    assert.equal("never", words("history", "removal-time", "n"))
    assert.equal("due", words("job", "list", "--sort", "du"))
  end)

  it("are none, and nothing is said, where something is wrong", function()
    place.write("moonshift.lua", "return {")
    place.write("moonshift.db", "no database")
    assert.equal("", words("job", "show", ""))
    assert.equal("later mail", words("enqueue", ""))
    assert.equal("", words("nonsense", "x", "--what", ""))
    assert.equal("", words("job", "nonsense", ""))
  end)

  -- The server says nothing for longer than the spec has: only the alarm ends the program.
  it("wait for no server that is silent", function()
    local server = answers.start()
    local url = server.url("hang", "postgres") .. "/jobs?connect_timeout=600"
    local found = candidates(place.line("completion", "words", "--", "--store", url, "job", "show",
      "") .. " </dev/null")
    server.stop()
    assert.equal("", found)
  end)

  it("set an alarm of 100 ms before they ask the store, and ask it for no more than 100 rows",
    function()
      assert.equal(0, (place.run("enqueue", "mail", "--count", "250")))
      local _, found = words("job", "show", ""):gsub("%d+", "")
      assert.equal(100, found)
      if process.run("command -v strace") ~= 0 then
        return pending "no strace here"
      end
      local line = place.line("completion", "words", "--", "job", "show", "")
      local status, calls = process.run(("cd %s && strace -o /dev/stdout "
        .. "-e trace=setitimer,openat %s </dev/null"):format(process.quote(place.path), line))
      assert.equal(0, status, calls)
      local alarm = calls:find("setitimer(ITIMER_REAL, {it_interval={tv_sec=0, tv_usec=0}, "
        .. "it_value={tv_sec=0, tv_usec=100000}}", 1, true)
      assert.is_true(alarm < (calls:find("moonshift.db", 1, true) or math.huge), calls)
    end)
end)
