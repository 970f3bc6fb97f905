/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/run/launcher.h"

#include <string.h>

#include "common/str.h"
#include "daemon/run/run_int.h"
#include "daemon/slurm/slurm.h"

static const char *
slurm_waits(const struct run *r)
{
	if (r->all->slurm == NULL)
		return "";
	slurm_job_ask(r->all->slurm, r->id);
	return slurm_job_text(r->all->slurm, r->id);
}

static void
slurm_end(const struct run *r)
{
	if (r->all->slurm != NULL)
		slurm_job_end(r->all->slurm, r->id);
}

/* A job that has failed has failed because the run has. */
static const struct launcher_end slurm_ends[] = {
	{ "CANCELLED", RUN_CANCELLED, CAUSE_CANCELLED },
	{ "PREEMPTED", RUN_PREEMPTED, CAUSE_BUSY },
	{ "TIMEOUT", RUN_TIMED_OUT, CAUSE_TIMEOUT },
	{ "DEADLINE", RUN_TIMED_OUT, CAUSE_TIMEOUT },
	{ "NODE_FAIL", RUN_FAILED, CAUSE_AGENT_LOST },
};

static int
slurm_ended(const struct run *r, uint64_t since_ns,
    const struct launcher_end **ret_end)
{
	const char *state;

	*ret_end = NULL;
	if (r->all->slurm == NULL)
		return 1;
	slurm_job_ask(r->all->slurm, r->id);
	state = slurm_job_state(r->all->slurm, r->id, since_ns);
	/* On its way out it is COMPLETING. */
	if (state == NULL || strcmp(state, "RUNNING") == 0 ||
	    strcmp(state, "COMPLETING") == 0)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(slurm_ends); i++)
		if (strcmp(slurm_ends[i].word, state) == 0)
			*ret_end = &slurm_ends[i];
	return 1;
}

static const struct launcher launchers[] = {
	/* The limit is what fits into one launch message. */
	{ .name = "agents", .nodes_max = 12000, .relays = 1 },
	{ .name = "local", .nodes_max = 1 },
	{ .name = "slurm",
	    .nodes_max = 12000,
	    .idle = 1,
	    .waits = slurm_waits,
	    .ended = slurm_ended,
	    .end = slurm_end },
	/* its script may ask for daemons */
	{ .name = "command", .nodes_max = 12000, .relays = 1 },
};

const struct launcher *
launcher_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(launchers); i++)
		if (strcmp(launchers[i].name, name) == 0)
			return &launchers[i];
	return NULL;
}
