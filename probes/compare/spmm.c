/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/compare/spmm.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/rng.h"
#include "common/xalloc.h"
#include "probes/job/world.h"
#include "schema/record.h"

#define SHARE_PIECE (1 << 28) /* bytes of one broadcast */

/* Where the rows of each rank's block of B lie, for one side. */
struct blocks {
	double **at; /* by rank; NULL: not needed here */
};

struct spmm {
	struct neighbor_run *n;
	struct csr m;
	uint32_t columns;
	uint32_t lo, hi; /* rows of this rank */
	uint64_t seed;   /* of B */
	double *c;       /* (hi - lo) rows */
	struct blocks blocks[AB_TIMING_SIDES];
	struct ab_timing versus;
};

static const struct transport_team *
team_of(const struct spmm *s)
{
	return exec_team(s->n->exec);
}

static void
share(const struct transport_team *team, void *data, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += SHARE_PIECE) {
		size_t n = bytes - at < SHARE_PIECE ? bytes - at : SHARE_PIECE;

		MPI_DO(MPI_Bcast((char *)data + at, (int)n, MPI_BYTE, 0,
		    team->comm));
	}
}

/* The whole matrix to everyone: it is the dense one that is large. */
static void
share_matrix(struct spmm *s, const struct csr *from)
{
	const struct transport_team *team = team_of(s);
	struct csr *m = &s->m;
	uint64_t size[2] = { 0 };

	if (team->rank == 0) {
		size[0] = from->rows;
		size[1] = from->nonzeros;
	}
	share(team, size, sizeof(size));
	m->rows = (uint32_t)size[0];
	m->nonzeros = (size_t)size[1];
	m->starts = xcalloc((size_t)m->rows + 1, sizeof(*m->starts));
	m->columns = xcalloc(m->nonzeros + 1, sizeof(*m->columns));
	m->values = xcalloc(m->nonzeros + 1, sizeof(*m->values));
	if (team->rank == 0) {
		memcpy(m->starts, from->starts,
		    ((size_t)m->rows + 1) * sizeof(*m->starts));
		memcpy(m->columns, from->columns,
		    m->nonzeros * sizeof(*m->columns));
		memcpy(m->values, from->values,
		    m->nonzeros * sizeof(*m->values));
	}
	share(team, m->starts, ((size_t)m->rows + 1) * sizeof(*m->starts));
	share(team, m->columns, m->nonzeros * sizeof(*m->columns));
	share(team, m->values, m->nonzeros * sizeof(*m->values));
}

/* Blocks are where the exchange leaves them. */
static void
blocks_find(struct spmm *s)
{
	const struct plan *p = s->n->plan;
	uint32_t ranks = (uint32_t)team_of(s)->ranks;
	uint32_t rank = (uint32_t)team_of(s)->rank;

	for (int i = 0; i < AB_TIMING_SIDES; i++)
		s->blocks[i].at = xcalloc(ranks, sizeof(*s->blocks[i].at));
	for (uint32_t b = 0; b < p->bufs_count; b++) {
		unsigned src;

		if (p->bufs[b].bytes[rank] == 0)
			continue;
		if (sscanf(p->bufs[b].name, "recv.%u", &src) != 1)
			src = rank;
		s->blocks[0].at[src] = exec_place(s->n->exec, (uint16_t)b, 0);
	}
	for (uint32_t src = 0; src < ranks; src++)
		s->blocks[1].at[src] = (double *)(uintptr_t)
		    baseline_block(s->n->rival, src);
	s->blocks[1].at[rank] = baseline_send(s->n->rival);
}

/* A rank that gives nothing has no buffer for its own rows. */
static void
own_blocks_make(struct spmm *s)
{
	uint32_t rank = (uint32_t)team_of(s)->rank;
	size_t count = (size_t)(s->hi - s->lo) * s->columns + 1;

	if (s->blocks[0].at[rank] != NULL)
		return;
	s->blocks[0].at[rank] = xcalloc(count, sizeof(double));
	s->blocks[1].at[rank] = xcalloc(count, sizeof(double));
}

static int
gives_nothing(const struct spmm *s)
{
	return s->n->plan->bufs[0].bytes[team_of(s)->rank] == 0;
}

static double
b_at(const struct spmm *s, uint32_t row, uint32_t column)
{
	uint64_t place = (uint64_t)row * s->columns + column;

	return (double)(rng_mix(place ^ s->seed) % 17) - 8;
}

static void
fill(struct spmm *s, int side)
{
	double *b = s->blocks[side].at[team_of(s)->rank];

	for (uint32_t row = s->lo; row < s->hi; row++)
		for (uint32_t k = 0; k < s->columns; k++)
			*b++ = b_at(s, row, k);
}

static void
multiply(struct spmm *s, int side)
{
	uint32_t ranks = (uint32_t)team_of(s)->ranks, width = s->columns;

	memset(s->c, 0, (size_t)(s->hi - s->lo) * width * sizeof(*s->c));
	for (uint32_t row = s->lo; row < s->hi; row++) {
		double *c = s->c + (size_t)(row - s->lo) * width;

		for (size_t i = s->m.starts[row]; i < s->m.starts[row + 1];
		     i++) {
			uint32_t j = s->m.columns[i];
			uint32_t owner = csr_owner(&s->m, ranks, j);
			const double *b = s->blocks[side].at[owner] +
			    (size_t)(j - csr_block(&s->m, ranks, owner)) *
				width;

			for (uint32_t k = 0; k < width; k++)
				c[k] += s->m.values[i] * b[k];
		}
	}
}

/* In the order in which multiply adds. */
static int
compare(const struct spmm *s)
{
	const double *c = s->c;

	for (uint32_t row = s->lo; row < s->hi; row++)
		for (uint32_t k = 0; k < s->columns; k++) {
			double want = 0;

			for (size_t i = s->m.starts[row];
			     i < s->m.starts[row + 1]; i++)
				want += s->m.values[i] *
				    b_at(s, s->m.columns[i], k);
			if (*c++ != want)
				return -EBADMSG;
		}
	return 0;
}

static void
plan_cb(void *arg)
{
	struct spmm *s = arg;

	neighbor_run_plan_cb(s->n);
	multiply(s, 0);
}

static void
rival_cb(void *arg)
{
	struct spmm *s = arg;

	neighbor_run_rival_cb(s->n);
	multiply(s, 1);
}

static int
usable(const struct neighbor_run *n, struct err *err)
{
	if (n->rival == NULL)
		return err_set(err, -ENOTSUP, "nothing to compare with: %.200s",
		    n->err.text);
	if (exec_team(n->exec)->ops->host_access)
		return 0;
	return err_set(err, -ENOTSUP,
	    "the processor multiplies, and device %s keeps its memory to "
	    "itself",
	    exec_team(n->exec)->ops->name);
}

int
spmm_open(struct neighbor_run *n, const struct csr *m, uint32_t columns,
    struct spmm **ret, struct err *err)
{
	const struct transport_team *team = exec_team(n->exec);
	struct spmm *s;
	int rc = usable(n, err);

	if (rc < 0)
		return rc;
	s = xcalloc(1, sizeof(*s));
	s->n = n;
	s->columns = columns;
	share_matrix(s, m);
	s->lo = csr_block(&s->m, (uint32_t)team->ranks, (uint32_t)team->rank);
	s->hi = csr_block(&s->m, (uint32_t)team->ranks,
	    (uint32_t)team->rank + 1);
	s->c = xcalloc((size_t)(s->hi - s->lo) * columns + 1, sizeof(*s->c));
	blocks_find(s);
	own_blocks_make(s);
	*ret = s; /* handed over */
	return 0;
}

void
spmm_close(struct spmm *s)
{
	if (s == NULL)
		return;
	for (int i = 0; i < AB_TIMING_SIDES; i++) {
		if (gives_nothing(s))
			free(s->blocks[i].at[team_of(s)->rank]);
		free(s->blocks[i].at);
	}
	ab_timing_clear(&s->versus);
	csr_clear(&s->m);
	free(s->c);
	free(s);
}

/* One product of each side with numbers that it has not had before. */
static int
prove(struct spmm *s, uint64_t seed, struct err *err)
{
	int rc = 0;

	s->seed = seed;
	for (int i = 0; rc == 0 && i < AB_TIMING_SIDES; i++) {
		fill(s, i);
		MPI_DO(MPI_Barrier(team_of(s)->comm));
		s->versus.side[i].run(s);
		rc = transport_agree(team_of(s), compare(s));
		if (rc < 0)
			err_say(err, "wrong product by %s",
			    i == 0 ? "the plan" : baseline_name(s->n->rival));
		MPI_DO(MPI_Barrier(team_of(s)->comm));
	}
	return rc;
}

int
spmm_time(struct spmm *s, const struct trial_ask *ask, struct err *err)
{
	int rc;

	s->versus.sides = AB_TIMING_SIDES;
	s->versus.side[0].run = plan_cb;
	s->versus.side[1].run = rival_cb;
	s->versus.side[0].arg = s->versus.side[1].arg = s;
	rc = prove(s, 1, err);
	if (rc < 0)
		return rc;
	ab_timing_time(team_of(s), ask, &s->versus);
	return prove(s, 2, err);
}

/* ---- the record ---- */

struct result {
	struct timing ratio, own, other;
	double setup_s, other_setup_s;
	double value; /* with set-up, for as many products as were measured */
	double repay; /* products; NAN: never */
};

static struct result
result_of(const struct plan_report *r, const struct spmm *s, double plan_s)
{
	const struct ab_timing *v = &s->versus;
	struct result x = { .setup_s = plan_s + r->setup_s,
		.other_setup_s = baseline_setup_s(s->n->rival) };
	double n = (double)v->side[0].trial.count, dearer, saved;

	ab_timing_ratio(v, &x.ratio);
	timing_of(v->side[0].trial.samples, v->side[0].trial.count, &x.own);
	timing_of(v->side[1].trial.samples, v->side[1].trial.count, &x.other);
	x.value = (x.other_setup_s + n * x.other.median_middle_s) /
	    (x.setup_s + n * x.own.median_middle_s);
	dearer = x.setup_s - x.other_setup_s;
	saved = x.other.median_middle_s - x.own.median_middle_s;
	x.repay = dearer <= 0 ? 0 : saved > 0 ? ceil(dearer / saved) : NAN;
	return x;
}

static json_t *
interval(const struct timing *t)
{
	if (!isfinite(t->lo_s))
		return json_null();
	return json_pack("{s:s, s:f, s:f, s:f}", "of", "median", "level", 0.95,
	    "lo", t->lo_s, "hi", t->hi_s);
}

json_t *
spmm_report(const struct plan_report *r, const struct spmm *s, double plan_s)
{
	struct result x = result_of(r, s, plan_s);
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:i, s:I, s:i, s:i}",
	    "probe", "spmm", "plan", r->plan->title, "order",
	    s->n->phased ? "phased" : "dataflow", "baseline",
	    baseline_name(s->n->rival), "rows", (int)s->m.rows, "nonzeros",
	    (json_int_t)s->m.nonzeros, "columns", (int)s->columns, "n",
	    (int)x.own.n);

	json_object_set_new(o, "value", record_number(x.value));
	json_object_set_new(o, "steady_value",
	    record_number(x.ratio.median_middle_s));
	json_object_set_new(o, "interval", interval(&x.ratio));
	json_object_set_new(o, "seconds", record_number(x.own.median_middle_s));
	json_object_set_new(o, "baseline_seconds",
	    record_number(x.other.median_middle_s));
	json_object_set_new(o, "setup_s", record_number(x.setup_s));
	json_object_set_new(o, "baseline_setup_s",
	    record_number(x.other_setup_s));
	json_object_set_new(o, "repay", record_number(x.repay));
	json_object_set_new(o, "verified", json_true());
	return o;
}

json_t *
spmm_refusal(const struct plan_report *r, enum cause cause, const char *why)
{
	return json_pack("{s:s, s:s, s:s, s:i, s:n, s:n, s:n, s:s, s:s}",
	    "probe", "spmm", "plan", r->plan->title, "baseline", "", "n", 0,
	    "value", "steady_value", "interval", "cause",
	    names_causes[cause].name, "text", why);
}

void
spmm_text(const struct plan_report *r, const struct spmm *s, double plan_s,
    char *ret, size_t cap_bytes)
{
	struct result x = result_of(r, s, plan_s);

	snprintf(ret, cap_bytes,
	    "product of %u rows, %zu nonzeros and %u columns: speed-up %.2f, "
	    "with set-up %.2f over %zu products",
	    s->m.rows, s->m.nonzeros, s->columns, x.ratio.median_middle_s,
	    x.value, x.own.n);
}
