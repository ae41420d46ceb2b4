-- A store of schema version 1: one job succeeded, one dead with its incident, two of a lane, one
-- scheduled, one suspended.
PRAGMA application_id=1299148654; PRAGMA user_version=1;
BEGIN TRANSACTION;
CREATE TABLE meta(key TEXT PRIMARY KEY, value ANY) WITHOUT ROWID, STRICT;
INSERT INTO meta VALUES('catalog',6);
INSERT INTO meta VALUES('executors',3);
INSERT INTO meta VALUES('next_id',7);
INSERT INTO meta VALUES('next_token',4);
CREATE TABLE deployment(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL, loaded INT NOT NULL,
  UNIQUE(name, hash)) STRICT;
INSERT INTO deployment VALUES(1,'gold','744450b66a1bc3efab9daede930aed745b69fd241225b4d93a22d7dc8d2062c4',1795246913373);
CREATE TABLE deployment_file(
  deployment INT, path TEXT, text TEXT, PRIMARY KEY(deployment, path)) WITHOUT ROWID, STRICT;
INSERT INTO deployment_file VALUES(1,'handlers/broken.lua',replace('return { retry="R2/PT0S", run=function(job) error("broken on purpose") end }\n','\n',char(10)));
INSERT INTO deployment_file VALUES(1,'handlers/fine.lua',replace('return function(job) return {ok=true} end\n','\n',char(10)));
CREATE TABLE definition(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
  deployment INT,     -- the newest that has it; absent: only ever named by a job
  properties TEXT NOT NULL,
  override_priority INT, suspended INT NOT NULL DEFAULT 0,
  waiting INT) STRICT;
INSERT INTO definition VALUES(1,'broken',1,'{"category":null,"file":"handlers/broken.lua","name":"broken","priority":null,"properties":{},"retries":2,"retry":"R2/PT0S","timeout":"PT5M"}',NULL,0,NULL);
INSERT INTO definition VALUES(2,'fine',1,'{"category":null,"file":"handlers/fine.lua","name":"fine","priority":null,"properties":{},"retries":null,"retry":null,"timeout":"PT5M"}',NULL,0,NULL);
INSERT INTO definition VALUES(3,'log',1,'{"category":null,"file":"handlers/log.lua","name":"log","priority":null,"properties":{},"retries":null,"retry":null,"timeout":"PT5M"}',NULL,0,NULL);
INSERT INTO definition VALUES(4,'noop',1,'{"category":null,"file":"handlers/noop.lua","name":"noop","priority":null,"properties":{},"retries":null,"retry":null,"timeout":"PT5M"}',NULL,0,NULL);
INSERT INTO definition VALUES(5,'shell',1,'{"category":null,"file":"handlers/shell.lua","name":"shell","priority":null,"properties":{},"retries":null,"retry":null,"timeout":"PT5M"}',NULL,0,NULL);
CREATE TABLE stream(
  id INTEGER PRIMARY KEY, definition INT NOT NULL, deployment INT NOT NULL DEFAULT 0,
  category TEXT NOT NULL DEFAULT '', type INT NOT NULL,
  UNIQUE(definition, deployment, category, type)) STRICT;
INSERT INTO stream VALUES(1,2,1,'',0);
INSERT INTO stream VALUES(2,1,1,'',0);
INSERT INTO stream VALUES(3,2,1,'',1);
CREATE TABLE job(
  id INTEGER PRIMARY KEY, rev INT NOT NULL DEFAULT 1, stream INT NOT NULL,
  priority INT NOT NULL, due INT, created INT NOT NULL,
  place INT NOT NULL, -- coalesce(due, created); under fair share the tenant's turn
  retries INT NOT NULL, attempt INT NOT NULL DEFAULT 1, crashes INT NOT NULL DEFAULT 0,
  suspended INT NOT NULL DEFAULT 0,
  lane INT,           -- 63-bit hash of the key; absent: not exclusive
  lane_key TEXT, instance TEXT, root TEXT, activity TEXT, tenant TEXT, batch INT,
  repeat TEXT, repeat_done INT, unique_key TEXT, payload BLOB, message TEXT) STRICT;
INSERT INTO job VALUES(2,3,2,5,1795246913388,1795246913378,1795246913388,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'7b7d','handlers/broken.lua:1: broken on purpose');
INSERT INTO job VALUES(3,1,1,0,NULL,1795246913395,1795246913395,3,1,0,0,3414815163700866189,'a',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'7b226e223a337d',NULL);
INSERT INTO job VALUES(4,1,1,0,NULL,1795246913400,1795246913400,3,1,0,0,3414815163700866189,'a',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'7b226e223a347d',NULL);
INSERT INTO job VALUES(5,1,3,0,1795333313405,1795246913405,1795333313405,3,1,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'7b226e223a357d',NULL);
INSERT INTO job VALUES(6,2,1,0,NULL,1795246913410,1795246913410,3,1,0,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'7b226e223a367d',NULL);
CREATE TABLE ready(       -- rank = ~priority
  stream INT, rank INT, place INT, id INT, lane INT,
  PRIMARY KEY(stream, rank, place, id)) WITHOUT ROWID, STRICT;
INSERT INTO ready VALUES(1,-1,1795246913395,3,3414815163700866189);
INSERT INTO ready VALUES(1,-1,1795246913400,4,3414815163700866189);
CREATE TABLE timer(       -- future dates, retry delays
  due INT, id INT, stream INT, rank INT, lane INT,
  PRIMARY KEY(due, id)) WITHOUT ROWID, STRICT;
INSERT INTO timer VALUES(1795333313405,5,3,-1,NULL);
CREATE TABLE parked(      -- behind a running lane
  lane INT, stream INT, rank INT, place INT, id INT,
  PRIMARY KEY(lane, stream, rank, place, id)) WITHOUT ROWID, STRICT;
CREATE TABLE locked(      -- until: only after an extension
  id INTEGER PRIMARY KEY, token INT NOT NULL, owner INT NOT NULL, stream INT NOT NULL,
  lane INT, until INT, cancel INT NOT NULL DEFAULT 0) STRICT;
CREATE TABLE lane(        -- a row while the lane runs; token: of its item's first job
  id INTEGER PRIMARY KEY, token INT NOT NULL, owner INT NOT NULL) STRICT;
CREATE TABLE ended(
  seq INTEGER PRIMARY KEY, job INT NOT NULL, stream INT NOT NULL, outcome INT NOT NULL,
  executor INT, started INT, at INT NOT NULL, retries INT, attempt INT,
  message TEXT, result TEXT) STRICT;
INSERT INTO ended VALUES(1,1,1,1,1,1795246913387,1795246913387,3,1,NULL,'{"ok":true}');
CREATE TABLE ended_by_job(job INT, seq INT, PRIMARY KEY(job, seq)) WITHOUT ROWID, STRICT;
CREATE TABLE attempt(     -- failures only
  job INT, n INT, at INT, stream INT, executor INT, started INT, retries INT, due INT,
  priority INT, reason INT, message TEXT, stack TEXT,
  PRIMARY KEY(job, n)) WITHOUT ROWID, STRICT;
INSERT INTO attempt VALUES(2,1,1795246913387,2,1,1795246913387,2,NULL,5,0,'handlers/broken.lua:1: broken on purpose',replace('handlers/broken.lua:1: broken on purpose\nstack traceback:\n	[C]: in function ''error''\n	handlers/broken.lua:1: in function <handlers/broken.lua:1>','\n',char(10)));
INSERT INTO attempt VALUES(2,2,1795246913388,2,1,1795246913388,1,1795246913387,5,0,'handlers/broken.lua:1: broken on purpose',replace('handlers/broken.lua:1: broken on purpose\nstack traceback:\n	[C]: in function ''error''\n	handlers/broken.lua:1: in function <handlers/broken.lua:1>','\n',char(10)));
CREATE TABLE line(
  job INT, n INT, seq INT, at INT, text TEXT, PRIMARY KEY(job, n, seq)) WITHOUT ROWID, STRICT;
CREATE TABLE progress(job INTEGER PRIMARY KEY, fraction REAL, text TEXT, at INT) STRICT;
CREATE TABLE incident(
  id INTEGER PRIMARY KEY, type TEXT NOT NULL, job INT, definition INT,
  activity TEXT, failed_activity TEXT, message TEXT, cause INT, root INT,
  created INT NOT NULL, ended INT, how INT, note TEXT) STRICT;
INSERT INTO incident VALUES(1,'failedJob',2,1,NULL,NULL,'handlers/broken.lua:1: broken on purpose',1,1,1795246913388,NULL,NULL,NULL);
CREATE TABLE operation(
  id INTEGER PRIMARY KEY, at INT, who TEXT, verb TEXT, entity TEXT, count INT,
  old TEXT, new TEXT) STRICT;
INSERT INTO operation VALUES(1,1795246986087,'operator','suspend','job 6',1,NULL,NULL);
CREATE TABLE unique_key(
  definition INT, key TEXT, job INT NOT NULL, until INT,
  PRIMARY KEY(definition, key)) WITHOUT ROWID, STRICT;
CREATE TABLE rate(definition INT, slot INT, at INT, PRIMARY KEY(definition, slot))
  WITHOUT ROWID, STRICT;
CREATE TABLE share(tenant TEXT PRIMARY KEY, turn INT NOT NULL) WITHOUT ROWID, STRICT;
CREATE TABLE executor(    -- id: its byte in the gate; state: 0 gone, 1 live, 2 overdue
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, started INT, lease INT NOT NULL,
  seen INT, range_min INT, range_max INT, categories TEXT, aware INT, state INT NOT NULL,
  settings TEXT) STRICT;
INSERT INTO executor VALUES(1,'node-1',1795246913384,1795247213384,1795246913384,NULL,NULL,NULL,0,0,NULL);
CREATE TABLE registration(
  executor TEXT, deployment INT, PRIMARY KEY(executor, deployment)) WITHOUT ROWID, STRICT;
INSERT INTO registration VALUES('node-1',1);
INSERT INTO registration VALUES('vm',1);
CREATE TABLE batch(       -- remaining = open + total - made
  id INTEGER PRIMARY KEY, type TEXT, config TEXT, total INT, made INT, open INT, failed INT,
  state INT, next_part INT, seed INT, execution INT, monitor INT, created INT, started INT,
  ended INT) STRICT;
CREATE TABLE batch_part(batch INT, n INT, ids BLOB, PRIMARY KEY(batch, n)) WITHOUT ROWID, STRICT;
CREATE TABLE schedule(
  name TEXT PRIMARY KEY, definition INT, cycle TEXT, zone TEXT, payload BLOB, policy TEXT,
  paused INT, last INT, next INT, job INT) WITHOUT ROWID, STRICT;
CREATE TABLE metric(
  executor INT, definition INT, name INT, value INT,
  PRIMARY KEY(executor, definition, name)) WITHOUT ROWID, STRICT;
INSERT INTO metric VALUES(1,0,0,2);
INSERT INTO metric VALUES(1,0,1,3);
INSERT INTO metric VALUES(1,0,4,1);
INSERT INTO metric VALUES(1,0,5,2);
INSERT INTO metric VALUES(1,1,1,2);
INSERT INTO metric VALUES(1,1,5,2);
INSERT INTO metric VALUES(1,2,1,1);
INSERT INTO metric VALUES(1,2,4,1);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('executor',1);
CREATE INDEX job_dead ON job(id) WHERE retries=0;
CREATE INDEX job_suspended ON job(stream, id) WHERE suspended<>0;
CREATE INDEX job_batch ON job(batch, id) WHERE batch IS NOT NULL;
CREATE UNIQUE INDEX incident_open ON incident(job, type) WHERE ended IS NULL;
COMMIT;
