/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/compare/speedup.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

void
speedup_seconds(const struct speedup *s, double ret[AB_TIMING_SIDES])
{
	for (int i = 0; i < AB_TIMING_SIDES; i++) {
		const struct trial *t = &s->versus->side[i].trial;
		struct timing tm;

		ret[i] = NAN;
		if (timing_of(t->samples, t->count, &tm) == 0)
			ret[i] = tm.median_middle_s;
	}
}

static void
put_numbers(json_t *o, const struct speedup *s)
{
	double seconds[AB_TIMING_SIDES];
	struct timing t;

	ab_timing_ratio(s->versus, &t);
	speedup_seconds(s, seconds);
	json_object_set_new(o, "n", json_integer((json_int_t)t.n));
	json_object_set_new(o, "value", json_real(t.median_middle_s));
	json_object_set_new(o, "interval",
	    isfinite(t.lo_s) ? json_pack("{s:s, s:f, s:f, s:f}", "of", "median",
				   "level", 0.95, "lo", t.lo_s, "hi", t.hi_s)
			     : json_null());
	json_object_set_new(o, "seconds", json_real(seconds[0]));
	json_object_set_new(o, "baseline_seconds", json_real(seconds[1]));
}

json_t *
speedup_report(const struct plan_report *r, const struct speedup *s)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:i, s:f}", "probe",
	    "speedup", "of", r->probe, "plan", r->plan->title, "baseline",
	    s->baseline != NULL ? s->baseline : "", "ranks", r->team->ranks,
	    "setup_s", r->setup_s);
	enum cause cause = s->rc == -EBADMSG ? CAUSE_WRONG_DATA
					     : CAUSE_UNSUPPORTED;

	if (s->baseline != NULL) {
		put_numbers(o, s);
		return o;
	}
	json_object_set_new(o, "n", json_integer(0));
	json_object_set_new(o, "value", json_null());
	json_object_set_new(o, "interval", json_null());
	json_object_set_new(o, "cause", json_string(names_causes[cause].name));
	json_object_set_new(o, "text", json_string(s->why));
	return o;
}

void
speedup_text(const struct speedup *s, char *ret, size_t cap_bytes)
{
	double seconds[AB_TIMING_SIDES];
	char interval[64] = "";
	struct timing t;

	if (s->baseline == NULL) {
		snprintf(ret, cap_bytes, "no speed-up: %s", s->why);
		return;
	}
	ab_timing_ratio(s->versus, &t);
	speedup_seconds(s, seconds);
	if (isfinite(t.lo_s))
		snprintf(interval, sizeof(interval), " (%.2f to %.2f)", t.lo_s,
		    t.hi_s);
	snprintf(ret, cap_bytes,
	    "speed-up over %s: %.2f%s, %.3g ms against %.3g ms, %zu turns each",
	    s->baseline, t.median_middle_s, interval, seconds[0] * 1e3,
	    seconds[1] * 1e3, t.n);
}
