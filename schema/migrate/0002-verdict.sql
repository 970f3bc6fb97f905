-- SPDX-License-Identifier: Apache-2.0
-- Verdicts, a row for every change; the newest of a (kind, subject) holds.
-- Baselines, pinned under a name.

CREATE TABLE verdict (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	at_unix_ns INTEGER NOT NULL,
	kind TEXT NOT NULL,               -- node or leaf
	subject TEXT NOT NULL,
	verdict TEXT NOT NULL,            -- ok warn bad unknown
	body TEXT NOT NULL
);
CREATE INDEX verdict_subject ON verdict (kind, subject, id);
CREATE INDEX verdict_at ON verdict (at_unix_ns);

CREATE TABLE baseline (
	name TEXT PRIMARY KEY,
	at_unix_ns INTEGER NOT NULL,
	body TEXT NOT NULL                -- {run, tests: [...]}
);
