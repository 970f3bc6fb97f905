/* SPDX-License-Identifier: Apache-2.0 */
/*
 * periods.c - two stretches of time: the run is the sample. Logarithms of the
 * runs' medians have a mean and a variance in each period, and the difference
 * of means an interval by Welch (1947):
 *
 *	d -+ t(df) sqrt(v1/n1 + v2/n2)
 *	df = (v1/n1 + v2/n2)^2 / ((v1/n1)^2/(n1-1) + (v2/n2)^2/(n2-1))
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clk.h"
#include "common/robust.h"
#include "ctl/compare.h"
#include "ctl/print.h"

#define LEVEL 0.95

struct sums {
	double n, mean, square; /* Welford's */
};

struct period {
	uint64_t from_unix_ns, to_unix_ns;
	struct sums of[CANARY_MAX][PHASE_MAX];
};

int
periods_are(const char *a, const char *b)
{
	return strstr(a, "..") != NULL && strstr(b, "..") != NULL;
}

/* A date, a date and time, an age, or now. */
static int
time_read(const char *text, uint64_t *ret_unix_ns)
{
	static const char *const shapes[] = { "%Y-%m-%dT%H:%M:%S",
		"%Y-%m-%dT%H:%M", "%Y-%m-%d" };
	uint64_t age_ns;

	if (strcmp(text, "now") == 0) {
		*ret_unix_ns = clk_unix_ns();
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		struct tm tm = { 0 };
		const char *end = strptime(text, shapes[i], &tm);

		if (end == NULL || *end != '\0')
			continue;
		*ret_unix_ns = (uint64_t)timegm(&tm) * CLK_NS_PER_S;
		return 0;
	}
	if (clk_span_parse(text, &age_ns) < 0 || age_ns > clk_unix_ns())
		return -1;
	*ret_unix_ns = clk_unix_ns() - age_ns;
	return 0;
}

static int
period_read(const char *text, struct period *ret)
{
	const char *dots = strstr(text, "..");
	char from[40];

	if (dots == NULL || (size_t)(dots - text) >= sizeof(from))
		return -1;
	memcpy(from, text, (size_t)(dots - text));
	from[dots - text] = '\0';
	if (time_read(from, &ret->from_unix_ns) < 0 ||
	    time_read(dots + 2, &ret->to_unix_ns) < 0 ||
	    ret->from_unix_ns >= ret->to_unix_ns)
		return -1;
	return 0;
}

static int
phase_find(const char *name)
{
	for (int i = 0; i < PHASE_MAX; i++)
		if (strcmp(names_phases[i], name) == 0)
			return i;
	return -1;
}

static void
count(struct period *p, const json_t *row)
{
	int test = names_test_find(print_member(row, "test", ""));
	int phase = phase_find(print_member(row, "phase", ""));
	double x = print_number(row, "p50"), d;
	struct sums *s;

	if (test < 0 || phase < 0 || !(x > 0))
		return;
	s = &p->of[test][phase];
	d = log(x) - s->mean;
	s->n++;
	s->mean += d / s->n;
	s->square += d * (log(x) - s->mean);
}

static int
period_get(struct ctl *c, struct period *p)
{
	struct strbuf path = { 0 };
	char from[32], to[32];
	json_t *list, *row;
	size_t i;
	int rc;

	snprintf(from, sizeof(from), "%" PRIu64, p->from_unix_ns);
	snprintf(to, sizeof(to), "%" PRIu64, p->to_unix_ns);
	client_part(&path, "canaries");
	client_param(&path, "from_unix_ns", from);
	client_param(&path, "to_unix_ns", to);
	client_param(&path, "campaign", opts_value(&c->opts, OPT_CAMPAIGN));
	client_param(&path, "limit", "10000");
	rc = client_get(ctl_client(c), path.text, &list);
	strbuf_clear(&path);
	if (rc != 0)
		return ctl_fail_client(c);
	json_array_foreach (list, i, row)
		count(p, row);
	json_decref(list);
	return 0;
}

static struct estimate
estimate_of(const struct sums *s, const char *unit)
{
	struct estimate e = { "p50", unit, NAN, NAN, NAN, LEVEL };

	if (s->n > 0)
		e.value = exp(s->mean);
	return e;
}

static struct ratio
welch(const struct sums *a, const struct sums *b)
{
	struct ratio r = { NAN, NAN, NAN };
	double va, vb, df, reach;

	r.value = exp(b->mean - a->mean);
	if (a->n < 2 || b->n < 2)
		return r;
	va = a->square / (a->n - 1) / a->n;
	vb = b->square / (b->n - 1) / b->n;
	if (!(va + vb > 0))
		return r;
	df = (va + vb) * (va + vb) /
	    (va * va / (a->n - 1) + vb * vb / (b->n - 1));
	reach = robust_t_quantile(0.5 + LEVEL / 2, df) * sqrt(va + vb);
	r.lo = r.value * exp(-reach);
	r.hi = r.value * exp(reach);
	return r;
}

static void
put(struct compare_out *o, int test, int phase, const struct sums *a,
    const struct sums *b)
{
	const char *unit = names_tests[test].unit;
	struct compare_row r = { .test = names_tests[test].name,
		.phase = names_phases[phase],
		.a = estimate_of(a, unit),
		.b = estimate_of(b, unit),
		.ratio = { NAN, NAN, NAN },
		.verdict = "unknown",
		.text = "" };
	char text[80];

	snprintf(text, sizeof(text), "%.0f and %.0f runs%s", a->n, b->n,
	    a->n < 2 || b->n < 2 ? ": too few for an interval" : "");
	r.text = text;
	if (a->n > 0 && b->n > 0) {
		r.ratio = welch(a, b);
		r.verdict = ratio_verdict(&r.ratio, unit, o->margin);
	}
	compare_put(o, &r);
}

int
periods_compare(struct ctl *c, double margin)
{
	static struct period p[2];
	struct compare_out o;
	int rc = 0;

	memset(p, 0, sizeof(p));
	for (int i = 0; i < 2 && rc == 0; i++) {
		if (period_read(c->args[i], &p[i]) < 0)
			return ctl_fail("%.80s: allowed is FROM..TO, each a "
					"time as 2026-11-20T14:30, an age as "
					"7d, or now",
			    c->args[i]);
		rc = period_get(c, &p[i]);
	}
	if (rc != 0)
		return rc;
	compare_begin(&o, margin);
	for (int t = 0; t < CANARY_MAX; t++)
		for (int ph = 0; ph < PHASE_MAX; ph++)
			if (p[0].of[t][ph].n + p[1].of[t][ph].n > 0)
				put(&o, t, ph, &p[0].of[t][ph],
				    &p[1].of[t][ph]);
	return compare_end(c, &o);
}
