/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/figures/series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/catalog/patterns.h"
#include "probes/predict/expectation.h"
#include "probes/predict/model.h"

#define GB            1e9
#define WORDS_MAX     32
#define PROFILE_BYTES 268435456

static void __attribute__((noreturn)) give_up(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s\n", what, why);
	exit(3);
}

static struct machine *
machine_of(const char *name)
{
	char *path = xasprintf("%s/%s.conf", FIGURES_MACHINES, name);
	struct err err;
	struct machine *m;

	if (machine_load(path, NULL, 0, &m, &err) < 0)
		give_up(path, err.text);
	free(path);
	return m;
}

static struct plan *
plan_of(const char *probe)
{
	char *copy = xstrdup(probe), *words[WORDS_MAX], *save = NULL;
	struct err err;
	struct plan *p;
	int n = 0;

	for (char *w = strtok_r(copy, " ", &save); w != NULL && n < WORDS_MAX;
	     w = strtok_r(NULL, " ", &save))
		words[n++] = w;
	if (patterns_plan(words[0], words + 1, n - 1, 0, &p, &err) < 0)
		give_up(probe, err.text);
	free(copy);
	return p;
}

double
series_gb_per_s(const char *machine, const char *probe)
{
	struct machine *m = machine_of(machine);
	struct plan *p = plan_of(probe);
	struct err err;
	const char *note;
	struct predict pr;
	double s, bytes;

	if (predict_plan(p, m, NULL, &pr, &err) < 0)
		give_up(probe, err.text);
	s = (double)pr.total_ps / 1e12;
	bytes = expectation_data(p, &note);
	predict_clear(&pr);
	plan_free(p);
	machine_free(m);
	return bytes / s / GB;
}

/* On Aurora every device receives in the asymmetric pattern, and the four NICs
 * with two devices are full before the sending NICs: the model does not cover
 * this. */
const struct series_profile series_profiles[SERIES_PROFILES] = {
	{ "delta", "rail", 4 },
	{ "perlmutter", "rail", 4 },
	{ "summit", "rail", 6 },
	{ "frontier", "rail", 8 },
	{ "dgx-a100", "rail", 8 },
	{ "aurora", "rail", 12 },
	{ "delta", "asymmetric", 4 },
	{ "perlmutter", "asymmetric", 4 },
	{ "summit", "asymmetric", 6 },
	{ "frontier", "asymmetric", 8 },
	{ "dgx-a100", "asymmetric", 8 },
};

double
series_profile_gb_per_s(const struct series_profile *p, uint32_t k)
{
	char probe[160];

	snprintf(probe, sizeof(probe),
	    "group pattern=%s n=2 g=%u k=%u type=byte count=%d", p->pattern,
	    p->devices, k, PROFILE_BYTES);
	return series_gb_per_s(p->machine, probe);
}

double
series_profile_model(const struct series_profile *p, uint32_t k)
{
	struct machine *m = machine_of(p->machine);
	double per_s = m->binding == BINDING_PACKED
	    ? model_packed_per_s(m->out_per_s, m->devices / m->nics, k)
	    : model_round_robin_per_s(m->out_per_s, m->nics, k);

	machine_free(m);
	return per_s / GB;
}

/* HiCCL's Table V: factors, and MPI between nodes, IPC inside. */
const struct series_system series_systems[SERIES_SYSTEMS] = {
	{ "delta", 16, 4, "2,2,4 via=mpi,mpi,ipc", "4,4 via=mpi,ipc", 1 },
	{ "perlmutter", 16, 4, "2,2,4 via=mpi,mpi,ipc", "4,4 via=mpi,ipc", 1 },
	{ "frontier", 32, 8, "2,2,4,2 via=mpi,mpi,ipc,ipc",
	    "4,4,2 via=mpi,ipc,ipc", 1 },
	{ "aurora", 48, 12, "2,2,6,2 via=mpi,mpi,ipc,ipc",
	    "4,6,2 via=mpi,ipc,ipc", 0.75 },
};

const char *const series_steps[SERIES_STEPS] = {
	[STEP_DIRECT] = "direct",
	[STEP_TREE] = "hierarchy",
	[STEP_STRIPE] = "+ striping",
	[STEP_PIPE] = "+ pipelining",
	[STEP_RING] = "ring, pipelined",
};

const char *const series_collectives[SERIES_COLLECTIVES] = { "broadcast",
	"reduce", "gather", "scatter", "allgather", "reduce-scatter",
	"allreduce", "alltoall" };

/* The throughput of four nodes with the settings of HiCCL's Table V and buffers
 * of 1 GiB. */
double
series_collective_gb_per_s(const struct series_system *s,
    const char *collective, enum series_step step)
{
	char probe[256];
	int n;

	if (step == STEP_RING && strcmp(collective, "broadcast") != 0 &&
	    strcmp(collective, "reduce") != 0)
		return 0;
	n = snprintf(probe, sizeof(probe),
	    "collective name=%s type=float count=%u", collective,
	    268435456 / s->ranks);
	if (step == STEP_DIRECT)
		n += snprintf(probe + n, sizeof(probe) - (size_t)n,
		    " hierarchy=%u", s->ranks);
	else
		n += snprintf(probe + n, sizeof(probe) - (size_t)n,
		    " hierarchy=%s", step == STEP_RING ? s->ring : s->tree);
	if (step >= STEP_STRIPE)
		n += snprintf(probe + n, sizeof(probe) - (size_t)n,
		    " stripe=%u", s->node);
	if (step >= STEP_PIPE)
		n += snprintf(probe + n, sizeof(probe) - (size_t)n, " depth=%d",
		    step == STEP_RING ? 32 : 16);
	if (step == STEP_RING)
		snprintf(probe + n, sizeof(probe) - (size_t)n, " ring=4");
	return series_gb_per_s(s->machine, probe);
}

double
series_collective_bound(const struct series_system *s, const char *collective)
{
	struct machine *m = machine_of(s->machine);
	double per_s = model_bound_per_s(collective, s->ranks, s->node,
	    m->out_per_s * m->nics);

	machine_free(m);
	return per_s / GB;
}

const struct series_curve series_curves[SERIES_CURVES] = {
	{ "gather", 0 },
	{ "scatter", 0 },
	{ "broadcast", 1 },
	{ "reduce", 1 },
};

double
series_depth_gb_per_s(const struct series_curve *c, uint64_t bytes,
    uint32_t depth)
{
	char probe[256];

	snprintf(probe, sizeof(probe),
	    "collective name=%s type=float count=%llu stripe=4 depth=%u %s",
	    c->collective, (unsigned long long)(bytes / 4 / 16), depth,
	    c->ring ? "hierarchy=4,4 via=mpi,ipc ring=4"
		    : "hierarchy=2,2,4 via=mpi,mpi,ipc");
	return series_gb_per_s("perlmutter", probe);
}

/* Nodes in factors as equal as two can be; 8 GiB on every device. */
double
series_scale_gb_per_s(uint32_t nodes)
{
	uint32_t a = 1;
	char probe[256];

	while (a * a < nodes)
		a *= 2;
	snprintf(probe, sizeof(probe),
	    "collective name=allreduce type=float count=%u "
	    "hierarchy=%u,%u,4 via=mpi,mpi,ipc depth=4",
	    2147483648U / (4 * nodes), nodes / a, a);
	return series_gb_per_s("perlmutter", probe);
}

double
series_scale_bound(uint32_t nodes)
{
	return model_bound_per_s("allreduce", 4 * nodes, 4, 100 * GB) / GB;
}
