-- From schema version 3 to 4.

CREATE TABLE intake(      -- jobs of ids up to `last` that are written in steps; nobody sees those
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- above `reached`; who fills it holds a byte of the gate
  reached INT NOT NULL, last INT NOT NULL, who TEXT, created INT NOT NULL,
  released INT NOT NULL DEFAULT 0,      -- 1: they are there, and get their places in steps
  removed INT NOT NULL DEFAULT 0) STRICT;
CREATE INDEX batch_filling ON batch(id) WHERE state=0;
DROP VIEW live;
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
-- Those that count against a limit of a backlog.
CREATE VIEW counted AS SELECT id, stream, lane, retries FROM live
  UNION ALL SELECT j.id, j.stream, j.lane, j.retries FROM intake i
  JOIN job j ON j.id>i.reached AND j.id<=i.last;

CREATE TABLE request(     -- what a creation was asked for under a key, so that asking again is harmless
  scope INT, key TEXT, hash TEXT NOT NULL, answer TEXT NOT NULL, until INT NOT NULL,
  PRIMARY KEY(scope, key)) WITHOUT ROWID, STRICT; -- scope 0: the owner of the file
CREATE INDEX request_until ON request(until);

ALTER TABLE operation ADD COLUMN query TEXT;
ALTER TABLE operation ADD COLUMN jobs TEXT;
ALTER TABLE operation ADD COLUMN batch INT;
ALTER TABLE batch ADD COLUMN query TEXT;

CREATE TABLE snooze(      -- runs that put their job off: the newest of each job
  job INT, seq INT, n INT, at INT, stream INT, executor INT, started INT, until INT, retries INT,
  priority INT, message TEXT, batch INT, PRIMARY KEY(job, seq)) WITHOUT ROWID, STRICT;
CREATE INDEX snooze_at ON snooze(at);

-- A job was suspended or not; from now on it is known why: job 1, definition 2, instance 4, batch 8,
-- schedule 16. What holds it now is its reason; where nothing else does, it was the job itself.
UPDATE job SET suspended=coalesce(nullif(
    coalesce((SELECT 2*d.suspended FROM stream s JOIN definition d ON d.id=s.definition
      WHERE s.id=job.stream), 0)
    + 4*EXISTS(SELECT 1 FROM suspended_instance i WHERE i.instance=job.instance)
    + 8*EXISTS(SELECT 1 FROM batch b WHERE b.id=job.batch AND b.state=2)
    + 16*EXISTS(SELECT 1 FROM schedule s WHERE s.job=job.id AND s.paused<>0), 0), 1)
  WHERE suspended<>0;

CREATE TABLE limited_3 AS SELECT DISTINCT definition FROM limited;
DROP TABLE limited;
CREATE TABLE limited(     -- the runs of definitions with a limit, also those whose lock was taken
  definition INT, token INT, id INT NOT NULL, owner INT NOT NULL,
  PRIMARY KEY(definition, token)) WITHOUT ROWID, STRICT;
INSERT INTO limited SELECT s.definition, k.token, k.id, k.owner FROM locked k
  JOIN stream s ON s.id=k.stream WHERE s.definition IN (SELECT definition FROM limited_3);
DROP TABLE limited_3;

ALTER TABLE occurrence ADD COLUMN token INT;
ALTER TABLE occurrence ADD COLUMN owner INT;

ALTER TABLE executor ADD COLUMN pid INT; -- its process, and the version of its program
ALTER TABLE executor ADD COLUMN version TEXT;
ALTER TABLE executor ADD COLUMN boot TEXT; -- of its machine, and
ALTER TABLE executor ADD COLUMN lease_boot INT; -- the lease in ms since that boot

CREATE TABLE stuck(       -- runs that were given up, as long as they may still act
  token INTEGER PRIMARY KEY, owner INT NOT NULL, job INT NOT NULL, lane INT, since INT,
  place TEXT NOT NULL,    -- where the handler was last seen
  incident INT) STRICT;

CREATE TABLE location(    -- the file, and the name by which executors have it open
  id INTEGER PRIMARY KEY, device INT NOT NULL, inode INT NOT NULL, path TEXT NOT NULL) STRICT;
ALTER TABLE job ADD COLUMN conflicts INT NOT NULL DEFAULT 0; -- in a row
