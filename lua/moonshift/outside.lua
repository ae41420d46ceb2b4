-- Work for programs elsewhere: a worker outside fetches jobs of topics, and hands back what became
-- of them.
local options = require "moonshift.options"

--- What a worker outside asks for.
---@class moonshift.fetch_options
---@field worker string its name
---@field topics (string|moonshift.wanted_topic)[] names, or what is wanted of each
---@field max? integer jobs, 1 to 1 000 (1)
---@field lock? string a span such as "PT5M"; else the handler's `timeout`, else `lock_time`
---@field priority? table the least and the highest one, `moonshift.null` for any

--- What a worker outside asks for of one topic. What it leaves open is as for all of them.
---@class moonshift.wanted_topic
---@field topic string its name
---@field lock? string a span: how long the worker has its jobs
---@field priority? table the least and the highest one, `moonshift.null` for any
---@field tenant? string only jobs of this tenant
---@field category? string only jobs of this category

--- What workers outside hand back.
---@class moonshift.settle_options
---@field outcomes moonshift.handed_back[] at most 1 000
---@field worker? string only locks of this worker count
---@field fetch? moonshift.fetch_options what is fetched in the same transaction

--- One job that a worker outside hands back.
---@class moonshift.handed_back
---@field id integer of the job
---@field token integer that came with it
---@field outcome "complete"|"fail"|"error"|"snooze"|"extend"|"release"|"progress"
---@field result? any of `complete`: a JSON value
---@field variables? table of `complete` and `error` in a process: set in the instance
---@field create? table[] of `complete`: jobs that are created with it
---@field lines? string[] of all but `extend` and `release`: kept with the attempt
---@field message? string of `fail` and `error`
---@field stack? string of `fail`
---@field permanent? boolean of `fail`: no more runs
---@field retries? integer of `fail`: so many runs are left, whatever the definition says
---@field in? string of `snooze`, and of `fail`: a span until the next run
---@field code? string of `error`: a BPMN error; without an instance the job is dead by it
---@field lock? string of `extend`: the lock ends after this span from now
---@field fraction? number of `progress`: from 0 to 1
---@field text? string of `progress`

--- What came of it.
---@class moonshift.settled
---@field outcomes moonshift.verdict[] in the order of what was handed back
---@field jobs? moonshift.fetched_job[] what `fetch` gave

---@class moonshift.verdict
---@field id integer
---@field outcome string
---@field code? moonshift.code of what was refused, and changed nothing
---@field message? string why
---@field created? moonshift.created_job[] of `create`, in its order

--- What became of one job that was created with an outcome.
---@class moonshift.created_job
---@field id integer of the job, or of the one that has its unique key
---@field outcome "created"|"kept"|"replaced"

--- A job with the worker that has fetched it.
---@class moonshift.fetched_job: moonshift.job_row
---@field variables? table what the activity of an instance sees

---@class moonshift.engine
local Engine = {}

--- Locks jobs of topics for a worker outside, the best first. Each belongs to the worker until its
--- lock ends. Then the next fetch of its topic may give it to another one.
---@param what moonshift.fetch_options
---@return moonshift.fetched_job[]? jobs nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:fetch(what)
  return self.core:fetch(options.value(what, "the options", "object"))
end

--- Takes back what a worker outside has done, in one transaction. What moves instances of
--- processes is written before that.
---@param what moonshift.settle_options
---@return moonshift.settled? settled verdicts, and the jobs of `fetch`; nil on failure
---@return string? message of a failure
---@return moonshift.code? code of a failure
function Engine:settle(what)
  return self.core:settle(options.value(what, "the options", "object"))
end

return Engine
