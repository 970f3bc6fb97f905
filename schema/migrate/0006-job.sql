-- SPDX-License-Identifier: Apache-2.0
-- Jobs of the batch system, a row for every time one of them began, which a
-- requeued job does again. While it runs its end is the largest integer, so
-- that "until_unix_ns > FROM AND start_unix_ns < TO" are those of a span.

CREATE TABLE job (
	job TEXT NOT NULL,                -- 12, 12_3 of an array, 12+0 of parts
	whole TEXT NOT NULL,              -- 12 of all three
	start_unix_ns INTEGER NOT NULL,
	until_unix_ns INTEGER NOT NULL,
	owner TEXT,                       -- a pseudonym, or the name
	name TEXT NOT NULL,               -- of the program, as the user says it
	body TEXT NOT NULL,
	PRIMARY KEY (job, start_unix_ns)
);
CREATE INDEX job_whole ON job (whole);
CREATE INDEX job_until ON job (until_unix_ns);
CREATE INDEX job_start ON job (start_unix_ns);
CREATE INDEX event_at ON event (at_unix_ns);
