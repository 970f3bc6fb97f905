/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "common/xalloc.h"
#include "probes/compare/plans_part.h"

int
plans_is_kept(const struct plans *ps, const struct plan *p)
{
	for (size_t i = 0; i < ps->kept_count; i++)
		if (ps->kept[i].plan == p)
			return 1;
	return 0;
}

/* What all of them are, as one: only the sums count. */
static struct plan *
join_kept(const struct plans *ps)
{
	struct strbuf sb = { 0 };
	struct plan *all;

	for (size_t i = 0; i < ps->kept_count; i++)
		strbuf_addf(&sb, "%s%s", i > 0 ? " + " : "",
		    ps->kept[i].plan->title);
	all = plan_new((uint32_t)ps->world->size, sb.text);
	strbuf_clear(&sb);
	for (size_t i = 0; i < ps->kept_count; i++)
		for (size_t k = 0; k < ps->kept[i].plan->transfers_count; k++)
			plan_transfer_add(all, &ps->kept[i].plan->transfers[k]);
	return all;
}

/* Each plan's data is proven as if it had been alone. */
static int
prove_together(struct plans *ps, struct exec *const *list, uint64_t data)
{
	struct exec_fault f;
	int rc = 0;

	for (size_t i = 0; i < ps->kept_count; i++)
		exec_fill(list[i], data);
	transport_agree(ps->team, 0);
	exec_run_all(list, ps->kept_count);
	transport_agree(ps->team, 0);
	for (size_t i = 0; i < ps->kept_count && rc == 0; i++) {
		struct plan_report r = { .world = ps->world,
			.team = ps->team,
			.probe = "concurrent",
			.plan = ps->kept[i].plan };

		rc = trial_compare(ps->team, list[i], data, &f);
		rc = plans_fault(ps, &r, rc, &f, "among concurrent plans");
	}
	return rc;
}

void
plans_run_together(struct plans *ps, const struct order *o)
{
	struct exec **list = xcalloc(ps->kept_count + 1, sizeof(struct exec *));
	struct plan_report r = { .world = ps->world,
		.team = ps->team,
		.probe = "concurrent",
		.staging = "" };
	struct plan *all = join_kept(ps);
	struct trial t = { 0 };
	int rc;

	for (size_t i = 0; i < ps->kept_count; i++)
		list[i] = ps->kept[i].exec;
	r.plan = all;
	r.memory_bytes_per_s = trial_memory(ps->team, plans_largest(all), NULL);
	plans_volume(&r);
	rc = prove_together(ps, list, PLANS_FIRST_DATA);
	if (rc == 0) {
		trial_time_all(ps->team, list, ps->kept_count, &o->ask, &t);
		rc = prove_together(ps, list, PLANS_SECOND_DATA);
	}
	if (rc == 0)
		plans_report(ps, &r, &t, PLAN_REPORT_CONCURRENT);
	trial_clear(&t);
	plan_free(all);
	free(list);
}
