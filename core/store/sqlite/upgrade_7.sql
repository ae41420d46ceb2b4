-- From schema version 6 to 7.

-- A kept message stays until an instance has taken it: it knows the job that brings it.
ALTER TABLE kept_message ADD COLUMN job INT;
CREATE INDEX kept_message_job ON kept_message(job) WHERE job IS NOT NULL;

-- The step of a unit that has failed may be another one than the job's.
ALTER TABLE job ADD COLUMN failed_activity TEXT;

-- An incident of a called instance is the root cause of one in each caller.
CREATE INDEX incident_root ON incident(root_cause) WHERE root_cause IS NOT NULL;

-- A lane that a command holds is free again at this instant; absent: a run of an executor has it.
ALTER TABLE lane ADD COLUMN until INT;
