#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# verdict.sh - the time to detect faults in simulated clusters, the detection
# rate and the false positives: all scenarios of tests/sim/verdict.
# COALMINE_SHARE (1) of their trials.
cat <<END
Share of the trials: ${COALMINE_SHARE:-1}. Detected: something was said of all guilty parts; named: as what they are; both while
the fault lasts. Innocents warned of and false alarms are of a trial. The table of coalmine-verdict(7) is made of this one.

END
exec "$COALMINE_BUILD/tests/sim/verdict/bench_verdict" \
	-s "${COALMINE_SHARE:-1}" \
	"$COALMINE_SOURCE"/tests/sim/verdict/scenarios/*.conf
