-- SPDX-License-Identifier: Apache-2.0
-- CRC-32 of a record: of its body's text, then of its histogram. NULL: a record
-- of an older collector.

ALTER TABLE record ADD COLUMN crc INTEGER;
