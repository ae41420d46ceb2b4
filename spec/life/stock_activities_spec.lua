-- Mail and shell tasks of models: the stock handlers get the activity's fields.
local process = require "spec.support.process"
local program = require "spec.support.program"

local function field(name, value)
  return ('<f:field name="%s"><f:expression>%s</f:expression></f:field>'):format(name, value)
end

-- A process whose only service task has this type and these fields, before a user task.
local function model(kind, fields)
  local list = {}
  for name, value in pairs(fields) do
    list[#list + 1] = field(name, value)
  end
  table.sort(list)
  return ([[<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:f="http://activiti.org/bpmn" targetNamespace="x"><process id="p" isExecutable="true">
  <startEvent id="s"/><sequenceFlow id="a" sourceRef="s" targetRef="x"/>
  <serviceTask id="x" f:async="true" f:type="%s"><extensionElements>%s</extensionElements>
  </serviceTask><sequenceFlow id="b" sourceRef="x" targetRef="u"/><userTask id="u"/>
</process></definitions>]]):format(kind, table.concat(list))
end

describe("a task of a model", function()
  local place

  after_each(function()
    place.clean()
  end)

  -- Starts an instance, drains it by an executor with four workers; what `instance show` says.
  local function run(kind, fields, ...)
    place = program.place { ["moonshift.lua"] = 'return { stock = { "mail", "shell" } }',
      ["processes/p.bpmn"] = model(kind, fields),
      ["bin/sendmail"] = "#!/bin/sh\ncat >mail\n" }
    os.execute("chmod +x " .. process.quote(place.path .. "/bin/sendmail"))
    local status, id, errors = place.run("process", "start", "p", "--now", ...)
    assert.equal(0, status, errors)
    local env = { PATH = place.path .. "/bin:" .. os.getenv "PATH" }
    program.run({ "run", "--drain", "--workers", "4" }, { dir = place.path, env = env })
    return select(2, place.run("instance", "show", id:match "%d+", "--json"))
  end

  local function message()
    return select(2, place.run("job", "list", "--columns", "message"))
  end

  it("of the type shell runs its command with its words, whatever they hold", function()
    local shown = run("shell", { command = "echo -n", arg1 = "${who}; exit 3", arg2 = "$HOME",
      outputVariable = "said", errorCodeVariable = "status", directory = "/tmp" },
      "who=it's me")
    assert.matches([["said":"it's me; exit 3 $HOME"]], shown, 1, true)
    assert.matches([["status":"0"]], shown, 1, true)
  end)

  it("of the type shell fails with its command, unless a variable gets the status", function()
    run("shell", { command = "exit 7" })
    assert.matches("command ended with status 7", message(), 1, true)
    place.clean()
    assert.matches([["status":"7"]], run("shell", { command = "exit 7",
      errorCodeVariable = "status" }), 1, true)
  end)

  it("of the type shell sees no variables, and one stream, as it says", function()
    local fields = { command = "/usr/bin/env; echo bad >&amp;2", outputVariable = "said",
      cleanEnv = "true" }
    local shown = run("shell", fields)
    assert.is_nil(shown:find("PATH=/", 1, true) and shown:find("HOME=", 1, true))
    assert.is_nil(shown:find("bad", 1, true))
    place.clean()
    fields.redirectError, fields.cleanEnv = "true", nil
    shown = run("shell", fields)
    assert.matches("HOME=", shown, 1, true)
    assert.matches("bad\\n", shown, 1, true)
  end)

  it("needs a stock handler that is asked for, or a file", function()
    run("shell", { command = "true" })
    place.write("moonshift.lua", "return {}")
    local errors = select(3, place.run "check")
    assert.matches('stock = { "shell" } in moonshift.lua', errors, 1, true)
  end)

  it("of the type shell is refused where a field means nothing", function()
    run("shell", { command = "true", colour = "red" })
    assert.matches("payload.colour: unknown", message(), 1, true)
  end)

  it("of the type mail is sent, with a text of a variable", function()
    run("mail", { to = "${who}@x.example", from = "c@x.example", subject = "Hello",
      textVar = "words" }, "who=a", "words=Hallo")
    local mail = process.read(place.path .. "/mail")
    assert.matches("To: a@x.example\n", mail, 1, true)
    assert.matches("From: c@x.example\n", mail, 1, true)
    assert.matches("\n\nSGFsbG8=\n", mail, 1, true)
  end)
end)
