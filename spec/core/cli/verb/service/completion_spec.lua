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

  local function lines(command)
    local status, output, errors = process.run(command)
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
  }

  it("of bash knows verbs, their second words and their flags", function()
    local file = script "bash"
    local ask = [[source %s; COMP_WORDS=(%s%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1));
      _moonshift; printf '%%s\n' "${COMPREPLY[@]}"]]
    for _, case in ipairs(cases) do
      local line = ask:format(file, case[1], case[1]:find(" $") and '""' or "")
      local found = {}
      for _, word in ipairs(lines("bash -c " .. process.quote(line))) do
        found[#found + 1] = word ~= "--help" and word or nil
      end
      assert.same(case[2], found, case[1])
    end
  end)

  it("of zsh knows them with what they do", function()
    local file = script "zsh"
    local ask = [[compdef() { }; _describe() { print -l -- $list }; source %s;
      words=(%s%s); CURRENT=${#words}; _moonshift]]
    for _, case in ipairs(cases) do
      local line = ask:format(file, case[1], case[1]:find(" $") and '""' or "")
      local known = table.concat(lines("zsh -fc " .. process.quote(line)), "\n") .. "\n"
      for _, word in ipairs(case[2]) do
        local pattern = "\n" .. word:gsub("%-", "%%-") .. "[:\n]"
        assert.truthy(("\n" .. known):find(pattern), case[1])
      end
    end
  end)

  it("of fish knows them with what they do", function()
    local file = script "fish"
    for _, case in ipairs(cases) do
      local ask = ("source %s; complete -C %s"):format(file, process.quote(case[1]))
      local found = {}
      for i, line in ipairs(lines("env HOME=/tmp fish --no-config -c " .. process.quote(ask))) do
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
