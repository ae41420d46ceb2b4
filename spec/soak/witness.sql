-- What the database itself says: triggers that append to one table, in the transactions of whoever
-- writes. `at` is the writer's wall clock.

CREATE TABLE witness(
  seq INTEGER PRIMARY KEY, at INT DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000 AS INT)),
  what TEXT NOT NULL, job INT, token INT, owner INT, old INT, new INT, handler TEXT, note TEXT);

CREATE TRIGGER witness_born AFTER INSERT ON job BEGIN
  INSERT INTO witness(what, job, old, new, handler, note) SELECT 'born', NEW.id, NEW.due, NEW.retries,
    d.name, json_array(CASE WHEN json_valid(CAST(NEW.payload AS TEXT))
      THEN json_extract(CAST(NEW.payload AS TEXT), '$.m') END, NEW.unique_key, NEW.batch, NEW.lane_key)
  FROM stream s JOIN definition d ON d.id=s.definition WHERE s.id=NEW.stream;
END;
CREATE TRIGGER witness_retries AFTER UPDATE OF retries ON job WHEN OLD.retries<>NEW.retries BEGIN
  INSERT INTO witness(what, job, old, new) VALUES('retries', NEW.id, OLD.retries, NEW.retries);
END;
CREATE TRIGGER witness_crashes AFTER UPDATE OF crashes ON job WHEN OLD.crashes<>NEW.crashes BEGIN
  INSERT INTO witness(what, job, old, new) VALUES('crashes', NEW.id, OLD.crashes, NEW.crashes);
END;
CREATE TRIGGER witness_suspended AFTER UPDATE OF suspended ON job
WHEN OLD.suspended<>NEW.suspended BEGIN
  INSERT INTO witness(what, job, old, new) VALUES('suspended', NEW.id, OLD.suspended, NEW.suspended);
END;
CREATE TRIGGER witness_due AFTER UPDATE OF due ON job WHEN OLD.due IS NOT NEW.due BEGIN
  INSERT INTO witness(what, job, old, new) VALUES('due', NEW.id, OLD.due, NEW.due);
END;
CREATE TRIGGER witness_lock AFTER INSERT ON locked BEGIN
  INSERT INTO witness(what, job, token, owner) VALUES('lock', NEW.id, NEW.token, NEW.owner);
END;
CREATE TRIGGER witness_relock AFTER UPDATE OF token, owner ON locked BEGIN
  INSERT INTO witness(what, job, token, owner) VALUES('unlock', OLD.id, OLD.token, OLD.owner);
  INSERT INTO witness(what, job, token, owner) VALUES('lock', NEW.id, NEW.token, NEW.owner);
END;
CREATE TRIGGER witness_unlock AFTER DELETE ON locked BEGIN
  INSERT INTO witness(what, job, token, owner) VALUES('unlock', OLD.id, OLD.token, OLD.owner);
END;
CREATE TRIGGER witness_ended AFTER INSERT ON ended BEGIN
  INSERT INTO witness(what, job, owner, old, new)
    VALUES('ended', NEW.job, NEW.executor, NEW.attempt, NEW.outcome);
END;
CREATE TRIGGER witness_failed AFTER INSERT ON attempt BEGIN
  INSERT INTO witness(what, job, owner, old, new, note)
    VALUES('failed', NEW.job, NEW.executor, NEW.n, NEW.retries, NEW.reason);
END;
CREATE TRIGGER witness_incident AFTER INSERT ON incident BEGIN
  INSERT INTO witness(what, job, new, note) VALUES('incident', NEW.job, NEW.id, NEW.type);
END;
CREATE TRIGGER witness_closed AFTER UPDATE OF ended ON incident
WHEN OLD.ended IS NULL AND NEW.ended IS NOT NULL BEGIN
  INSERT INTO witness(what, job, new, note) VALUES('closed', NEW.job, NEW.id, NEW.type);
END;
CREATE TRIGGER witness_batch AFTER UPDATE ON batch BEGIN
  INSERT INTO witness(what, job, note) VALUES('batch', NEW.id,
    json_array(NEW.total, NEW.made, NEW.open, NEW.failed, NEW.state));
END;
