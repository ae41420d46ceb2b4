-- From schema version 3 to 4.

CREATE TABLE request(     -- what a creation was asked for under a key, so that asking again is harmless
  scope INT, key TEXT, hash TEXT NOT NULL, answer TEXT NOT NULL, until INT NOT NULL,
  PRIMARY KEY(scope, key)) WITHOUT ROWID, STRICT; -- scope 0: the owner of the file
CREATE INDEX request_until ON request(until);
