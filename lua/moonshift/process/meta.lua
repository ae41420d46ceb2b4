-- moonshift/process/meta.lua - types of processes for editors, as in moonshift/meta.lua. It is
-- never loaded.
-- luacheck: ignore 212 241
---@meta _

--- The words of a process in Lua: `require "moonshift.process"`. A word is called with a name, with
--- a table of options and other words, or with both in turn: `step "pack" { run = "pack" }`.
--- [Processes](processes.md) explains each of them.
---@class moonshift.process
local Process = {}

--- Returns the seven words of most processes.
---@return fun(name: string): fun(options: moonshift.words.step): table step
---@return fun(name: string): fun(options: moonshift.words.task): table task
---@return fun(name: string): fun(options: moonshift.words.block): table choose
---@return fun(name: string): fun(options: moonshift.words.block): table parallel
---@return fun(name: string): fun(options: moonshift.words.each): table each
---@return fun(name: string): fun(options: moonshift.words.receive): table receive
---@return fun(name: string): fun(options: moonshift.words.call): table call
function Process.words() end

--- Tells whether a value is what a word has made.
---@param value any
---@return boolean made
function Process.is_item(value) end

--- An activity that calls something: a service task.
---@param name string|moonshift.words.step
---@return fun(options: moonshift.words.step): table item
function Process.step(name) end

--- As `step`, drawn as a send task.
---@param name string|moonshift.words.step
---@return fun(options: moonshift.words.step): table item
function Process.send(name) end

--- As `step`, drawn as a business rule task.
---@param name string|moonshift.words.step
---@return fun(options: moonshift.words.step): table item
function Process.rule(name) end

--- As `step`, drawn as a script task.
---@param name string|moonshift.words.step
---@return fun(options: moonshift.words.step): table item
function Process.script(name) end

--- Waits for a person, who completes it: a user task.
---@param name string|moonshift.words.task
---@return fun(options: moonshift.words.task): table item
function Process.task(name) end

--- Waits for a message, or for being triggered: a receive task.
---@param name string|moonshift.words.receive
---@return fun(options: moonshift.words.receive): table item
function Process.receive(name) end

--- Runs another process and waits for its end: a call activity.
---@param name string|moonshift.words.call
---@return fun(options: moonshift.words.call): table item
function Process.call(name) end

--- Does nothing: a manual task.
---@param name string|moonshift.words.activity
---@return fun(options: moonshift.words.activity): table item
function Process.manual(name) end

--- Does nothing: a task without a kind.
---@param name string|moonshift.words.activity
---@return fun(options: moonshift.words.activity): table item
function Process.pass(name) end

--- Takes the first branch whose condition holds: exclusive gateways.
---@param name string|moonshift.words.block
---@return fun(options: moonshift.words.block): table item
function Process.choose(name) end

--- Takes all branches: parallel gateways.
---@param name string|moonshift.words.block
---@return fun(options: moonshift.words.block): table item
function Process.parallel(name) end

--- Takes all branches whose conditions hold: inclusive gateways.
---@param name string|moonshift.words.block
---@return fun(options: moonshift.words.block): table item
function Process.inclusive(name) end

--- Waits for several events and takes the branch of the first: an event-based gateway.
---@param name string|moonshift.words.block
---@return fun(options: moonshift.words.block): table item
function Process.first(name) end

--- Runs its list once for each element, or so many times: a multi-instance sub-process.
---@param name string|moonshift.words.each
---@return fun(options: moonshift.words.each): table item
function Process.each(name) end

--- A part with variables of its own: a sub-process.
---@param name string|moonshift.words.sub
---@return fun(options: moonshift.words.sub): table item
function Process.sub(name) end

--- A part that runs when its event comes: an event sub-process.
---@param name string|moonshift.words.handle
---@return fun(options: moonshift.words.handle): table item
function Process.handle(name) end

--- Where an instance begins: a start event.
---@param name string|moonshift.words.start
---@return fun(options: moonshift.words.start): table item
function Process.start(name) end

--- Where a branch ends: an end event.
---@param name string|moonshift.words.finish
---@return fun(options: moonshift.words.finish): table item
function Process.finish(name) end

--- Waits for a time, a message, a signal or a condition: an intermediate catch event.
---@param name string|moonshift.words.wait
---@return fun(options: moonshift.words.wait): table item
function Process.wait(name) end

--- Sends a message or a signal, or leads to a link: an intermediate throw event.
---@param name string|moonshift.words.throw
---@return fun(options: moonshift.words.throw): table item
function Process.throw(name) end

--- An event at an activity, written apart from it: a boundary event.
---@param name string|moonshift.words.boundary
---@return fun(options: moonshift.words.boundary): table item
function Process.boundary(name) end

--- A gateway by itself, whose flows stand in `to`.
---@param name string|moonshift.words.gateway
---@return fun(options: moonshift.words.gateway): table item
function Process.gateway(name) end

--- A value of a process: a text with `${…}`, any other literal, a function of the variables, or a
--- table with `list`, `map` or `script`.
---@alias moonshift.value string|number|boolean|table|fun(variables: table): any

--- What a listener calls: a handler by its name, a function, or a table such as
--- `{ expression = "${…}" }`; or a list of them.
---@alias moonshift.listeners string|table|fun(job: moonshift.activity)

--- What a process in Lua returns: a list of words, and these options.
---@class moonshift.words.process
---@field key? string else the path of the file below `processes/`
---@field name? string what people read
---@field tag? string of this version
---@field priority? moonshift.value of the jobs of its instances
---@field retry? moonshift.value of the jobs of its instances
---@field history_time_to_live? string how long ended instances are kept
---@field search? string[] variables that instances are found by
---@field initiator? string the variable that gets who has started an instance
---@field external_priority? moonshift.value
---@field on_start? moonshift.listeners
---@field on_end? moonshift.listeners
---@field on_variable_create? moonshift.listeners a variable is new in its scope, or in one in it
---@field on_variable_update? moonshift.listeners a variable there has another value
---@field on_variable_delete? moonshift.listeners a variable there is taken away

--- Options of all words.
---@class moonshift.words.node
---@field name? string what people read
---@field async? boolean it begins in a job of its own
---@field async_after? boolean what follows it begins in a job of its own
---@field exclusive? boolean false: its jobs may run beside others of the instance
---@field priority? moonshift.value of its jobs
---@field retry? moonshift.value of its jobs
---@field on_start? moonshift.listeners
---@field on_end? moonshift.listeners
---@field on_variable_create? moonshift.listeners a variable is new in its scope, or in one in it
---@field on_variable_update? moonshift.listeners a variable there has another value
---@field on_variable_delete? moonshift.listeners a variable there is taken away
---@field to? string|table where it leads: a name, or a list of flows
---@field flow? string|table the id of the flow to the next word, or its options
---@field properties? table<string, string> kept; nothing runs by them

--- Options of all activities.
---@class moonshift.words.activity: moonshift.words.node
---@field input? table values by names, which are its payload; a list of pairs keeps their order
---@field output? table values by names, which are set around it when it ends
---@field each? moonshift.words.turns run once for each element
---@field within? moonshift.words.on { "P2D", … }: after this time it ends and the list runs
---@field every? moonshift.words.on { "R/PT1H", … }: at each date the list runs beside it
---@field on_error? moonshift.words.on { "E1", … }: the error ends it, and the list runs
---@field on_escalation? moonshift.words.on { "late", … }: the same of an escalation
---@field on_message? moonshift.words.on { "stop", … }: the message ends it, and the list runs
---@field on_when? moonshift.words.on { "${x > 1}", … }: the same as soon as this is true
---@field on_signal? moonshift.words.on { "stop", … }: the same of a signal
---@field on_cancel? moonshift.words.on of a transaction: where it is cancelled
---@field undo? string|fun(job: moonshift.activity) what takes it back when it has ended
---@field compensates? boolean it is run only to take back another activity

--- What an activity calls: one of `run` to `decision`.
---@class moonshift.words.behaviour
---@field run? string|fun(job: moonshift.activity): any a handler by its name, or a function
---@field class? string the name of a class, which leads to a handler
---@field delegate? string an expression with the name of a bean, which leads to a handler
---@field expression? string evaluated; mostly a method of a bean
---@field topic? string of an external task: the handler of this topic
---@field script? string the text of a script, which sees `job`
---@field language? string of the script: "lua", "juel" or another one
---@field resource? string the file of a script
---@field decision? string the name of a file in `decisions/`
---@field map? string how a decision's result is kept, as in BPMN
---@field fields? table<string, moonshift.value> what the call sees as `job.fields`
---@field result? string the variable that keeps what the call returns
---@field result_in? "local"|"transient" a variable of the nearest scope, or one that is not kept
---@field external_priority? moonshift.value

--- What an event waits for, or throws: one of them.
---@class moonshift.words.event
---@field message? string|true a message of this name; true: of no name
---@field key? moonshift.value that the message must have
---@field signal? moonshift.value a signal of this name
---@field when? moonshift.value a condition: it comes as soon as this is true
---@field variable? string only its changes are looked at
---@field changes? string[] such as { "create", "update", "delete" }: only these
---@field with? table variables that a thrown signal brings, as those of a call
---@field after? moonshift.value a duration
---@field at? moonshift.value a date
---@field every? moonshift.value a cycle or a cron text
---@field error? string|true a BPMN error by its code; true: any
---@field error_message? string what the error says when it is thrown
---@field escalate? string|true an escalation by its code; true: any
---@field undo? string|true takes back what has ended: the activity of this name; true: all
---@field cancel? boolean of `finish`: cancels the transaction around it
---@field code_variable? string keeps the code of the error or escalation
---@field message_variable? string keeps the message of the error
---@field terminate? boolean of `finish`: ends all of its scope
---@field link? string the name of a link
---@field event? table any event that BPMN has: `kind` and more
---@field interrupting? boolean false: what it belongs to goes on

--- Options of `step`, `send`, `rule` and `script`.
---@class moonshift.words.step: moonshift.words.activity, moonshift.words.behaviour

--- Options of `task`.
---@class moonshift.words.task: moonshift.words.activity
---@field assignee? moonshift.value who does it
---@field candidates? string|{ users?: string, groups?: string } who may claim it
---@field due? moonshift.value until when
---@field follow_up? moonshift.value kept
---@field task_priority? moonshift.value of the task
---@field form? string the key of its form: kept
---@field description? string kept
---@field on_create? moonshift.listeners
---@field on_assignment? moonshift.listeners
---@field on_update? moonshift.listeners
---@field on_complete? moonshift.listeners
---@field on_delete? moonshift.listeners
---@field on_timeout? table `{ after = "PT1H", run = … }`, or a list: listeners that timers call

--- Options of `receive`.
---@class moonshift.words.receive: moonshift.words.activity
---@field message? string its name; without one it waits to be triggered
---@field key? moonshift.value that the message must have
---@field event? table any event that BPMN has

--- Options of `call`.
---@class moonshift.words.call: moonshift.words.activity
---@field process? moonshift.value the key of the process; else the name of the activity
---@field binding? "latest"|"deployment"|"version"|"versionTag"
---@field version? integer|string for its binding
---@field key? moonshift.value the business key of the called instance
---@field with? table variables it gets: names, `total = "${sum}"`, or `{ all = true }`
---@field back? table variables it gives back, likewise
---@field mapping? string|function|table what maps variables by code, too

--- Options of `sub`, which holds other words.
---@class moonshift.words.sub: moonshift.words.activity
---@field transaction? boolean a `finish` with `cancel = true` takes it back

--- Options of `each`, which holds other words.
---@class moonshift.words.each: moonshift.words.sub
---@field of? moonshift.value the variable that holds the list, or a value
---@field as? string the variable of the element; else the name of the activity
---@field index? string the variable of the number of the turn, from 0, beside `loopCounter`
---@field times? moonshift.value so many turns
---@field stop? moonshift.value a condition that ends the turns early
---@field parallel? boolean all turns at once

--- Options of `handle`, which holds other words: its event, and these.
---@class moonshift.words.handle: moonshift.words.node, moonshift.words.event
---@field start? string the name of its start event

--- Options of `start`.
---@class moonshift.words.start: moonshift.words.node, moonshift.words.event
---@field form? string the key of its form: kept

--- Options of events that happen in the flow.
---@class moonshift.words.thrown: moonshift.words.node, moonshift.words.event

--- Options of `finish`.
---@class moonshift.words.finish: moonshift.words.thrown, moonshift.words.behaviour
---@field input? table values by names

--- Options of `wait`.
---@class moonshift.words.wait: moonshift.words.node, moonshift.words.event
---@field input? table values by names
---@field output? table values by names

--- Options of `throw`.
---@class moonshift.words.throw: moonshift.words.finish
---@field output? table values by names

--- Options of `boundary`, which holds the words that run then.
---@class moonshift.words.boundary: moonshift.words.node, moonshift.words.event
---@field on string the name of the activity
---@field handler? string of `undo = true`: the activity that takes it back

--- Options of `choose`, `parallel`, `inclusive` and `first`, which hold branches.
---@class moonshift.words.block: moonshift.words.node
---@field join? string|table the name of the gateway where the branches meet, or its options

--- Options of `gateway`.
---@class moonshift.words.gateway: moonshift.words.node
---@field kind "exclusive"|"parallel"|"inclusive"|"event"

--- A branch of a block: a list of words with these options.
---@class moonshift.words.branch
---@field when? moonshift.value its condition
---@field otherwise? boolean it is taken if no condition holds
---@field name? string what people read
---@field flow? string|table the id of the flow to the next word, or its options
---@field listeners? moonshift.listeners of the flow that leads into it

--- What may happen to an activity: a list that begins with the text of the event.
---@class moonshift.words.on
---@field id? string the name of the event
---@field name? string what people read
---@field interrupting? boolean false: the activity goes on
---@field stop? string the instance ends there, at an end of this name
---@field key? moonshift.value that the message must have
---@field variable? string of a condition: only its changes are looked at
---@field changes? string[] of a condition: "create", "update" or "delete"
---@field code_variable? string keeps the code of the error
---@field message_variable? string keeps the message of the error
---@field to? string|table where it leads instead of behind the activity
---@field flow? string|table the id of its flow, or its options
---@field async? boolean what it runs begins in a job of its own
---@field exclusive? boolean false: its job may run beside others of the instance
---@field retry? moonshift.value of its job

--- A flow in `to`: the name of the activity first, and these options.
---@class moonshift.words.to
---@field id? string the name of the flow
---@field when? moonshift.value its condition
---@field default? boolean it is taken if no condition holds
---@field name? string what people read
---@field listeners? moonshift.listeners

--- The turns of an activity.
---@class moonshift.words.turns
---@field of? moonshift.value the variable that holds the list, or a value
---@field as? string the variable of the element
---@field index? string the variable of the number of the turn, from 0, beside `loopCounter`
---@field times? moonshift.value so many turns
---@field stop? moonshift.value a condition that ends the turns early
---@field parallel? boolean all turns at once
---@field async? boolean all turns together begin in a job of their own
---@field async_after? boolean what follows all turns begins in a job of its own
---@field exclusive? boolean of these jobs
---@field retry? moonshift.value of these jobs
---@field priority? moonshift.value of these jobs
