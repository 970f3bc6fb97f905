-- SPDX-License-Identifier: Apache-2.0
-- Plans beside their baselines over time, for what can be expected of a job.

CREATE INDEX record_speedup ON record (at_unix_ns) WHERE probe = 'speedup';
