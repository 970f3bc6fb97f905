-- SPDX-License-Identifier: Apache-2.0
-- What a node consists of, apart from its row: a state changes often, an
-- inventory seldom, and it is up to a thousand times as long. The body of a node
-- whose agent has not connected since still has its own.

CREATE TABLE node_inventory (
	node TEXT PRIMARY KEY,
	body TEXT NOT NULL
);
-- postgresql: CREATE OR REPLACE VIEW nodes AS SELECT
-- postgresql:   n.node,
-- postgresql:   to_timestamp(n.last_seen_unix_ns / 1e9) AS last_seen_at,
-- postgresql:   CASE WHEN i.body IS NULL THEN n.body::jsonb
-- postgresql:     ELSE n.body::jsonb || jsonb_build_object('inventory', i.body::jsonb) END AS body
-- postgresql:   FROM node AS n LEFT JOIN node_inventory AS i ON i.node = n.node;
