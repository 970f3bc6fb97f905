/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_trouble.c - find the signs of a host that are far above the typical
 * host, and so explain slow rounds without a network fault.
 */
#include "daemon/diagnosis/stats/host_trouble.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/robust.h"
#include "common/xalloc.h"

/* By this factor above the typical host. */
#define FACTOR 3.0

static const struct symptom {
	double min;
	int is_share;
	int is_taken; /* by another user or a limit, not by its own tasks */
	double scale; /* to the printed unit */
	const char *name, *unit;
} signs[HOST_TROUBLE_SIGN_MAX] = {
	[HOST_TROUBLE_PRESSURE] = { 0.25, 1, 0, 100, "CPU pressure", "%" },
	[HOST_TROUBLE_STEAL] = { 0.10, 1, 1, 100, "steal", "%" },
	[HOST_TROUBLE_DELAY] = { 0.010, 0, 0, 1000,
	    "scheduling delay of its agent", "ms" },
	[HOST_TROUBLE_RANKS] = { 0.25, 1, 0, 100, "its ranks' wait for a core",
	    "%" },
	[HOST_TROUBLE_QUOTA] = { 0.10, 1, 1, 100,
	    "throttled by a CPU quota of its control group", "%" },
	[HOST_TROUBLE_HEAT] = { 0.10, 1, 1, 100, "clock throttled by heat",
	    "%" },
	[HOST_TROUBLE_NET] = { 0.10, 1, 0, 100, "link", "%" },
};

/* Three times a share of 0.5 would exceed 1, so shares are compared as time
 * with over time without. */
static double
host_trouble_comparable(enum host_trouble_sign sign, double value)
{
	if (!signs[sign].is_share)
		return value;
	return value >= 1 ? 1e9 : value / (1 - value);
}

void
host_trouble_typical(const struct host_trouble_signs *hosts, size_t count,
    struct host_trouble_signs *ret)
{
	double *x = xcalloc(count + 1, sizeof(*x));

	for (int s = 0; s < HOST_TROUBLE_SIGN_MAX; s++) {
		size_t known = 0;

		for (size_t i = 0; i < count; i++)
			if (isfinite(hosts[i].of[s]))
				x[known++] = hosts[i].of[s];
		ret->of[s] = robust_quantile(x, known,
		    s == HOST_TROUBLE_NET ? 0.1 : 0.5);
	}
	free(x);
}

/* Return 1 if this sign of the host shows contention. */
static int
host_trouble_stands_out(const struct host_trouble_signs *h,
    const struct host_trouble_signs *typical, enum host_trouble_sign sign)
{
	return h->of[sign] >= signs[sign].min &&
	    host_trouble_comparable(sign, h->of[sign]) >=
	    FACTOR * host_trouble_comparable(sign, typical->of[sign]);
}

int
host_trouble_link(const struct host_trouble_signs *h,
    const struct host_trouble_signs *typical)
{
	return host_trouble_stands_out(h, typical, HOST_TROUBLE_NET);
}

int
host_trouble_trouble(const struct host_trouble_signs *h,
    const struct host_trouble_signs *typical, char ret[HOST_TROUBLE_TEXT_MAX])
{
	size_t len = 0;
	int found = 0;

	ret[0] = '\0';
	for (int s = 0; s < HOST_TROUBLE_NET; s++) {
		if (!host_trouble_stands_out(h, typical,
			(enum host_trouble_sign)s))
			continue;
		found = found == 2 || signs[s].is_taken ? 2 : 1;
		if (len < HOST_TROUBLE_TEXT_MAX)
			len += (size_t)snprintf(ret + len,
			    HOST_TROUBLE_TEXT_MAX - len,
			    "%s%s %.0f %s (others %.0f)", len > 0 ? ", " : "",
			    signs[s].name, signs[s].scale * h->of[s],
			    signs[s].unit, signs[s].scale * typical->of[s]);
	}
	return found;
}
