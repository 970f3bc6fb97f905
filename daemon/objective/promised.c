/* SPDX-License-Identifier: Apache-2.0 */
/*
 * promised.c - expected rates from the report of an acceptance.
 */
#include "daemon/objective/promised.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/member.h"
#include "common/robust.h"
#include "common/xalloc.h"
#include "schema/promise.h"

/* Return the expected rate of nodes or leaves; NAN: none was measured. */
static double
promised_rate(const json_t *rows)
{
	double *x = xcalloc(json_array_size(rows) + 1, sizeof(*x)), ret;
	const json_t *row;
	size_t n = 0, i;

	json_array_foreach ((json_t *)(uintptr_t)rows, i, row)
		if (member_number(row, "rate") > 0)
			x[n++] = member_number(row, "rate");
	ret = n == 0 ? NAN : robust_quantile(x, n, PROMISE_EXPECTED);
	free(x);
	return ret;
}

int
promised_parse(const char *path, const char *text, struct promised **ret,
    struct err *err)
{
	json_error_t error;
	json_t *report = json_loads(text, JSON_REJECT_DUPLICATES, &error), *row;
	struct promised *p;
	int rc = 0;
	size_t i;

	if (report == NULL)
		return err_set(err, -EINVAL, "%.200s:%d: not valid JSON: %s",
		    path, error.line, error.text);
	p = xcalloc(1, sizeof(*p));
	p->nodes = json_object();
	member_foreach (report, "nodes", i, row)
		json_object_set_new(p->nodes, member_text(row, "node"),
		    json_true());
	p->node_rate = promised_rate(json_object_get(report, "nodes"));
	p->leaf_rate = promised_rate(json_object_get(report, "leaves"));
	if (strcmp(member_text(report, "kind"), PROMISE_REPORT_KIND) != 0 ||
	    member_int(report, "version") != PROMISE_REPORT_VERSION)
		rc = err_set(err, -EINVAL,
		    "%.200s: expected a report of coalctl accept run, version "
		    "%d",
		    path, PROMISE_REPORT_VERSION);
	else if (!json_is_object(json_object_get(report, "summary")))
		rc = err_set(err, -EINVAL,
		    "%.200s: the acceptance has not ended: continue coalctl "
		    "accept run --out with this file",
		    path);
	else if (!(p->node_rate > 0))
		rc = err_set(err, -EINVAL,
		    "%.200s: no node has a rate: run campaign watch-bw, then "
		    "coalctl accept run with another --out",
		    path);
	json_decref(report);
	if (rc == 0)
		*ret = p;
	else
		promised_free(p);
	return rc;
}

void
promised_free(struct promised *p)
{
	if (p == NULL)
		return;
	json_decref(p->nodes);
	free(p);
}
