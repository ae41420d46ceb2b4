-- The processes of a script folder: read, checked, their handlers found, their definitions made.
local check = require "moonshift.process.check"
local definitions = require "moonshift.process.definitions"
local expression = require "moonshift.expression"
local graph_of = require "moonshift.process.graph"
local picture = require "moonshift.process.picture"
local places = require "moonshift.process.places"
local reader = require "moonshift.process.bpmn.reader"
local report = require "moonshift.process.report"
local rules = require "moonshift.rules"
local show = require "moonshift.show"
local starts = require "moonshift.process.starts"

local load = {}

-- ---- forms ----

-- The graph of a file in Lua that returned `value`.
local function read_words(value, path, told, text)
  local words = require "moonshift.process.words"
  return { words.read(value, path, told, text) }
end

-- graphs(path, text, value, told, options) -> the graphs of a file, checked. `value`: what a file
-- in Lua returns. The options are `cron`, the setting, and `sound`: what is doubtful is told, too.
function load.graphs(path, text, value, told, options)
  local is_lua = path:find("%.lua$") ~= nil
  local graphs = is_lua and read_words(value, path, told, text)
    or reader.read(text, path, told, options.cron)
  check.graphs(graphs, told, options.sound)
  return graphs
end

-- ---- a folder ----

local Folder = {}
Folder.__index = Folder

function Folder:add(graph, told)
  local known = self.loaded.processes[graph.key]
  local at = { id = graph.key, line = graph.line, column = graph.column }
  if known then
    told:refuse(at, ("a process of this key is in %s, too"):format(known.path))
    return
  end
  self.loaded.processes[graph.key] = {
    graph = graph,
    path = graph.path,
    hash = graph_of.hash(graph),
  }
  self.order[#self.order + 1] = graph
  self.sequence[#self.sequence + 1] = { graph = graph, path = graph.path }
end

-- The processes of a model by their keys, read now.
function Folder:read_later(path)
  local by_key = {}
  for _, graph in ipairs(load.graphs(path, self.text(path), nil, report.new(path), self)) do
    places.resolve(graph)
    by_key[graph.key] = graph
  end
  return by_key
end

-- True if no process of the model is in another file, and all that it calls is in the folder.
-- `handlers` as for finish.
function Folder:fits(known, handlers, missing)
  for _, one in ipairs(known.processes) do
    if self.loaded.processes[one.key] then
      return false
    end
  end
  local there = handlers and missing ~= "incident"
    and { handlers = handlers, behaviours = self.loaded.behaviours }
  for _, names in ipairs(there and known.needs or {}) do
    if not places.find(there, names) then
      return false
    end
  end
  return true
end

-- Adds a model that another state has read and found fine: `known` as in process_models. Its graphs
-- are made once one of them is asked for. False: it does not fit into this folder.
function Folder:take(path, known, handlers, missing)
  if not self:fits(known, handlers, missing) then
    return false
  end
  local graphs
  for _, one in ipairs(known.processes) do
    self.loaded.processes[one.key] = setmetatable({ path = path, hash = one.hash }, {
      __index = function(_, member)
        if member == "graph" then
          graphs = graphs or self:read_later(path)
          return graphs[one.key]
        end
      end,
    })
  end
  self.sequence[#self.sequence + 1] = { definitions = known.definitions, path = path }
  return true
end

function Folder:read_file(path, value)
  local told = report.new(path)
  local graphs = load.graphs(path, self.text(path), value, told, self)
  for _, graph in ipairs(graphs) do
    self:add(graph, told)
  end
  self.reports[#self.reports + 1] = told
  self.told[path] = told
end

-- Finds the handlers of all processes; `handlers` nil: they lie elsewhere.
function Folder:resolve(handlers, missing)
  local known = handlers and { handlers = handlers, behaviours = self.loaded.behaviours }
  for _, graph in ipairs(self.order) do
    local told = self.told[graph.path]
    places.resolve(graph, known, function(at, message)
      if missing == "incident" then
        told:warn(at, message)
      else
        told:refuse(at, message)
      end
    end)
  end
end

-- Calls of processes that the folder lacks: they may be in the store from another one.
function Folder:check_call(node, told)
  local key = node.call.process
  if type(key) == "string" and not expression.is(key) and not self.loaded.processes[key] then
    local keys = {}
    for known in pairs(self.loaded.processes) do
      keys[#keys + 1] = known
    end
    table.sort(keys)
    local meant = rules.suggest(key, keys)
    told:warn(node, ('calls the process "%s", which is not in the folder%s'):format(key,
      meant and (' (did you mean "%s"?)'):format(meant) or ""))
  end
end

-- Where methods are called that only a bean has, of one that is not in the folder: the first place
-- of each, and how many others there are.
function Folder:missing_beans()
  local list, by_name = {}, {}
  for _, told in ipairs(self.reports) do
    for _, one in ipairs(told.beans) do
      local known = by_name[one.name]
      if known then
        known.others = known.others + 1
      elseif not self.loaded.beans[one.name] then
        by_name[one.name] = { told = told, at = one.at, name = one.name, others = 0 }
        list[#list + 1] = by_name[one.name]
      end
    end
  end
  return list
end

function Folder:check_beans()
  for _, one in ipairs(self:missing_beans()) do
    local others = one.others > 0 and ("; %d more call%s of it"):format(one.others,
      one.others == 1 and "" or "s") or ""
    one.told:warn(one.at, ('calls the bean "%s", which is not in the folder (expected beans/%s.lua'
      .. "%s)"):format(one.name, one.name, others))
  end
end

function Folder:check_calls()
  self:check_beans()
  for _, graph in ipairs(self.order) do
    graph_of.each(graph, function(node)
      if node.call then
        self:check_call(node, self.told[graph.path])
      end
    end)
  end
end

local function append(list, from)
  table.move(from, 1, #from, #list + 1, list)
end

-- What `moonshift process check` lists.
local function row_of(graph, hash)
  return { key = graph.key, name = graph.name, file = graph.path, tag = graph.tag,
    activities = #graph.order, hash = hash }
end

-- Where a node waits for its event, if not in the sub-process around it.
local function watched_in(graph, node)
  local around, flow = graph.nodes[node.scope], node.into and node.into[1]
  local before = flow and graph.nodes[flow.from]
  if node.kind == "start" and around and around.kind == "event_subprocess" then
    return around.scope or ""
  end
  return node.attached or before and before.kind == "event_gateway" and before.id or nil
end

local UNDOES = { compensation = true, cancel = true }

-- The events that throw a compensation: they hold what they take back.
local function throwers_of(graph)
  local throwers = {}
  for _, id in ipairs(graph.order) do
    local node = graph.nodes[id]
    if node.event and UNDOES[node.event.kind] and (node.kind == "throw" or node.kind == "end") then
      throwers[#throwers + 1] = id
    end
  end
  return throwers
end

-- Each activity with what may be around it, "" for the process: what frames are held against.
-- A handler lies in what throws its compensation, or in the body of the turn that it takes back.
local function activities_of(graph)
  local scopes, throwers = {}, throwers_of(graph)
  for _, id in ipairs(graph.order) do
    local node = graph.nodes[id]
    scopes[id] = { node.scope or "", watched_in(graph, node) }
    if node.compensates or node.start or node.multi then
      table.move(throwers, 1, #throwers, #scopes[id] + 1, scopes[id])
    end
  end
  for _, id in ipairs(graph.order) do
    local node = graph.nodes[id]
    if node.handler and scopes[node.handler] then
      table.insert(scopes[node.handler], node.attached)
    end
  end
  return scopes
end

-- The conditions that are waited for, by their activities: { text, names of variables }. Those that
-- are functions have none.
local function conditions_of(graph)
  local found
  for _, id in ipairs(graph.order) do
    local event = graph.nodes[id].event
    if event and event.kind == "conditional" and type(event.when) == "string" then
      found = found or {}
      found[id] = { text = event.when, names = rules.array(expression.names(event.when)) }
    end
  end
  return found
end

-- What the store keeps of a version (core/store/store.h, struct store_deployment).
function Folder:version_of(graph, hash)
  local told = self.told[graph.path]
  return {
    key = graph.key,
    hash = hash,
    path = graph.path,
    kind = graph.path:find("%.lua$") and "lua" or "bpmn",
    tag = graph.tag,
    history_time_to_live = graph.history_time_to_live,
    search = graph.search,
    activities = activities_of(graph),
    conditions = conditions_of(graph),
    timers = starts.timers(graph, self.now(), function(at, message)
      told:refuse(at, message)
    end),
    events = starts.events(graph, self.now()),
  }
end

-- The text of a process in Lua: its file's, or what is written of a model.
function Folder:lua_of(graph)
  if graph.path:find("%.lua$") then
    return self.text(graph.path)
  end
  return require "moonshift.process.write"(graph)
end

-- Adds what is deployed of the processes of files without a problem.
function Folder:declare()
  for _, graph in ipairs(self.order) do
    if not self.told[graph.path].problems[1] then
      table.insert(self.loaded.process_versions,
        self:version_of(graph, self.loaded.processes[graph.key].hash))
    end
  end
end

-- The names of which one must be there, for each behaviour that needs a file.
local function needs_of(graph)
  local list = {}
  places.each(graph, function(behaviour)
    if behaviour.names and not behaviour.topic then
      list[#list + 1] = behaviour.names
    end
  end)
  return list
end

-- Adds what another state needs of a model without a problem, to read it only when it is asked for.
-- Made anew: listeners change the definitions.
function Folder:note_model(graph)
  local told, models = self.told[graph.path], self.loaded.process_models
  if told.problems[1] or graph.path:find("%.lua$") then
    return
  end
  local model = models[graph.path]
    or { processes = {}, definitions = rules.array {}, needs = rules.array {} }
  models[graph.path] = model
  table.insert(model.processes, { key = graph.key, hash = self.loaded.processes[graph.key].hash })
  append(model.definitions, definitions.of(graph))
  append(model.needs, needs_of(graph))
end

-- The row of a process, and its definitions.
function Folder:defined(graph, written)
  local row = row_of(graph, self.loaded.processes[graph.key].hash)
  if written and not self.told[graph.path].problems[1] then
    row.lua, row.picture = self:lua_of(graph), picture(graph)
  end
  table.insert(self.loaded.process_rows, row)
  self:note_model(graph)
  return definitions.of(graph)
end

-- What is wrong with a retry is told of its place in the model.
local function without_retry(declared)
  local copy = {}
  for key, value in pairs(declared) do
    copy[key] = key ~= "retry" and value or nil
  end
  return copy
end

-- finish(handlers, missing, reading) -> problems, and the definitions of all processes: { name,
-- path, declared, retry }. `handlers`: the names of those of the folder, or false if none is looked
-- for; missing = "incident": others may lack. `reading`: "folder" or "file", which are checked and
-- not run; nil: it is run. `written`: the rows have the processes in Lua and as pictures.
function Folder:finish(handlers, missing, reading, written)
  local problems, list = {}, {}
  self:resolve(reading ~= "file" and handlers, missing)
  self:declare()
  if self.sound and reading == "folder" then
    self:check_calls()
  end
  for _, told in ipairs(self.reports) do
    told:sort()
    append(problems, told.problems)
    append(self.loaded.process_warnings, told.warnings)
  end
  for _, part in ipairs(self.sequence) do
    for _, one in ipairs(part.definitions or self:defined(part.graph, written)) do
      local untold = not problems[1]
      list[#list + 1] = { name = one.name, path = part.path, retry = untold and one.retry or nil,
        declared = untold and one.declared or without_retry(one.declared) }
    end
  end
  return problems, list
end

-- folder(loaded, text, now, options) -> what reads the files of a folder: read_file(path, value),
-- or take(path, known, …) for what another state has read; then finish. `text(path)` gives a file,
-- now() the time in ms. Options are those of graphs. What is doubtful is told only where it is
-- wanted: in a large model it takes long.
-- Adds to `loaded` processes (by key: { graph, path, hash }), process_rows, process_versions,
-- process_models and process_warnings.
function load.folder(loaded, text, now, options)
  return setmetatable({ loaded = loaded, text = text, now = now, sound = options.sound,
    cron = options.cron, order = {}, sequence = {}, reports = {}, told = {} }, Folder)
end

-- read_process(path, text, key, value, cron) -> the graph of a stored version; raises without.
function load.read_process(path, text, key, value, cron)
  local told = report.new(path)
  for _, graph in ipairs(load.graphs(path, text, value, told, { cron = cron })) do
    if graph.key == key then
      places.resolve(graph)
      return graph
    end
  end
  local first = told.problems[1]
  error(("%s: no process %s%s"):format(path, show(key), first and ": " .. first.message or ""), 0)
end

return load
