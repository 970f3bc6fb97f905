-- SPDX-License-Identifier: Apache-2.0
-- A run as lists have it: without the names of its nodes and its campaign. NULL:
-- a run of an older collector.

ALTER TABLE run ADD COLUMN brief TEXT;
