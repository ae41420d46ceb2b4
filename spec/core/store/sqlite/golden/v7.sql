-- A store of schema version 7: two schedules, each with the job that waits for its date; one run of
-- `backup` that is dead with its incident, and one that was asked for and has not begun.
PRAGMA application_id=1299148654; PRAGMA user_version=7;
BEGIN TRANSACTION;
CREATE TABLE meta(key TEXT PRIMARY KEY, value ANY) WITHOUT ROWID, STRICT;
INSERT INTO meta VALUES('catalog',3);
INSERT INTO meta VALUES('executors',4);
INSERT INTO meta VALUES('next_id',7);
INSERT INTO meta VALUES('next_token',4);
CREATE TABLE deployment(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL, loaded INT NOT NULL,
  UNIQUE(name, hash)) STRICT;
INSERT INTO deployment VALUES(1,'gold','667aac0306f57125a4ea5848337cc663e000dd08c01672a08ff2583c8b5a9a04',1795802889528);
CREATE TABLE deployment_file(
  deployment INT, path TEXT, text TEXT, PRIMARY KEY(deployment, path)) WITHOUT ROWID, STRICT;
INSERT INTO deployment_file VALUES(1,'handlers/good.lua',replace('return function() end\n','\n',char(10)));
INSERT INTO deployment_file VALUES(1,'handlers/nightly.lua',replace('return function(job) if job.payload.fail then error("no disk") end end\n','\n',char(10)));
INSERT INTO deployment_file VALUES(1,'schedules/backup.lua',replace('return { handler = "nightly", cycle = "0 3 * * *", payload = { fail = true }, retries = 1 }\n','\n',char(10)));
INSERT INTO deployment_file VALUES(1,'schedules/report.lua',replace('return { handler = "good", cycle = "R/PT10M" }\n','\n',char(10)));
CREATE TABLE definition(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
  deployment INT,     -- the newest that has it; absent: only ever named by a job
  properties TEXT NOT NULL,
  override_priority INT, suspended INT NOT NULL DEFAULT 0,
  waiting INT) STRICT;
INSERT INTO definition VALUES(1,'batch/activate',1,'{"backlog":null,"category":null,"file":"batches/activate.lua","lane_backlog":null,"limit":null,"name":"batch/activate","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(2,'batch/cancel-jobs',1,'{"backlog":null,"category":null,"file":"batches/cancel-jobs.lua","lane_backlog":null,"limit":null,"name":"batch/cancel-jobs","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(3,'batch/dead-letter',1,'{"backlog":null,"category":null,"file":"batches/dead-letter.lua","lane_backlog":null,"limit":null,"name":"batch/dead-letter","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(4,'batch/delete-history',1,'{"backlog":null,"category":null,"file":"batches/delete-history.lua","lane_backlog":null,"limit":null,"name":"batch/delete-history","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(5,'batch/delete-jobs',1,'{"backlog":null,"category":null,"file":"batches/delete-jobs.lua","lane_backlog":null,"limit":null,"name":"batch/delete-jobs","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(6,'batch/enqueue',1,'{"backlog":null,"category":null,"file":"batches/enqueue.lua","lane_backlog":null,"limit":null,"name":"batch/enqueue","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(7,'batch/recalculate-due-date',1,'{"backlog":null,"category":null,"file":"batches/recalculate-due-date.lua","lane_backlog":null,"limit":null,"name":"batch/recalculate-due-date","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(8,'batch/set-cycle',1,'{"backlog":null,"category":null,"file":"batches/set-cycle.lua","lane_backlog":null,"limit":null,"name":"batch/set-cycle","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(9,'batch/set-due-date',1,'{"backlog":null,"category":null,"file":"batches/set-due-date.lua","lane_backlog":null,"limit":null,"name":"batch/set-due-date","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(10,'batch/set-job-priority',1,'{"backlog":null,"category":null,"file":"batches/set-job-priority.lua","lane_backlog":null,"limit":null,"name":"batch/set-job-priority","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(11,'batch/set-job-retries',1,'{"backlog":null,"category":null,"file":"batches/set-job-retries.lua","lane_backlog":null,"limit":null,"name":"batch/set-job-retries","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(12,'batch/set-removal-time',1,'{"backlog":null,"category":null,"file":"batches/set-removal-time.lua","lane_backlog":null,"limit":null,"name":"batch/set-removal-time","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(13,'batch/suspend',1,'{"backlog":null,"category":null,"file":"batches/suspend.lua","lane_backlog":null,"limit":null,"name":"batch/suspend","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(14,'good',1,'{"backlog":null,"category":null,"file":"handlers/good.lua","lane_backlog":null,"limit":null,"name":"good","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(15,'log',1,'{"backlog":null,"category":null,"file":"handlers/log.lua","lane_backlog":null,"limit":null,"name":"log","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(16,'moonshift/batch_monitor',1,'{"backlog":null,"category":null,"file":"handlers/moonshift/batch_monitor.lua","lane_backlog":null,"limit":null,"name":"moonshift/batch_monitor","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(17,'moonshift/batch_seed',1,'{"backlog":null,"category":null,"file":"handlers/moonshift/batch_seed.lua","lane_backlog":null,"limit":null,"name":"moonshift/batch_seed","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(18,'moonshift/history_cleanup',1,'{"backlog":null,"category":null,"file":"handlers/moonshift/history_cleanup.lua","lane_backlog":null,"limit":null,"name":"moonshift/history_cleanup","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(19,'moonshift/hook',1,'{"backlog":null,"category":null,"file":"handlers/moonshift/hook.lua","lane_backlog":null,"limit":null,"name":"moonshift/hook","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(20,'moonshift/operate',1,'{"backlog":null,"category":null,"file":"handlers/moonshift/operate.lua","lane_backlog":null,"limit":null,"name":"moonshift/operate","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(21,'nightly',1,'{"backlog":null,"category":null,"file":"handlers/nightly.lua","lane_backlog":null,"limit":null,"name":"nightly","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(22,'noop',1,'{"backlog":null,"category":null,"file":"handlers/noop.lua","lane_backlog":null,"limit":null,"name":"noop","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
CREATE TABLE stream(
  id INTEGER PRIMARY KEY, definition INT NOT NULL, deployment INT NOT NULL DEFAULT 0,
  category TEXT NOT NULL DEFAULT '', type INT NOT NULL,
  topic TEXT NOT NULL DEFAULT '', -- under which workers outside ask for its jobs
  UNIQUE(definition, deployment, category, type, topic)) STRICT;
INSERT INTO stream VALUES(1,21,1,'',1,'');
INSERT INTO stream VALUES(2,14,1,'',1,'');
INSERT INTO stream VALUES(3,14,1,'',0,'');
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
  failed_activity TEXT) STRICT;
INSERT INTO job VALUES(1,1,1,0,1795834800000,1795802889528,1795834800000,1,1,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'0 3 * * *',NULL,NULL,X'7b226661696c223a747275657d',NULL,NULL,NULL,NULL,NULL);
INSERT INTO job VALUES(2,1,2,0,1795803489528,1795802889528,1795803489528,3,1,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'R/PT10M',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO job VALUES(3,2,1,0,1795802889539,1795802889539,1795802889539,0,2,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'0 3 * * *',NULL,NULL,X'7b226661696c223a747275657d','handlers/nightly.lua:1: no disk',NULL,NULL,NULL,NULL);
INSERT INTO job VALUES(6,1,1,0,1795802889579,1795802889579,1795802889579,1,1,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'0 3 * * *',NULL,NULL,X'7b226661696c223a747275657d',NULL,NULL,NULL,NULL,NULL);
CREATE TABLE ready(       -- rank = ~priority
  stream INT, rank INT, place INT, id INT, lane INT,
  plain INT,              -- 1: nothing in its row decides whether it may be taken
  PRIMARY KEY(stream, rank, place, id)) WITHOUT ROWID, STRICT;
INSERT INTO ready VALUES(1,-1,1795802889579,6,NULL,NULL);
CREATE TABLE timer(       -- future dates, retry delays
  due INT, id INT, stream INT, rank INT, lane INT,
  PRIMARY KEY(due, id)) WITHOUT ROWID, STRICT;
INSERT INTO timer VALUES(1795803489528,2,2,-1,NULL);
INSERT INTO timer VALUES(1795834800000,1,1,-1,NULL);
CREATE TABLE parked(      -- behind a running lane
  lane INT, stream INT, rank INT, place INT, id INT,
  PRIMARY KEY(lane, stream, rank, place, id)) WITHOUT ROWID, STRICT;
CREATE TABLE locked(      -- until: only after an extension
  id INTEGER PRIMARY KEY, token INT NOT NULL, owner INT NOT NULL, stream INT NOT NULL,
  lane INT, until INT,
  edited INT NOT NULL DEFAULT 0) STRICT;
CREATE TABLE limited(     -- the runs of definitions with a limit, also those whose lock was taken
  definition INT, token INT, id INT NOT NULL, owner INT NOT NULL, -- id 0: of jobs that share a place
  PRIMARY KEY(definition, token)) WITHOUT ROWID, STRICT;
CREATE TABLE lane(        -- a row while the lane runs; token: of its item's first job
  id INTEGER PRIMARY KEY, token INT NOT NULL, owner INT NOT NULL,
  until INT) STRICT;
CREATE TABLE ended(
  seq INTEGER PRIMARY KEY, job INT NOT NULL, stream INT NOT NULL, outcome INT NOT NULL,
  executor INT, started INT, at INT NOT NULL, retries INT, attempt INT,
  message TEXT, result TEXT,
  created INT, due INT, priority INT, batch INT, -- as the job's row had them
  removal INT,        -- when it goes; absent: by the time to live
  -- to what it belonged, copied from the job: absent, if it named none
  instance TEXT, root_instance TEXT, activity TEXT, tenant TEXT, lane_key TEXT) STRICT;
INSERT INTO ended VALUES(1,4,2,1,1,1795802889568,1795802889568,3,1,NULL,NULL,1795802889543,1795802889543,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO ended VALUES(2,5,3,1,1,1795802889568,1795802889568,3,1,NULL,NULL,1795802889554,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE ended_by_job(job INT, seq INT, PRIMARY KEY(job, seq)) WITHOUT ROWID, STRICT;
CREATE TABLE ended_by_instance( -- of those that have one
  instance TEXT, seq INT, PRIMARY KEY(instance, seq)) WITHOUT ROWID, STRICT;
CREATE TABLE attempt(     -- failures only
  job INT, n INT, at INT, stream INT, executor INT, started INT, retries INT, due INT,
  priority INT, reason INT, message TEXT, stack TEXT, batch INT,
  instance TEXT, root_instance TEXT, activity TEXT, tenant TEXT, lane_key TEXT,
  PRIMARY KEY(job, n)) WITHOUT ROWID, STRICT;
INSERT INTO attempt VALUES(3,1,1795802889568,1,1,1795802889568,1,1795802889539,0,0,'handlers/nightly.lua:1: no disk',replace('handlers/nightly.lua:1: no disk\nstack traceback:\n	[C]: in function ''error''\n	handlers/nightly.lua:1: in function <handlers/nightly.lua:1>','\n',char(10)),NULL,NULL,NULL,NULL,NULL,NULL);
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
  removal INT) STRICT;
INSERT INTO incident VALUES(1,'failedJob',3,21,NULL,NULL,'handlers/nightly.lua:1: no disk',NULL,NULL,1795802889568,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE suspended_instance(instance TEXT PRIMARY KEY, at INT NOT NULL) WITHOUT ROWID, STRICT;
CREATE TABLE operation(
  id INTEGER PRIMARY KEY, at INT, who TEXT, verb TEXT, entity TEXT, count INT,
  old TEXT, new TEXT,
  query TEXT, jobs TEXT, batch INT, -- the filters (JSON), and which jobs: their ids or a batch
  instance INT) STRICT;
INSERT INTO operation VALUES(1,1795802889539,'root','run_schedule','schedule "backup"',1,NULL,'job 3',NULL,NULL,NULL,NULL);
INSERT INTO operation VALUES(2,1795802889543,'root','run_schedule','schedule "report"',1,NULL,'job 4',NULL,NULL,NULL,NULL);
INSERT INTO operation VALUES(3,1795802889579,'root','run_schedule','schedule "backup"',1,NULL,'job 6',NULL,NULL,NULL,NULL);
CREATE TABLE unique_key(
  definition INT, key TEXT, job INT NOT NULL, until INT,
  PRIMARY KEY(definition, key)) WITHOUT ROWID, STRICT;
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
  boot TEXT, lease_boot INT) STRICT;
INSERT INTO executor VALUES(1,'vm',1795802889563,1795803189563,1795802889563,NULL,NULL,NULL,0,0,'{"by_priority":true,"prefer_timers":false,"by_due_date":true,"ensure_due_date":false,"aging":0,"workers":2,"acquisition":"default","deployment":1,"handlers":["batch/activate","batch/cancel-jobs","batch/dead-letter","batch/delete-history","batch/delete-jobs","batch/enqueue","batch/recalculate-due-date","batch/set-cycle","batch/set-due-date","batch/set-job-priority","batch/set-job-retries","batch/set-removal-time","batch/suspend","good","log","moonshift/batch_monitor","moonshift/batch_seed","moonshift/history_cleanup","moonshift/hook","moonshift/operate","nightly","noop"],"processes":[],"queue":4096}',0,0,3670,'0.1.0','f7ce9ebf-78d9-415b-87ef-a36f2109d82f',25197903);
CREATE TABLE registration(
  executor TEXT, deployment INT, PRIMARY KEY(executor, deployment)) WITHOUT ROWID, STRICT;
INSERT INTO registration VALUES('vm',1);
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
  held INT NOT NULL DEFAULT 0) STRICT;
CREATE TABLE batch_config(batch INTEGER PRIMARY KEY, config TEXT NOT NULL) STRICT;
CREATE TABLE batch_part(  -- ids: JSON, without white space
  batch INT, n INT, ids TEXT NOT NULL, PRIMARY KEY(batch, n)) WITHOUT ROWID, STRICT;
CREATE TABLE cycle(
  job INTEGER PRIMARY KEY, zone TEXT NOT NULL, misfire INT NOT NULL,
  origin INT NOT NULL,           -- where the grid was fixed, unless the text names a start
  starts INT NOT NULL,           -- 1: the grid begins at the origin itself
  date INT NOT NULL,             -- of this occurrence, by the grid
  shift INT NOT NULL DEFAULT 0,  -- ms; what moving an occurrence with its cascade added up to
  retries INT NOT NULL,          -- the configured number, for the next occurrence
  schedule TEXT) STRICT;
INSERT INTO cycle VALUES(1,'UTC',0,1795802889528,0,1795834800000,0,1,'backup');
INSERT INTO cycle VALUES(2,'UTC',0,1795802889528,0,1795803489528,0,3,'report');
CREATE TABLE schedule(           -- what the files in schedules/ declare
  name TEXT PRIMARY KEY, source TEXT NOT NULL, -- source: the name of the deployment it came with
  spec TEXT NOT NULL,            -- as declared, in JSON
  paused INT NOT NULL DEFAULT 0, last INT,
  job INT) WITHOUT ROWID, STRICT;
INSERT INTO schedule VALUES('backup','gold','{"cycle":"0 3 * * *","handler":"nightly","payload":{"fail":true},"retries":1}',0,NULL,1);
INSERT INTO schedule VALUES('report','gold','{"cycle":"R/PT10M","handler":"good"}',0,NULL,2);
CREATE TABLE occurrence(         -- runs of schedules that have begun and may not have ended
  job INTEGER PRIMARY KEY, schedule TEXT NOT NULL, begun INT NOT NULL,
  token INT, owner INT) STRICT;
INSERT INTO occurrence VALUES(6,'backup',1795802889579,NULL,NULL);
CREATE TABLE tray(        -- jobs that were written for other processes: the latest of each place there
  place INTEGER PRIMARY KEY, ticket INT NOT NULL, job INT NOT NULL,
  creation INT NOT NULL) STRICT;
CREATE TABLE metric(
  executor INT, definition INT, name INT, value INT,
  PRIMARY KEY(executor, definition, name)) WITHOUT ROWID, STRICT;
INSERT INTO metric VALUES(1,0,0,3);
INSERT INTO metric VALUES(1,0,1,3);
INSERT INTO metric VALUES(1,0,4,2);
INSERT INTO metric VALUES(1,0,5,1);
INSERT INTO metric VALUES(1,14,1,2);
INSERT INTO metric VALUES(1,14,4,2);
INSERT INTO metric VALUES(1,21,1,1);
INSERT INTO metric VALUES(1,21,5,1);
CREATE TABLE intake(      -- jobs of ids up to `last` that are written in steps; nobody sees those
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- above `reached`; who fills it holds a byte of the gate
  reached INT NOT NULL, last INT NOT NULL, who TEXT, created INT NOT NULL,
  released INT NOT NULL DEFAULT 0,      -- 1: they are there, and get their places in steps
  removed INT NOT NULL DEFAULT 0) STRICT;
CREATE TABLE request(     -- what a creation was asked for under a key, so that asking again is harmless
  scope INT, key TEXT, hash TEXT NOT NULL, answer TEXT NOT NULL, until INT NOT NULL,
  PRIMARY KEY(scope, key)) WITHOUT ROWID, STRICT;
CREATE TABLE location(    -- the file, and the name by which executors have it open
  id INTEGER PRIMARY KEY, device INT NOT NULL, inode INT NOT NULL, path TEXT NOT NULL) STRICT;
INSERT INTO location VALUES(1,65024,9995235,'/tmp/gold/moonshift.db');
CREATE TABLE stuck(       -- runs that were given up, as long as they may still act
  token INTEGER PRIMARY KEY, owner INT NOT NULL, job INT NOT NULL, lane INT, since INT,
  place TEXT NOT NULL,    -- where the handler was last seen
  incident INT) STRICT;
CREATE TABLE snooze(      -- runs that put their job off: the newest of each job
  job INT, seq INT, n INT, at INT, stream INT, executor INT, started INT, until INT, retries INT,
  priority INT, message TEXT, batch INT,
  instance TEXT, root_instance TEXT, activity TEXT, tenant TEXT, lane_key TEXT,
  PRIMARY KEY(job, seq)) WITHOUT ROWID, STRICT;
CREATE TABLE conflicts(   -- jobs whose latest runs ended with a conflict, and how many in a row
  job INTEGER PRIMARY KEY, n INT NOT NULL) STRICT;
CREATE TABLE suspect(     -- jobs whose executor vanished with its machine; token, started: of a
  job INTEGER PRIMARY KEY, token INT, started INT) STRICT;
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
CREATE TABLE subscription( -- key '': any; of a start event: instance 0, and the version as token
  kind TEXT, name TEXT, key TEXT, instance INT, token INT, version INT NOT NULL,
  activity TEXT NOT NULL, created INT NOT NULL,
  PRIMARY KEY(kind, name, key, instance, token)) WITHOUT ROWID, STRICT;
CREATE TABLE kept_message( -- for what will wait for it; key '': only for what takes any key
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, key TEXT NOT NULL, instance INT, business_key TEXT,
  variables TEXT, created INT NOT NULL, until INT NOT NULL,
  job INT) STRICT;
CREATE TABLE user_task(   -- candidates: JSON
  id INTEGER PRIMARY KEY, instance INT NOT NULL, token INT NOT NULL, activity TEXT NOT NULL,
  name TEXT, assignee TEXT, candidates TEXT, due INT, priority INT NOT NULL, created INT NOT NULL,
  form TEXT) STRICT;
CREATE TABLE searched(   -- variables that instances are found by; one of text, number, whole is set
  instance INT, name TEXT, text TEXT, number REAL, whole INT,
  PRIMARY KEY(instance, name)) WITHOUT ROWID, STRICT;
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
  removal INT) STRICT;
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('executor',1);
CREATE INDEX job_dead ON job(id) WHERE retries=0;
CREATE INDEX job_suspended ON job(stream, id) WHERE suspended<>0;
CREATE INDEX job_batch ON job(batch, id) WHERE batch IS NOT NULL;
CREATE INDEX job_instance ON job(instance, id) WHERE instance IS NOT NULL;
CREATE INDEX job_execution ON job(instance_id, execution) WHERE instance_id IS NOT NULL;
CREATE VIEW locks AS SELECT id, token, owner, stream, lane, until, edited FROM locked;
CREATE INDEX ended_removal ON ended(removal) WHERE removal IS NOT NULL;
CREATE INDEX attempt_at ON attempt(at);
CREATE INDEX attempt_instance ON attempt(instance, at) WHERE instance IS NOT NULL;
CREATE UNIQUE INDEX incident_open ON incident(job, type) WHERE ended IS NULL;
CREATE UNIQUE INDEX incident_handler ON incident(definition, type)
  WHERE ended IS NULL AND job IS NULL;
CREATE INDEX incident_ended ON incident(ended) WHERE ended IS NOT NULL;
CREATE INDEX incident_removal ON incident(removal) WHERE removal IS NOT NULL;
CREATE INDEX incident_instance ON incident(instance) WHERE instance IS NOT NULL;
CREATE INDEX incident_process ON incident(instance_id) WHERE instance_id IS NOT NULL;
CREATE INDEX incident_root ON incident(root_cause) WHERE root_cause IS NOT NULL;
CREATE INDEX unique_until ON unique_key(until) WHERE until NOT NULL;
CREATE INDEX executor_debt ON executor(id) WHERE debt<>0;
CREATE INDEX batch_ended ON batch(ended) WHERE ended IS NOT NULL;
CREATE INDEX batch_removal ON batch(removal) WHERE removal IS NOT NULL;
CREATE INDEX ended_batch ON ended(batch) WHERE batch IS NOT NULL;
CREATE INDEX attempt_batch ON attempt(batch) WHERE batch IS NOT NULL;
CREATE INDEX incident_job ON incident(job) WHERE job IS NOT NULL;
CREATE INDEX occurrence_schedule ON occurrence(schedule);
CREATE INDEX batch_filling ON batch(id) WHERE state=0;
CREATE INDEX request_until ON request(until);
CREATE INDEX snooze_at ON snooze(at);
CREATE INDEX suspect_begun ON suspect(job) WHERE token IS NOT NULL;
CREATE INDEX instance_version ON instance(version, id);
CREATE INDEX instance_parent ON instance(parent) WHERE parent IS NOT NULL;
CREATE INDEX instance_root ON instance(root) WHERE root IS NOT NULL;
CREATE INDEX instance_key ON instance(key) WHERE key IS NOT NULL;
CREATE INDEX subscription_instance ON subscription(instance, token);
CREATE INDEX kept_message_job ON kept_message(job) WHERE job IS NOT NULL;
CREATE INDEX kept_message_name ON kept_message(name, key, id);
CREATE INDEX kept_message_until ON kept_message(until);
CREATE INDEX user_task_instance ON user_task(instance, token);
CREATE INDEX user_task_assignee ON user_task(assignee) WHERE assignee IS NOT NULL;
CREATE INDEX searched_text ON searched(name, text, instance) WHERE text IS NOT NULL;
CREATE INDEX searched_number ON searched(name, number, instance) WHERE number IS NOT NULL;
CREATE INDEX searched_whole ON searched(name, whole, instance) WHERE whole IS NOT NULL;
CREATE INDEX past_removal ON past(removal) WHERE removal IS NOT NULL;
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
CREATE VIEW counted AS SELECT id, stream, lane, retries FROM live
  UNION ALL SELECT j.id, j.stream, j.lane, j.retries FROM intake i
  JOIN job j ON j.id>i.reached AND j.id<=i.last;
COMMIT;
