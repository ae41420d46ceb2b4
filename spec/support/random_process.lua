-- Random processes for specs: trees of blocks, their text in Lua, and what smaller trees there are.
-- How a process goes on is decided by the variable `pick` of its instance, a whole number.
local random_process = {}

-- The handlers that the texts name. Each call is a line of the file `log`. Who finds the file
-- `death` takes it, and dies as it says: before its line is written or behind it.
local HANDLER = [[
local function pid()
  local file <close> = assert(io.open("/proc/self/stat"))
  return file:read("n")
end

local function note(job)
  local file <close> = assert(io.open(%q, "a"))
  file:setvbuf("full")
  file:write(("%%s %%d %%s %%d\n"):format(job.process, job.instance, job.activity, pid()))
end

local function dies(job)
  local death, taken = %q, %q .. pid()
  if not os.rename(death, taken) then
    return
  end
  local file <close> = assert(io.open(taken))
  if file:read("a") == "behind" then
    note(job)
  end
  os.execute("kill -KILL " .. pid())
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
}

-- files(log, death) -> the files of the folder that no process is.
function random_process.files(log, death)
  local files = { ["moonshift.lua"] = "return { failed_job_wait = 'PT0S', crash_limit = 1000 }\n" }
  for name, deed in pairs(DEEDS) do
    files["handlers/" .. name .. ".lua"] = HANDLER:format(log, death, death .. "-", deed)
  end
  return files
end

-- ---- trees ----
-- A node is { kind, id, … } with the options async, after, beside (not exclusive) and times,
-- parallel, of = { async, after, beside } of a repetition. Lists of nodes stand in `lists`: one of
-- a sub-process, of a called process, behind an error; a branch each of gateways.

local function chance(percent)
  return math.random(100) <= percent
end

-- What jobs a node has. `style` says which: none, exclusive ones, or both kinds.
local function options(self, node)
  node.async, node.after = chance(self.jobs), chance(self.jobs // 2)
  node.beside = chance(self.beside)
  return node
end

local function new_id(self, letter)
  self.last = self.last + 1
  return letter .. self.last
end

local function repeated(self, node, depth)
  if chance(20) and depth < 4 then
    node.times, node.parallel = math.random(0, 4), chance(60)
    node.of = options(self, {})
  end
  return node
end

local list_of

local function lists(self, count, depth)
  local made = {}
  for i = 1, count do
    made[i] = list_of(self, depth + 1)
  end
  return made
end

local makers = {}

function makers.step(self, depth)
  return repeated(self, options(self, { kind = "step", id = new_id(self, "a") }), depth)
end

function makers.fail(self, depth)
  return options(self, { kind = "fail", id = new_id(self, "f"), lists = lists(self, 1, depth) })
end

function makers.sub(self, depth)
  local node = repeated(self, options(self, { kind = "sub", id = new_id(self, "s") }), depth)
  local outside = self.loops
  self.loops = outside + (node.times and 1 or 0)
  node.lists = lists(self, 1, depth)
  self.loops = outside
  return node
end

function makers.parallel(self, depth)
  local node = options(self, { kind = "parallel", id = new_id(self, "p"),
    lists = lists(self, math.random(2, 3), depth) })
  node.join = options(self, {})
  return node
end

function makers.choose(self, depth)
  local node = makers.parallel(self, depth)
  node.kind = "choose"
  return node
end

function makers.inclusive(self, depth)
  local node = makers.parallel(self, depth)
  node.kind = "inclusive"
  return node
end

function makers.call(self, depth)
  local node = options(self, { kind = "call", id = new_id(self, "k") })
  local outside = self.loops
  self.loops = 0
  node.lists = lists(self, 1, depth)
  self.loops = outside
  return node
end

function makers.wait(self)
  return options(self, { kind = "wait", id = new_id(self, "w"), ms = math.random(0, 30) })
end

-- A message from the same instance, sent before its receiver waits or beside it. In a repetition
-- each turn has its own key; so there is none in a repetition inside of another one.
function makers.receive(self, depth)
  if self.loops > 1 then
    return makers.step(self, depth)
  end
  return options(self, { kind = "receive", id = new_id(self, "r"), apart = chance(50),
    sender = options(self, {}) })
end

local LEAVES = { "step", "step", "step", "step", "wait", "receive" }
local BLOCKS = { "parallel", "parallel", "parallel", "sub", "sub", "choose", "inclusive", "call",
  "fail" }

function list_of(self, depth)
  local list = {}
  repeat
    self.budget = self.budget - 1
    local kinds = depth < 4 and self.budget > 0 and chance(45) and BLOCKS or LEAVES
    list[#list + 1] = makers[kinds[math.random(#kinds)]](self, depth)
  until self.budget <= 0 or chance(50)
  return list
end

-- new(key) -> { key, list }
function random_process.new(key)
  local self = { last = 0, loops = 0, budget = math.random(3, 9),
    jobs = ({ 30, 60, 90 })[math.random(3)], beside = ({ 0, 0, 40, 100 })[math.random(4)] }
  return { key = key, list = list_of(self, 1) }
end

-- ---- texts ----

local function flags(node, more)
  local words = {}
  if more then
    words[1] = more
  end
  if node.async then
    words[#words + 1] = "async = true"
  end
  if node.after then
    words[#words + 1] = "async_after = true"
  end
  if node.beside then
    words[#words + 1] = "exclusive = false"
  end
  if node.times then
    local times = ("times = %d, parallel = %s"):format(node.times, node.parallel)
    words[#words + 1] = ("each = { %s }"):format(flags(node.of, times))
  end
  return table.concat(words, ", ")
end

local write_list

-- Something must be in the list of a scope.
local function whole(list, node)
  return #list > 0 and list or { { kind = "pass", id = (node and node.id or "p") .. "_pass" } }
end

local writers = {}

function writers.pass(node)
  return flags(node)
end

function writers.step(node)
  return flags(node, 'run = "note"')
end

function writers.fail(node, self, indent)
  return flags(node, 'run = "fail"') .. ', on_error = { "E1", ' .. write_list(node.lists[1], self,
    indent) .. " }"
end

function writers.sub(node, self, indent)
  local options_text, outside = flags(node), self.looped
  self.looped = outside or node.times
  local inside = write_list(whole(node.lists[1], node), self, indent)
  self.looped = outside
  return (options_text == "" and "" or options_text .. ", ") .. inside
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
    parts[#parts + 1] = ("\n%s{ %s%s }"):format(indent, condition and condition .. ", " or "",
      write_list(list, self, indent))
  end
  return table.concat(parts, ", ")
end

writers.parallel, writers.choose, writers.inclusive = gateway, gateway, gateway

function writers.call(node, self)
  local key = self.key .. "_" .. node.id
  self.called[#self.called + 1] = { key = key, list = node.lists[1] }
  return flags(node, ('process = "%s", with = { "pick" }'):format(key))
end

function writers.wait(node)
  return flags(node, ('after = "PT%.3fS"'):format(node.ms / 1000))
end

local function message_key(self)
  return "${execution.processInstanceId}" .. (self.looped and "-${loopCounter}" or "")
end

function writers.receive(node, self)
  return flags(node, ('message = "m_%s_%s", key = "%s"'):format(self.key, node.id,
    message_key(self)))
end

-- The receiver with its sender.
local function received(node, self, indent)
  local sender = ('p.step "%s_send" { %s }'):format(node.id, flags(node.sender,
    ('run = "send", input = { to = "%s_%s", key = "%s" }'):format(self.key, node.id,
    message_key(self))))
  local receiver = ('p.receive "%s" { %s }'):format(node.id, writers.receive(node, self))
  return node.apart and ('p.parallel "%s_fork" { join = "%s_join",\n%s{ %s },\n%s{ %s } }'):format(
    node.id, node.id, indent, sender, indent, receiver) or sender .. ",\n" .. indent .. receiver
end

-- The nodes of a list, a line each.
function write_list(list, self, indent)
  local inner, parts = indent .. "  ", {}
  for i, node in ipairs(list) do
    local word = node.kind == "fail" and "step" or node.kind
    parts[i] = "\n" .. inner .. (node.kind == "receive" and received(node, self, inner)
      or ('p.%s "%s" { %s }'):format(word, node.id, writers[node.kind](node, self, inner)))
  end
  return #parts == 0 and "" or table.concat(parts, ",")
end

-- texts(process) -> { [path] = text }: its own, and those of the processes that it calls.
function random_process.texts(process)
  local texts, open = {}, { process }
  while open[1] do
    local one = table.remove(open)
    local self = { key = one.key, called = open }
    texts["processes/" .. one.key .. ".lua"] = 'local p = require "moonshift.process"\nreturn {'
      .. write_list(whole(one.list), self, "") .. "\n}\n"
  end
  return texts
end

-- ---- smaller ones ----

local function copy(value)
  if type(value) ~= "table" then
    return value
  end
  local made = {}
  for name, inner in pairs(value) do
    made[name] = copy(inner)
  end
  return made
end

-- Changes of one node that make it simpler: functions that change it in its list.
local function changes_of(list, at, add)
  local node = list[at]
  add(function(found) table.remove(found, at) end)
  for i in ipairs(node.lists or {}) do
    add(function(found)
      local inside = table.remove(found, at).lists[i]
      table.move(inside, 1, #inside, #found + 1, found)
    end)
  end
  if node.lists and node.lists[3] then
    add(function(found) table.remove(found[at].lists) end)
  end
  if (node.times or 0) > 0 then
    add(function(found) found[at].times = found[at].times - 1 end)
  end
  for _, place in ipairs { "node", "join", "of", "sender" } do
    for name, value in pairs(place == "node" and node or node[place] or {}) do
      if value == true then
        add(function(found)
          local here = place == "node" and found[at] or found[at][place]
          here[name] = nil
        end)
      end
    end
  end
end

-- Calls each(path, index) for every node; a path leads to its list.
local function each_node(list, path, each)
  for at, node in ipairs(list) do
    each(path, at, list)
    for i, inner in ipairs(node.lists or {}) do
      local deeper = table.move(path, 1, #path, 1, {})
      deeper[#deeper + 1] = { at, i }
      each_node(inner, deeper, each)
    end
  end
end

local function list_at(list, path)
  for i = 1, #path do
    list = list[path[i][1]].lists[path[i][2]]
  end
  return list
end

-- smaller(process) -> processes that lack one thing each.
function random_process.smaller(process)
  local made = {}
  each_node(process.list, {}, function(path, at, list)
    changes_of(list, at, function(change)
      local one = copy(process)
      change(list_at(one.list, path))
      made[#made + 1] = one
    end)
  end)
  return made
end

return random_process
