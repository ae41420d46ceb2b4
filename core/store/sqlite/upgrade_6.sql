-- From schema version 5 to 6.

-- Processes: what is known of them, what runs, what waits, and what was.
CREATE TABLE process(
  key TEXT PRIMARY KEY, current INT NOT NULL, suspended INT NOT NULL DEFAULT 0) WITHOUT ROWID, STRICT;
CREATE TABLE process_version(
  id INTEGER PRIMARY KEY, key TEXT NOT NULL, number INT NOT NULL, kind TEXT NOT NULL,
  hash TEXT NOT NULL, deployment INT NOT NULL, path TEXT NOT NULL, tag TEXT,
  properties TEXT NOT NULL, suspended INT NOT NULL DEFAULT 0, created INT NOT NULL,
  ttl INT, UNIQUE(key, number), UNIQUE(key, hash)) STRICT;
CREATE TABLE instance(
  id INTEGER PRIMARY KEY, version INT NOT NULL, rev INT NOT NULL, root INT, parent INT,
  started INT NOT NULL, key TEXT, tenant TEXT, frame TEXT NOT NULL) STRICT;
CREATE INDEX instance_version ON instance(version, id);
CREATE INDEX instance_parent ON instance(parent) WHERE parent IS NOT NULL;
CREATE INDEX instance_root ON instance(root) WHERE root IS NOT NULL;
CREATE INDEX instance_key ON instance(key) WHERE key IS NOT NULL;
CREATE TABLE subscription(
  kind TEXT, name TEXT, key TEXT, instance INT, token INT, version INT NOT NULL,
  activity TEXT NOT NULL, created INT NOT NULL,
  PRIMARY KEY(kind, name, key, instance, token)) WITHOUT ROWID, STRICT;
CREATE INDEX subscription_instance ON subscription(instance, token);
CREATE TABLE kept_message(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, key TEXT NOT NULL, instance INT, business_key TEXT,
  variables TEXT, created INT NOT NULL, until INT NOT NULL) STRICT;
CREATE INDEX kept_message_name ON kept_message(name, key, id);
CREATE INDEX kept_message_until ON kept_message(until);
CREATE TABLE user_task(
  id INTEGER PRIMARY KEY, instance INT NOT NULL, token INT NOT NULL, activity TEXT NOT NULL,
  name TEXT, assignee TEXT, candidates TEXT, due INT, priority INT NOT NULL, created INT NOT NULL,
  form TEXT) STRICT;
CREATE INDEX user_task_instance ON user_task(instance, token);
CREATE INDEX user_task_assignee ON user_task(assignee) WHERE assignee IS NOT NULL;
CREATE TABLE searched(
  instance INT, name TEXT, text TEXT, number REAL, whole INT,
  PRIMARY KEY(instance, name)) WITHOUT ROWID, STRICT;
CREATE INDEX searched_text ON searched(name, text, instance) WHERE text IS NOT NULL;
CREATE INDEX searched_number ON searched(name, number, instance) WHERE number IS NOT NULL;
CREATE INDEX searched_whole ON searched(name, whole, instance) WHERE whole IS NOT NULL;
CREATE TABLE searched_name(
  name TEXT, version INT, PRIMARY KEY(name, version)) WITHOUT ROWID, STRICT;
CREATE TABLE large_value(
  instance INT, n INT, name TEXT NOT NULL, data TEXT NOT NULL, PRIMARY KEY(instance, n)) STRICT;
CREATE TABLE trail(
  seq INTEGER PRIMARY KEY, instance INT NOT NULL, at INT NOT NULL, job INT,
  events TEXT NOT NULL) STRICT;
CREATE TABLE trail_of(instance INT, seq INT, PRIMARY KEY(instance, seq)) WITHOUT ROWID, STRICT;
CREATE TABLE past(
  id INTEGER PRIMARY KEY, version INT NOT NULL, root INT, parent INT, started INT NOT NULL,
  ended INT NOT NULL, how TEXT NOT NULL, reason TEXT, key TEXT, tenant TEXT, variables TEXT,
  removal INT) STRICT;
CREATE INDEX past_removal ON past(removal) WHERE removal IS NOT NULL;

-- A job of a process names its instance, and where in the instance it belongs.
ALTER TABLE job ADD COLUMN instance_id INT;
ALTER TABLE job ADD COLUMN execution INT;
CREATE INDEX job_execution ON job(instance_id, execution) WHERE instance_id IS NOT NULL;
ALTER TABLE operation ADD COLUMN instance INT;
CREATE INDEX incident_process ON incident(instance_id) WHERE instance_id IS NOT NULL;

-- The topic is part of what a stream is.
CREATE TABLE stream_of_topics(
  id INTEGER PRIMARY KEY, definition INT NOT NULL, deployment INT NOT NULL DEFAULT 0,
  category TEXT NOT NULL DEFAULT '', type INT NOT NULL, topic TEXT NOT NULL DEFAULT '',
  UNIQUE(definition, deployment, category, type, topic)) STRICT;
INSERT INTO stream_of_topics(id, definition, deployment, category, type)
  SELECT id, definition, deployment, category, type FROM stream;
DROP TABLE stream;
ALTER TABLE stream_of_topics RENAME TO stream;

-- One bit of a lane's number tells instances of processes from keys.
UPDATE job SET lane=lane-(1<<62) WHERE lane>=(1<<62);
UPDATE ready SET lane=lane-(1<<62) WHERE lane>=(1<<62);
UPDATE timer SET lane=lane-(1<<62) WHERE lane>=(1<<62);
UPDATE parked SET lane=lane-(1<<62) WHERE lane>=(1<<62);
UPDATE locked SET lane=lane-(1<<62) WHERE lane>=(1<<62);
UPDATE OR REPLACE lane SET id=id-(1<<62) WHERE id>=(1<<62);
UPDATE OR REPLACE lane_backlog SET lane=lane-(1<<62) WHERE lane>=(1<<62);
UPDATE stuck SET lane=lane-(1<<62) WHERE lane>=(1<<62);

-- Starts under a rate are counted by the instant: one by one they cost a row each.
ALTER TABLE rate RENAME TO rate_start;
CREATE TABLE rate(
  definition INT, at INT, n INT NOT NULL, PRIMARY KEY(definition, at)) WITHOUT ROWID, STRICT;
INSERT INTO rate SELECT definition, at, slot FROM rate_start WHERE definition=0;
INSERT INTO rate SELECT DISTINCT definition, -9223372036854775807-1, 0 FROM rate_start
  WHERE definition<>0;
INSERT INTO rate SELECT definition, at, sum(count(*)) OVER (PARTITION BY definition ORDER BY at)
  FROM rate_start WHERE definition<>0 AND at>-9223372036854775807-1 GROUP BY definition, at;
DROP TABLE rate_start;

CREATE VIEW locks AS SELECT id, token, owner, stream, lane, until, edited FROM locked;

-- Of jobs that are ready already it stays unknown.
ALTER TABLE ready ADD COLUMN plain INT;

-- Jobs whose executor vanished with its machine.
CREATE TABLE suspect(job INTEGER PRIMARY KEY, token INT, started INT) STRICT;
CREATE INDEX suspect_begun ON suspect(job) WHERE token IS NOT NULL;
