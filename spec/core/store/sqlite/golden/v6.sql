-- A store of schema version 6: an instance at a user task and one that waits for a message, a message
-- that is kept, one job dead with its incident, three of a lane of an executor that was killed, a
-- schedule, a timer with a key, and a ready job with a tenant.
PRAGMA application_id=1299148654; PRAGMA user_version=6;
BEGIN TRANSACTION;
CREATE TABLE meta(key TEXT PRIMARY KEY, value ANY) WITHOUT ROWID, STRICT;
INSERT INTO meta VALUES('catalog',7);
INSERT INTO meta VALUES('executors',6);
INSERT INTO meta VALUES('filed',3);
INSERT INTO meta VALUES('next_id',140);
INSERT INTO meta VALUES('next_token',13);
INSERT INTO meta VALUES('trail_filed',5);
CREATE TABLE deployment(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL, loaded INT NOT NULL,
  UNIQUE(name, hash)) STRICT;
INSERT INTO deployment VALUES(1,'gold','6261626218c7fb7d971061fd86b9d58dab39f5910e1148b6b8cb620315d9863b',1795750171854);
CREATE TABLE deployment_file(
  deployment INT, path TEXT, text TEXT, PRIMARY KEY(deployment, path)) WITHOUT ROWID, STRICT;
INSERT INTO deployment_file VALUES(1,'handlers/broken.lua',replace('return { retry="R2/PT0S", run=function(job) error("broken on purpose") end }\n','\n',char(10)));
INSERT INTO deployment_file VALUES(1,'handlers/fine.lua',replace('return function(job) return {ok=true} end\n','\n',char(10)));
INSERT INTO deployment_file VALUES(1,'handlers/slow.lua',replace('return function(job) os.execute("sleep 30") end\n','\n',char(10)));
INSERT INTO deployment_file VALUES(1,'processes/order.lua',replace('local step, task, choose, parallel, each, receive = require "moonshift.process".words()\nreturn { step "book" { run = "fine", async = true }, task "approve" {}, receive "paid" { message = "paid", key = "${instance.key}" }, step "ship" { run = "fine", async = true } }\n','\n',char(10)));
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
INSERT INTO definition VALUES(23,'process/order/book',1,'{"backlog":null,"category":null,"file":"processes/order.lua","lane_backlog":null,"limit":null,"name":"process/order/book","on_conflict":null,"priority":null,"properties":{"activity":"book","configuration":"async-before","kind":"async-before","process":"order"},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(24,'process/order/ship',1,'{"backlog":null,"category":null,"file":"processes/order.lua","lane_backlog":null,"limit":null,"name":"process/order/ship","on_conflict":null,"priority":null,"properties":{"activity":"ship","configuration":"async-before","kind":"async-before","process":"order"},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(25,'process/order:command',1,'{"backlog":null,"category":null,"file":"processes/order.lua","lane_backlog":null,"limit":null,"name":"process/order:command","on_conflict":null,"priority":null,"properties":{"kind":"command","process":"order"},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
INSERT INTO definition VALUES(26,'slow',1,'{"backlog":null,"category":null,"file":"handlers/slow.lua","lane_backlog":null,"limit":null,"name":"slow","on_conflict":null,"priority":null,"properties":{},"rate":null,"retries":null,"retry":null,"timeout":"PT5M","unique":null,"unique_for":null}',NULL,0,NULL);
CREATE TABLE stream(
  id INTEGER PRIMARY KEY, definition INT NOT NULL, deployment INT NOT NULL DEFAULT 0,
  category TEXT NOT NULL DEFAULT '', type INT NOT NULL,
  topic TEXT NOT NULL DEFAULT '', -- under which workers outside ask for its jobs
  UNIQUE(definition, deployment, category, type, topic)) STRICT;
INSERT INTO stream VALUES(1,15,1,'',1,'');
INSERT INTO stream VALUES(2,23,1,'',0,'');
INSERT INTO stream VALUES(3,15,1,'',0,'');
INSERT INTO stream VALUES(4,14,1,'',0,'');
INSERT INTO stream VALUES(5,26,1,'',0,'');
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
  execution INT) STRICT;
INSERT INTO job VALUES(1,1,1,0,1795836571854,1795750171854,1795836571854,3,1,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'R/P1D',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO job VALUES(131,3,4,0,1795750172018,1795750171943,1795750172018,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'handlers/broken.lua:1: broken on purpose',NULL,NULL,NULL);
INSERT INTO job VALUES(132,1,1,0,1795753771966,1795750171966,1795753771966,3,1,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'k',NULL,NULL,'PT1H',NULL,NULL);
INSERT INTO job VALUES(136,1,5,0,NULL,1795750172139,1795750172139,3,1,0,0,625172449055715726,'l1',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO job VALUES(137,1,5,0,NULL,1795750172166,1795750172166,3,1,0,0,625172449055715726,'l1',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO job VALUES(138,1,5,0,NULL,1795750172193,1795750172193,3,1,0,0,625172449055715726,'l1',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE ready(       -- rank = ~priority
  stream INT, rank INT, place INT, id INT, lane INT,
  plain INT,              -- 1: nothing in its row decides whether it may be taken
  PRIMARY KEY(stream, rank, place, id)) WITHOUT ROWID, STRICT;
CREATE TABLE timer(       -- future dates, retry delays
  due INT, id INT, stream INT, rank INT, lane INT,
  PRIMARY KEY(due, id)) WITHOUT ROWID, STRICT;
INSERT INTO timer VALUES(1795753771966,132,1,-1,NULL);
INSERT INTO timer VALUES(1795836571854,1,1,-1,NULL);
CREATE TABLE parked(      -- behind a running lane
  lane INT, stream INT, rank INT, place INT, id INT,
  PRIMARY KEY(lane, stream, rank, place, id)) WITHOUT ROWID, STRICT;
CREATE TABLE locked(      -- until: only after an extension
  id INTEGER PRIMARY KEY, token INT NOT NULL, owner INT NOT NULL, stream INT NOT NULL,
  lane INT, until INT,
  edited INT NOT NULL DEFAULT 0) STRICT;
INSERT INTO locked VALUES(136,9,2,5,625172449055715726,NULL,0);
INSERT INTO locked VALUES(137,10,2,5,625172449055715726,NULL,0);
INSERT INTO locked VALUES(138,11,2,5,625172449055715726,NULL,0);
CREATE TABLE limited(     -- the runs of definitions with a limit, also those whose lock was taken
  definition INT, token INT, id INT NOT NULL, owner INT NOT NULL, -- id 0: of jobs that share a place
  PRIMARY KEY(definition, token)) WITHOUT ROWID, STRICT;
CREATE TABLE lane(        -- a row while the lane runs; token: of its item's first job
  id INTEGER PRIMARY KEY, token INT NOT NULL, owner INT NOT NULL) STRICT;
INSERT INTO lane VALUES(625172449055715726,9,2);
CREATE TABLE ended(
  seq INTEGER PRIMARY KEY, job INT NOT NULL, stream INT NOT NULL, outcome INT NOT NULL,
  executor INT, started INT, at INT NOT NULL, retries INT, attempt INT,
  message TEXT, result TEXT,
  created INT, due INT, priority INT, batch INT, -- as the job's row had them
  removal INT,        -- when it goes; absent: by the time to live
  -- to what it belonged, copied from the job: absent, if it named none
  instance TEXT, root_instance TEXT, activity TEXT, tenant TEXT, lane_key TEXT) STRICT;
INSERT INTO ended VALUES(1,3,2,1,1,1795750172011,1795750172016,3,1,NULL,NULL,1795750171862,NULL,0,NULL,NULL,'2',NULL,'book',NULL,NULL);
INSERT INTO ended VALUES(2,67,2,1,1,1795750172011,1795750172016,3,1,NULL,NULL,1795750171894,NULL,0,NULL,NULL,'66',NULL,'book',NULL,NULL);
INSERT INTO ended VALUES(3,130,3,1,1,1795750172016,1795750172016,3,1,NULL,'{"ok":true}',1795750171915,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO ended VALUES(4,139,3,1,2,1795750172283,1795750172283,3,1,NULL,'{"ok":true}',1795750172222,NULL,0,NULL,NULL,NULL,NULL,NULL,'t',NULL);
CREATE TABLE ended_by_job(job INT, seq INT, PRIMARY KEY(job, seq)) WITHOUT ROWID, STRICT;
INSERT INTO ended_by_job VALUES(3,1);
INSERT INTO ended_by_job VALUES(67,2);
INSERT INTO ended_by_job VALUES(130,3);
CREATE TABLE ended_by_instance( -- of those that have one
  instance TEXT, seq INT, PRIMARY KEY(instance, seq)) WITHOUT ROWID, STRICT;
INSERT INTO ended_by_instance VALUES('2',1);
INSERT INTO ended_by_instance VALUES('66',2);
CREATE TABLE attempt(     -- failures only
  job INT, n INT, at INT, stream INT, executor INT, started INT, retries INT, due INT,
  priority INT, reason INT, message TEXT, stack TEXT, batch INT,
  instance TEXT, root_instance TEXT, activity TEXT, tenant TEXT, lane_key TEXT,
  PRIMARY KEY(job, n)) WITHOUT ROWID, STRICT;
INSERT INTO attempt VALUES(131,1,1795750172016,4,1,1795750172016,2,NULL,0,0,'handlers/broken.lua:1: broken on purpose',replace('handlers/broken.lua:1: broken on purpose\nstack traceback:\n	[C]: in function ''error''\n	handlers/broken.lua:1: in function <handlers/broken.lua:1>','\n',char(10)),NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO attempt VALUES(131,2,1795750172018,4,1,1795750172017,1,1795750172016,0,0,'handlers/broken.lua:1: broken on purpose',replace('handlers/broken.lua:1: broken on purpose\nstack traceback:\n	[C]: in function ''error''\n	handlers/broken.lua:1: in function <handlers/broken.lua:1>','\n',char(10)),NULL,NULL,NULL,NULL,NULL,NULL);
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
INSERT INTO incident VALUES(1,'failedJob',131,14,NULL,NULL,'handlers/broken.lua:1: broken on purpose',NULL,NULL,1795750172018,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE suspended_instance(instance TEXT PRIMARY KEY, at INT NOT NULL) WITHOUT ROWID, STRICT;
CREATE TABLE operation(
  id INTEGER PRIMARY KEY, at INT, who TEXT, verb TEXT, entity TEXT, count INT,
  old TEXT, new TEXT,
  query TEXT, jobs TEXT, batch INT, -- the filters (JSON), and which jobs: their ids or a batch
  instance INT) STRICT;
INSERT INTO operation VALUES(1,1795750171862,'root','start','process "order"',1,NULL,'instance 2',NULL,NULL,NULL,2);
INSERT INTO operation VALUES(2,1795750171894,'root','start','process "order"',1,NULL,'instance 66',NULL,NULL,NULL,66);
INSERT INTO operation VALUES(3,1795750172079,'root','complete','task 133',1,'open','completed at approve',NULL,NULL,NULL,2);
INSERT INTO operation VALUES(4,1795750172112,'root','correlate','message "other"',1,NULL,'kept until 2026-12-27T03:29:32.110Z',NULL,NULL,NULL,NULL);
CREATE TABLE unique_key(
  definition INT, key TEXT, job INT NOT NULL, until INT,
  PRIMARY KEY(definition, key)) WITHOUT ROWID, STRICT;
INSERT INTO unique_key VALUES(15,'k',132,NULL);
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
INSERT INTO executor VALUES(1,'vm',1795750171990,1795750471990,1795750171990,NULL,NULL,NULL,0,0,'{"by_priority":true,"prefer_timers":false,"by_due_date":true,"ensure_due_date":false,"aging":0,"workers":2,"acquisition":"default","deployment":1,"handlers":["batch/activate","batch/cancel-jobs","batch/dead-letter","batch/delete-history","batch/delete-jobs","batch/enqueue","batch/recalculate-due-date","batch/set-cycle","batch/set-due-date","batch/set-job-priority","batch/set-job-retries","batch/set-removal-time","batch/suspend","broken","fine","log","moonshift/batch_monitor","moonshift/batch_seed","moonshift/history_cleanup","moonshift/hook","moonshift/operate","noop","process/order/book","process/order/ship","process/order:command","slow"],"processes":["order"],"queue":4096}',0,0,7728,'0.1.0','5b929ff6-2977-4c97-906a-11fe35b00728',1616000);
INSERT INTO executor VALUES(2,'gold6',1795750172260,1795750472260,1795750172260,NULL,NULL,NULL,0,1,'{"by_priority":true,"prefer_timers":false,"by_due_date":true,"ensure_due_date":false,"aging":0,"workers":2,"acquisition":"default","deployment":1,"handlers":["batch/activate","batch/cancel-jobs","batch/dead-letter","batch/delete-history","batch/delete-jobs","batch/enqueue","batch/recalculate-due-date","batch/set-cycle","batch/set-due-date","batch/set-job-priority","batch/set-job-retries","batch/set-removal-time","batch/suspend","broken","fine","log","moonshift/batch_monitor","moonshift/batch_seed","moonshift/history_cleanup","moonshift/hook","moonshift/operate","noop","process/order/book","process/order/ship","process/order:command","slow"],"processes":["order"],"queue":4096}',0,0,7744,'0.1.0','5b929ff6-2977-4c97-906a-11fe35b00728',1616269);
CREATE TABLE registration(
  executor TEXT, deployment INT, PRIMARY KEY(executor, deployment)) WITHOUT ROWID, STRICT;
INSERT INTO registration VALUES('gold6',1);
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
INSERT INTO cycle VALUES(1,'UTC',0,1795750171854,0,1795836571854,0,3,'nightly');
CREATE TABLE schedule(           -- what the files in schedules/ declare
  name TEXT PRIMARY KEY, source TEXT NOT NULL, -- source: the name of the deployment it came with
  spec TEXT NOT NULL,            -- as declared, in JSON
  paused INT NOT NULL DEFAULT 0, last INT,
  job INT) WITHOUT ROWID, STRICT;
INSERT INTO schedule VALUES('nightly','gold','{"cycle":"R/P1D","handler":"fine"}',0,NULL,1);
CREATE TABLE occurrence(         -- runs of schedules that have begun and may not have ended
  job INTEGER PRIMARY KEY, schedule TEXT NOT NULL, begun INT NOT NULL,
  token INT, owner INT) STRICT;
CREATE TABLE tray(        -- jobs that were written for other processes: the latest of each place there
  place INTEGER PRIMARY KEY, ticket INT NOT NULL, job INT NOT NULL,
  creation INT NOT NULL) STRICT;
CREATE TABLE metric(
  executor INT, definition INT, name INT, value INT,
  PRIMARY KEY(executor, definition, name)) WITHOUT ROWID, STRICT;
INSERT INTO metric VALUES(1,0,0,2);
INSERT INTO metric VALUES(1,0,1,5);
INSERT INTO metric VALUES(1,0,4,3);
INSERT INTO metric VALUES(1,0,5,2);
INSERT INTO metric VALUES(1,14,1,2);
INSERT INTO metric VALUES(1,14,5,2);
INSERT INTO metric VALUES(1,15,1,1);
INSERT INTO metric VALUES(1,15,4,1);
INSERT INTO metric VALUES(1,23,1,2);
INSERT INTO metric VALUES(1,23,4,2);
INSERT INTO metric VALUES(2,0,0,1);
INSERT INTO metric VALUES(2,0,1,4);
INSERT INTO metric VALUES(2,0,4,1);
INSERT INTO metric VALUES(2,15,1,1);
INSERT INTO metric VALUES(2,15,4,1);
INSERT INTO metric VALUES(2,26,1,3);
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
INSERT INTO location VALUES(1,65024,9978106,'/tmp/gold/moonshift.db');
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
INSERT INTO process VALUES('order',1,0);
CREATE TABLE process_version(
  id INTEGER PRIMARY KEY, key TEXT NOT NULL, number INT NOT NULL, kind TEXT NOT NULL,
  hash TEXT NOT NULL, deployment INT NOT NULL, path TEXT NOT NULL, tag TEXT,
  properties TEXT NOT NULL, suspended INT NOT NULL DEFAULT 0, created INT NOT NULL,
  ttl INT,                -- ms that its instances are kept; absent: as jobs are
  UNIQUE(key, number), UNIQUE(key, hash)) STRICT;
INSERT INTO process_version VALUES(1,'order',1,'lua','74f95813a2660479558003bdcad1350578db15355ca705c31afbe884587f5e28',1,'processes/order.lua',NULL,'{"events":[],"timers":[]}',0,1795750171854,NULL);
CREATE TABLE instance(    -- rev: the token of the run that has written it; root, parent: instances
  id INTEGER PRIMARY KEY, version INT NOT NULL, rev INT NOT NULL, root INT, parent INT,
  started INT NOT NULL, key TEXT, tenant TEXT, frame TEXT NOT NULL) STRICT;
INSERT INTO instance VALUES(2,1,8,NULL,NULL,1795750171861,'o-1',NULL,'{"v":1,"next":3,"scopes":[[1,0,""]],"tokens":[[2,1,"paid","message"]]}');
INSERT INTO instance VALUES(66,1,4,NULL,NULL,1795750171892,'o-2',NULL,'{"v":1,"next":3,"scopes":[[1,0,""]],"tokens":[[2,1,"approve","task"]]}');
CREATE TABLE subscription( -- key '': any; of a start event: instance 0, and the version as token
  kind TEXT, name TEXT, key TEXT, instance INT, token INT, version INT NOT NULL,
  activity TEXT NOT NULL, created INT NOT NULL,
  PRIMARY KEY(kind, name, key, instance, token)) WITHOUT ROWID, STRICT;
INSERT INTO subscription VALUES('message','paid','o-1',2,2,1,'paid',1795750172079);
CREATE TABLE kept_message( -- for what will wait for it; key '': only for what takes any key
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, key TEXT NOT NULL, instance INT, business_key TEXT,
  variables TEXT, created INT NOT NULL, until INT NOT NULL) STRICT;
INSERT INTO kept_message VALUES(135,'other','k1',NULL,NULL,'{}',1795750172112,1798342172110);
CREATE TABLE user_task(   -- candidates: JSON
  id INTEGER PRIMARY KEY, instance INT NOT NULL, token INT NOT NULL, activity TEXT NOT NULL,
  name TEXT, assignee TEXT, candidates TEXT, due INT, priority INT NOT NULL, created INT NOT NULL,
  form TEXT) STRICT;
INSERT INTO user_task VALUES(134,66,2,'approve',NULL,NULL,NULL,NULL,0,1795750172017,NULL);
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
INSERT INTO trail VALUES(1,2,1795750171862,NULL,'[["s",2,"start",1795750171861],["e",2,"start",1795750171861],["f",2,"start->book"]]');
INSERT INTO trail VALUES(2,66,1795750171894,NULL,'[["s",2,"start",1795750171892],["e",2,"start",1795750171892],["f",2,"start->book"]]');
INSERT INTO trail VALUES(3,2,1795750172016,3,'[["s",2,"book",1795750172013],["e",2,"book",1795750172013],["f",2,"book->approve"],["s",2,"approve",1795750172013]]');
INSERT INTO trail VALUES(4,66,1795750172017,67,'[["s",2,"book",1795750172013],["e",2,"book",1795750172013],["f",2,"book->approve"],["s",2,"approve",1795750172013]]');
INSERT INTO trail VALUES(5,2,1795750172079,NULL,'[["e",2,"approve",1795750172078],["f",2,"approve->paid"],["s",2,"paid",1795750172078]]');
CREATE TABLE trail_of(instance INT, seq INT, PRIMARY KEY(instance, seq)) WITHOUT ROWID, STRICT;
INSERT INTO trail_of VALUES(2,1);
INSERT INTO trail_of VALUES(2,3);
INSERT INTO trail_of VALUES(2,5);
INSERT INTO trail_of VALUES(66,2);
INSERT INTO trail_of VALUES(66,4);
CREATE TABLE past(        -- instances that have ended; variables: as they were then (JSON)
  id INTEGER PRIMARY KEY, version INT NOT NULL, root INT, parent INT, started INT NOT NULL,
  ended INT NOT NULL, how TEXT NOT NULL, reason TEXT, key TEXT, tenant TEXT, variables TEXT,
  removal INT) STRICT;
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('executor',2);
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
