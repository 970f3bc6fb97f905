-- SPDX-License-Identifier: Apache-2.0
-- The file of leaves, rails and switches, a row for every change; the newest
-- of those that are not later than a time held then.

CREATE TABLE topology (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	from_unix_ns INTEGER NOT NULL,
	body TEXT NOT NULL                -- {text}; deflated as in step 4
);
