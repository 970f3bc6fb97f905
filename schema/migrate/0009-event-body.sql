-- SPDX-License-Identifier: Apache-2.0
-- Events are what is told outside: for programs, beside the text, what the row
-- says that was written in the same transaction.

ALTER TABLE event ADD COLUMN body TEXT;
