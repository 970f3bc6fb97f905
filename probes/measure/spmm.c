/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spmm.c - time a product C = A B of a sparse and a dense matrix, by the plan
 * or by MPI: both matrices are in blocks of rows (neighbor.h), and each rank
 * gets the rows of B that it needs from its neighbours, and multiplies.
 *
 * B has small whole numbers that follow from row and column, so that any rank
 * can compute any element of C; exactly, and in any order of the sum, if A has
 * whole numbers too.
 */
#include "probes/measure/spmm.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/rng.h"
#include "common/xalloc.h"
#include "probes/job/control.h"
#include "probes/job/emit.h"
#include "probes/job/world.h"
#include "probes/measure/ab_timing.h"
#include "probes/measure/baseline.h"
#include "probes/measure/baseline_edges.h"
#include "probes/measure/measure.h"
#include "probes/measure/plan_report.h"
#include "probes/neighbor/neighbor.h"
#include "probes/neighbor/csr.h"
#include "probes/neighbor/neighbor_read.h"
#include "probes/sampling/timing.h"
#include "schema/record.h"

#define SHARE_PIECE (1 << 28) /* bytes of one broadcast */

struct spmm {
	struct measurement *c;
	const struct transport_team *team;
	struct baseline *baseline;
	struct csr m;
	uint32_t columns;
	uint32_t lo, hi; /* rows of this rank */
	uint64_t seed;   /* of B */
	double *product; /* (hi - lo) rows */
	/* By side: where the rows of each rank's block of B lie; NULL: not
	 * needed here. */
	double **blocks[AB_TIMING_SIDES];
	struct beside beside;
};

static void
spmm_share(const struct transport_team *team, void *data, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += SHARE_PIECE) {
		size_t n = bytes - at < SHARE_PIECE ? bytes - at : SHARE_PIECE;

		MPI_DO(MPI_Bcast((char *)data + at, (int)n, MPI_BYTE, 0,
		    team->comm));
	}
}

/* At every rank what rank 0 has in from. */
static void *
spmm_share_copy(const struct transport_team *team, const void *from,
    size_t bytes)
{
	void *copy = xcalloc(bytes + 1, 1);

	if (team->rank == 0 && bytes > 0)
		memcpy(copy, from, bytes);
	spmm_share(team, copy, bytes);
	return copy;
}

/* A rank that gives nothing has no buffer for its own rows. */
static int
spmm_gives_nothing(const struct spmm *s)
{
	return s->c->subject.plan->bufs[0].bytes[s->team->rank] == 0;
}

/* Blocks are where the exchange leaves them. */
static void
spmm_blocks_find(struct spmm *s)
{
	const struct plan *p = s->c->subject.plan;
	uint32_t ranks = (uint32_t)s->team->ranks;
	uint32_t rank = (uint32_t)s->team->rank;

	for (int i = 0; i < AB_TIMING_SIDES; i++)
		s->blocks[i] = xcalloc(ranks, sizeof(*s->blocks[i]));
	for (uint32_t b = 0; b < p->bufs_count; b++) {
		unsigned src;

		if (p->bufs[b].bytes[rank] == 0)
			continue;
		if (sscanf(p->bufs[b].name, "recv.%u", &src) != 1)
			src = rank;
		s->blocks[0][src] = exec_place(s->c->exec, (uint16_t)b, 0);
	}
	for (uint32_t src = 0; src < ranks; src++)
		s->blocks[1][src] = baseline_neighbor_block(s->baseline, src);
	s->blocks[1][rank] = baseline_neighbor_send(s->baseline);
	for (int i = 0; spmm_gives_nothing(s) && i < AB_TIMING_SIDES; i++)
		s->blocks[i][rank] =
		    xcalloc((size_t)(s->hi - s->lo) * s->columns + 1,
			sizeof(double));
}

static double
spmm_b_at(const struct spmm *s, uint32_t row, uint32_t column)
{
	uint64_t place = (uint64_t)row * s->columns + column;

	return (double)(rng_mix(place ^ s->seed) % 17) - 8;
}

static void
spmm_multiply(struct spmm *s, int side)
{
	uint32_t ranks = (uint32_t)s->team->ranks, width = s->columns;

	memset(s->product, 0,
	    (size_t)(s->hi - s->lo) * width * sizeof(*s->product));
	for (uint32_t row = s->lo; row < s->hi; row++) {
		double *c = s->product + (size_t)(row - s->lo) * width;

		for (size_t i = s->m.starts[row]; i < s->m.starts[row + 1];
		     i++) {
			uint32_t j = s->m.columns[i];
			uint32_t owner = csr_owner(&s->m, ranks, j);
			const double *b = s->blocks[side][owner] +
			    (size_t)(j - csr_block(&s->m, ranks, owner)) *
				width;

			for (uint32_t k = 0; k < width; k++)
				c[k] += s->m.values[i] * b[k];
		}
	}
}

/* In the order in which multiply adds. */
static int
spmm_compare(const struct spmm *s)
{
	const double *c = s->product;

	for (uint32_t row = s->lo; row < s->hi; row++)
		for (uint32_t k = 0; k < s->columns; k++) {
			double want = 0;

			for (size_t i = s->m.starts[row];
			     i < s->m.starts[row + 1]; i++)
				want += s->m.values[i] *
				    spmm_b_at(s, s->m.columns[i], k);
			if (*c++ != want)
				return -EBADMSG;
		}
	return 0;
}

static void
spmm_plan_cb(void *arg)
{
	struct spmm *s = arg;

	measure_run_plan_cb(s->c);
	spmm_multiply(s, 0);
}

static void
spmm_baseline_cb(void *arg)
{
	struct spmm *s = arg;

	s->baseline->row->run(s->baseline);
	spmm_multiply(s, 1);
}

/* One product of each side with numbers that it has not had before: 0, or
 * -EBADMSG on every rank and which side it was in. */
static int
spmm_prove(struct spmm *s, uint64_t seed, struct err *err)
{
	int rc = 0;

	s->seed = seed;
	for (int i = 0; rc == 0 && i < AB_TIMING_SIDES; i++) {
		double *b = s->blocks[i][s->team->rank];

		for (uint32_t row = s->lo; row < s->hi; row++)
			for (uint32_t k = 0; k < s->columns; k++)
				*b++ = spmm_b_at(s, row, k);
		MPI_DO(MPI_Barrier(s->team->comm));
		(i == 0 ? spmm_plan_cb : spmm_baseline_cb)(s);
		rc = transport_agree(s->team, spmm_compare(s));
		if (rc < 0)
			err_say(err, "wrong product by %s",
			    i == 0 ? "the plan" : s->baseline->name);
		MPI_DO(MPI_Barrier(s->team->comm));
	}
	return rc;
}

/* ---- the record ---- */

/* plan_s: the time for planning; the rest of set-up is in the subject. value
 * includes set-up, over as many products as were measured; repay is the number
 * of products after which set-up has paid off, NAN: never. */
static void
spmm_report(const struct spmm *s, double plan_s)
{
	const struct subject *r = &s->c->subject;
	const struct ab_timing *v = &s->beside.turns;
	double own_s = ab_timing_median_s(v, 0);
	double other_s = ab_timing_median_s(v, 1);
	double setup_s = plan_s + r->setup_s;
	double other_setup_s = s->baseline->setup_s;
	size_t n = v->side[0].trial.count;
	double value = (other_setup_s + (double)n * other_s) /
	    (setup_s + (double)n * own_s);
	double dearer_s = setup_s - other_setup_s, saved_s = other_s - own_s;
	double repay = NAN;
	struct timing t;
	json_t *o;

	ab_timing_ratio(v, &t);
	if (dearer_s <= 0)
		repay = 0;
	else if (saved_s > 0)
		repay = ceil(dearer_s / saved_s);
	o = json_pack("{s:s, s:s, s:s, s:s, s:i, s:I, s:i, s:i}", "probe",
	    "spmm", "plan", r->plan->title, "order",
	    s->c->phased ? "phased" : "dataflow", "baseline", s->baseline->name,
	    "rows", (int)s->m.rows, "nonzeros", (json_int_t)s->m.nonzeros,
	    "columns", (int)s->columns, "n", (int)n);
	json_object_set_new(o, "value", record_number(value));
	json_object_set_new(o, "steady_value",
	    record_number(t.median_middle_s));
	json_object_set_new(o, "interval", plan_report_interval(&t));
	json_object_set_new(o, "seconds", record_number(own_s));
	json_object_set_new(o, "baseline_seconds", record_number(other_s));
	json_object_set_new(o, "setup_s", record_number(setup_s));
	json_object_set_new(o, "baseline_setup_s",
	    record_number(other_setup_s));
	json_object_set_new(o, "repay", record_number(repay));
	json_object_set_new(o, "verified", json_true());
	emit_put(s->c->report->emit, o);
	strbuf_addf(&s->c->report->remarks,
	    "product of %u rows, %zu nonzeros and %u columns: speed-up %.2f, "
	    "%.2f including set-up over %zu products\n",
	    s->m.rows, s->m.nonzeros, s->columns, t.median_middle_s, value, n);
}

/* All ranks: both sides turn by turn, proven before and after. m is wanted at
 * rank 0 only. */
static int
spmm_multiply_in_turns(struct spmm *s, const struct csr *m, struct err *err)
{
	uint32_t ranks = (uint32_t)s->team->ranks;
	uint32_t rank = (uint32_t)s->team->rank;
	uint64_t size[2] = { 0 };
	int rc;

	/* The whole matrix to everyone: it is the dense one that is large. */
	if (rank == 0) {
		size[0] = m->rows;
		size[1] = m->nonzeros;
	}
	spmm_share(s->team, size, sizeof(size));
	s->m.rows = (uint32_t)size[0];
	s->m.nonzeros = (size_t)size[1];
	s->m.starts = spmm_share_copy(s->team, m->starts,
	    (size_t)(size[0] + 1) * sizeof(*m->starts));
	s->m.columns = spmm_share_copy(s->team, m->columns,
	    (size_t)size[1] * sizeof(*m->columns));
	s->m.values = spmm_share_copy(s->team, m->values,
	    (size_t)size[1] * sizeof(*m->values));
	s->lo = csr_block(&s->m, ranks, rank);
	s->hi = csr_block(&s->m, ranks, rank + 1);
	s->product = xcalloc((size_t)(s->hi - s->lo) * s->columns + 1,
	    sizeof(*s->product));
	spmm_blocks_find(s);
	s->beside.baseline = s->baseline; /* stays the comparison's */
	rc = spmm_prove(s, 1, err);
	if (rc == 0) {
		measure_time(s->c, &s->beside,
		    (struct ab_timing_side[AB_TIMING_SIDES]){
			{ .run = spmm_plan_cb, .arg = s },
			{ .run = spmm_baseline_cb, .arg = s } });
		rc = spmm_prove(s, 2, err);
	}
	for (int i = 0; i < AB_TIMING_SIDES; i++) {
		if (spmm_gives_nothing(s))
			free(s->blocks[i][rank]);
		free(s->blocks[i]);
	}
	free(s->product);
	return rc;
}

void
spmm_measure(struct measurement *c)
{
	struct spmm s = { .c = c,
		.team = c->subject.team,
		.baseline = c->besides[0].baseline };
	struct neighbor nb = { 0 };
	struct err err = { 0 };
	double plan_s = 0;
	uint32_t ranks = (uint32_t)s.team->ranks;
	uint64_t start_ns;
	MPI_Request req;
	int rc = 0;

	if (c->report != NULL) {
		/* The file was read a moment ago. Reading files does not belong
		 * to a product's set-up, so planning is timed again without
		 * it. */
		if (neighbor_read(c->conf, ranks, &nb, &err) < 0)
			fatalx("%s", err.text);
		start_ns = clk_ns();
		plan_free(neighbor_plan(&nb, ranks, ""));
		plan_s = (double)(clk_ns() - start_ns) / (double)CLK_NS_PER_S;
		s.columns = nb.matrix.rows > 0 ? nb.columns : 0;
	}
	MPI_DO(MPI_Ibcast(&s.columns, 1, MPI_UINT32_T, 0,
	    c->subject.world->control, &req));
	control_wait(&req);
	if (s.columns == 0)
		goto out; /* the plan was made for no matrix */
	if (s.baseline == NULL)
		rc = err_set(&err, -ENOTSUP, "no baseline: %.200s",
		    c->besides[0].err.text);
	else if (!s.team->ops->host_access)
		rc = err_set(&err, -ENOTSUP,
		    "SpMM runs on the CPU; memory of device %s is not "
		    "host-accessible",
		    s.team->ops->name);
	if (rc == 0) {
		rc = spmm_multiply_in_turns(&s, &nb.matrix, &err);
		if (rc == 0 && c->report != NULL)
			spmm_report(&s, plan_s);
		ab_timing_clear(&s.beside.turns);
		csr_clear(&s.m);
	}
	if (rc < 0 && c->report != NULL) {
		enum cause cause = rc == -EBADMSG ? CAUSE_WRONG_DATA
						  : CAUSE_UNSUPPORTED;

		emit_put(c->report->emit,
		    json_pack("{s:s, s:s, s:s, s:i, s:n, s:n, s:n, s:s, s:s}",
			"probe", "spmm", "plan", c->subject.plan->title,
			"baseline", "", "n", 0, "value", "steady_value",
			"interval", "cause", names_causes[cause].name, "text",
			err.text));
		if (rc == -EBADMSG)
			plan_report_note(c->report, PLAN_REPORT_BAD, cause,
			    err.text);
	}
out:
	if (c->report != NULL)
		neighbor_clear(&nb);
}
