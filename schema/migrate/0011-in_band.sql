-- SPDX-License-Identifier: Apache-2.0
-- What a job has measured of its own collectives, as one of its nodes says.

CREATE TABLE in_band (
	whole TEXT NOT NULL,              -- as of job
	job TEXT NOT NULL,
	start_unix_ns INTEGER NOT NULL,
	node TEXT NOT NULL,
	at_unix_ns INTEGER NOT NULL,      -- when it was last said
	body TEXT NOT NULL,
	PRIMARY KEY (whole, job, start_unix_ns, node)
);
CREATE INDEX in_band_at ON in_band (at_unix_ns);
