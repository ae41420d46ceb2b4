-- A whole script folder: its files evaluated, its definitions and everything that is wrong with it
-- (rules §9: listeners in the order of their names).
local definition = require "moonshift.definition"
local hooks = require "moonshift.hooks"
local meant = require "moonshift.meant"
local retry = require "moonshift.retry"
local route = require "moonshift.route"
local rules = require "moonshift.rules"
local sandbox = require "moonshift.sandbox"
local schedule = require "moonshift.schedule"
local show = require "moonshift.show"

local folder = {}

local Loader = {}
Loader.__index = Loader

local NO_TYPE = "returned %s (expected a %s)"
local HOOK = "moonshift/hook" -- the handler that tells hooks what others did
local BATCH = "batch/" -- what batches/x.lua defines is batch/x

-- ---- problems ----

-- Without a line the problem is that of the whole file, or of something that is no file.
function Loader:problem(file, line, message)
  local key = ("%s:%d:%s"):format(file, line or 0, message)
  if not self.seen[key] then
    self.seen[key] = true
    self.problems[#self.problems + 1] = { file = file, line = line, message = message }
  end
end

-- The file of this folder that a chunk name stands for; long ones are cut in front by Lua.
local function find_file(paths, name)
  local tail = name:match("^%.%.%.(.+)$")
  for _, path in ipairs(paths) do
    if path == name or (tail and #path > #tail and path:sub(-#tail) == tail) then
      return path
    end
  end
end

local function text_of(raised)
  if type(raised) == "table" and type(rawget(raised, "message")) == "string" then
    return rawget(raised, "message")
  end
  local fine, text = pcall(tostring, raised)
  return fine and text or ("raised a " .. type(raised))
end

-- "handlers/x.lua:3: message", raised while `path` was loaded, taken apart.
function Loader:raised(path, raised)
  local text = text_of(raised)
  local name, line, message = text:match("^([^\n:]+):(%d+): (.*)$")
  local file = name and find_file(self.natives.paths, name)
  if file then
    self:problem(file, math.tointeger(tonumber(line)) or 1, message)
  else
    self:problem(path, 1, text)
  end
end

-- The line of a file where `key` is given a value, if that can be seen; else 1.
function Loader:line_of(path, key)
  if type(key) ~= "string" or not self.files[path] then
    return 1
  end
  local number, word = 0, key:gsub("%p", "%%%0")
  for line in (self.natives.text(path) .. "\n"):gmatch("([^\n]*)\n") do
    number = number + 1
    local code = line:gsub("%-%-.*$", "")
    if code:find("%f[%w_]" .. word .. "%f[^%w_]%s*=[^=]")
      or code:find('%["' .. word .. '"%]%s*=') then
      return number
    end
  end
  return 1
end

-- Makes a function that reports the problems of `path`.
function Loader:reporter(path)
  return function(message, key)
    self:problem(path, self:line_of(path, key), message)
  end
end

-- Makes a function that reports a wrong change by the listener in `path` to the definition `name`.
-- It reports a change once, for any number of definitions.
function Loader:listener_reporter(path, name)
  return function(message, key)
    local id = ("%s:%s"):format(path, message)
    local blame = self.blames[id]
    if not blame then
      local shown = ('%s, set for "%s"'):format(message, name)
      self:problem(path, self:line_of(path, key), shown)
      self.blames[id] = { problem = self.problems[#self.problems], shown = shown, more = 0 }
      return
    end
    blame.more = blame.more + 1
    blame.problem.message = ("%s and %d other%s"):format(blame.shown, blame.more,
      blame.more == 1 and "" or "s")
  end
end

-- ---- files ----

-- A name with each byte that is no text as \xe9.
local function spelled(path)
  local parts, at = {}, 1
  while at <= #path do
    local fine, bad = utf8.len(path, at)
    bad = fine and #path + 1 or bad
    parts[#parts + 1] = path:sub(at, bad - 1)
    parts[#parts + 1] = not fine and ("\\x%02x"):format(path:byte(bad)) or nil
    at = bad + 1
  end
  return table.concat(parts)
end

-- The paths without those that are no text: nothing can be named after them.
function Loader:readable(paths)
  local list = {}
  for _, path in ipairs(paths) do
    if utf8.len(path) then
      list[#list + 1] = path
    else
      self:problem(spelled(path), 1, definition.check_name(path))
    end
  end
  return list
end

-- Calls fn(path, name) for each file of a kind, in the order of their paths.
function Loader:each(kind, fn)
  for _, path in ipairs(self.natives.paths) do
    local name = path:match("^" .. kind .. "/(.+)%.lua$")
    if name then
      fn(path, name)
    end
  end
end

-- The value of a file: true, value; or false once its problem is noted.
function Loader:value(path)
  self.natives.loading(path)
  local fine, value = pcall(self.sandbox.run, path)
  if not fine then
    self:raised(path, value)
  end
  return fine, value
end

-- Calls fn(path, name, value) for each file whose name can be one and that has a value.
function Loader:each_value(kind, fn)
  self:each(kind, function(path, name)
    local problem = definition.check_name(name)
    if problem then
      self:problem(path, 1, problem)
      return
    end
    local fine, value = self:value(path)
    if fine then
      fn(path, name, value)
    end
  end)
end

-- The files of a kind whose values must be functions or tables, as `into[prefix .. name]`.
function Loader:read_typed(kind, wanted, into, prefix)
  self:each(kind, function(path, name)
    local fine, value = self:value(path)
    if fine and type(value) ~= wanted then
      self:problem(path, 1, NO_TYPE:format(show(value), wanted))
    elseif fine then
      into[prefix .. name] = value
    end
  end)
end

function Loader:read_priorities()
  self:read_typed("priorities", "function", self.priorities, "")
end

function Loader:read_retries()
  self:each("retries", function(path, name)
    local fine, value = self:value(path)
    local file, message = nil, nil
    if fine then
      file, message = retry.file(value)
    end
    if message then
      self:problem(path, 1, message)
    end
    self.retries[name] = file
  end)
end

-- ---- definitions ----

-- of_batch: it is a type of batches; stock: the file is ours.
function Loader:define(path, name, value, of_batch, stock)
  local problem = definition.check_name(name)
  if problem then
    self:problem(path, 1, problem)
    return
  end
  local declared = definition.read(value, self:reporter(path), of_batch,
    name:find("^topic/") ~= nil)
  if declared then
    self.list[#self.list + 1] = {
      name = name,
      path = path,
      declared = declared,
      stock = stock,
      own_retry = declared.retry,
      origin = {}, -- the listener that set a key
    }
  end
end

-- The names in the option `handlers` that are types of batches, or those that are none.
local function given_names(given, of_batch)
  local names = {}
  for name in pairs(given) do
    if (name:sub(1, #BATCH) == BATCH) == of_batch then
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return names
end

function Loader:read_handlers()
  local given = self.options.handlers or {}
  self:each("handlers", function(path, name)
    if given[name] == nil then
      local fine, value = self:value(path)
      if fine then
        self:define(path, name, value, false, self.natives.stock[path])
      end
    end
  end)
  for _, name in ipairs(given_names(given, false)) do
    local path, prefix = ("handlers/%s.lua"):format(name), definition.reserved(name)
    if prefix then
      self:problem(path, nil, ("handlers under %s are reserved (expected another name)"):format(
        prefix))
    else
      self:define(path, name, given[name])
    end
  end
end

-- Types of batches: definitions like any other, whose functions get the ids, too.
function Loader:read_batches()
  local given = self.options.handlers or {}
  self:each("batches", function(path, name)
    local fine, value = self:value(path)
    if fine then
      self:define(path, BATCH .. name, value, true, self.natives.stock[path])
    end
  end)
  for _, name in ipairs(given_names(given, true)) do
    local path = ("batches/%s.lua"):format(name:sub(#BATCH + 1))
    if self.files[path] then
      self:problem(path, nil, "handlers has it, too (expected another name)")
    else
      self:define(path, name, given[name], true)
    end
  end
end

function Loader:read_hooks()
  local loaded = self.loaded
  self:each("hooks", function(path)
    local fine, value = self:value(path)
    local hook = fine and hooks.read(path, value, self:reporter(path))
    if hook then
      loaded.hooks[#loaded.hooks + 1] = hook
      loaded.hook_paths[#loaded.hook_paths + 1] = path
    end
  end)
  loaded.hook_events = hooks.events(loaded.hooks)
end

function Loader:read_routes()
  local loaded = self.loaded
  self:each_value("routes", function(path, name, value)
    local found = route.read(path, name, value, self:reporter(path))
    loaded.routes[name] = found
    loaded.route_rows[#loaded.route_rows + 1] = found and route.row(found)
  end)
end

-- ---- processes ----

-- Activities and decisions: functions, known by the paths of their files without ".lua".
function Loader:read_behaviours(kind)
  self:read_typed(kind, "function", self.loaded.behaviours, kind .. "/")
end

function Loader:read_beans()
  self:read_typed("beans", "table", self.loaded.beans, "")
end

-- The handlers that there will be, by their names.
function Loader:handler_names()
  local names = {}
  for _, entry in ipairs(self.list) do
    names[entry.name] = true
  end
  return names
end

local function process_paths(paths)
  local list = {}
  for _, path in ipairs(paths) do
    list[#list + 1] = path:find("^processes/") and path or nil
  end
  return list
end

function Loader:read_process_files(found, paths, names)
  for _, path in ipairs(paths) do
    local fine, value = true, nil
    if path:find("%.lua$") then
      fine, value = self:value(path)
    end
    local known = self.options.models and self.options.models[path]
    local taken = known and found:take(path, known, names, self.options.missing_handlers)
    if fine and not taken then
      found:read_file(path, value)
    end
  end
end

-- After the handlers, which processes call, and before the listeners, which see the definitions.
-- What reads them is loaded where there are any.
function Loader:read_processes()
  local paths = process_paths(self.natives.paths)
  if not paths[1] or self.options.reading == "plain" then
    return
  end
  local found = require("moonshift.process.load").folder(self.loaded, self.natives.text,
    self.natives.now, { sound = self.options.reading ~= nil, cron = self.options.cron })
  local names = not self.options.missing and self:handler_names()
  self:read_process_files(found, paths, names)
  local problems, list = found:finish(names, self.options.missing_handlers, self.options.reading,
    self.options.written)
  table.move(problems, 1, #problems, #self.problems + 1, self.problems)
  for _, one in ipairs(list) do
    if one.retry then
      one.declared.retry = require("moonshift.process.retry").strategy(one.retry,
        self.natives.walk)
    end
    one.own_retry, one.origin = one.declared.retry, {}
    self.list[#self.list + 1] = one
  end
end

-- The graph of a stored version, whose file the folder may lack; `env`: the globals of its Lua,
-- if not those of the folder.
function Loader:read_process(path, text, key, env)
  local value
  if path:find("%.lua$") then
    value = assert(load(text, "@" .. path, "t", env or self.sandbox.env))()
  end
  return require("moonshift.process.load").read_process(path, text, key, value,
    self.options.cron)
end

-- A script of a process: function(job). `where` = { file, line }; `env`: its globals, if not those
-- of the folder.
function Loader:script(text, where, env)
  return assert(load("local job = ... " .. text, "@" .. where.file, "t", env or self.sandbox.env))
end

-- ---- listeners ----

-- False if the listener raised.
function Loader:listen(path, listener, entry)
  local view = definition.view(entry.name, entry.declared, entry.stock)
  local fine, raised = pcall(listener, view)
  if not fine then
    self:raised(path, raised)
    return false
  end
  local report = self:listener_reporter(path, entry.name)
  local changed = definition.changes(entry.name, entry.declared, entry.own_retry, view, report)
  for _, key in ipairs(changed) do
    entry.origin[key] = path
  end
  return true
end

function Loader:call_listener(path, listener)
  for _, entry in ipairs(self.list) do
    local concerned = listener.all or not entry.stock
    if concerned and not self:listen(path, listener.run, entry) then
      break -- one problem says it all
    end
  end
end

function Loader:call_listeners()
  self:each("listeners", function(path)
    local fine, value = self:value(path)
    local listener = fine and definition.listener(value, self:reporter(path))
    if listener then
      self:call_listener(path, listener)
    end
  end)
end

-- Reports a problem of the setting `name` at the place where it was given, which calls it `label`.
function Loader:setting_problem(name, label, message)
  if label ~= name then -- a flag or a variable
    self:problem(label, nil, message)
  elseif self.files["moonshift.lua"] then
    self:problem("moonshift.lua", self:line_of("moonshift.lua", name), message)
  else
    self:problem("settings", nil, message)
  end
end

function Loader:resolve_setting()
  local value = self.options.retry
  if value == nil then
    return nil
  end
  local resolved, message = retry.resolve(value, self.retries)
  if not resolved then
    self:setting_problem("retry", self.options.retry_label, message)
  end
  return resolved and value
end

-- The handler that is told of incidents must be in the folder.
function Loader:check_notify()
  local handler, handlers = self.options.notify, self.loaded.handlers
  if handler and not handlers[handler] and self.options.reading ~= "plain" then
    self:setting_problem("notify", self.options.notify_label,
      ('notify: unknown handler "%s"%s'):format(handler,
        meant(handler, handlers, " (expected a handler of the folder)")))
  end
end

function Loader:settle(entry, context)
  local function report(message, key)
    local origin = entry.origin[key]
    if origin then
      self:listener_reporter(origin, entry.name)(message, key)
    else
      self:reporter(entry.path)(message, key)
    end
  end
  local row, functions = definition.settle(entry.name, entry.path, entry.declared, context, report)
  local loaded = self.loaded
  row.retry = entry.retry or row.retry -- an expression of a process is shown as it is
  if entry.name == HOOK and #loaded.hook_events > 0 then
    row.hooks = loaded.hook_events -- so the store knows what to tell it of
  end
  loaded.definitions[#loaded.definitions + 1] = row
  loaded.handlers[entry.name] = functions.run
  loaded.priorities[entry.name] = functions.priority
  loaded.strategies[entry.name] = functions.strategy
  loaded.expressions[entry.name] = functions.runs_of
  loaded.uniques[entry.name] = functions.unique
end

function Loader:settle_all()
  local context = {
    priorities = self.priorities,
    retries = self.retries,
    retry = self:resolve_setting(),
    timeout = self.options.timeout,
  }
  for _, entry in ipairs(self.list) do
    self:settle(entry, context)
  end
end

-- ---- schedules ----

function Loader:read_schedules()
  local context = {
    check_spec = self.natives.check_spec,
    handlers = self.loaded.handlers,
    priorities = self.loaded.priorities,
    expressions = self.loaded.expressions,
  }
  self:each_value("schedules", function(path, name, value)
    local row = schedule.read(name, path, value, context, self:reporter(path))
    if row then
      self.loaded.schedules[#self.loaded.schedules + 1] = row
    end
  end)
end

-- What loading fills in.
local function new_loaded()
  return {
    definitions = rules.array {},
    schedules = rules.array {},
    hooks = {},
    hook_paths = rules.array {},
    routes = {},
    route_rows = rules.array {},
    handlers = {},
    priorities = {},
    strategies = {},
    expressions = {},
    uniques = {},
    behaviours = {},
    beans = {},
    processes = {},
    process_rows = rules.array {},
    process_versions = rules.array {},
    process_models = {},
    process_warnings = rules.array {},
  }
end

-- Everything of the folder, in the order in which one needs the other.
function Loader:read_all()
  self:read_priorities()
  self:read_retries()
  self:read_handlers()
  self:read_batches()
  self:read_hooks()
  self:read_routes()
  self:read_behaviours("activities")
  self:read_behaviours("decisions")
  self:read_beans()
  self:read_processes()
  self:call_listeners()
  self:settle_all()
  self:check_notify()
  self:read_schedules()
end

-- Loads a folder and raises nothing. load(natives, options) -> a table with
--   definitions  rows
--   schedules    rows, see schedule.lua
--   problems     { { file, line, message } }, of processes with column and id
--   processes    by their keys, see process/load.lua; process_rows, process_warnings and
--                process_versions, which are deployed; process_models, for the option models
--   hooks        see hooks.lua; hook_paths and hook_events belong to them
--   routes       by their names, see route.lua; route_rows
-- and, by the definition's name:
--   handlers     functions
--   priorities   functions
--   strategies   functions or texts
--   expressions  functions that give the runs of a new job
--   uniques      functions that give the key of a new job
--   behaviours   functions of activities/ and decisions/, by "activities/order/charge"
--   beans        tables
--   read_process(path, text, key, env) -> a graph, and script(text, where, env) -> function(job)
--   sandbox      where the files are evaluated
--   missing      the option
--
-- The options are borrowed, modules, handlers, and the settings retry, notify, timeout and
-- missing_handlers. missing: a function(name, job), called for what processes call and the folder
-- lacks. models: what another state has found in models of the same text, by their paths; those
-- that fit into this folder are read when an instance needs them. reading: "folder" or "file",
-- which are checked and never run; "plain": no process is read.
-- retry_label and notify_label are the names of these settings at the place where they were given.
function folder.load(natives, options)
  local self = setmetatable({
    natives = natives,
    options = options,
    files = {},
    problems = rules.array {},
    seen = {},
    blames = {}, -- of listeners, by what they did
    list = {},
    priorities = {},
    retries = {},
    loaded = new_loaded(),
  }, Loader)
  natives.paths = self:readable(natives.paths)
  self.sandbox = sandbox.new(natives, options)
  for _, path in ipairs(natives.paths) do
    self.files[path] = true
  end
  self:read_all()
  self.loaded.problems = self.problems
  self.loaded.missing = options.missing
  self.loaded.sandbox = self.sandbox
  function self.loaded.read_process(...)
    return self:read_process(...)
  end
  function self.loaded.script(...)
    return self:script(...)
  end
  natives.loading()
  return self.loaded
end

return folder
