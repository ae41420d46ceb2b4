-- The tables of a store (rules §1). The wide row (job) is written once and read once; what moves is narrow
-- (ready, timer, parked, locked, lane); what ends is appended (ended, attempt). The row of a job that
-- has succeeded may stay behind for a while, in no place: a tombstone. The view `live` has the others.

CREATE TABLE meta(key TEXT PRIMARY KEY, value ANY) WITHOUT ROWID, STRICT;
INSERT INTO meta(key, value) VALUES
  ('next_id', 1), ('next_token', 1),
  ('catalog', 1),     -- moves when a definition or stream changes
  ('executors', 1);   -- moves when an executor joins, leaves or is reaped
  -- timeline: of the server that wrote last, where the store is on one
  -- fair_by and turn, where turns began: once tenants or lanes take turns
  -- last_deployment: the newest that was removed, once one was
  -- sweep_from, sweep_to: while tombstones of executors that are gone are searched for between these ids
  -- waiting/PLACE/STREAM: how many jobs of the stream are in ready, timer or parked (see `occupancy`)

CREATE TABLE deployment(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL, loaded INT NOT NULL,
  UNIQUE(name, hash)) STRICT;
CREATE TABLE deployment_file(
  deployment INT, path TEXT, text TEXT, PRIMARY KEY(deployment, path)) WITHOUT ROWID, STRICT;
-- What need not be read again: the folders whose files, as a disk lists them, are those of a deployment,
-- and what a program has found in its models.
CREATE TABLE folder_mark(mark TEXT PRIMARY KEY, deployment INT NOT NULL) WITHOUT ROWID, STRICT;
CREATE TABLE folder_models(
  deployment INTEGER PRIMARY KEY, program TEXT NOT NULL, found TEXT NOT NULL) STRICT;
CREATE TABLE definition(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
  deployment INT,     -- the newest that has it; absent: only ever named by a job
  properties TEXT NOT NULL,
  override_priority INT, suspended INT NOT NULL DEFAULT 0,
  waiting INT,        -- kept only where a backlog limit is set
  override_limit INT, override_rate TEXT) STRICT; -- an operator's

-- What an executor may take is decided per stream, not per row.
CREATE TABLE stream(
  id INTEGER PRIMARY KEY, definition INT NOT NULL, deployment INT NOT NULL DEFAULT 0,
  category TEXT NOT NULL DEFAULT '', type INT NOT NULL,
  topic TEXT NOT NULL DEFAULT '', -- under which workers outside ask for its jobs
  UNIQUE(definition, deployment, category, type, topic)) STRICT;

CREATE TABLE job(
  id INTEGER PRIMARY KEY, rev INT NOT NULL DEFAULT 1, stream INT NOT NULL,
  priority INT NOT NULL, due INT, created INT NOT NULL,
  place INT NOT NULL, -- coalesce(due, created); under fair share the tenant's turn
  retries INT NOT NULL, attempt INT NOT NULL DEFAULT 1, crashes INT NOT NULL DEFAULT 0,
  suspended INT NOT NULL DEFAULT 0,
  lane INT,           -- 62-bit hash of the key, or an instance's id with the bit above; 0: exclusive
                      -- without either; absent: not exclusive
  lane_key TEXT, instance TEXT, root TEXT, activity TEXT, tenant TEXT, batch INT,
  repeat TEXT, repeat_done INT, unique_key TEXT, payload BLOB, message TEXT,
  term TEXT,          -- of a timer: its date or duration as given
  instance_id INT,    -- of a process, and the token of its frame that waits for the job; of a start
  execution INT,      -- timer no instance, and the version
  failed_activity TEXT, -- absent: as `activity`
  schedule TEXT,      -- whose run it is, also after the schedule has gone on
  trace TEXT) STRICT; -- the traceparent of the request that it comes from
CREATE INDEX job_dead ON job(id) WHERE retries=0;
CREATE INDEX job_suspended ON job(stream, id) WHERE suspended<>0;
CREATE INDEX job_batch ON job(batch, id) WHERE batch IS NOT NULL;
CREATE INDEX job_instance ON job(instance, id) WHERE instance IS NOT NULL;
CREATE INDEX job_schedule ON job(schedule, id) WHERE schedule IS NOT NULL;
CREATE INDEX job_execution ON job(instance_id, execution) WHERE instance_id IS NOT NULL;

CREATE TABLE ready(       -- rank = ~priority
  stream INT, rank INT, place INT, id INT, lane INT,
  plain INT,              -- 1: nothing in its row decides whether it may be taken; 2: nor has it
                          -- more than a payload, retries and the date of its creation
  PRIMARY KEY(stream, rank, place, id)) WITHOUT ROWID, STRICT;
CREATE TABLE timer(       -- future dates, retry delays
  due INT, id INT, stream INT, rank INT, lane INT,
  PRIMARY KEY(due, id)) WITHOUT ROWID, STRICT;
CREATE TABLE parked(      -- behind a running lane
  lane INT, stream INT, rank INT, place INT, id INT,
  PRIMARY KEY(lane, stream, rank, place, id)) WITHOUT ROWID, STRICT;
CREATE TABLE locked(      -- until: only after an extension
  id INTEGER PRIMARY KEY, token INT NOT NULL, owner INT NOT NULL, stream INT NOT NULL,
  lane INT, until INT,
  edited INT NOT NULL DEFAULT 0) STRICT; -- an operator has changed its row since
CREATE INDEX locked_until ON locked(stream, until) WHERE until IS NOT NULL;
CREATE VIEW locks AS SELECT id, token, owner, stream, lane, until, edited FROM locked;
CREATE TABLE limited(     -- the runs of definitions with a limit, also those whose lock was taken
  definition INT, token INT, id INT NOT NULL, owner INT NOT NULL, -- id 0: of jobs that share a place
  PRIMARY KEY(definition, token)) WITHOUT ROWID, STRICT;
CREATE TABLE lane(        -- a row while the lane runs; token: of its item's first job
  id INTEGER PRIMARY KEY, token INT NOT NULL, owner INT NOT NULL,
  until INT) STRICT;      -- of a command, whose owner is 0: then it is free again

CREATE TABLE ended(
  seq INTEGER PRIMARY KEY, job INT NOT NULL, stream INT NOT NULL, outcome INT NOT NULL,
  executor INT, started INT, at INT NOT NULL, retries INT, attempt INT,
  message TEXT, result TEXT,
  created INT, due INT, priority INT, batch INT, -- as the job's row had them
  removal INT,        -- when it goes; absent: by the time to live
  -- to what it belonged, copied from the job: absent, if it named none
  instance TEXT, root_instance TEXT, activity TEXT, tenant TEXT, lane_key TEXT,
  schedule TEXT) STRICT;
CREATE INDEX ended_schedule ON ended(schedule, seq) WHERE schedule IS NOT NULL;
CREATE INDEX ended_removal ON ended(removal) WHERE removal IS NOT NULL;
CREATE TABLE ended_by_job(job INT, seq INT, PRIMARY KEY(job, seq)) WITHOUT ROWID, STRICT;
CREATE TABLE ended_by_instance( -- of those that have one
  instance TEXT, seq INT, PRIMARY KEY(instance, seq)) WITHOUT ROWID, STRICT;
CREATE TABLE attempt(     -- failures only
  job INT, n INT, at INT, stream INT, executor INT, started INT, retries INT, due INT,
  priority INT, reason INT, message TEXT, stack TEXT, batch INT,
  instance TEXT, root_instance TEXT, activity TEXT, tenant TEXT, lane_key TEXT, schedule TEXT,
  PRIMARY KEY(job, n)) WITHOUT ROWID, STRICT;
CREATE INDEX attempt_at ON attempt(at);
CREATE INDEX attempt_schedule ON attempt(schedule, at) WHERE schedule IS NOT NULL;
CREATE INDEX attempt_instance ON attempt(instance, at) WHERE instance IS NOT NULL;
CREATE TABLE line(        -- what a run has printed: texts (JSON); seq: the number of the last one
  job INT, n INT, seq INT, at INT, lines TEXT, PRIMARY KEY(job, n, seq)) WITHOUT ROWID, STRICT;
CREATE TABLE progress(job INTEGER PRIMARY KEY, fraction REAL, text TEXT, at INT) STRICT;

CREATE TABLE incident(
  id INTEGER PRIMARY KEY, type TEXT NOT NULL, job INT, definition INT,
  activity TEXT, failed_activity TEXT, message TEXT,
  cause INT, root_cause INT, -- incidents; absent: this one
  created INT NOT NULL, ended INT, how INT, note TEXT,
  instance TEXT, root_instance TEXT, tenant TEXT, lane_key TEXT,
  instance_id INT,           -- of a process
  removal INT,               -- as in `ended`
  schedule TEXT, -- of its runs that fail while it is open: how many, and when the last one did
  count INT NOT NULL DEFAULT 1, seen INT) STRICT;
CREATE UNIQUE INDEX incident_schedule ON incident(schedule, type)
  WHERE ended IS NULL AND schedule IS NOT NULL;
CREATE UNIQUE INDEX incident_open ON incident(job, type) WHERE ended IS NULL;
CREATE UNIQUE INDEX incident_handler ON incident(definition, type)
  WHERE ended IS NULL AND job IS NULL;
CREATE INDEX incident_ended ON incident(ended) WHERE ended IS NOT NULL;
CREATE INDEX incident_removal ON incident(removal) WHERE removal IS NOT NULL;
CREATE INDEX incident_instance ON incident(instance) WHERE instance IS NOT NULL;
CREATE INDEX incident_process ON incident(instance_id) WHERE instance_id IS NOT NULL;
CREATE INDEX incident_root ON incident(root_cause) WHERE root_cause IS NOT NULL;
CREATE TABLE suspended_instance(instance TEXT PRIMARY KEY, at INT NOT NULL) WITHOUT ROWID, STRICT;
CREATE TABLE operation(
  id INTEGER PRIMARY KEY, at INT, who TEXT, verb TEXT, entity TEXT, count INT,
  old TEXT, new TEXT,
  query TEXT, jobs TEXT, batch INT, -- the filters (JSON), and which jobs: their ids or a batch
  instance INT) STRICT;             -- of a process

CREATE TABLE unique_key(
  definition INT, key TEXT, job INT NOT NULL, until INT, tenant TEXT, -- that of the job
  PRIMARY KEY(definition, key)) WITHOUT ROWID, STRICT;
CREATE INDEX unique_until ON unique_key(until) WHERE until NOT NULL;
CREATE TABLE lane_backlog(   -- kept only where a lane's backlog has a limit
  definition INT, lane INT, waiting INT NOT NULL, PRIMARY KEY(definition, lane))
  WITHOUT ROWID, STRICT;
CREATE TABLE rate(        -- starts up to each instant, counted from any number; the least row has none
  definition INT, at INT, n INT NOT NULL, PRIMARY KEY(definition, at)) WITHOUT ROWID, STRICT;
CREATE TABLE share(       -- the last turn given to a tenant; at or below the one served it may go
  rank INT, tenant TEXT, turn INT NOT NULL, PRIMARY KEY(rank, tenant)) WITHOUT ROWID, STRICT;
CREATE TABLE served(rank INTEGER PRIMARY KEY, turn INT NOT NULL) STRICT;

CREATE TABLE executor(    -- id: its byte in the gate; state: 0 gone, 1 live, 2 overdue
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, started INT, lease INT NOT NULL,
  seen INT, range_min INT, range_max INT, categories TEXT, aware INT, state INT NOT NULL,
  settings TEXT,      -- JSON: order, workers, and the names of its handlers
  draining INT NOT NULL DEFAULT 0,
  debt INT NOT NULL DEFAULT 0, -- 1: it has left rows of jobs behind, and knows which
  pid INT, version TEXT,       -- its process, and the version of its program
  boot TEXT, lease_boot INT,   -- of its machine, and the lease in ms since that boot
  kind INT NOT NULL DEFAULT 0, -- 1: a worker outside, which has neither a lease nor a byte in the gate;
                               -- 2: a program that takes nothing, and is told of work of its topics
  topics TEXT) STRICT;         -- those that either has asked for: JSON
CREATE INDEX executor_debt ON executor(id) WHERE debt<>0;
CREATE INDEX executor_worker ON executor(name, id) WHERE kind=1 AND state<>0;
CREATE INDEX executor_worker_seen ON executor(state, seen, id) WHERE kind=1;
CREATE TABLE registration(
  executor TEXT, deployment INT, PRIMARY KEY(executor, deployment)) WITHOUT ROWID, STRICT;

CREATE TABLE batch(       -- remaining = open + total - made, completed = made - open
  id INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT NOT NULL, name TEXT, state INT NOT NULL,
  ids INT NOT NULL DEFAULT 0, total INT NOT NULL DEFAULT 0, made INT NOT NULL DEFAULT 0,
  open INT NOT NULL DEFAULT 0, failed INT NOT NULL DEFAULT 0,
  jobs_per_seed INT NOT NULL, invocations INT NOT NULL, retries INT, priority INT,
  on_complete TEXT, who TEXT,
  upto INT NOT NULL,      -- jobs that were there when it was begun
  parts INT NOT NULL DEFAULT 0, part INT NOT NULL DEFAULT 1, -- parts there were; the next, and
  reached INT NOT NULL DEFAULT 0,                            -- bytes of it that are dealt with
  seed INT, monitor INT,  -- the jobs, while there are such
  created INT NOT NULL, started INT, ended INT,
  query TEXT,             -- the filters it was filled by (JSON), if it was
  removal INT,            -- as in `ended`
  held INT NOT NULL DEFAULT 0) STRICT; -- 1: its jobs are suspended, its seed and monitor go on
CREATE TABLE batch_config(batch INTEGER PRIMARY KEY, config TEXT NOT NULL) STRICT;
CREATE TABLE batch_part(  -- ids: JSON, without white space
  batch INT, n INT, ids TEXT NOT NULL, PRIMARY KEY(batch, n)) WITHOUT ROWID, STRICT;
CREATE INDEX batch_ended ON batch(ended) WHERE ended IS NOT NULL;
CREATE INDEX batch_removal ON batch(removal) WHERE removal IS NOT NULL;
CREATE INDEX ended_batch ON ended(batch) WHERE batch IS NOT NULL;
CREATE INDEX attempt_batch ON attempt(batch) WHERE batch IS NOT NULL;
CREATE INDEX incident_job ON incident(job) WHERE job IS NOT NULL;
-- A repeating job that waits for its date; job.repeat is the text as given, job.repeat_done the
-- next occurrence, to which the row has moved.
CREATE TABLE cycle(
  job INTEGER PRIMARY KEY, zone TEXT NOT NULL, misfire INT NOT NULL,
  origin INT NOT NULL,           -- where the grid was fixed, unless the text names a start
  starts INT NOT NULL,           -- 1: the grid begins at the origin itself
  date INT NOT NULL,             -- of this occurrence, by the grid
  shift INT NOT NULL DEFAULT 0,  -- ms; what moving an occurrence with its cascade added up to
  retries INT NOT NULL,          -- the configured number, for the next occurrence
  schedule TEXT) STRICT;
CREATE TABLE schedule(           -- what the files in schedules/ declare
  name TEXT PRIMARY KEY, source TEXT NOT NULL, -- source: the name of the deployment it came with
  spec TEXT NOT NULL,            -- as declared, in JSON
  paused INT NOT NULL DEFAULT 0, last INT,
  job INT) WITHOUT ROWID, STRICT; -- the one that waits; absent: the cycle is over
CREATE TABLE occurrence(         -- runs of schedules that have begun and may not have ended
  job INTEGER PRIMARY KEY, schedule TEXT NOT NULL, begun INT NOT NULL,
  token INT, owner INT) STRICT;  -- of a run whose lock an operator has taken, until it has ended
CREATE INDEX occurrence_schedule ON occurrence(schedule);
CREATE TABLE tray(        -- jobs that were written for other processes: the latest of each place there
  place INTEGER PRIMARY KEY, ticket INT NOT NULL, job INT NOT NULL,
  creation INT NOT NULL) STRICT;
CREATE TABLE metric(
  executor INT, definition INT, name INT, value INT,
  PRIMARY KEY(executor, definition, name)) WITHOUT ROWID, STRICT;
CREATE TABLE intake(      -- jobs of ids up to `last` that are written in steps; nobody sees those
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- above `reached`; who fills it holds a byte of the gate
  reached INT NOT NULL, last INT NOT NULL, who TEXT, created INT NOT NULL,
  released INT NOT NULL DEFAULT 0,      -- 1: they are there, and get their places in steps
  removed INT NOT NULL DEFAULT 0) STRICT;
CREATE TABLE outbox(      -- jobs that transactions of other programs ask for, on a server
  id INTEGER PRIMARY KEY, -- place: in the order of their commits; absent until then
  place INT, at INT NOT NULL, handler TEXT NOT NULL, payload TEXT, options TEXT, -- the two: JSON
  incident INT) STRICT;   -- says why the row cannot be a job; 0: incidents are off
CREATE INDEX outbox_place ON outbox(place) WHERE incident IS NULL;
CREATE INDEX outbox_incident ON outbox(incident) WHERE incident IS NOT NULL;
CREATE INDEX batch_filling ON batch(id) WHERE state=0;
CREATE TABLE request(     -- what a creation was asked for under a key, so that asking again is harmless
  scope INT, key TEXT, hash TEXT NOT NULL, answer TEXT NOT NULL, until INT NOT NULL,
  PRIMARY KEY(scope, key)) WITHOUT ROWID, STRICT; -- scope 0: the owner of the file
CREATE INDEX request_until ON request(until);
CREATE TABLE api_token(   -- what a caller over HTTP shows
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL UNIQUE, -- SHA-256 of the token
  hint TEXT NOT NULL,     -- its first characters
  scopes TEXT NOT NULL,   -- names of scopes, between commas
  tenant TEXT, handlers TEXT, rate TEXT, -- what narrows it; handlers: an array of names
  created INT NOT NULL, expires INT, used INT, revoked INT) STRICT;
CREATE UNIQUE INDEX api_token_name ON api_token(name) WHERE revoked IS NULL;
CREATE TABLE location(    -- the file, and the name by which executors have it open
  id INTEGER PRIMARY KEY, device INT NOT NULL, inode INT NOT NULL, path TEXT NOT NULL) STRICT;
CREATE TABLE stuck(       -- runs that were given up, as long as they may still act
  token INTEGER PRIMARY KEY, owner INT NOT NULL, job INT NOT NULL, lane INT, since INT,
  place TEXT NOT NULL,    -- where the handler was last seen
  incident INT) STRICT;
CREATE TABLE snooze(      -- runs that put their job off: the newest of each job
  job INT, seq INT, n INT, at INT, stream INT, executor INT, started INT, until INT, retries INT,
  priority INT, message TEXT, batch INT,
  instance TEXT, root_instance TEXT, activity TEXT, tenant TEXT, lane_key TEXT, schedule TEXT,
  PRIMARY KEY(job, seq)) WITHOUT ROWID, STRICT;
CREATE INDEX snooze_at ON snooze(at);
CREATE TABLE conflicts(   -- jobs whose latest runs ended with a conflict, and how many in a row
  job INTEGER PRIMARY KEY, n INT NOT NULL) STRICT; -- such a job has a message in its row
CREATE TABLE suspect(     -- jobs whose executor vanished with its machine; token, started: of a
  job INTEGER PRIMARY KEY, token INT, started INT) STRICT; -- run that has begun since
CREATE INDEX suspect_begun ON suspect(job) WHERE token IS NOT NULL;
-- Processes. An instance is one row while it lives: its frame says where it stands. What waits for an
-- event is a row of its own, found by (instance, token); token: a number in the frame.
CREATE TABLE process(     -- current: the version that new instances get; suspended: 3 with its instances
  key TEXT PRIMARY KEY, current INT NOT NULL, suspended INT NOT NULL DEFAULT 0) WITHOUT ROWID, STRICT;
CREATE TABLE process_version(
  id INTEGER PRIMARY KEY, key TEXT NOT NULL, number INT NOT NULL, kind TEXT NOT NULL,
  hash TEXT NOT NULL, deployment INT NOT NULL, path TEXT NOT NULL, tag TEXT,
  properties TEXT NOT NULL, suspended INT NOT NULL DEFAULT 0, created INT NOT NULL,
  ttl INT,                -- ms that its instances are kept; absent: as jobs are
  UNIQUE(key, number), UNIQUE(key, hash)) STRICT;
CREATE TABLE instance(    -- rev: the token of the run that has written it; root, parent: instances
  id INTEGER PRIMARY KEY, version INT NOT NULL, rev INT NOT NULL, root INT, parent INT,
  started INT NOT NULL, key TEXT, tenant TEXT, frame TEXT NOT NULL) STRICT;
CREATE INDEX instance_version ON instance(version, id);
CREATE INDEX instance_parent ON instance(parent) WHERE parent IS NOT NULL;
CREATE INDEX instance_root ON instance(root) WHERE root IS NOT NULL;
CREATE INDEX instance_key ON instance(key) WHERE key IS NOT NULL;
CREATE TABLE body(        -- multi-instance bodies whose turns stand outside of the frame; token: of it there
  id INTEGER PRIMARY KEY, instance INT NOT NULL, token INT NOT NULL, version INT NOT NULL,
  activity TEXT NOT NULL, turns INT NOT NULL, ended INT NOT NULL,
  closed INT NOT NULL DEFAULT 0) STRICT; -- 1: no turn goes on, and the rows go a page at a time
CREATE INDEX body_instance ON body(instance);
CREATE TABLE body_turn(   -- their tokens elsewhere: -(id << 20) - the number in this frame
  id INTEGER PRIMARY KEY, body INT NOT NULL, rev INT NOT NULL, frame TEXT NOT NULL) STRICT;
CREATE INDEX body_turn_body ON body_turn(body, id);
CREATE TABLE subscription( -- key '': any; of a start event: instance 0, and the version as token
  kind TEXT, name TEXT, key TEXT, instance INT, token INT, version INT NOT NULL,
  activity TEXT NOT NULL, created INT NOT NULL,
  priority INT, -- that the model gives what brings a signal; absent: it gives none
  PRIMARY KEY(kind, name, key, instance, token)) WITHOUT ROWID, STRICT;
CREATE INDEX subscription_instance ON subscription(instance, token);
CREATE TABLE kept_message( -- for what will wait for it; key '': only for what takes any key
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, key TEXT NOT NULL, instance INT, business_key TEXT,
  variables TEXT, created INT NOT NULL, until INT NOT NULL,
  job INT) STRICT;        -- that brings it to a receiver; 0: did, and has gone; absent: nothing does
CREATE INDEX kept_message_job ON kept_message(job) WHERE job IS NOT NULL;
CREATE INDEX kept_message_name ON kept_message(name, key, id);
CREATE INDEX kept_message_until ON kept_message(until);
CREATE TABLE user_task(   -- candidates: JSON
  id INTEGER PRIMARY KEY, instance INT NOT NULL, token INT NOT NULL, activity TEXT NOT NULL,
  name TEXT, assignee TEXT, candidates TEXT, due INT, priority INT NOT NULL, created INT NOT NULL,
  form TEXT, listens INT NOT NULL DEFAULT 0) STRICT;
CREATE INDEX user_task_instance ON user_task(instance, token);
CREATE INDEX user_task_assignee ON user_task(assignee) WHERE assignee IS NOT NULL;
CREATE TABLE searched(   -- variables that instances are found by; one of text, number, whole is set
  instance INT, name TEXT, text TEXT, number REAL, whole INT,
  PRIMARY KEY(instance, name)) WITHOUT ROWID, STRICT;
CREATE INDEX searched_text ON searched(name, text, instance) WHERE text IS NOT NULL;
CREATE INDEX searched_number ON searched(name, number, instance) WHERE number IS NOT NULL;
CREATE INDEX searched_whole ON searched(name, whole, instance) WHERE whole IS NOT NULL;
CREATE TABLE searched_name( -- which these are, by process_version
  name TEXT, version INT, PRIMARY KEY(name, version)) WITHOUT ROWID, STRICT;
CREATE TABLE large_value( -- variables too large for the frame, as JSON; n: a number in the frame
  instance INT, n INT, name TEXT NOT NULL, data TEXT NOT NULL, PRIMARY KEY(instance, n)) STRICT;
CREATE TABLE trail(       -- what the units did: one row a unit; job absent: of a command
  seq INTEGER PRIMARY KEY, instance INT NOT NULL, at INT NOT NULL, job INT,
  events TEXT NOT NULL) STRICT;
CREATE TABLE trail_of(instance INT, seq INT, PRIMARY KEY(instance, seq)) WITHOUT ROWID, STRICT;
CREATE TABLE past(        -- instances that have ended; variables: as they were then (JSON)
  id INTEGER PRIMARY KEY, version INT NOT NULL, root INT, parent INT, started INT NOT NULL,
  ended INT NOT NULL, how TEXT NOT NULL, reason TEXT, key TEXT, tenant TEXT, variables TEXT,
  removal INT) STRICT;    -- when it goes, with its trail; absent: never
CREATE INDEX past_removal ON past(removal) WHERE removal IS NOT NULL;
CREATE INDEX past_ended ON past(ended);
-- The jobs that are there. While nobody has left a row behind, and nobody fills an intake, it is the
-- table itself.
CREATE VIEW live AS SELECT * FROM job j WHERE
  (NOT EXISTS(SELECT 1 FROM intake)
  OR NOT EXISTS(SELECT 1 FROM intake i WHERE j.id>i.reached AND j.id<=i.last))
  AND (NOT EXISTS(SELECT 1 FROM executor WHERE debt<>0)
  AND NOT EXISTS(SELECT 1 FROM meta WHERE key='sweep_to')
  OR j.retries=0 OR j.suspended<>0
  OR EXISTS(SELECT 1 FROM locked l WHERE l.id=j.id)
  OR EXISTS(SELECT 1 FROM ready r WHERE r.stream=j.stream AND r.rank=~j.priority
    AND r.place=j.place AND r.id=j.id)
  OR EXISTS(SELECT 1 FROM timer t WHERE t.due=j.due AND t.id=j.id)
  OR EXISTS(SELECT 1 FROM parked p WHERE p.lane=j.lane AND p.stream=j.stream
    AND p.rank=~j.priority AND p.place=j.place AND p.id=j.id));
-- How many jobs of a stream are in each place. On a server it is a table.
CREATE VIEW occupancy(stream, ready, timer, parked) AS
  SELECT CAST(substr(key, 15) AS INT), value, 0, 0 FROM meta
    WHERE key>'waiting/ready/' AND key<'waiting/ready0'
  UNION ALL SELECT CAST(substr(key, 15) AS INT), 0, value, 0 FROM meta
    WHERE key>'waiting/timer/' AND key<'waiting/timer0'
  UNION ALL SELECT CAST(substr(key, 16) AS INT), 0, 0, value FROM meta
    WHERE key>'waiting/parked/' AND key<'waiting/parked0';
-- Those that count against a limit of a backlog.
CREATE VIEW counted AS SELECT id, stream, lane, retries FROM live
  UNION ALL SELECT j.id, j.stream, j.lane, j.retries FROM intake i
  JOIN job j ON j.id>i.reached AND j.id<=i.last;
