-- A store of schema version 5: two jobs succeeded, one dead with its incident, one running and three
-- behind it in its lane as their executor was killed, a schedule, timers with lanes and one with a
-- key, one suspended with its instance, and ready jobs of lanes whose numbers have the bit of processes.
PRAGMA application_id=1299148654; PRAGMA user_version=5;
BEGIN TRANSACTION;
CREATE TABLE meta(key TEXT PRIMARY KEY, value ANY) WITHOUT ROWID, STRICT;
INSERT INTO meta VALUES('catalog',6);
INSERT INTO meta VALUES('executors',9);
INSERT INTO meta VALUES('filed',1);
INSERT INTO meta VALUES('next_id',17);
INSERT INTO meta VALUES('next_token',6);
CREATE TABLE deployment(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL, loaded INT NOT NULL,
  UNIQUE(name, hash)) STRICT;
INSERT INTO deployment VALUES(1,'gold5','53fc9dde9e65d1e39f0fff0f662da1c900cb0e217e7cedd26b2fd4f3555a61bf',1795380716054);
CREATE TABLE deployment_file(
  deployment INT, path TEXT, text TEXT, PRIMARY KEY(deployment, path)) WITHOUT ROWID, STRICT;
INSERT INTO deployment_file VALUES(1,'handlers/broken.lua',replace('return { retry="R2/PT0S", run=function(job) error("broken on purpose") end }\n','\n',char(10)));
INSERT INTO deployment_file VALUES(1,'handlers/fine.lua',replace('return function(job) return {ok=true} end\n','\n',char(10)));
INSERT INTO deployment_file VALUES(1,'handlers/slow.lua',replace('return function(job) job:progress(0.5, "half") os.execute("sleep 4") end\n','\n',char(10)));
INSERT INTO deployment_file VALUES(1,'schedules/nightly.lua',replace('return { handler = "fine", cycle = "R/P1D" }\n','\n',char(10)));
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
INSERT INTO definition VALUES(14,'broken',1,'{"backlog":null,"category":null,"file":"handlers/broken.lua","lane_backlog":null,"limit":null,"name":"broken","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":2,"retry":"R2/PT0S","timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(15,'fine',1,'{"backlog":null,"category":null,"file":"handlers/fine.lua","lane_backlog":null,"limit":null,"name":"fine","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(16,'log',1,'{"backlog":null,"category":null,"file":"handlers/log.lua","lane_backlog":null,"limit":null,"name":"log","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(17,'moonshift/batch_monitor',1,'{"backlog":null,"category":null,"file":"handlers/moonshift/batch_monitor.lua","lane_backlog":null,"limit":null,"name":"moonshift/batch_monitor","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(18,'moonshift/batch_seed',1,'{"backlog":null,"category":null,"file":"handlers/moonshift/batch_seed.lua","lane_backlog":null,"limit":null,"name":"moonshift/batch_seed","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(19,'moonshift/history_cleanup',1,'{"backlog":null,"category":null,"file":"handlers/moonshift/history_cleanup.lua","lane_backlog":null,"limit":null,"name":"moonshift/history_cleanup","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(20,'moonshift/hook',1,'{"backlog":null,"category":null,"file":"handlers/moonshift/hook.lua","lane_backlog":null,"limit":null,"name":"moonshift/hook","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(21,'moonshift/operate',1,'{"backlog":null,"category":null,"file":"handlers/moonshift/operate.lua","lane_backlog":null,"limit":null,"name":"moonshift/operate","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(22,'noop',1,'{"backlog":null,"category":null,"file":"handlers/noop.lua","lane_backlog":null,"limit":null,"name":"noop","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(23,'slow',1,'{"backlog":null,"category":null,"file":"handlers/slow.lua","lane_backlog":null,"limit":null,"name":"slow","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
CREATE TABLE stream(
  id INTEGER PRIMARY KEY, definition INT NOT NULL, deployment INT NOT NULL DEFAULT 0,
  category TEXT NOT NULL DEFAULT '', type INT NOT NULL,
  UNIQUE(definition, deployment, category, type)) STRICT;
INSERT INTO stream VALUES(1,15,1,'',1);
INSERT INTO stream VALUES(2,15,1,'',0);
INSERT INTO stream VALUES(3,14,1,'',0);
INSERT INTO stream VALUES(4,23,1,'',0);
CREATE TABLE job(
  id INTEGER PRIMARY KEY, rev INT NOT NULL DEFAULT 1, stream INT NOT NULL,
  priority INT NOT NULL, due INT, created INT NOT NULL,
  place INT NOT NULL, -- coalesce(due, created); under fair share the tenant's turn
  retries INT NOT NULL, attempt INT NOT NULL DEFAULT 1, crashes INT NOT NULL DEFAULT 0,
  suspended INT NOT NULL DEFAULT 0,
  lane INT,           -- 63-bit hash of the key; 0: exclusive without one; absent: not exclusive
  lane_key TEXT, instance TEXT, root TEXT, activity TEXT, tenant TEXT, batch INT,
  repeat TEXT, repeat_done INT, unique_key TEXT, payload BLOB, message TEXT,
  term TEXT) STRICT;
INSERT INTO job VALUES(1,1,1,0,1795467116054,1795380716054,1795467116054,3,1,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'R/P1D',NULL,NULL,NULL,NULL,NULL);
INSERT INTO job VALUES(3,3,3,0,1795380716169,1795380716135,1795380716169,0,3,0,0,6837722759435311828,'order-9','order-9',NULL,NULL,'acme',NULL,NULL,NULL,NULL,NULL,'handlers/broken.lua:1: broken on purpose',NULL);
INSERT INTO job VALUES(4,1,4,0,NULL,1795380716205,1795380716205,3,1,0,0,9020406067118790151,'order-10',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO job VALUES(5,1,2,0,NULL,1795380716236,1795380716236,3,1,0,0,9020406067118790151,'order-10',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO job VALUES(6,1,1,0,1821300716261,1795380716262,1821300716261,3,1,0,0,9020406067118790151,'order-10',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'P300D');
INSERT INTO job VALUES(7,1,1,0,1821300716283,1795380716283,1821300716283,3,1,0,0,3414818462235750820,'b',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'P300D');
INSERT INTO job VALUES(8,1,1,0,1821300716298,1795380716298,1821300716298,3,1,0,0,7350728549542067697,'customer-7',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'P300D');
INSERT INTO job VALUES(9,1,1,0,1821300716314,1795380716314,1821300716314,3,1,0,0,9020406067118790151,'order-10','order-10',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'P300D');
INSERT INTO job VALUES(10,1,1,0,1821300716330,1795380716330,1821300716330,3,1,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'one',NULL,NULL,'P300D');
INSERT INTO job VALUES(11,2,1,0,1821300716357,1795380716357,1821300716357,3,1,0,4,9020404967607161940,'order-11','order-11',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'P300D');
INSERT INTO job VALUES(12,1,2,0,NULL,1795380717909,1795380717909,3,1,0,0,9020406067118790151,'order-10',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO job VALUES(13,1,2,3,NULL,1795380717930,1795380717930,3,1,0,0,9020406067118790151,'order-10',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO job VALUES(14,1,2,0,NULL,1795380718654,1795380718654,3,1,0,0,7350728549542067697,'customer-7',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO job VALUES(15,1,2,0,NULL,1795380718677,1795380718677,3,1,0,0,7350720852960670220,'customer-8',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO job VALUES(16,1,2,0,NULL,1795380718699,1795380718699,3,1,0,0,3414818462235750820,'b',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE ready(       -- rank = ~priority
  stream INT, rank INT, place INT, id INT, lane INT,
  PRIMARY KEY(stream, rank, place, id)) WITHOUT ROWID, STRICT;
INSERT INTO ready VALUES(2,-1,1795380718654,14,7350728549542067697);
INSERT INTO ready VALUES(2,-1,1795380718677,15,7350720852960670220);
INSERT INTO ready VALUES(2,-1,1795380718699,16,3414818462235750820);
CREATE TABLE timer(       -- future dates, retry delays
  due INT, id INT, stream INT, rank INT, lane INT,
  PRIMARY KEY(due, id)) WITHOUT ROWID, STRICT;
INSERT INTO timer VALUES(1795467116054,1,1,-1,NULL);
INSERT INTO timer VALUES(1821300716261,6,1,-1,9020406067118790151);
INSERT INTO timer VALUES(1821300716283,7,1,-1,3414818462235750820);
INSERT INTO timer VALUES(1821300716298,8,1,-1,7350728549542067697);
INSERT INTO timer VALUES(1821300716314,9,1,-1,9020406067118790151);
INSERT INTO timer VALUES(1821300716330,10,1,-1,NULL);
CREATE TABLE parked(      -- behind a running lane
  lane INT, stream INT, rank INT, place INT, id INT,
  PRIMARY KEY(lane, stream, rank, place, id)) WITHOUT ROWID, STRICT;
INSERT INTO parked VALUES(9020406067118790151,2,-4,1795380717930,13);
INSERT INTO parked VALUES(9020406067118790151,2,-1,1795380717909,12);
CREATE TABLE locked(      -- until: only after an extension
  id INTEGER PRIMARY KEY, token INT NOT NULL, owner INT NOT NULL, stream INT NOT NULL,
  lane INT, until INT,
  edited INT NOT NULL DEFAULT 0) STRICT;
INSERT INTO locked VALUES(4,4,3,4,9020406067118790151,NULL,0);
INSERT INTO locked VALUES(5,5,3,2,9020406067118790151,NULL,0);
CREATE TABLE limited(     -- the runs of definitions with a limit, also those whose lock was taken
  definition INT, token INT, id INT NOT NULL, owner INT NOT NULL,
  PRIMARY KEY(definition, token)) WITHOUT ROWID, STRICT;
CREATE TABLE lane(        -- a row while the lane runs; token: of its item's first job
  id INTEGER PRIMARY KEY, token INT NOT NULL, owner INT NOT NULL) STRICT;
INSERT INTO lane VALUES(9020406067118790151,4,3);
CREATE TABLE ended(
  seq INTEGER PRIMARY KEY, job INT NOT NULL, stream INT NOT NULL, outcome INT NOT NULL,
  executor INT, started INT, at INT NOT NULL, retries INT, attempt INT,
  message TEXT, result TEXT,
  created INT, due INT, priority INT, batch INT, -- as the job's row had them
  removal INT,        -- when it goes; absent: by the time to live
  -- to what it belonged, copied from the job: absent, if it named none
  instance TEXT, root_instance TEXT, activity TEXT, tenant TEXT, lane_key TEXT) STRICT;
INSERT INTO ended VALUES(1,2,2,1,2,1795380716162,1795380716162,3,1,NULL,'{"ok":true}',1795380716114,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE ended_by_job(job INT, seq INT, PRIMARY KEY(job, seq)) WITHOUT ROWID, STRICT;
INSERT INTO ended_by_job VALUES(2,1);
CREATE TABLE ended_by_instance( -- of those that have one
  instance TEXT, seq INT, PRIMARY KEY(instance, seq)) WITHOUT ROWID, STRICT;
CREATE TABLE attempt(     -- failures only
  job INT, n INT, at INT, stream INT, executor INT, started INT, retries INT, due INT,
  priority INT, reason INT, message TEXT, stack TEXT, batch INT,
  instance TEXT, root_instance TEXT, activity TEXT, tenant TEXT, lane_key TEXT,
  PRIMARY KEY(job, n)) WITHOUT ROWID, STRICT;
INSERT INTO attempt VALUES(3,1,1795380716162,3,2,1795380716162,2,NULL,0,0,'handlers/broken.lua:1: broken on purpose',replace('handlers/broken.lua:1: broken on purpose\nstack traceback:\n	[C]: in function ''error''\n	handlers/broken.lua:1: in function <handlers/broken.lua:1>','\n',char(10)),NULL,'order-9',NULL,NULL,'acme','order-9');
INSERT INTO attempt VALUES(3,2,1795380716169,3,2,1795380716169,1,1795380716162,0,0,'handlers/broken.lua:1: broken on purpose',replace('handlers/broken.lua:1: broken on purpose\nstack traceback:\n	[C]: in function ''error''\n	handlers/broken.lua:1: in function <handlers/broken.lua:1>','\n',char(10)),NULL,'order-9',NULL,NULL,'acme','order-9');
CREATE TABLE line(        -- what a run has printed: texts (JSON); seq: the number of the last one
  job INT, n INT, seq INT, at INT, lines TEXT, PRIMARY KEY(job, n, seq)) WITHOUT ROWID, STRICT;
CREATE TABLE progress(job INTEGER PRIMARY KEY, fraction REAL, text TEXT, at INT) STRICT;
INSERT INTO progress VALUES(4,0.5,'half',1795380716613);
CREATE TABLE incident(
  id INTEGER PRIMARY KEY, type TEXT NOT NULL, job INT, definition INT,
  activity TEXT, failed_activity TEXT, message TEXT,
  cause INT, root_cause INT, -- incidents
  created INT NOT NULL, ended INT, how INT, note TEXT,
  instance TEXT, root_instance TEXT, tenant TEXT, lane_key TEXT,
  instance_id INT,           -- of a process
  removal INT) STRICT;
INSERT INTO incident VALUES(1,'failedJob',3,14,NULL,NULL,'handlers/broken.lua:1: broken on purpose',1,1,1795380716169,NULL,NULL,NULL,'order-9',NULL,'acme','order-9',NULL,NULL);
CREATE TABLE suspended_instance(instance TEXT PRIMARY KEY, at INT NOT NULL) WITHOUT ROWID, STRICT;
INSERT INTO suspended_instance VALUES('order-11',1795380716370);
CREATE TABLE operation(
  id INTEGER PRIMARY KEY, at INT, who TEXT, verb TEXT, entity TEXT, count INT,
  old TEXT, new TEXT,
  query TEXT, jobs TEXT, batch INT) STRICT;
INSERT INTO operation VALUES(1,1795380716370,'root','suspend_instance','instance "order-11"',1,'active','suspended',NULL,'[11]',NULL);
CREATE TABLE unique_key(
  definition INT, key TEXT, job INT NOT NULL, until INT,
  PRIMARY KEY(definition, key)) WITHOUT ROWID, STRICT;
INSERT INTO unique_key VALUES(15,'one',10,NULL);
CREATE TABLE lane_backlog(   -- kept only where a lane's backlog has a limit
  definition INT, lane INT, waiting INT NOT NULL, PRIMARY KEY(definition, lane))
  WITHOUT ROWID, STRICT;
CREATE TABLE rate(        -- the latest starts; at: the least there is: free; slot: the start's token
  definition INT, at INT, slot INT, PRIMARY KEY(definition, at, slot)) WITHOUT ROWID, STRICT;
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
INSERT INTO executor VALUES(1,'vm',1795380716063,1795381016063,1795380716063,NULL,NULL,NULL,0,0,'{"by_priority":true,"prefer_timers":false,"by_due_date":true,"ensure_due_date":false,"aging":0,"workers":2,"acquisition":"default","deployment":1,"handlers":["batch/activate","batch/cancel-jobs","batch/dead-letter","batch/delete-history","batch/delete-jobs","batch/enqueue","batch/recalculate-due-date","batch/set-cycle","batch/set-due-date","batch/set-job-priority","batch/set-job-retries","batch/set-removal-time","batch/suspend","broken","fine","log","moonshift/batch_monitor","moonshift/batch_seed","moonshift/history_cleanup","moonshift/hook","moonshift/operate","noop","slow"],"queue":4096}',0,0,10186,'0.1.0','82bd5134-7f95-44b9-b377-13f78b5cbbc3',12474531);
INSERT INTO executor VALUES(2,'vm',1795380716151,1795381016151,1795380716151,NULL,NULL,NULL,0,0,'{"by_priority":true,"prefer_timers":false,"by_due_date":true,"ensure_due_date":false,"aging":0,"workers":2,"acquisition":"default","deployment":1,"handlers":["batch/activate","batch/cancel-jobs","batch/dead-letter","batch/delete-history","batch/delete-jobs","batch/enqueue","batch/recalculate-due-date","batch/set-cycle","batch/set-due-date","batch/set-job-priority","batch/set-job-retries","batch/set-removal-time","batch/suspend","broken","fine","log","moonshift/batch_monitor","moonshift/batch_seed","moonshift/history_cleanup","moonshift/hook","moonshift/operate","noop","slow"],"queue":4096}',0,0,10195,'0.1.0','82bd5134-7f95-44b9-b377-13f78b5cbbc3',12474619);
INSERT INTO executor VALUES(3,'vm',1795380716386,1795381016386,1795380716386,NULL,NULL,NULL,0,1,'{"by_priority":true,"prefer_timers":false,"by_due_date":true,"ensure_due_date":false,"aging":0,"workers":2,"acquisition":"default","deployment":1,"handlers":["batch/activate","batch/cancel-jobs","batch/dead-letter","batch/delete-history","batch/delete-jobs","batch/enqueue","batch/recalculate-due-date","batch/set-cycle","batch/set-due-date","batch/set-job-priority","batch/set-job-retries","batch/set-removal-time","batch/suspend","broken","fine","log","moonshift/batch_monitor","moonshift/batch_seed","moonshift/history_cleanup","moonshift/hook","moonshift/operate","noop","slow"],"queue":4096}',0,0,10222,'0.1.0','82bd5134-7f95-44b9-b377-13f78b5cbbc3',12474855);
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
INSERT INTO cycle VALUES(1,'UTC',0,1795380716054,0,1795467116054,0,3,'nightly');
CREATE TABLE schedule(           -- what the files in schedules/ declare
  name TEXT PRIMARY KEY, source TEXT NOT NULL, -- source: the name of the deployment it came with
  spec TEXT NOT NULL,            -- as declared, in JSON
  paused INT NOT NULL DEFAULT 0, last INT,
  job INT) WITHOUT ROWID, STRICT;
INSERT INTO schedule VALUES('nightly','gold5','{"cycle":"R/P1D","handler":"fine"}',0,NULL,1);
CREATE TABLE occurrence(         -- runs of schedules that have begun and may not have ended
  job INTEGER PRIMARY KEY, schedule TEXT NOT NULL, begun INT NOT NULL,
  token INT, owner INT) STRICT;
CREATE TABLE tray(        -- jobs that were written for other processes: the latest of each place there
  place INTEGER PRIMARY KEY, ticket INT NOT NULL, job INT NOT NULL,
  creation INT NOT NULL) STRICT;
CREATE TABLE metric(
  executor INT, definition INT, name INT, value INT,
  PRIMARY KEY(executor, definition, name)) WITHOUT ROWID, STRICT;
INSERT INTO metric VALUES(2,0,0,2);
INSERT INTO metric VALUES(2,0,1,3);
INSERT INTO metric VALUES(2,0,4,1);
INSERT INTO metric VALUES(2,0,5,2);
INSERT INTO metric VALUES(2,14,1,2);
INSERT INTO metric VALUES(2,14,5,2);
INSERT INTO metric VALUES(2,15,1,1);
INSERT INTO metric VALUES(2,15,4,1);
INSERT INTO metric VALUES(3,0,0,1);
INSERT INTO metric VALUES(3,0,1,2);
INSERT INTO metric VALUES(3,15,1,1);
INSERT INTO metric VALUES(3,23,1,1);
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
INSERT INTO location VALUES(1,65024,10103083,'/var/lib/moonshift/gold5.db');
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
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('executor',3);
CREATE INDEX job_dead ON job(id) WHERE retries=0;
CREATE INDEX job_suspended ON job(stream, id) WHERE suspended<>0;
CREATE INDEX job_batch ON job(batch, id) WHERE batch IS NOT NULL;
CREATE INDEX job_instance ON job(instance, id) WHERE instance IS NOT NULL;
CREATE INDEX ended_removal ON ended(removal) WHERE removal IS NOT NULL;
CREATE INDEX attempt_at ON attempt(at);
CREATE INDEX attempt_instance ON attempt(instance, at) WHERE instance IS NOT NULL;
CREATE UNIQUE INDEX incident_open ON incident(job, type) WHERE ended IS NULL;
CREATE UNIQUE INDEX incident_handler ON incident(definition, type)
  WHERE ended IS NULL AND job IS NULL;
CREATE INDEX incident_ended ON incident(ended) WHERE ended IS NOT NULL;
CREATE INDEX incident_removal ON incident(removal) WHERE removal IS NOT NULL;
CREATE INDEX incident_instance ON incident(instance) WHERE instance IS NOT NULL;
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
