-- From schema version 4 to 5.

-- To what an ended job, a failure, a snooze and an incident belonged.
ALTER TABLE ended ADD COLUMN instance TEXT;
ALTER TABLE ended ADD COLUMN root_instance TEXT;
ALTER TABLE ended ADD COLUMN activity TEXT;
ALTER TABLE ended ADD COLUMN tenant TEXT;
ALTER TABLE ended ADD COLUMN lane_key TEXT;
CREATE TABLE ended_by_instance(
  instance TEXT, seq INT, PRIMARY KEY(instance, seq)) WITHOUT ROWID, STRICT;
ALTER TABLE attempt ADD COLUMN instance TEXT;
ALTER TABLE attempt ADD COLUMN root_instance TEXT;
ALTER TABLE attempt ADD COLUMN activity TEXT;
ALTER TABLE attempt ADD COLUMN tenant TEXT;
ALTER TABLE attempt ADD COLUMN lane_key TEXT;
CREATE INDEX attempt_instance ON attempt(instance, at) WHERE instance IS NOT NULL;
ALTER TABLE snooze ADD COLUMN instance TEXT;
ALTER TABLE snooze ADD COLUMN root_instance TEXT;
ALTER TABLE snooze ADD COLUMN activity TEXT;
ALTER TABLE snooze ADD COLUMN tenant TEXT;
ALTER TABLE snooze ADD COLUMN lane_key TEXT;
ALTER TABLE incident RENAME COLUMN root TO root_cause;
ALTER TABLE incident ADD COLUMN instance TEXT;
ALTER TABLE incident ADD COLUMN root_instance TEXT;
ALTER TABLE incident ADD COLUMN tenant TEXT;
ALTER TABLE incident ADD COLUMN lane_key TEXT;
ALTER TABLE incident ADD COLUMN instance_id INT;
ALTER TABLE incident ADD COLUMN removal INT;
CREATE INDEX incident_removal ON incident(removal) WHERE removal IS NOT NULL;
CREATE INDEX incident_instance ON incident(instance) WHERE instance IS NOT NULL;
CREATE INDEX job_instance ON job(instance, id) WHERE instance IS NOT NULL;
ALTER TABLE batch ADD COLUMN removal INT;
ALTER TABLE batch ADD COLUMN held INT NOT NULL DEFAULT 0;
CREATE INDEX batch_removal ON batch(removal) WHERE removal IS NOT NULL;

-- Of jobs that are there it is known.
UPDATE attempt SET instance=j.instance, root_instance=j.root, activity=j.activity,
  tenant=j.tenant, lane_key=j.lane_key FROM job j WHERE j.id=attempt.job;
UPDATE snooze SET instance=j.instance, root_instance=j.root, activity=j.activity,
  tenant=j.tenant, lane_key=j.lane_key FROM job j WHERE j.id=snooze.job;
UPDATE incident SET instance=j.instance, root_instance=j.root, tenant=j.tenant,
  lane_key=j.lane_key FROM job j WHERE j.id=incident.job;

-- The lines of a run are one row from now on.
ALTER TABLE line RENAME COLUMN text TO lines;
UPDATE line SET lines=json_array(lines);

-- Few jobs meet conflicts, so the count has left the row. It is looked for where there is a message.
CREATE TABLE conflicts(   -- jobs whose latest runs ended with a conflict, and how many in a row
  job INTEGER PRIMARY KEY, n INT NOT NULL) STRICT; -- such a job has a message in its row
INSERT INTO conflicts(job, n) SELECT id, conflicts FROM live WHERE conflicts>0;
UPDATE job SET message='' WHERE conflicts>0 AND message IS NULL;
ALTER TABLE job DROP COLUMN conflicts;
