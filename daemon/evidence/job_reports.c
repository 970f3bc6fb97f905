/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_reports.c - read the reports of a heartbeat about jobs.
 */
#include "daemon/evidence/job_reports.h"

#include <stdlib.h>
#include <string.h>

#include "common/member.h"
#include "common/xalloc.h"

static struct job_claim
job_reports_claim(const json_t *o)
{
	const json_t *uid = json_object_get(o, "uid");

	return (struct job_claim){ member_text(o, "job"), json_is_integer(uid),
		json_integer_value(uid) };
}

void
in_band_report_read(const json_t *o, struct in_band_report *ret)
{
	const json_t *rows = json_object_get(o, "rows");

	ret->of = job_reports_claim(o);
	ret->rows = json_is_array(rows) ? rows : NULL;
}

static struct ras_rank *
job_reports_ranks(const json_t *comm, const char *name, size_t *ret_count)
{
	size_t count = json_array_size(json_object_get(comm, name)), i;
	struct ras_rank *ret = xcalloc(count + 1, sizeof(*ret));
	const json_t *row;

	*ret_count = count;
	member_foreach (comm, name, i, row)
		ret[i] = (struct ras_rank){ member_int(row, "rank"),
			member_int(row, "gpu"), member_text(row, "addr"),
			strcmp(member_text(row, "state"), "absent") == 0 };
	return ret;
}

void
ras_report_read(const json_t *o, struct ras_report *ret)
{
	const json_t *v;
	size_t i;

	*ret = (struct ras_report){ .of = job_reports_claim(o),
		.error = member_text(o, "error"),
		.version = member_text(o, "version"),
		.comms = member_int(o, "comms"),
		.launched = member_int(o, "launched") };
	ret->addrs = xcalloc(json_array_size(json_object_get(o, "addrs")) + 1,
	    sizeof(*ret->addrs));
	member_foreach (o, "addrs", i, v)
		if (json_is_string(v))
			ret->addrs[ret->addr_count++] = json_string_value(v);
	ret->list = xcalloc(json_array_size(json_object_get(o, "list")) + 1,
	    sizeof(*ret->list));
	member_foreach (o, "list", i, v) {
		struct ras_comm *c = &ret->list[ret->count++];

		*c = (struct ras_comm){ .hash = member_text(v, "hash"),
			.size = member_int(v, "size"),
			.answered = member_int(v, "answered"),
			.ending = member_int(v, "ending"),
			.most = member_int(v, "most"),
			.least = member_int(v, "least"),
			.missing_count = member_int(v, "missing_count"),
			.behind_count = member_int(v, "behind_count") };
		c->missing = job_reports_ranks(v, "missing",
		    &c->missing_listed);
		c->behind = job_reports_ranks(v, "behind", &c->behind_listed);
	}
}

void
ras_report_clear(struct ras_report *r)
{
	for (size_t i = 0; i < r->count; i++) {
		free(r->list[i].missing);
		free(r->list[i].behind);
	}
	free(r->list);
	free(r->addrs);
	*r = (struct ras_report){ 0 };
}
