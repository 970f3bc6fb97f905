-- SPDX-License-Identifier: Apache-2.0
-- Roll-up. record.raw = 2: after raw_retention the record's lists of nodes and
-- pairs go, and those of the mesh become one an hour.
--
-- From here on a long body is a BLOB: its length in four bytes, the lowest
-- first, then its text as a zlib stream.

UPDATE record SET raw = 2 WHERE probe = 'mesh';
CREATE INDEX record_roll ON record (at_unix_ns) WHERE raw = 2;
