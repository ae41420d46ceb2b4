-- From schema version 1 to 2: what the log says of an ended job, suspended instances, incidents of
-- handlers, cycles. No version 1 program wrote a schedule.

CREATE TABLE limited(     -- the same rows as in locked, of definitions with a limit
  definition INT, id INT, owner INT NOT NULL, PRIMARY KEY(definition, id)) WITHOUT ROWID, STRICT;
ALTER TABLE ended ADD COLUMN created INT;
ALTER TABLE ended ADD COLUMN due INT;
ALTER TABLE ended ADD COLUMN priority INT;
ALTER TABLE ended ADD COLUMN batch INT;
ALTER TABLE ended ADD COLUMN removal INT;
CREATE INDEX ended_removal ON ended(removal) WHERE removal IS NOT NULL;
CREATE INDEX incident_ended ON incident(ended) WHERE ended IS NOT NULL;
ALTER TABLE attempt ADD COLUMN batch INT;
CREATE INDEX attempt_at ON attempt(at);
ALTER TABLE executor ADD COLUMN draining INT NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX incident_handler ON incident(definition, type)
  WHERE ended IS NULL AND job IS NULL;
CREATE TABLE suspended_instance(instance TEXT PRIMARY KEY, at INT NOT NULL) WITHOUT ROWID, STRICT;
ALTER TABLE job ADD COLUMN term TEXT;
CREATE INDEX unique_until ON unique_key(until) WHERE until NOT NULL;
CREATE TABLE lane_backlog(   -- kept only where a lane's backlog has a limit
  definition INT, lane INT, waiting INT NOT NULL, PRIMARY KEY(definition, lane))
  WITHOUT ROWID, STRICT;
DROP TABLE schedule;
DROP TABLE rate; -- nothing was written to it, nor to the next
DROP TABLE share;
CREATE TABLE share(       -- the last turn given to a tenant; at or below the one served it may go
  rank INT, tenant TEXT, turn INT NOT NULL, PRIMARY KEY(rank, tenant)) WITHOUT ROWID, STRICT;
CREATE TABLE served(rank INTEGER PRIMARY KEY, turn INT NOT NULL) STRICT;
CREATE TABLE rate(        -- the latest starts; at: the least there is: free; slot: the start's token
  definition INT, at INT, slot INT, PRIMARY KEY(definition, at, slot)) WITHOUT ROWID, STRICT;
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
  job INTEGER PRIMARY KEY, schedule TEXT NOT NULL, begun INT NOT NULL) STRICT;
CREATE INDEX occurrence_schedule ON occurrence(schedule);
-- No version 1 program wrote a batch.
DROP TABLE batch;
DROP TABLE batch_part;
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
  created INT NOT NULL, started INT, ended INT) STRICT;
CREATE TABLE batch_config(batch INTEGER PRIMARY KEY, config TEXT NOT NULL) STRICT;
CREATE TABLE batch_part(  -- ids: JSON, without white space
  batch INT, n INT, ids TEXT NOT NULL, PRIMARY KEY(batch, n)) WITHOUT ROWID, STRICT;
CREATE INDEX batch_ended ON batch(ended) WHERE ended IS NOT NULL;
CREATE INDEX ended_batch ON ended(batch) WHERE batch IS NOT NULL;
CREATE INDEX attempt_batch ON attempt(batch) WHERE batch IS NOT NULL;
CREATE INDEX incident_job ON incident(job) WHERE job IS NOT NULL;
