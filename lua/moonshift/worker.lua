-- The functions that C calls in a worker's state: core/script/ knows no other Lua module.
local folder = require "moonshift.folder"
local hooks = require "moonshift.hooks"
local job = require "moonshift.job"
local priority = require "moonshift.priority"
local retry = require "moonshift.retry"
local route = require "moonshift.route"
local rules = require "moonshift.rules"
local sandbox = require "moonshift.sandbox"
local show = require "moonshift.show"
local unique = require "moonshift.unique"

local worker = {}

-- The walk is loaded with the first job of a process.
local function begin_walk(natives, loaded)
  if not loaded.walk_now then
    local runtime = require "moonshift.process.runtime"
    loaded.walk_now, loaded.former_strategy, loaded.walk_at, loaded.walk_kept =
      runtime.new(natives, loaded)
  end
end

-- By the strategy of the folder's definition, or of the version of the job's instance. Another
-- worker may have run the job.
local function decide(natives, loaded, name, failed, failure)
  local strategy = loaded.strategies[name]
  if not strategy then
    begin_walk(natives, loaded)
    strategy = loaded.former_strategy(name, failed)
  end
  if strategy then
    return retry.decide(strategy, failed, failure)
  end
  return false
end

local function picture(natives, loaded, asked)
  local version, env = asked.version, nil
  if asked.files then
    local former = require "moonshift.process.former"
    env = former.new(loaded.sandbox, natives, asked.files).env
  end
  local graph = loaded.read_process(version.path, version.text, version.key, env)
  return require "moonshift.process.drawing.page"(graph, asked)
end

-- load(natives, options) -> folder.load's table, with `methods` and `engine` (for `job`), and:
--   priority(name, job) -> integer, or nil for no opinion
--   decide(name, job, failure) -> delay in ms or nil, retries or nil; or false: the standard rule
--   runs(name, job) -> the runs that an expression of its retry gives a new job, or nil
--   unique(name, job) -> the key that the definition gives a new job, or nil
--   hook(index, event, facts, job, owner) calls a hook
--   route(asked) -> the answer of a route: see route.lua
--   walk(job) -> the unit of a job of a process instance
--   walk_at() -> the activity at which the last walk failed, or nil; there is none before a walk
--   picture(asked) -> a picture of a stored version of a process: see process/drawing/page.lua;
--     `files` of a version in Lua are those of its deployment
--   walk_kept() -> what handlers did in the last walk, which has failed, as JSON
function worker.load(natives, options)
  local loaded = folder.load(natives, options)
  loaded.methods = job.methods(natives.job)
  loaded.engine = job.engine(natives.job)

  function loaded.priority(name, new)
    return priority.ask(loaded.priorities[name], new)
  end

  function loaded.decide(name, failed, failure)
    return decide(natives, loaded, name, failed, failure)
  end

  function loaded.runs(name, new)
    return (loaded.expressions[name](new))
  end

  function loaded.hook(index, event, facts, subject, owner)
    hooks.call(loaded.hooks[index], event, facts, subject, natives.job.enqueue, owner)
  end

  function loaded.unique(name, new)
    return unique.ask(loaded.uniques[name], new)
  end

  function loaded.picture(asked)
    return picture(natives, loaded, asked)
  end

  function loaded.route(asked)
    return route.call(loaded.routes[asked.name], asked, natives.check_spec)
  end

  function loaded.walk(host)
    begin_walk(natives, loaded)
    return loaded.walk_now(host)
  end

  return loaded
end

-- A range with an open side is a list with a hole, { nil, 100 } or { 50 }: null stands there.
local function close_range(values)
  local range = rawget(values, "priority_range")
  if type(range) ~= "table" then
    return
  end
  for key in pairs(range) do
    if key ~= 1 and key ~= 2 then
      return
    end
  end
  local low, high = range[1], range[2]
  values.priority_range = rules.array {
    low == nil and rules.null or low,
    high == nil and rules.null or high,
  }
end

-- settings(natives) -> the table that moonshift.lua returns. Raises its errors.
function worker.settings(natives)
  natives.loading("moonshift.lua")
  local values = sandbox.new(natives, {}).run("moonshift.lua")
  if type(values) ~= "table" then
    error(("moonshift.lua:1: returned %s (expected a table of settings)"):format(
      show(values)), 0)
  end
  close_range(values)
  return values
end

return worker
