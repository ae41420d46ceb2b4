-- The folder of random processes: the handlers that they name, and the texts of the trees.
local process_texts = {}

-- Each call is a line of the file `log`. An executor that finds the file `death` takes it, and dies
-- as it says: before its line is written or behind it. The program that reads the log never dies.
local HANDLER = [[
local LOG, DEATH, READER = %q, %q, %d

local function pid()
  local file <close> = assert(io.open("/proc/self/stat"))
  return file:read("n")
end

local function add(path, text)
  local file <close> = assert(io.open(path, "a"))
  file:setvbuf("full")
  file:write(text)
end

-- A listener calls for its event. Of variables one is heard of.
local function note(job)
  if not job.variable or job.variable.name == "written" then
    add(LOG, ("%%s %%d %%s %%d\n"):format(job.process, job.instance,
      job.activity .. (job.event and "!" .. job.event or ""), pid()))
  end
end

local function dies(job)
  local taken = DEATH .. "-" .. pid()
  if pid() == READER or not os.rename(DEATH, taken) then
    return
  end
  local file <close> = assert(io.open(taken))
  if file:read("a") == "behind" then
    note(job)
  end
  os.execute("kill -KILL " .. pid())
end

-- Adds to what a file of this job holds, and gives its size.
local function tries(job)
  local path = LOG .. "-" .. job.id
  add(path, ".")
  local file <close> = assert(io.open(path))
  return file:seek("end")
end

return function(job)
  dies(job)
  note(job)
  %s
end
]]

local DEEDS = {
  note = "",
  fail = 'job:throw("E1")',
  send = 'job:correlate("m_" .. job.payload.to, { key = job.payload.key, keep = "PT1H" })',
  again = 'assert(tries(job) > tonumber(job.fields.fails), "not yet")',
  count = "local name = job.fields.name job.variables[name] = job.variables[name] + 1",
  set = 'job.variables["set_" .. job.payload.to] = true',
  write = "job.variables.written = 1",
  wipe = "job.variables.written = 1 job.variables.written = nil",
}

-- files(log, death, reader, scope) -> the files of the folder that no process is.
function process_texts.files(log, death, reader, scope)
  local files = { ["moonshift.lua"] = ("return { failed_job_wait = 'PT0S', crash_limit = 1000,"
    .. " lane_scope = %q }\n"):format(scope) }
  for name, deed in pairs(DEEDS) do
    files["handlers/" .. name .. ".lua"] = HANDLER:format(log, death, reader, deed)
  end
  return files
end

-- ---- options ----

local function turns_of(node, flags)
  local words = { ("times = %d, parallel = %s"):format(node.times, node.parallel) }
  if node.enough then
    words[2] = ('stop = "${nrOfCompletedInstances >= %d}"'):format(node.enough)
  end
  if node.index then
    words[#words + 1] = ("index = %q"):format(node.index)
  end
  return ("each = { %s }"):format(flags(node.of, table.concat(words, ", ")))
end

local function flags(node, more)
  local words = { more ~= "" and more or nil }
  local function add(said, word)
    words[#words + 1] = said and word or nil
  end
  add(node.async, "async = true")
  add(node.after, "async_after = true")
  add(node.beside, "exclusive = false")
  add(node.urgent, 'priority = "${pick * 20}"')
  add(node.hears, 'on_start = "note", on_end = "note"')
  add(node.times, node.times and turns_of(node, flags))
  return table.concat(words, ", ")
end

local write_list

-- Something must be in the list of a scope.
local function whole(list, id)
  return #list > 0 and list or { { kind = "pass", id = id .. "_pass" } }
end

local function span(ms)
  return ("PT%.3fS"):format(ms / 1000)
end

local function message_key(self)
  return "${execution.processInstanceId}" .. self.turn
end

-- What comes from another program, by what it is: the word, its value, and what more is said.
local Outside = {}

function Outside.message(node, self)
  return "message", ("late_%s_%s"):format(self.key, node.id),
    ('key = "%s"'):format(message_key(self))
end

function Outside.signal(node, self)
  return "signal", ("late_%s_%s"):format(self.key, node.id), nil
end

function Outside.when(node)
  local name = "late_" .. node.id
  return "when", ("${%s > 0}"):format(name),
    node.within.named and ('variable = "%s"'):format(name) or nil
end

function Outside.timer(node)
  local within = node.within
  return within.beside and "every" or "after", (within.beside and "R2/" or "") .. span(within.ms),
    nil
end

local joined

-- What another program does beside an activity.
local function told(node, self, indent)
  local word, value, more = Outside[node.within.by](node, self)
  return ('on_%s = { "%s", id = "%s_late", %s }'):format(word, value, node.id, joined(more or "",
    ("interrupting = %s"):format(not node.within.beside),
    write_list(node.lists[#node.lists], self, indent)))
end

-- What comes beside an activity: it ends the activity, or its list runs beside it.
local function late(node, self, indent)
  local within = node.within
  if within.by ~= "timer" then
    return told(node, self, indent)
  end
  return ('%s = { "%s%s", id = "%s_late", %s }'):format(within.beside and "every" or "within",
    within.beside and "R2/" or "", span(within.ms), node.id,
    write_list(node.lists[#node.lists], self, indent))
end

-- The same inside of a sub-process.
local function handled(node, self, indent)
  local word, value, more = Outside[node.within.by](node, self)
  return ('p.handle "%s_late" { %s, %s }'):format(node.id, joined(('%s = "%s"'):format(word, value),
    more or ""), joined(("interrupting = %s"):format(not node.within.beside),
    write_list(whole(node.lists[#node.lists], node.id .. "_late"), self, indent)))
end

function joined(...)
  local parts = {}
  for _, part in ipairs { ... } do
    parts[#parts + 1] = part ~= "" and part or nil
  end
  return table.concat(parts, ", ")
end

-- The options of an activity, with its timer.
local function options(node, self, indent, more)
  local timer = node.within and not node.within.inside and late(node, self, indent) or ""
  return joined(flags(node, more), timer)
end

-- ---- nodes ----

local writers = {}

function writers.pass(node)
  return flags(node)
end

local LISTENERS = 'on_variable_create = "note", on_variable_update = "note",'
  .. ' on_variable_delete = "note"'
local MAPS = 'run = "%s", input = { written = 0 }, output = { got_%s = "${%s}" }, ' .. LISTENERS
local MAPPED = { write = "written + pick", wipe = "pick" }

function writers.step(node, self, indent)
  return options(node, self, indent, node.fails
    and ('run = "again", fields = { fails = "%d" }'):format(node.fails)
    or node.maps and MAPS:format(node.maps, node.id, MAPPED[node.maps]) or 'run = "note"')
end

local TASK_LISTENERS = 'assignee = "ann", on_create = "note", on_assignment = "note",'
  .. ' on_update = "note", on_complete = "note", on_delete = "note"'

function writers.task(node, self, indent)
  return options(node, self, indent, node.hears and joined(TASK_LISTENERS, node.nags
    and ('on_timeout = { every = "R%d/%s", run = "note", id = "nag" }'):format(node.nags.count,
    span(node.nags.ms)) or "") or nil)
end

function writers.fail(node, self, indent)
  return flags(node, 'run = "fail"') .. ', on_error = { "E1", ' .. write_list(node.lists[1], self,
    indent) .. " }"
end

local function has_receiver(node)
  for _, list in ipairs(node.kind ~= "call" and node.lists or {}) do
    for _, inner in ipairs(list) do
      if inner.by == "message" or has_receiver(inner) then
        return true
      end
    end
  end
  return false
end

-- What stands in a scope that may be repeated. Receivers in turns need keys of their own.
local function scope(node, self, indent, inside, ...)
  local outside = self.turn
  if node.times and has_receiver(node) then
    node.index = "i_" .. node.id
    self.turn = ("%s-${%s}"):format(outside, node.index)
  end
  local text = inside(node, self, indent)
  local handle = node.within and node.within.inside and handled(node, self, indent) or ""
  self.turn = outside
  local head = options(node, self, indent, ...)
  node.index = nil
  return joined(head, text, handle)
end

function writers.sub(node, self, indent)
  return scope(node, self, indent, function()
    return write_list(whole(node.lists[1], node.id), self, indent)
  end, node.listens and LISTENERS or nil)
end

-- Goes back to its first step until that has run often enough.
function writers.loop(node, self, indent)
  local id = node.id
  local text = [[p.step "%s_count" { %s }, %s
    p.gateway "%s_again" { kind = "exclusive", to = { { "%s_count", when = "${%s_n < %d}" },
      { "%s_done", default = true } } },
    p.pass "%s_done" {}]]
  return scope(node, self, indent, function()
    local list = write_list(node.lists[1], self, indent)
    return text:format(id, flags(node.counter,
      ('run = "count", fields = { name = "%s_n" }'):format(id)), list == "" and "" or list .. ",",
      id, id, id, node.rounds, id, id)
  end, ("input = { %s_n = 0 }"):format(id))
end

-- What raises something, by how it does: the option that does it; the word, the value and more of
-- what hears of it; what the scope needs.
local Raised = {}

function Raised.escalate()
  return 'escalate = "E2"', { "escalate", "on_escalation", "E2" }
end

function Raised.signal(node, self)
  local name = ("s_%s_%s_%s"):format(self.key, node.id, message_key(self))
  return ('signal = "%s"'):format(name), { "signal", "on_signal", name }
end

-- The variable belongs to the scope. It is set once, by an output.
function Raised.when(node)
  local name = "raised_" .. node.id
  return ('message = true, expression = "${true}", output = { %s = true }'):format(name),
    { "when", "on_when", ("${%s}"):format(name), ('variable = "%s"'):format(name) },
    ("input = { %s = false }"):format(name)
end

-- What hears of it inside of the scope, as an event sub-process.
local function hears(id, heard, interrupts, list, self, indent)
  return ('p.handle "%s" { %s }'):format(id, joined(('%s = "%s"'):format(heard[1], heard[3]),
    heard[4] or "", interrupts and "" or "interrupting = false",
    write_list(whole(list, id), self, indent)))
end

-- The same as an option of the scope.
local function hears_beside(id, heard, interrupts, list, self, indent)
  return ('%s = { "%s", %s }'):format(heard[2], heard[3], joined(heard[4] or "",
    id and ('id = "%s"'):format(id) or "", interrupts and "" or "interrupting = false",
    write_list(list, self, indent)))
end

-- What ends both branches of a halt, what hears of it, and what its scope needs.
local function halting(node, self)
  local id = node.id
  if node.how == "terminate" then
    return ('p.finish "%s_stop" { terminate = true }'):format(id)
  elseif not node.by then
    return ('p.step "%s_throw" { %s }'):format(id, flags(node.thrower, 'run = "fail"')),
      { "error", "on_error", "E1" }
  end
  local thrown, heard, needs = Raised[node.by](node, self)
  return ('p.throw "%s_throw" { %s }'):format(id, flags(node.thrower, thrown)), heard, needs
end

-- Its second list ends what its first one does.
function writers.halt(node, self, indent)
  local id, how = node.id, node.how
  local last, heard, needs = halting(node, self)
  local function inside()
    local long = write_list(node.lists[1], self, indent)
    local short = joined(write_list(node.lists[2], self, indent), last)
    return joined(('p.parallel "%s_fork" { join = "%s_join", { %s }, { %s } }'):format(id, id, long,
      short), how == "handle" and hears(id .. "_handle", heard, true, node.lists[3], self, indent)
      or "")
  end
  return scope(node, self, indent, inside, joined(needs or "", how == "boundary"
    and hears_beside(nil, heard, true, node.lists[3], self, indent) or ""))
end

function writers.raise(node, self, indent)
  local id = node.id
  local thrown, heard, needs = Raised[node.by](node, self)
  return scope(node, self, indent, function()
    return joined(('p.throw "%s_throw" { %s }'):format(id, flags(node.thrower, thrown)),
      write_list(node.lists[1], self, indent),
      node.inside and hears(id .. "_raised", heard, false, node.lists[2], self, indent) or "")
  end, joined(needs or "", node.inside and ""
    or hears_beside(id .. "_raised", heard, false, node.lists[2], self, indent)))
end

function writers.undo(node, self, indent)
  local id = node.id
  return scope(node, self, indent, function()
    return joined(('p.step "%s_do" { %s }'):format(id, flags(node.thrower,
      'run = "note", undo = "note"')), write_list(node.lists[1], self, indent),
      ('p.%s "%s_back" { %s }'):format(node.cancels and "finish" or "throw", id,
        node.cancels and "cancel = true" or "undo = true"))
  end, node.cancels and ('transaction = true, on_cancel = { id = "%s_off" }'):format(id) or nil)
end

-- Of a choice the last branch is the default; the first branch of an inclusive gateway is taken.
local CONDITIONS = {
  parallel = function() end,
  choose = function(i, count)
    return i == count and "otherwise = true"
      or ('when = "${pick %% %d == %d}"'):format(count, i)
  end,
  inclusive = function(i)
    return ('when = "${pick >= %d}"'):format(i - 1)
  end,
}

local function gateway(node, self, indent)
  local parts = { flags(node, ('join = { %s }'):format(flags(node.join,
    ('id = "%s_join"'):format(node.id)))) }
  for i, list in ipairs(node.lists) do
    local condition = CONDITIONS[node.kind](i, #node.lists)
    parts[#parts + 1] = ("\n%s{ %s }"):format(indent, joined(condition or "",
      write_list(list, self, indent)))
  end
  return table.concat(parts, ", ")
end

writers.parallel, writers.choose, writers.inclusive = gateway, gateway, gateway

-- The branch of the timer that comes first.
function writers.first(node, self, indent)
  local parts = { ('join = "%s_join"'):format(node.id) }
  for i, list in ipairs(node.lists) do
    parts[#parts + 1] = ('\n%s{ %s }'):format(indent, joined(
      ('p.wait "%s_%d" { %s }'):format(node.id, i, flags(node.catches[i],
        ('after = "%s"'):format(span(node.catches[i].ms)))), write_list(list, self, indent)))
  end
  return table.concat(parts, ", ")
end

function writers.call(node, self, indent)
  local key = self.key .. "_" .. node.id
  self.called[#self.called + 1] = { key = key, list = node.lists[1] }
  return options(node, self, indent, ('process = "%s", with = { "pick" }'):format(key))
end

function writers.wait(node)
  return flags(node, ('after = "%s"'):format(span(node.ms)))
end

local function receiver(node, self, indent)
  local message = node.by == "when" and ('when = "${set_%s_%s}"'):format(self.key, node.id)
    or ('message = "m_%s_%s", key = "%s"'):format(self.key, node.id, message_key(self))
  if not node.first then
    return ('p.%s "%s" { %s }'):format(node.by == "when" and "wait" or "receive", node.id,
      options(node, self, indent, message))
  end
  return ('p.first "%s_first" { join = "%s_met", { p.wait "%s" { %s } },'
    .. ' { p.wait "%s_none" { after = "%s" } } }'):format(node.id, node.id, node.id,
    flags(node, message), node.id, span(node.first))
end

-- The receiver with its sender.
local function received(node, self, indent)
  local sender = ('p.step "%s_send" { %s }'):format(node.id, flags(node.sender,
    ('run = "%s", input = { to = "%s_%s", key = "%s" }'):format(node.by == "when" and "set"
    or "send", self.key, node.id, message_key(self))))
  local waits = receiver(node, self, indent)
  return node.apart and ('p.parallel "%s_fork" { join = "%s_join",\n%s{ %s },\n%s{ %s } }'):format(
    node.id, node.id, indent, sender, indent, waits) or sender .. ",\n" .. indent .. waits
end

local WORDS = { fail = "step", loop = "sub", halt = "sub", raise = "sub", undo = "sub" }

-- The nodes of a list, a line each.
function write_list(list, self, indent)
  local inner, parts = indent .. "  ", {}
  for i, node in ipairs(list) do
    parts[i] = "\n" .. inner .. (node.kind == "receive" and received(node, self, inner)
      or ('p.%s "%s" { %s }'):format(WORDS[node.kind] or node.kind, node.id,
        writers[node.kind](node, self, inner)))
  end
  return table.concat(parts, ",")
end

local STARTS = {
  message = 'message = "go_%s"',
  when = [[when = "${go == '%s'}"]],
  timer = [[after = "PT0.010S", on_end = { expression = "${execution.setVariable('pick', 1)}" }]],
}

-- How a process begins, which says so.
local function started(start, key)
  local event = start and STARTS[start.by]
  return start and ('\n  p.start "start" { %s },'):format(
    flags(start, event and event:format(key))) or ""
end

-- What comes beside all of a process.
local function beside(list, self)
  local node = { id = "p", within = list.within, lists = { list.late } }
  return list.within and ",\n  " .. handled(node, self, "") or ""
end

-- of(process, tag) -> { [path] = text }: its own, and those of the processes that it calls. Another
-- tag makes another version that does the same.
function process_texts.of(process, tag)
  local texts, open = {}, { process }
  while open[1] do
    local one = table.remove(open)
    local self = { key = one.key, called = open, turn = "" }
    texts["processes/" .. one.key .. ".lua"] = 'local p = require "moonshift.process"\nreturn {'
      .. (tag and (' tag = "%s",'):format(tag) or "") .. started(one.list.start, one.key)
      .. write_list(whole(one.list, "p"), self, "") .. beside(one.list, self) .. "\n}\n"
  end
  return texts
end

return process_texts
