-- SPDX-License-Identifier: Apache-2.0
-- Canaries over time, for periods and baselines.

CREATE INDEX record_canary ON record (at_unix_ns) WHERE probe = 'canary';
