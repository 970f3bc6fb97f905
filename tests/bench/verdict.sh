#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# verdict.sh - the time to detect faults in simulated clusters, the detection
# rate and the false positives: all scenarios of tests/sim/verdict.
# COALMINE_SHARE (1) of their trials.
cat <<END
Share of the trials: ${COALMINE_SHARE:-1}. Detected: all faulty parts have a finding while the fault lasts; named: the finding has the
right kind too. Healthy parts with a warning and false alarms are numbers in a trial. This table is the source of the one in
coalmine-verdict(7).

END
exec "$COALMINE_BUILD/tests/sim/verdict/bench_verdict" \
	-s "${COALMINE_SHARE:-1}" \
	"$COALMINE_SOURCE"/tests/sim/verdict/scenarios/*.conf
