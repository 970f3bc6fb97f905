-- SPDX-License-Identifier: Apache-2.0
-- One step per file, never edited after its release. A step runs in one
-- transaction, with what says that it ran: PRAGMA user_version, or the table
-- leader. What all steps together make: sqlite3 coalmine.db .schema, pg_dump -s
--
-- Times are nanoseconds of the wall clock (_unix_ns). A body is the JSON
-- object as the API gives it; columns beside it are what is searched for.

CREATE TABLE setting (
	key TEXT PRIMARY KEY,
	value TEXT NOT NULL
);

CREATE TABLE node (
	node TEXT PRIMARY KEY,
	last_seen_unix_ns INTEGER NOT NULL,
	body TEXT NOT NULL
);

-- There a run's id begins with its day, so that tables in parts by it have one
-- for each day, which goes as a whole.
-- postgresql: CREATE SEQUENCE run_id;
-- postgresql: CREATE SEQUENCE record_id;

CREATE TABLE run (
	id INTEGER PRIMARY KEY,           -- sqlite
-- postgresql: id BIGINT PRIMARY KEY DEFAULT
-- postgresql: (current_setting('coalmine.day')::bigint << 32) + nextval('run_id'),
	run TEXT NOT NULL UNIQUE,
	campaign TEXT NOT NULL,
	state TEXT NOT NULL,
	final INTEGER NOT NULL,           -- 1: the state never changes again
	created_unix_ns INTEGER NOT NULL,
	records INTEGER NOT NULL DEFAULT 0, -- how many are in table record
	body TEXT NOT NULL
);
CREATE INDEX run_created ON run (created_unix_ns);
CREATE INDEX run_campaign ON run (campaign, created_unix_ns);
CREATE INDEX run_live ON run (id) WHERE final = 0;

CREATE TABLE record (
	id INTEGER PRIMARY KEY,           -- sqlite
	run_id INTEGER NOT NULL REFERENCES run (id), -- sqlite
-- postgresql: id BIGINT NOT NULL DEFAULT nextval('record_id'),
-- postgresql: run_id BIGINT NOT NULL,
	seq INTEGER NOT NULL,             -- of the engine, from 1
	at_unix_ns INTEGER NOT NULL,      -- when it was committed
	raw INTEGER NOT NULL,             -- 1: goes after raw_retention
	probe TEXT NOT NULL,
	test TEXT,
	phase TEXT,
	unit TEXT,                        -- s or B/s
	n INTEGER,
	mean REAL,
	min REAL,
	p50 REAL,
	p90 REAL,
	p99 REAL,
	p999 REAL,
	max REAL,
	of TEXT,                          -- impact: mean or p99
	value REAL,                       -- impact: congested against isolated
	lo REAL,                          -- interval
	hi REAL,
	hist BLOB,                        -- common/hist.h; else in the body
	body TEXT NOT NULL,
	UNIQUE (run_id, seq)              -- exactly once
)
-- postgresql: PARTITION BY RANGE (run_id)
;
-- postgresql: CREATE INDEX record_id_at ON record (id);
CREATE INDEX record_raw ON record (at_unix_ns) WHERE raw = 1;
CREATE INDEX record_impact ON record (at_unix_ns) WHERE probe = 'impact';

CREATE TABLE counters (
	run_id INTEGER NOT NULL REFERENCES run (id), -- sqlite
-- postgresql: run_id BIGINT NOT NULL,
	border INTEGER NOT NULL,          -- seq of the phase record
	node TEXT NOT NULL,
	at_unix_ns INTEGER NOT NULL,
	nics TEXT NOT NULL,               -- [{nic, counters}]
	PRIMARY KEY (run_id, border, node)
)
-- postgresql: PARTITION BY RANGE (run_id)
;
CREATE INDEX counters_at ON counters (at_unix_ns);

CREATE TABLE event (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	at_unix_ns INTEGER NOT NULL,
	kind TEXT NOT NULL,               -- run agent order alarm ...
	subject TEXT NOT NULL,
	text TEXT NOT NULL
);
CREATE INDEX event_kind ON event (kind, id);
