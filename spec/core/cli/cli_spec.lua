local program = require "spec.support.program"

describe("the program", function()
  local function refused(...)
    local status, output, errors = program.run({ ... }, { dir = "/tmp" })
    assert.equal("", output)
    return status, errors
  end

  it("alone shows the help, with flags and no verb says where it is", function()
    local status, output, errors = program.run({}, { dir = "/tmp" })
    assert.equal(0, status)
    assert.equal("", errors)
    assert.equal(select(2, program.run { "--help" }), output)
    status, errors = refused("-C", "/tmp")
    assert.equal(2, status)
    assert.equal("moonshift: no verb given (see moonshift --help)\n", errors)
  end)

  it("suggests the verb that was meant", function()
    local status, errors = refused("enqeue", "work")
    assert.equal(2, status)
    assert.equal('moonshift: unknown verb "enqeue" (did you mean "enqueue"?)\n', errors)
  end)

  it("suggests the second word that was meant", function()
    local status, errors = refused("job", "lst")
    assert.equal(2, status)
    assert.equal('moonshift: unknown verb "job lst" (did you mean "job list"?)\n', errors)
  end)

  it("names the verbs behind a word that people type alone", function()
    local function expected(...)
      return (select(3, program.run { ... })):match("%(expected (.*)%)\n$")
    end
    assert.equal("job why, instance why", expected("why", "1"))
    assert.matches("^job list, definition list, ", expected("list"))
    assert.equal("stats, health, history status", expected("status"))
    assert.equal("run, process start", expected("start"))
    assert.equal("job list", expected("jobs"))
  end)

  it("names the verbs of a group", function()
    local status, errors = refused("incident")
    assert.equal(2, status)
    local verbs = "expected list, show, annotate, resolve, removal-time"
    assert.equal(("moonshift: incident needs a verb (%s)\n"):format(verbs), errors)
  end)

  it("refuses a verb that resembles none", function()
    local status, errors = refused("xyzzy")
    assert.equal(2, status)
    assert.equal('moonshift: unknown verb "xyzzy" (see moonshift --help)\n', errors)
  end)
end)
