-- From schema version 5 to 6.

-- A job of a process names its instance, and where in the instance it belongs.
ALTER TABLE job ADD COLUMN instance_id INT;
ALTER TABLE job ADD COLUMN execution INT;
CREATE INDEX job_execution ON job(instance_id, execution) WHERE instance_id IS NOT NULL;
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

-- Of jobs that are ready already it stays unknown.
ALTER TABLE ready ADD COLUMN plain INT;
