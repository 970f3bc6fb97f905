/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ratio.c - how two headlines compare, with an interval.
 *
 * Rounds, not operations, are the independent samples, and only the engine
 * saw the rounds: resampling the two histograms would count correlated
 * operations as independent and give intervals that are far too narrow. So
 * the interval of the ratio is recovered from the recorded intervals of both
 * headlines (MOVER, Donner and Zou 2012), on the scale of logarithms:
 *
 *	log lo = log b/a - sqrt((log b - log bl)^2 + (log au - log a)^2)
 *	log hi = log b/a + sqrt((log bu - log b)^2 + (log a - log al)^2)
 *
 * where [al, au] and [bl, bu] are the intervals of a and b at one level.
 */
#include "ctl/lib/ratio.h"

#include <math.h>
#include <string.h>

struct ratio
ratio_take(const struct estimate *a, const struct estimate *b)
{
	struct ratio r = { NAN, NAN, NAN };

	if (!(a->value > 0) || !(b->value > 0))
		return r;
	r.value = b->value / a->value;
	r.lo = r.value *
	    exp(-hypot(log(b->value / b->lo), log(a->hi / a->value)));
	r.hi = r.value *
	    exp(hypot(log(b->hi / b->value), log(a->value / a->lo)));
	return r;
}

const char *
ratio_verdict(const struct ratio *r, const char *unit, double margin)
{
	int more_is_worse = strcmp(unit, "B/s") != 0;
	double top = 1 + margin, bottom = 1 / (1 + margin);

	if (!isfinite(r->lo) || !isfinite(r->hi))
		return "unknown";
	if (r->lo > top)
		return more_is_worse ? "worse" : "better";
	if (r->hi < bottom)
		return more_is_worse ? "better" : "worse";
	if (r->lo >= bottom && r->hi <= top)
		return "same";
	return "unclear";
}
