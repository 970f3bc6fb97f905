/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speedup.h - a plan beside another way to do the same (versus.h), as a
 * record and as a line. Rank 0.
 */
#ifndef PROBES_COMPARE_SPEEDUP_H
#define PROBES_COMPARE_SPEEDUP_H

#include "probes/compare/plan_report.h"
#include "probes/compare/ab_timing.h"

struct speedup {
	const struct ab_timing *versus; /* side 0 is the plan */
	const char *baseline;           /* of side 1; NULL: rc and why */
	int rc;
	const char *why;
};

/* probe of plan baseline ranks setup_s n value interval, and seconds with
 * baseline_seconds or cause with text. The caller adds what it knows more. */
json_t *speedup_report(const struct plan_report *r, const struct speedup *s);
/* Medians of both sides; what there is no baseline of has a NAN. */
void speedup_seconds(const struct speedup *s, double ret[AB_TIMING_SIDES]);
void speedup_text(const struct speedup *s, char *ret, size_t cap_bytes);

#endif
