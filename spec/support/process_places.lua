-- Processes for a matrix of operators' commands: an instance of each stands at one kind of place.
-- Their handlers note that they were called, and wait for nothing.
local process_places = {}

-- The text of a process, by the kind of the place. The place is "a" where it is an activity.
local TEXTS = {
  task = [[p.task "a" { on_delete = "note", on_complete = "note" }]],
  job_before = [[p.step "a" { run = "note", async = true }]],
  job_after = [[p.step "a" { run = "note", async_after = true }]],
  timer = [[p.wait "a" { after = "PT1H" }]],
  message = [[p.receive "a" { message = "m", key = "${instance.key}" }]],
  trigger = [[p.receive "a" {}]],
  signal = [[p.wait "a" { signal = "sg" }]],
  condition = [[p.wait "a" { when = "${ok}" }]],
  call = [[p.call "a" { process = "inner", back = { "x" } }]],
  external = [[p.step "a" { topic = "t" }]],
  body = [[p.task "a" { each = { times = 3, parallel = true } }]],
  turn = [[p.task "a" { each = { times = 3 } }]],
  outside = [[p.step "a" { run = "note", async = true, each = { times = 70, parallel = true } }]],
  sub = [[p.sub "s" { input = { x = 1 }, on_end = "note", p.task "a" { on_start = "note" } }]],
  join = [[p.parallel "g" { join = "j", { p.pass "x" {} }, { p.task "a" {} } }]],
  inclusive = [[p.inclusive "g" { join = "j", { when = "${true}", p.pass "x" {} },
    { when = "${true}", p.task "a" {} } }]],
  gateway = [[p.first "a" { join = "j", { p.wait "am" { message = "m", key = "${instance.key}" } },
    { p.wait "at" { after = "PT1H" } } }]],
  boundary = [[p.task "a" { within = { "PT1H", p.pass "late" {} },
    on_message = { "m", key = "${instance.key}", interrupting = false, p.task "told" {} },
    on_when = { "${ok}", p.pass "held" {} } }]],
  handle = [[p.task "a" {}, p.handle "h" { signal = "sg", interrupting = false,
    p.task "heard" {} }]],
  undo = [[p.sub "s" { transaction = true, p.step "d" { run = "note", undo = "note" },
    p.task "a" {}, p.throw "back" { undo = true } }]],
}

-- A compensation that waits for a person, which has no word.
local UNDOING = [[
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:camunda="http://camunda.org/schema/1.0/bpmn" targetNamespace="x">
  <process id="undoing" isExecutable="true" camunda:versionTag="%s">
    <startEvent id="s"/><userTask id="d"/><intermediateThrowEvent id="a">
      <compensateEventDefinition/></intermediateThrowEvent><userTask id="z"/>
    <boundaryEvent id="c" attachedToRef="d"><compensateEventDefinition/></boundaryEvent>
    <userTask id="back" isForCompensation="true"/>
    <association id="as" sourceRef="c" targetRef="back" associationDirection="One"/>
    <sequenceFlow id="f1" sourceRef="s" targetRef="d"/>
    <sequenceFlow id="f2" sourceRef="d" targetRef="a"/>
    <sequenceFlow id="f3" sourceRef="a" targetRef="z"/>
  </process>
</definitions>
]]

process_places.names = { "undoing" }
for name in pairs(TEXTS) do
  process_places.names[#process_places.names + 1] = name
end
table.sort(process_places.names)

-- files(log, tag) -> the folder; another tag makes other versions that do the same.
function process_places.files(log, tag)
  local files = { ["handlers/note.lua"] = ([[
return function(job)
  local file <close> = assert(io.open(%q, "a"))
  file:write(("%%s %%s %%s\n"):format(job.id, job.instance, job.activity))
end
]]):format(log), ["processes/inner.lua"] =
    'return { require "moonshift.process".task "b" {} }',
    ["processes/undoing.bpmn"] = UNDOING:format(tag or "first") }
  for name, text in pairs(TEXTS) do
    files["processes/" .. name .. ".lua"] = ([[
local p = require "moonshift.process"
return { %s%s, p.task "z" {} }
]]):format(tag and ("tag = %q, "):format(tag) or "", text)
  end
  return files
end

return process_places
