-- SPDX-License-Identifier: Apache-2.0
-- What canaries beside a job made of a moment at which its traffic began or
-- ended, a row for each test.

CREATE TABLE occasion (
	job TEXT NOT NULL,
	at_unix_ns INTEGER NOT NULL,
	test TEXT NOT NULL,
	name TEXT NOT NULL,               -- of the job
	body TEXT NOT NULL,
	PRIMARY KEY (job, at_unix_ns, test)
);
CREATE INDEX occasion_at ON occasion (at_unix_ns);
