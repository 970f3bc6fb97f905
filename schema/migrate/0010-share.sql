-- SPDX-License-Identifier: Apache-2.0
-- What nodes and leaves gave of what their like give, a row when it was
-- another: who was slow, and who was known. For jobs that are asked about
-- later.

CREATE TABLE share (
	at_unix_ns INTEGER PRIMARY KEY,
	body TEXT NOT NULL                -- {known, slow}; deflated as in step 4
);
