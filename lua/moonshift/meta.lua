-- meta.lua - types for editors (LuaLS, `workspace.library`) and docs/reference.md; never loaded.
-- luacheck: ignore 212 241 631
---@meta _

--- An instant as text, such as "2026-01-01T08:00:00Z". More forms are in [timers](timers.md).
---@alias moonshift.instant string

--- A duration: seconds, or text such as "PT5M", "90s" or "1h30m".
---@alias moonshift.span number|string

--- The jobs that a verb is done to: an id, a list of ids, or a query of jobs.
---@alias moonshift.ids integer|integer[]|moonshift.query

--- The code of a failure.
---@alias moonshift.code
---| "invalid" a bad value
---| "not_found" there is none of that id or name
---| "conflict" the state forbids it
---| "full" the disk is full
---| "backlog" as many jobs wait as may
---| "busy" another process holds the store: ask again
---| "unavailable" the server of the store cannot be reached, or is read only
---| "closed" the engine is closed
---| "config" settings or script folder are wrong
---| "damaged" the store is damaged
---| "io" reading or writing failed
---| "interrupted" a signal ended it
---| "failed" anything else
---| "usage" a wrong call

---@class moonshift.dry_options
---@field dry_run? boolean says how many jobs it would touch, and writes nothing

---@class moonshift.retry_options: moonshift.dry_options
---@field due? moonshift.instant not before then

---@class moonshift.due_options: moonshift.dry_options
---@field cascade? boolean later dates of a repeating job move by the same span

---@class moonshift.recalculate_options: moonshift.dry_options
---@field from_creation? boolean from the creation of each job

---@class moonshift.cycle_options: moonshift.dry_options
---@field zone? string its zone; else it stays
---@field misfire? string what becomes of missed dates; else it stays

---@class moonshift.instance_options: moonshift.dry_options
---@field at? moonshift.instant a job does it then
---@field hierarchy? boolean of a process instance: those that it called, too

---@class moonshift.suspension_options: moonshift.dry_options
---@field include_jobs? boolean the jobs that are there, too
---@field at? moonshift.instant a job does it then

---@class moonshift.override_options: moonshift.dry_options
---@field cascade? boolean the jobs that are there, too

--- Options of a creation, the same for `engine:enqueue`, `job:enqueue` and `event:enqueue`.
---@class moonshift.creation
---@field at? moonshift.instant due then
---@field after? moonshift.span due after so long
---@field priority? integer instead of the handler's own
---@field lane? string jobs of one lane never run at the same time
---@field exclusive? boolean false: a member of the lane that does not wait for it
---@field instance? string what the job belongs to; the lane too unless one is given
---@field root? string the top of its instance's hierarchy
---@field activity? string the step that it stands for
---@field retries? integer runs, instead of the configured number
---@field tenant? string on whose behalf
---@field trace? string the request that it comes from, a `traceparent`
---@field category? string instead of the handler's own
---@field unique? string one job of the handler has this key
---@field on_conflict? string for its key: "keep", "replace" or "refuse"
---@field unique_for? moonshift.span so long the key is kept
---@field cycle? string it repeats: ISO 8601 or cron
---@field zone? string the zone of the cycle
---@field misfire? string what becomes of missed dates: "once", "all" or "skip"
---@field unchecked? boolean the handler need not be known
---@field request? string asking again under this key gives the first answer; of engines alone

--- Filters of `engine:jobs`. A list means any of its values; all filters must hold.
---@class moonshift.job_filters
---@field lane? string|string[]
---@field instance? string|string[]
---@field root? string|string[]
---@field activity? string|string[]
---@field tenant? string|string[]
---@field unique? string|string[] its unique key
---@field id? integer|integer[] any of these ids
---@field handler? string|string[] names of handlers
---@field definition? integer|string an id, or the name of a handler
---@field batch? integer|integer[] the batch that the job belongs to
---@field schedule? string|string[] the schedule whose run it is
---@field trace? string|string[] a `traceparent`
---@field category? string|string[]
---@field topic? string|string[] under which workers outside ask for it
---@field external? boolean has a topic
---@field worker? string|string[] workers outside that have it, by name or name/id
---@field deployment? integer|integer[]
---@field state? string|string[] states, such as "dead"
---@field executable? boolean could run now
---@field retries_left? boolean has retries
---@field no_retries_left? boolean is dead
---@field locked? boolean an executor has it
---@field owner? string|integer the executor that has it: name, `name/id` or id
---@field without_tenant? boolean has no tenant
---@field without_instance? boolean has no instance
---@field suspended? boolean is suspended
---@field suspended_by? string|string[] reasons of its suspension
---@field suspect? boolean a machine vanished while it was locked there
---@field timer? boolean has a date of its own
---@field message_job? boolean was created for now
---@field with_exception? boolean has failed
---@field exception? string a part of its message
---@field min_priority? integer
---@field max_priority? integer
---@field due_before? moonshift.instant
---@field due_after? moonshift.instant
---@field created_before? moonshift.instant
---@field created_after? moonshift.instant
---@field payload? table fields of the payload: [searching payloads](queues.md#searching-payloads)

--- Filters of `engine:definitions`.
---@class moonshift.definition_filters
---@field id? integer|integer[] any of these ids
---@field name? string|string[]
---@field handler? string|string[] names of handlers
---@field process? string|string[] keys of processes
---@field activity? string|string[] of a process, as the property `activity` has it
---@field deployment? integer|integer[]
---@field suspended? boolean is suspended
---@field overridden? boolean an operator has set its priority

--- Filters of `engine:incidents`.
---@class moonshift.incident_filters
---@field id? integer|integer[] any of these ids
---@field type? string|string[]
---@field job? integer|integer[]
---@field definition? integer|string an id, or the name of a handler
---@field handler? string|string[] names of handlers
---@field schedule? string|string[] the schedule whose runs failed
---@field open? boolean needs a person still
---@field message? string a part of the message
---@field instance? string|string[]
---@field root_instance? string|string[]
---@field activity? string|string[]
---@field tenant? string|string[]
---@field cause? integer|integer[] the incident that caused it
---@field created_before? moonshift.instant
---@field created_after? moonshift.instant

--- Filters of `engine:incident_causes`.
---@class moonshift.cause_filters
---@field type? string|string[]
---@field handler? string|string[] names of handlers
---@field schedule? string|string[] the schedule whose runs failed
---@field open? boolean needs a person still
---@field message? string a part of the message
---@field activity? string|string[]
---@field tenant? string|string[]
---@field created_before? moonshift.instant
---@field created_after? moonshift.instant

--- Filters of `engine:log`.
---@class moonshift.log_filters
---@field job? integer|integer[]
---@field handler? string|string[] names of handlers
---@field definition? integer|string an id, or the name of a handler
---@field batch? integer|integer[] the batch that the job belongs to
---@field schedule? string|string[] the schedule whose run it is
---@field outcome? string|string[] such as "failed"
---@field instance? string|string[]
---@field root? string|string[]
---@field activity? string|string[]
---@field tenant? string|string[]
---@field lane? string|string[]
---@field category? string|string[]
---@field deployment? integer|integer[]
---@field executor? string|integer name, `name/id` or id
---@field reason? string|string[] of a failure: "error", "timeout", "memory", "workerDied", "businessError"
---@field message? string a part of the message
---@field min_priority? integer
---@field max_priority? integer
---@field after? moonshift.instant
---@field before? moonshift.instant

--- Filters of `engine:operations`.
---@class moonshift.operation_filters
---@field id? integer|integer[] any of these ids
---@field who? string|string[]
---@field verb? string|string[] such as "set_retries"
---@field entity? string|string[] such as "job"
---@field instance? integer|integer[] of processes
---@field after? moonshift.instant
---@field before? moonshift.instant

--- Filters of `engine:suspended_instances`.
---@class moonshift.instance_filters
---@field instance? string|string[]

--- Filters of `engine:batches`.
---@class moonshift.batch_filters
---@field id? integer|integer[] any of these ids
---@field type? string|string[]
---@field name? string|string[]
---@field state? string|string[] states, such as "active"
---@field running? boolean has not ended
---@field finished? boolean has ended
---@field suspended? boolean is suspended
---@field who? string|string[]
---@field started_before? moonshift.instant
---@field started_after? moonshift.instant
---@field with_failures? boolean has failed jobs

--- The counts of a turn.
---@class moonshift.turn
---@field settled integer outcomes that were written
---@field acquired integer jobs that were locked
---@field done integer runs that succeeded
---@field failed integer runs that failed
---@field wait number seconds until the next turn

--- What `executor:status` says. Counts are sums over its engines.
---@class moonshift.executor_status
---@field name? string
---@field state string "inactive", "running", "stopped" or "failed"
---@field done integer runs that succeeded
---@field failed integer runs that failed
---@field stale integer results that were refused because a lock was lost
---@field acquired integer jobs that were locked
---@field running integer jobs that run
---@field waiting integer jobs that wait for a worker
---@field stuck integer runs that nothing ends
---@field paused boolean the disk is full
---@field away boolean the server of its store does not answer; it is tried again
---@field exhausted boolean too many runs do not end; nothing is taken any more
---@field draining boolean it takes nothing more
---@field error? string what has ended it
---@field engines table[] the same for each engine, with `store`, `acquisition` and `owner`

--- A job as queries return it. A field without a value is absent.
---@class moonshift.job_row
---@field id integer
---@field type "message"|"timer"
---@field handler string
---@field payload any a JSON value
---@field priority integer
---@field due? moonshift.instant
---@field repeat? string its cycle
---@field retries integer runs that are left
---@field attempt integer the number of the next run; of a dead job, of its last
---@field crashes integer runs in which the process died
---@field suspect boolean a machine vanished while it was locked there
---@field conflicts integer conflicts in a row
---@field lock_owner? string the executor that has it
---@field lock_expiration? moonshift.instant the end of its lease
---@field token? integer the fence of its lock
---@field exclusive boolean false: it does not wait for its lane
---@field lane? string
---@field instance? string
---@field root? string
---@field activity? string
---@field definition integer the id of its definition
---@field deployment? integer the deployment that it was created for
---@field category? string
---@field topic? string under which workers outside ask for it
---@field tenant? string
---@field unique? string its unique key
---@field batch? integer the batch that it belongs to
---@field schedule? string the schedule whose run it is
---@field trace? string the request that it comes from, a `traceparent`
---@field suspended boolean
---@field suspended_by? string[] the reasons of its suspension
---@field state "ready"|"scheduled"|"locked"|"waiting"|"suspended"|"dead"
---@field created moonshift.instant
---@field message? string what its last failure said
---@field failed_activity? string
---@field rev integer grows with every change
---@field zone? string of its cycle
---@field misfire? string of its cycle
---@field stack? string of its last failure; `engine:job` alone
---@field progress? table fraction and text of its run

--- What `engine:jobs` makes: a [query](#moonshiftquery) whose rows are jobs.
---@class moonshift.job_query: moonshift.query
---@field sort fun(self: self, field: string, direction?: "asc"|"desc"): moonshift.job_query
---@field page fun(self: self, number: integer, size: integer): moonshift.job_query
---@field list fun(self: self): (rows: moonshift.job_row[]?, message: string?, code: moonshift.code?)
---@field one fun(self: self): (row: moonshift.job_row?, message: string?, code: moonshift.code?)
---@field each fun(self: self, fn: fun(row: moonshift.job_row): boolean?): (calls: integer?, message: string?, code: moonshift.code?)

--- The job as its handler sees it. The fields are read-only.
---@class moonshift.job
---@field id integer
---@field type "message"|"timer"
---@field handler string
---@field payload any a JSON value
---@field priority integer
---@field due? moonshift.instant
---@field repeat? string its cycle
---@field retries integer runs that are left
---@field attempt integer the number of this run
---@field crashes integer runs in which the process died
---@field suspect boolean a machine vanished while it was locked there
---@field conflicts integer conflicts in a row
---@field lock_owner? string the executor that has it
---@field lock_expiration? moonshift.instant the end of its lease
---@field token? integer the fence of its lock
---@field exclusive boolean false: it does not wait for its lane
---@field lane? string
---@field instance? string
---@field root? string
---@field activity? string
---@field definition integer the id of its definition
---@field deployment? integer the deployment that it was created for
---@field category? string
---@field topic? string under which workers outside ask for it
---@field tenant? string
---@field unique? string its unique key
---@field batch? integer the batch that it belongs to
---@field schedule? string the schedule whose run it is
---@field trace? string the request that it comes from, a `traceparent`
---@field suspended boolean
---@field state "ready"|"scheduled"|"locked"|"waiting"|"suspended"|"dead"
---@field created moonshift.instant
---@field message? string what its last failure said
---@field failed_activity? string
---@field rev integer grows with every change
---@field engine moonshift.job.engine questions to the store
local Job = {}

--- Creates a job when this one succeeds, or not at all. Raises on bad input.
---@param handler string
---@param payload? any
---@param options? moonshift.creation
---@return integer id
function Job:enqueue(handler, payload, options) end

--- Does an operator's verb when this job succeeds, or not at all.
---@param command { verb: string } with the members that [the verb](scripts.md) needs
---@return boolean done
function Job:operate(command) end

--- Moves lock and time limit: both reach at least so far from now.
---@param span moonshift.span
---@return boolean done
function Job:extend(span) end

--- Lets the job come back later, once the handler returns. Retries and attempt stay.
---@param span moonshift.span
---@param message? string kept in the log
function Job:snooze(span, message) end

--- Shows operators how far the run is.
---@param fraction number from 0 to 1
---@param text? string at most 1 KiB
---@return boolean done
function Job:progress(fraction, text) end

--- Keeps a line with this attempt, also when it fails.
---@param ... any
function Job:log(...) end

--- Tells whether the run has been cancelled.
---@return boolean cancelled
function Job:cancelled() end

--- The job as the handler of an activity sees it: besides what every job has.
---@class moonshift.activity: moonshift.job
---@field payload table the inputs of the activity
---@field variables table reading looks outwards; assigning sets where the name exists
---@field instance string the id of the instance
---@field key? string its business key
---@field process string the key of the process
---@field activity string
---@field fields table the fields of the activity, or of the listener
---@field event? string of a listener: start, end, take, or one of a task such as create
---@field task? table of a listener of a user task: assignee, name, priority, due
---@field variable? { name: string, value: any } of a listener of variables; the value that was set
---@field called? table where variables are mapped by code: those of the called instance
---@field loop? table of a repeated activity: index, item, done, open
---@field received? any the message that came
local Activity = {}

--- Sets a variable of the nearest scope.
---@param name string
---@param value any
function Activity:set_local(name, value) end

--- Sets a variable that is written nowhere: it lasts until the instance waits.
---@param name string
---@param value any
function Activity:set_transient(name, value) end

--- Throws a BPMN error: the process catches it, and it is no failure.
---@param code string
---@param message? string
function Activity:throw(code, message) end

--- Starts an instance of a process, or each of a list, with this unit or not at all.
---@param process string|table[] its key, or a list of `{ key, options }`
---@param options? { key?: string, variables?: table, version?: integer }
---@return string|string[] instance or instances in their order
function Activity:start(process, options) end

--- Sends a message, or each of a list, with this unit or not at all.
---@param message string|table[] its name, or a list of `{ name, options }`
---@param options? { key?: string, variables?: table }
function Activity:correlate(message, options) end

--- Gives a signal to all that wait for it, with this unit or not at all.
---@param name string
---@param variables? table set in each of them
function Activity:signal(name, variables) end

--- Questions that a running handler may ask: `job.engine`.
---@class moonshift.job.engine
local Questions = {}

--- Makes a query of jobs with `list`, `count` and `one`.
---@param filters? moonshift.job_filters
---@return moonshift.job_query query
function Questions:jobs(filters) end

--- Returns one job.
---@param id integer
---@return moonshift.job_row? job nil on failure
---@return string? message of a failure
function Questions:job(id) end

--- Returns the row of one batch.
---@param id integer
---@return table? batch nil on failure
---@return string? message of a failure
function Questions:batch(id) end

--- Says in one sentence why a job has not run yet.
---@param id integer
---@return string? sentence nil on failure
---@return table|string facts or the message of a failure
function Questions:why(id) end

--- What a hook is told. [Hooks](hooks.md) says which event has which fields.
---@class moonshift.event
---@field name string the event
---@field at moonshift.instant when it happened
---@field job moonshift.job_row the job; of one that is gone, only what names it
---@field message? string of a failure
---@field traceback? string of a failure
---@field reason? string of a failure: "error", "timeout", "memory", "workerDied" or "businessError"
---@field permanent? boolean the handler said that trying again is useless
---@field retries? integer runs that are left
---@field before? integer retries before they were changed
---@field due? moonshift.instant the next run
---@field outcome? string "successful", "skipped", "deleted" or "cancelled"
local Event = {}

--- Creates a job together with the change that the event tells of.
---@param handler string
---@param payload? any
---@param options? moonshift.creation
---@return integer id
function Event:enqueue(handler, payload, options) end

--- The clocks that `moonshift.open` takes.
---@class moonshift.clocks
local Clocks = {}

--- Makes a clock that moves when it is told to.
---@param time? moonshift.instant where it stands; else now
---@return moonshift.clock clock
function Clocks.virtual(time) end

--- Returns the clock of the system, the default.
---@return moonshift.clock clock
function Clocks.system() end

--- A clock of an engine.
---@class moonshift.clock
local Clock = {}

--- Tells the time.
---@return moonshift.instant instant
function Clock:now() end

--- Moves a virtual clock. Raises with the system's clock.
---@param span moonshift.span
---@return moonshift.instant instant the new time
function Clock:advance(span) end

--- Sets a virtual clock. Raises with the system's clock.
---@param time moonshift.instant
---@return moonshift.instant instant the new time
function Clock:set(time) end

--- Tells whether the clock is a virtual one.
---@return boolean virtual
function Clock:is_virtual() end

--- Every setting, with its meaning, is on the page [settings](settings.md).
---@class moonshift.settings
---@field store? string
---@field name? string
---@field who? string
---@field zone? string
---@field active? boolean
---@field workers? integer|integer[]
---@field keep_alive? moonshift.span
---@field queue? integer|"auto"
---@field acquisitions? table
---@field acquisition? string
---@field page? integer|"auto"
---@field lane_run? integer
---@field priority_range? table|string
---@field categories? string[]
---@field by_priority? boolean
---@field prefer_timers? boolean
---@field by_due_date? boolean
---@field deployment? string how the script folder is called
---@field deployment_aware? boolean
---@field lane_scope? string
---@field aging? moonshift.span|false
---@field fair_by? string
---@field wait? moonshift.span
---@field max_wait? moonshift.span
---@field wait_factor? number
---@field backoff? moonshift.span
---@field max_backoff? moonshift.span
---@field backoff_decrease_threshold? integer
---@field queue_full_wait? moonshift.span
---@field lock_time? moonshift.span
---@field shutdown_wait? moonshift.span
---@field crash_limit? integer
---@field conflict_limit? integer
---@field recycle_after? integer
---@field ensure_due_date? boolean
---@field produce_priorities? boolean
---@field priority? integer
---@field retry? string
---@field retries? integer
---@field failed_job_wait? moonshift.span
---@field incidents? boolean
---@field missing_handlers? string
---@field cron? string
---@field notify? table
---@field notify_every? moonshift.span
---@field history? string
---@field history_ttl? moonshift.span|false
---@field history_ttl_incidents? moonshift.span|false
---@field history_ttl_batches? moonshift.span|false
---@field history_ttl_batches_by_type? table<string, moonshift.span|false>
---@field history_ttl_operations? moonshift.span|false
---@field history_cleanup_window? string|string[]
---@field history_cleanup_zone? string
---@field history_cleanup_parallelism? integer
---@field history_cleanup_priority? integer
---@field history_cleanup_batch_size? integer
---@field timeout? moonshift.span
---@field memory_limit? integer|string
---@field batch_jobs_per_seed? integer
---@field invocations_per_batch_job? integer
---@field invocations_per_batch_job_by_type? table
---@field batch_poll_time? moonshift.span
---@field batch_job_priority? integer
---@field stock? string[]
---@field http_allow? string[]
---@field http_deny? string[]
---@field http? string[]
---@field hosts? string[]
---@field connections? integer
---@field body_max? integer|string
---@field metrics_from? string[]
---@field trust_proxy? string[]
---@field user_scopes? table
---@field cors_origins? string[]
---@field request_time_to_live? moonshift.span
---@field patience? moonshift.span
---@field listen_url? string
---@field read_url? string
---@field state_dir? string
---@field payload_limit? integer|string

--- Options of `moonshift.open`: any setting, and these.
---@class moonshift.options: moonshift.settings
---@field scripts? string|string[] the script folder, or several; none: only what the store knows
---@field clock? moonshift.clock the system's unless given

--- Options of `moonshift.executor`: any setting, and these.
---@class moonshift.executor_options: moonshift.settings
---@field engines moonshift.engine[] the engines that it serves

--- Options of `moonshift.dates`.
---@class moonshift.dates_options
---@field zone? string its zone; else UTC
---@field after? moonshift.instant dates after this one; else after now
---@field count? integer how many, 5 unless given
---@field origin? moonshift.instant when the cycle was created; else `after`
