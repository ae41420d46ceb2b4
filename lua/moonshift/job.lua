-- `job`, the object a handler sees: its methods (rules §4: extend, §8: snooze, §20: progress and
-- lines). The fields are in core/script/handle.c.
local query = require "moonshift.query"
local rules = require "moonshift.rules"
local show = require "moonshift.show"

local job = {}

-- ms of a span given as ISO text or seconds; raises where the method was called.
local function span_of(value, verb)
  if type(value) ~= "string" and type(value) ~= "number" then
    error(('job:%s: got %s (expected seconds or a duration such as "PT5M")'):format(verb,
      show(value)), 4)
  end
  local ms, message = rules.duration(value)
  if not ms then
    error(("job:%s: %s"):format(verb, message), 4)
  end
  return ms
end

-- Methods are made with C's natives as `natives`; each is called as job:name(…).
local Methods = {}

-- enqueue(handler, payload, options) -> id. Written with this job's success, or not at all.
function Methods.enqueue(natives, self, handler, payload, options)
  if type(handler) ~= "string" then
    error(("job:enqueue: got %s (expected the name of a handler)"):format(show(handler)), 3)
  end
  local id, message = natives.enqueue(self, handler, payload, options)
  return id or error("job:enqueue: " .. message, 3)
end

-- operate { verb = "set_retries", ids = …, retries = 3 }: an operator's verb, done with this job's
-- success, or not at all. If it is refused then, this job has failed.
function Methods.operate(natives, self, command)
  if type(command) ~= "table" then
    error(('job:operate: got %s (expected { verb = "…", … })'):format(show(command)), 3)
  end
  local done, message = natives.operate(self, command)
  return done or error("job:operate: " .. message, 3)
end

-- extend(span): the lock and the time limit reach at least so far from now.
function Methods.extend(natives, self, span)
  local done, message = natives.extend(self, span_of(span, "extend"))
  return done or error("job:extend: " .. message, 3)
end

-- snooze(span, message): once the handler returns, the job comes back later; no retry is used up.
-- The log keeps the message, if there is one.
function Methods.snooze(natives, self, span, message)
  if message ~= nil and type(message) ~= "string" then
    error(("job:snooze: message is %s (expected a text)"):format(show(message)), 3)
  end
  natives.snooze(self, span_of(span, "snooze"), message)
end

-- progress(fraction, text): shown to operators while the job runs.
function Methods.progress(natives, self, fraction, text)
  if type(fraction) ~= "number" or not (fraction >= 0 and fraction <= 1) then
    error(("job:progress: got %s (expected a fraction from 0 to 1)"):format(show(fraction)), 3)
  end
  if text ~= nil and type(text) ~= "string" then
    error(("job:progress: text is %s (expected a text)"):format(show(text)), 3)
  end
  local done, message = natives.progress(self, fraction, text)
  return done or error("job:progress: " .. message, 3)
end

-- log(…): a line that is kept with this attempt, also when it fails.
function Methods.log(natives, self, ...)
  local words = table.pack(...)
  for i = 1, words.n do
    words[i] = tostring(words[i])
  end
  natives.line(self, table.concat(words, " "))
end

-- cancelled() -> true once an operator has cancelled this run.
function Methods.cancelled(natives, self)
  local answer = natives.cancelled(self)
  return answer
end

-- _tell(event): calls the hooks with an event that the store has noted, { name, job, … }. Only the
-- stock handler moonshift/hook uses it.
function Methods._tell(natives, self, event)
  local row = self.engine:job(event.job.id)
  natives.tell(self, event.name, event, row or event.job)
end

-- methods(natives) -> { enqueue, operate, extend, snooze, progress, log, cancelled, _tell }
function job.methods(natives)
  local methods = {}
  for name, method in pairs(Methods) do
    methods[name] = function(...)
      local answer = method(natives, ...)
      return answer
    end
  end
  return methods
end

-- ---- job.engine ----

local function without_nulls(row)
  if type(row) == "table" then
    for key, value in pairs(row) do
      if value == rules.null then
        row[key] = nil
      end
    end
  end
  return row
end

-- One row as its handler sees it; raises where the method was called.
local function row_of(natives, owner, kind, id)
  if math.type(id) ~= "integer" then
    error(("%s: id is %s (expected a whole number)"):format(kind, show(id)), 3)
  end
  local row, message = natives.query(owner, kind, { id = id })
  return without_nulls(row), message
end

-- Answers the questions of lua/moonshift/query.lua for the running job `owner`.
local function core_of(natives, owner)
  local core = {}

  function core.ask(_, kind, filters, question)
    local asked = { filters = filters }
    for key, value in pairs(question or {}) do
      asked[key] = value
    end
    local rows, message, code = natives.query(owner, kind, asked)
    for _, row in ipairs(type(rows) == "table" and rows or {}) do
      without_nulls(row)
    end
    return rows, message, code
  end

  return core
end

-- engine(natives) -> a function that makes `job.engine`: questions only.
function job.engine(natives)
  local Engine = { __metatable = false }
  Engine.__index = Engine

  function Engine:jobs(filters)
    return query.new(core_of(natives, self.owner), "jobs", filters)
  end

  -- job(id) -> a table, or nil, message
  function Engine:job(id)
    return row_of(natives, self.owner, "job", id)
  end

  -- batch(id) -> a table, or nil, message
  function Engine:batch(id)
    return row_of(natives, self.owner, "batch", id)
  end

  -- why(id) -> one sentence, and its facts; or nil, message
  function Engine:why(id)
    if math.type(id) ~= "integer" then
      error(("why: id is %s (expected a whole number)"):format(show(id)), 2)
    end
    local answer, message = natives.query(self.owner, "why", { id = id })
    if not answer then
      return nil, message
    end
    local text = answer.text
    answer.text = nil
    return text, without_nulls(answer)
  end

  return function(owner)
    return setmetatable({ owner = owner }, Engine)
  end
end

return job
