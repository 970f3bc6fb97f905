/* SPDX-License-Identifier: Apache-2.0 */
/*
 * congestor_loop.c - batches of operations, agreed on one behind, until the
 * canaries are done.
 */
#include "probes/congestion/congestor_loop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "probes/job/control.h"
#include "probes/job/relay.h"

#define BATCH_TARGET_NS (10 * CLK_NS_PER_MS)
#define BATCH_MAX       512 /* as in GPCNeT */
/* Senders of an incast run ahead of its root by up to two batches, in the
 * MPI's memory at the root. */
#define AHEAD_BYTES_MAX (2.0 * 1024 * 1024)

struct congestor_loop *
congestor_loop_new(const struct world *w, const struct settings *s)
{
	struct congestor_loop *l = xcalloc(1, sizeof(*l));
	size_t bytes = s->congestor_bytes;
	int rc = 0;

	l->world = w;
	l->settings = s;
	l->kind = s->kinds[w->role];
	l->batch = 1;
	for (int i = 0; i < PHASE_MAX; i++)
		hist_clear(&l->rates[i]);
	if (l->kind == CONGESTOR_ALLREDUCE)
		bytes = s->allreduce_bytes;
	if (!world_alone(w))
		rc = congestor_open(&l->state, l->kind, w->slice, bytes,
		    &l->err);
	l->opened = rc == 0 && l->state.send != NULL;
	MPI_DO(MPI_Allreduce(MPI_IN_PLACE, &rc, 1, MPI_INT, MPI_MIN, w->group));
	if (rc < 0) {
		l->cause = CAUSE_UNSUPPORTED;
		l->opened = 0;
		if (w->group_rank == 0)
			log_warnx("congestor %s: %s",
			    names_congestors[l->kind].name, l->err.text);
	}
	return l;
}

void
congestor_loop_free(struct congestor_loop *l)
{
	if (l == NULL)
		return;
	if (l->state.send != NULL)
		congestor_close(&l->state);
	free(l);
}

/* One run of batches. */
struct shift {
	struct congestor_loop *load;
	struct hist *rates; /* where samples go */
	uint64_t started_ns;
	uint64_t until_ns; /* alone: when to stop; else 0 */
	int warm;          /* 1: canaries may measure, rates count */
	int batches;
	MPI_Request warm_req, stop_req; /* with the canaries */
	MPI_Request agree_req;
	int agree_operations; /* in the batch that is being agreed on */
	double agree_in[2], agree_out[2]; /* stop?, ns of that batch */
};

/* Tell the canaries when warm, and hear from them. */
static void
meet_canaries(struct shift *sh)
{
	const struct congestor_loop *l = sh->load;
	uint64_t age_ns = clk_ns() - sh->started_ns;

	if (sh->warm || age_ns < l->settings->load_warmup_ns)
		return;
	if (sh->until_ns > 0) {
		sh->warm = 1;
		return;
	}
	if (sh->warm_req == MPI_REQUEST_NULL)
		MPI_DO(MPI_Ibarrier(l->world->control, &sh->warm_req));
	if (!control_done(&sh->warm_req))
		return;
	sh->warm = 1;
	MPI_DO(MPI_Ibarrier(l->world->control, &sh->stop_req));
}

/* The next batch lasts BATCH_TARGET_NS at the speed of the slowest rank in the
 * agreed one, and is at most twice as large. */
static int
next_batch(const struct shift *sh)
{
	const struct congestor_state *c = &sh->load->state;
	double want = sh->agree_operations * (double)BATCH_TARGET_NS /
	    (sh->agree_out[1] + 1);
	double ahead = AHEAD_BYTES_MAX / (double)(c->bytes * (size_t)c->size);

	want = fmin(want, 2.0 * sh->agree_operations);
	want = fmin(want, floor(fmin(fmax(ahead, 1), BATCH_MAX)));
	return want < 1 ? 1 : (int)want;
}

/* A rate covers a batch and the wait for the agreement before it, so that a
 * sender is not faster than what its root takes in. */
static void
work(struct shift *sh)
{
	struct congestor_loop *l = sh->load;
	const struct congestor_state *c = &l->state;
	const struct congestor_ops *ops = &congestor_ops[l->kind];

	for (;;) {
		uint64_t start_ns = clk_ns(), batch_ns;
		int operations = l->batch;

		for (int i = 0; i < operations; i++)
			ops->once(&l->state);
		batch_ns = clk_ns() - start_ns;
		if (sh->batches++ > 0) {
			/* the batch before is agreed on by now, or soon */
			MPI_DO(MPI_Wait(&sh->agree_req, MPI_STATUS_IGNORE));
			l->batch = next_batch(sh);
			if (sh->agree_out[0] > 0)
				break;
		}
		if (sh->warm && !(ops->rooted && c->rank == 0))
			hist_add(sh->rates,
			    ops->moved_bytes(c) * operations *
				(double)CLK_NS_PER_S /
				(double)(clk_ns() - start_ns + 1));
		meet_canaries(sh);
		/* does this rank know that it is over? */
		sh->agree_in[0] = sh->until_ns > 0
		    ? clk_ns() >= sh->until_ns
		    : sh->warm && control_done(&sh->stop_req);
		sh->agree_in[1] = (double)batch_ns;
		sh->agree_operations = operations;
		MPI_DO(MPI_Iallreduce(sh->agree_in, sh->agree_out, 2,
		    MPI_DOUBLE, MPI_MAX, c->comm, &sh->agree_req));
		relay_poll();
	}
	/* The root of a one-sided kind has nothing to do but must not sleep
	 * while others still need its progress. */
	MPI_DO(MPI_Barrier(c->comm));
}

static struct shift
shift_new(struct congestor_loop *l, enum phase phase)
{
	struct shift sh = { .load = l,
		.rates = &l->rates[phase],
		.started_ns = clk_ns(),
		.warm_req = MPI_REQUEST_NULL,
		.stop_req = MPI_REQUEST_NULL,
		.agree_req = MPI_REQUEST_NULL };

	return sh;
}

void
congestor_loop_run(struct congestor_loop *l)
{
	struct shift sh = shift_new(l, PHASE_CONGESTED);

	if (l->opened)
		work(&sh);
	/* Who stopped on a neighbour's word has not seen the barrier end; who
	 * has nothing to send takes part all the same. */
	if (!sh.warm && sh.warm_req == MPI_REQUEST_NULL)
		MPI_DO(MPI_Ibarrier(l->world->control, &sh.warm_req));
	if (!sh.warm) {
		control_wait(&sh.warm_req);
		MPI_DO(MPI_Ibarrier(l->world->control, &sh.stop_req));
	}
	control_wait(&sh.stop_req);
}

void
congestor_loop_run_alone(struct congestor_loop *l, uint64_t span_ns)
{
	struct shift sh = shift_new(l, PHASE_ISOLATED);

	sh.until_ns = sh.started_ns + l->settings->load_warmup_ns + span_ns;
	if (l->opened)
		work(&sh);
}
