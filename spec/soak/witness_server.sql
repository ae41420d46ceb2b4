-- The triggers of witness.sql, as PostgreSQL has them. `at` is the server's clock. A store's schema
-- holds no functions but its own, so these lie in another one.

CREATE SCHEMA watch;

CREATE TABLE witness(
  seq bigint GENERATED ALWAYS AS IDENTITY,
  at bigint DEFAULT extract(epoch FROM clock_timestamp())*1000,
  what text NOT NULL, job bigint, token bigint, owner bigint, old bigint, new bigint, handler text,
  note text);
CREATE INDEX witness_lock ON witness(job, token) WHERE what IN ('lock', 'unlock');

CREATE FUNCTION watch.witness_born() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO soak.witness(what, job, old, new, handler, note) SELECT 'born', NEW.id, NEW.due,
    NEW.retries, d.name, json_build_array(substring(convert_from(NEW.payload, 'UTF8')
      FROM '"m": *"([^"]*)"'), NEW.unique_key, NEW.batch, NEW.lane_key)
  FROM soak.stream s JOIN soak.definition d ON d.id=s.definition WHERE s.id=NEW.stream;
  RETURN NULL;
END $$;
CREATE FUNCTION watch.witness_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO soak.witness(what, job, old, new) SELECT v.what, NEW.id, v.was, v.is_now
    FROM (VALUES
    ('retries', OLD.retries::bigint, NEW.retries::bigint), ('crashes', OLD.crashes, NEW.crashes),
    ('suspended', OLD.suspended, NEW.suspended), ('due', OLD.due, NEW.due)) AS v(what, was, is_now)
    WHERE v.was IS DISTINCT FROM v.is_now;
  RETURN NULL;
END $$;
-- A lock that moves from a page to a row of its own stays the same lock.
CREATE FUNCTION watch.witness_held(id bigint, held bigint) RETURNS boolean LANGUAGE sql AS $$
  SELECT coalesce((SELECT what='lock' FROM soak.witness WHERE job=id AND token=held
    AND what IN ('lock', 'unlock') ORDER BY seq DESC LIMIT 1), false) $$;
CREATE FUNCTION watch.witness_locked() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO soak.witness(what, job, token, owner) VALUES('unlock', OLD.id, OLD.token, OLD.owner);
  END IF;
  IF TG_OP <> 'DELETE' AND NOT watch.witness_held(NEW.id, NEW.token) THEN
    INSERT INTO soak.witness(what, job, token, owner) VALUES('lock', NEW.id, NEW.token, NEW.owner);
  END IF;
  RETURN NULL;
END $$;
CREATE FUNCTION watch.witness_page(old soak.lock_page, new soak.lock_page) RETURNS void LANGUAGE sql AS $$
  INSERT INTO soak.witness(what, job, token, owner, note)
    SELECT 'lock', u.id, new.token+u.n-1, new.owner, 'page' FROM unnest(new.ids) WITH ORDINALITY AS u(id, n)
    WHERE get_bit(new.held, (u.n-1)::int)=1
    AND (old.held IS NULL OR get_bit(old.held, (u.n-1)::int)=0);
  INSERT INTO soak.witness(what, job, token, owner)
    SELECT 'unlock', u.id, old.token+u.n-1, old.owner FROM unnest(old.ids) WITH ORDINALITY AS u(id, n)
    WHERE get_bit(old.held, (u.n-1)::int)=1
    AND (new.held IS NULL OR get_bit(new.held, (u.n-1)::int)=0)
    AND NOT EXISTS(SELECT 1 FROM soak.locked k WHERE k.id=u.id AND k.token=old.token+u.n-1) $$;
CREATE FUNCTION watch.witness_lock_page() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM watch.witness_page(OLD, NEW);
  RETURN NULL;
END $$;
CREATE FUNCTION watch.witness_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO soak.witness(what, job, owner, old, new)
    VALUES('ended', NEW.job, NEW.executor, NEW.attempt, NEW.outcome);
  RETURN NULL;
END $$;
CREATE FUNCTION watch.witness_failed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO soak.witness(what, job, owner, old, new, note)
    VALUES('failed', NEW.job, NEW.executor, NEW.n, NEW.retries, NEW.reason);
  RETURN NULL;
END $$;
CREATE FUNCTION watch.witness_incident() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO soak.witness(what, job, new, note) VALUES(TG_ARGV[0], NEW.job, NEW.id, NEW.type);
  RETURN NULL;
END $$;
CREATE FUNCTION watch.witness_batch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO soak.witness(what, job, note) VALUES('batch', NEW.id,
    json_build_array(NEW.total, NEW.made, NEW.open, NEW.failed, NEW.state));
  RETURN NULL;
END $$;

CREATE TRIGGER witness_born AFTER INSERT ON job FOR EACH ROW EXECUTE FUNCTION watch.witness_born();
CREATE TRIGGER witness_job AFTER UPDATE OF retries, crashes, suspended, due ON job FOR EACH ROW
  EXECUTE FUNCTION watch.witness_job();
CREATE TRIGGER witness_locked AFTER INSERT OR DELETE OR UPDATE OF token, owner ON locked FOR EACH ROW
  EXECUTE FUNCTION watch.witness_locked();
CREATE TRIGGER witness_lock_page AFTER INSERT OR DELETE OR UPDATE ON lock_page FOR EACH ROW
  EXECUTE FUNCTION watch.witness_lock_page();
CREATE TRIGGER witness_ended AFTER INSERT ON ended FOR EACH ROW EXECUTE FUNCTION watch.witness_ended();
CREATE TRIGGER witness_failed AFTER INSERT ON attempt FOR EACH ROW EXECUTE FUNCTION watch.witness_failed();
CREATE TRIGGER witness_incident AFTER INSERT ON incident FOR EACH ROW
  EXECUTE FUNCTION watch.witness_incident('incident');
CREATE TRIGGER witness_closed AFTER UPDATE OF ended ON incident FOR EACH ROW
  WHEN (OLD.ended IS NULL AND NEW.ended IS NOT NULL) EXECUTE FUNCTION watch.witness_incident('closed');
CREATE TRIGGER witness_batch AFTER UPDATE ON batch FOR EACH ROW EXECUTE FUNCTION watch.witness_batch();
