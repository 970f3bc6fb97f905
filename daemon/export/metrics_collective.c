/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_collective.c - what collectives reach, by whom they are done.
 */
#include <math.h>

#include "daemon/export/metrics_int.h"

static double
per_s(const struct collectives_row *row)
{
	return row->per_s;
}

static double
bound_ratio(const struct collectives_row *row)
{
	return row->bound_ratio;
}

void
metrics_collectives(const struct metrics_in *in, struct strbuf *to)
{
	static const struct {
		const char *name, *help;
		double (*value)(const struct collectives_row *row);
	} rows[] = {
		{ "coalmine_collective_throughput_bytes_per_second",
		    "Bytes of a block for every rank by time, the largest size "
		    "of the newest run.",
		    per_s },
		{ "coalmine_collective_bound_ratio",
		    "That over the bound by what two nodes exchanged.",
		    bound_ratio },
	};
	const struct collectives *c = latest_collectives(in->latest);

	for (size_t r = 0; r < ARRAY_LEN(rows); r++) {
		exposition_family(to, rows[r].name, "gauge", rows[r].help);
		for (size_t i = 0; i < c->count; i++)
			if (!isnan(rows[r].value(&c->rows[i])))
				exposition_sample(to, rows[r].name,
				    EXPOSITION_LABELS({ "collective",
							  c->rows[i].name },
					{ "impl", c->rows[i].impl }),
				    rows[r].value(&c->rows[i]));
	}
}
