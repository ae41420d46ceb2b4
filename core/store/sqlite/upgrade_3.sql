-- From schema version 2 to 3: rows of jobs that have succeeded may stay behind for a while.

ALTER TABLE locked RENAME COLUMN cancel TO edited; -- nothing was ever written to it
ALTER TABLE executor ADD COLUMN debt INT NOT NULL DEFAULT 0;
CREATE INDEX executor_debt ON executor(id) WHERE debt<>0;
CREATE TABLE tray(        -- jobs that were written for other processes: the latest of each place there
  place INTEGER PRIMARY KEY, ticket INT NOT NULL, job INT NOT NULL,
  creation INT NOT NULL) STRICT;
-- The jobs that are there. While nobody has left a row behind it is the table itself.
CREATE VIEW live AS SELECT * FROM job j WHERE
  NOT EXISTS(SELECT 1 FROM executor WHERE debt<>0)
  AND NOT EXISTS(SELECT 1 FROM meta WHERE key='sweep_to')
  OR j.retries=0 OR j.suspended<>0
  OR EXISTS(SELECT 1 FROM locked l WHERE l.id=j.id)
  OR EXISTS(SELECT 1 FROM ready r WHERE r.stream=j.stream AND r.rank=~j.priority
    AND r.place=j.place AND r.id=j.id)
  OR EXISTS(SELECT 1 FROM timer t WHERE t.due=j.due AND t.id=j.id)
  OR EXISTS(SELECT 1 FROM parked p WHERE p.lane=j.lane AND p.stream=j.stream
    AND p.rank=~j.priority AND p.place=j.place AND p.id=j.id);
