/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/series/collectives.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/member.h"
#include "schema/names.h"

static struct collectives_row *
row_of(struct collectives *c, const char *name, const char *impl)
{
	struct collectives_row *row;

	for (size_t i = 0; i < c->count; i++)
		if (strcmp(c->rows[i].name, name) == 0 &&
		    strcmp(c->rows[i].impl, impl) == 0)
			return &c->rows[i];
	if (c->count == COLLECTIVES_MAX)
		return NULL;
	row = &c->rows[c->count++];
	memset(row, 0, sizeof(*row));
	snprintf(row->name, sizeof(row->name), "%s", name);
	snprintf(row->impl, sizeof(row->impl), "%s", impl);
	return row;
}

/* A larger size of the same run, or anything of another run. */
static void
put(struct collectives *c, const json_t *record, const char *impl,
    const char *key)
{
	double per_s = member_number(record, key), bytes;
	struct collectives_row *row;

	if (!(per_s > 0))
		return;
	row = row_of(c, member_text(record, "collective"), impl);
	bytes = member_number(record, "bytes");
	if (row == NULL ||
	    (strcmp(row->run, member_text(record, "run")) == 0 &&
		bytes < row->bytes))
		return;
	row->per_s = per_s;
	row->bytes = bytes;
	row->bound_ratio = per_s / member_number(record, "bound");
	snprintf(row->run, sizeof(row->run), "%s", member_text(record, "run"));
}

/* Words become labels, so only those that are known are taken. */
void
collectives_take(struct collectives *c, const json_t *record)
{
	int impl = names_impl_find(member_text(record, "baseline_impl"));

	if (strcmp(member_text(record, "of"), "collective") != 0 ||
	    names_collective_find(member_text(record, "collective")) < 0)
		return;
	put(c, record, names_impls[0], "throughput");
	if (impl > 0)
		put(c, record, names_impls[impl], "baseline_throughput");
}
