-- From schema version 7 to 8.

-- A run of a schedule keeps the schedule's name, and so does what is written about it.
ALTER TABLE job ADD COLUMN schedule TEXT;
ALTER TABLE ended ADD COLUMN schedule TEXT;
ALTER TABLE attempt ADD COLUMN schedule TEXT;
ALTER TABLE snooze ADD COLUMN schedule TEXT;
ALTER TABLE incident ADD COLUMN schedule TEXT;
UPDATE job SET schedule=(SELECT schedule FROM cycle WHERE job=job.id)
  WHERE id IN (SELECT job FROM cycle WHERE schedule IS NOT NULL);
UPDATE job SET schedule=(SELECT schedule FROM occurrence WHERE job=job.id)
  WHERE id IN (SELECT job FROM occurrence);
CREATE INDEX job_schedule ON job(schedule, id) WHERE schedule IS NOT NULL;
CREATE INDEX ended_schedule ON ended(schedule, seq) WHERE schedule IS NOT NULL;
CREATE INDEX attempt_schedule ON attempt(schedule, at) WHERE schedule IS NOT NULL;

-- Failures of one schedule are one incident while it is open.
ALTER TABLE incident ADD COLUMN count INT NOT NULL DEFAULT 1;
ALTER TABLE incident ADD COLUMN seen INT;
CREATE UNIQUE INDEX incident_schedule ON incident(schedule, type)
  WHERE ended IS NULL AND schedule IS NOT NULL;

-- An operator's limit and rate of a definition.
ALTER TABLE definition ADD COLUMN override_limit INT;
ALTER TABLE definition ADD COLUMN override_rate TEXT;

-- Jobs that transactions of other programs ask for; used on a server.
CREATE TABLE outbox(
  id INTEGER PRIMARY KEY,
  place INT, at INT NOT NULL, handler TEXT NOT NULL, payload TEXT, options TEXT,
  incident INT) STRICT;
CREATE INDEX outbox_place ON outbox(place) WHERE incident IS NULL;
CREATE INDEX outbox_incident ON outbox(incident) WHERE incident IS NOT NULL;

-- Turns of large bodies stand outside of the frame of their instance.
CREATE TABLE body(
  id INTEGER PRIMARY KEY, instance INT NOT NULL, token INT NOT NULL, version INT NOT NULL,
  activity TEXT NOT NULL, turns INT NOT NULL, ended INT NOT NULL,
  closed INT NOT NULL DEFAULT 0) STRICT;
CREATE INDEX body_instance ON body(instance);
CREATE TABLE body_turn(
  id INTEGER PRIMARY KEY, body INT NOT NULL, rev INT NOT NULL, frame TEXT NOT NULL) STRICT;
CREATE INDEX body_turn_body ON body_turn(body, id);

-- A change of a task calls listeners of its process.
ALTER TABLE user_task ADD COLUMN listens INT NOT NULL DEFAULT 0;

-- The job that brings a signal has the priority of what waits for it.
ALTER TABLE subscription ADD COLUMN priority INT;

-- Workers outside have rows as executors have. Jobs of a topic are found by it.
ALTER TABLE executor ADD COLUMN kind INT NOT NULL DEFAULT 0;
ALTER TABLE executor ADD COLUMN topics TEXT;
CREATE INDEX executor_worker ON executor(name, id) WHERE kind=1 AND state<>0;
CREATE INDEX executor_worker_seen ON executor(state, seen, id) WHERE kind=1;
UPDATE stream SET topic=substr((SELECT name FROM definition d WHERE d.id=stream.definition), 7)
  WHERE definition IN (SELECT id FROM definition WHERE substr(name, 1, 6)='topic/');
CREATE INDEX locked_until ON locked(stream, until) WHERE until IS NOT NULL;

-- What a caller over HTTP shows.
CREATE TABLE api_token(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL UNIQUE, hint TEXT NOT NULL,
  scopes TEXT NOT NULL, tenant TEXT, handlers TEXT, rate TEXT,
  created INT NOT NULL, expires INT, used INT, revoked INT) STRICT;
CREATE UNIQUE INDEX api_token_name ON api_token(name) WHERE revoked IS NULL;

-- Instances are found by when they ended.
CREATE INDEX past_ended ON past(ended);

-- How many jobs of each stream are where.
INSERT INTO meta(key, value)
  SELECT 'waiting/ready/' || stream, count(*) FROM ready GROUP BY stream
  UNION ALL SELECT 'waiting/timer/' || stream, count(*) FROM timer GROUP BY stream
  UNION ALL SELECT 'waiting/parked/' || stream, count(*) FROM parked GROUP BY stream;
CREATE VIEW occupancy(stream, ready, timer, parked) AS
  SELECT CAST(substr(key, 15) AS INT), value, 0, 0 FROM meta
    WHERE key>'waiting/ready/' AND key<'waiting/ready0'
  UNION ALL SELECT CAST(substr(key, 15) AS INT), 0, value, 0 FROM meta
    WHERE key>'waiting/timer/' AND key<'waiting/timer0'
  UNION ALL SELECT CAST(substr(key, 16) AS INT), 0, 0, value FROM meta
    WHERE key>'waiting/parked/' AND key<'waiting/parked0';

-- What need not be read again of folders.
CREATE TABLE folder_mark(mark TEXT PRIMARY KEY, deployment INT NOT NULL) WITHOUT ROWID, STRICT;
CREATE TABLE folder_models(
  deployment INTEGER PRIMARY KEY, program TEXT NOT NULL, found TEXT NOT NULL) STRICT;

-- A job keeps the trace of the request that it comes from.
ALTER TABLE job ADD COLUMN trace TEXT;

-- A unique key outlives its job, and keeps its tenant.
ALTER TABLE unique_key ADD COLUMN tenant TEXT;
UPDATE unique_key SET tenant=(SELECT j.tenant FROM job j WHERE j.id=unique_key.job);
UPDATE unique_key SET tenant=e.tenant FROM ended e
  WHERE e.job=unique_key.job AND e.tenant IS NOT NULL AND unique_key.until IS NOT NULL;
