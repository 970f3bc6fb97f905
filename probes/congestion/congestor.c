/* SPDX-License-Identifier: Apache-2.0 */
/*
 * congestor.c - the operations that load the network, as in GPCNeT (section
 * 3.2), and the number that a rank starts before all agree to continue.
 */

#include "probes/congestion/congestor.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "probes/congestion/canary.h"
#include "probes/job/control.h"
#include "probes/job/fabric.h"
#include "probes/job/relay.h"
#include "probes/job/world.h"

#define TAG_LOAD        987
#define BATCH_TARGET_NS (10 * CLK_NS_PER_MS)
/* A burst ends one batch after its length, so batches are this part of it. */
#define BATCH_OF_BURST 4
#define PAUSE_STEP_NS  CLK_NS_PER_MS
#define BATCH_MAX      512 /* as in GPCNeT */
/* Senders of an incast run ahead of its root by up to two batches, in the
 * MPI's memory at the root. */
#define AHEAD_BYTES_MAX (2.0 * 1024 * 1024)

/* Pairwise exchange: with 2^n ranks the partner is rank ^ i, else the next
 * i'th to send to and the previous i'th to hear from. */
static void
congestor_load_alltoall(struct congestor_load *l)
{
	int even = (l->size & (l->size - 1)) == 0;

	for (int i = 1; i < l->size; i++) {
		int to = (l->rank + i) % l->size;
		int from = (l->rank - i + l->size) % l->size;

		if (even)
			to = from = l->rank ^ i;
		link_begin(&l->link);
		link_recv(&l->link, l->recv, l->bytes, from, TAG_LOAD);
		link_send(&l->link, l->send, l->bytes, to, TAG_LOAD);
		link_end(&l->link);
	}
}

static void
congestor_load_incast(struct congestor_load *l)
{
	link_begin(&l->link);
	if (l->rank != 0)
		link_send(&l->link, l->send, l->bytes, 0, TAG_LOAD);
	for (int i = 1; i < l->size && l->rank == 0; i++)
		link_recv(&l->link, l->recv + l->bytes * (size_t)i, l->bytes, i,
		    TAG_LOAD);
	link_end(&l->link);
}

static void
congestor_load_bcast(struct congestor_load *l)
{
	link_begin(&l->link);
	if (l->rank != 0)
		link_recv(&l->link, l->recv, l->bytes, 0, TAG_LOAD);
	for (int i = 1; i < l->size && l->rank == 0; i++)
		link_send(&l->link, l->send, l->bytes, i, TAG_LOAD);
	link_end(&l->link);
}

/* Each rank has a separate place in the root's window. */
static void
congestor_load_put_incast(struct congestor_load *l)
{
	int n = (int)l->bytes;

	if (l->rank == 0)
		return;
	MPI_DO(MPI_Put(l->send, n, MPI_BYTE, 0,
	    (MPI_Aint)(l->bytes * (size_t)l->rank), n, MPI_BYTE, l->win));
	MPI_DO(MPI_Win_flush(0, l->win));
}

static void
congestor_load_get_bcast(struct congestor_load *l)
{
	int n = (int)l->bytes;

	if (l->rank == 0)
		return;
	MPI_DO(MPI_Get(l->recv, n, MPI_BYTE, 0, 0, n, MPI_BYTE, l->win));
	MPI_DO(MPI_Win_flush(0, l->win));
}

static void
congestor_load_allreduce(struct congestor_load *l)
{
	link_allreduce(&l->link, l->send, l->recv, (int)(l->bytes / 8));
}

static size_t
congestor_one_message(const struct congestor_load *l)
{
	return l->bytes;
}

static size_t
congestor_one_of_each(const struct congestor_load *l)
{
	return l->rank == 0 ? l->bytes * (size_t)l->size : l->bytes;
}

static double
congestor_moved_one(const struct congestor_load *l)
{
	return (double)l->bytes;
}

static double
congestor_moved_to_all(const struct congestor_load *l)
{
	return (double)l->bytes * (l->size - 1);
}

struct congestor_ops {
	int rooted; /* 1: rank 0 serves, and its own rate is not reported */
	/* Bytes of room wanted by rank 0, or by any rank. */
	size_t (*recv_bytes)(const struct congestor_load *l);
	void (*once)(struct congestor_load *l);
	/* Bytes that a rank moves in one operation. */
	double (*moved_bytes)(const struct congestor_load *l);
};

static const struct congestor_ops congestor_ops[CONGESTOR_MAX] = {
	[CONGESTOR_ALLTOALL] = { 0, congestor_one_message,
	    congestor_load_alltoall, congestor_moved_to_all },
	[CONGESTOR_INCAST] = { 1, congestor_one_of_each, congestor_load_incast,
	    congestor_moved_one },
	[CONGESTOR_PUT_INCAST] = { 1, congestor_one_of_each,
	    congestor_load_put_incast, congestor_moved_one },
	[CONGESTOR_GET_BCAST] = { 1, congestor_one_message,
	    congestor_load_get_bcast, congestor_moved_one },
	[CONGESTOR_BCAST] = { 1, congestor_one_message, congestor_load_bcast,
	    congestor_moved_one },
	[CONGESTOR_ALLREDUCE] = { 0, congestor_one_message,
	    congestor_load_allreduce, congestor_moved_one },
};

/* Link, buffers and window of a rank that has others to talk to. */
static int
congestor_open(struct congestor_load *l, struct world *w)
{
	const struct congestor_ops *ops = &congestor_ops[l->kind];
	struct err *err = &l->err;
	int rc;

	l->comm = w->slice;
	MPI_DO(MPI_Comm_rank(l->comm, &l->rank));
	MPI_DO(MPI_Comm_size(l->comm, &l->size));
	l->opened = 1;
	rc = link_open(&l->link, w, l->comm, l->size + 1, err);
	if (rc == 0 && names_congestors[l->kind].onesided && w->team != NULL)
		rc = err_set(err, -ENOTSUP,
		    "one-sided congestors support host memory only");
	if (rc == 0)
		rc = link_alloc(&l->link, l->bytes, &l->send_memory, err);
	if (rc == 0 && names_congestors[l->kind].onesided)
		return canary_window_open(l->comm, ops->recv_bytes(l), &l->recv,
		    &l->win, err);
	if (rc == 0)
		rc = link_alloc(&l->link, ops->recv_bytes(l), &l->recv_memory,
		    err);
	l->recv = l->recv_memory.at;
	return rc;
}

struct congestor_load *
congestor_new(struct world *w, const struct settings *s)
{
	struct congestor_load *l = xcalloc(1, sizeof(*l));
	int rc = 0;

	l->world = w;
	l->settings = s;
	l->kind = s->kinds[w->role];
	l->batch = 1;
	l->win = MPI_WIN_NULL;
	l->bytes = l->kind == CONGESTOR_ALLREDUCE ? s->allreduce_bytes
						  : s->congestor_bytes;
	for (int i = 0; i < PHASE_MAX; i++)
		hist_clear(&l->rates[i]);
	if (!world_alone(w) && l->kind != CONGESTOR_IDLE)
		rc = congestor_open(l, w);
	l->send = l->send_memory.at;
	MPI_DO(MPI_Allreduce(MPI_IN_PLACE, &rc, 1, MPI_INT, MPI_MIN, w->group));
	if (rc < 0) {
		l->cause = CAUSE_UNSUPPORTED;
		l->opened = 0;
		if (w->group_rank == 0)
			log_warnx("congestor %s: unsupported: %s",
			    names_congestors[l->kind].name, l->err.text);
	}
	return l;
}

void
congestor_free(struct congestor_load *l)
{
	if (l == NULL)
		return;
	if (l->win != MPI_WIN_NULL)
		canary_window_close(&l->win);
	if (l->link.world != NULL) {
		link_free(&l->link, &l->send_memory);
		link_free(&l->link, &l->recv_memory);
		link_close(&l->link);
	}
	free(l);
}

/* One run of batches. */
struct shift {
	struct congestor_load *load;
	enum phase phase;
	double before_bytes; /* fabric_sent_bytes at its start */
	uint64_t started_ns;
	uint64_t until_ns; /* alone: when to stop; else 0 */
	int warm;          /* 1: canaries may measure, rates count */
	MPI_Request warm_req, stop_req; /* with the canaries */
	MPI_Request agree_req;
	int agree_operations; /* in the batch that is agreed on; 0: none */
	/* stop?, ns of that batch, is the burst over? */
	double agree_in[3], agree_out[3];
	uint64_t burst_start_ns;
};

/* Tell the canaries when warm, then listen for their end. */
static void
congestor_meet_canaries(struct shift *sh)
{
	const struct congestor_load *l = sh->load;
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

static void
congestor_once(struct congestor_load *l)
{
	if (l->link.staged)
		link_get(&l->link, &l->send_memory);
	congestor_ops[l->kind].once(l);
	if (l->link.staged)
		link_put(&l->link, &l->recv_memory);
}

/* Return the wanted time of a batch. Agreements between batches take longer
 * than the shortest bursts, which are therefore longer than asked. */
static double
congestor_target_ns(const struct congestor_load *l)
{
	double part_ns = (double)l->settings->burst_ns / BATCH_OF_BURST;

	return part_ns > 0 ? fmin(part_ns, (double)BATCH_TARGET_NS)
			   : (double)BATCH_TARGET_NS;
}

/* Wait for the agreement on the batch before the last. It sizes the next one
 * to BATCH_TARGET_NS at the speed of the slowest rank, at most twice as large.
 * 1: all stop. */
static int
congestor_agreed_to_stop(struct shift *sh)
{
	struct congestor_load *l = sh->load;
	double limit = AHEAD_BYTES_MAX / (double)(l->bytes * (size_t)l->size);
	int operations = sh->agree_operations;
	double want;

	if (operations == 0)
		return 0;
	MPI_DO(MPI_Wait(&sh->agree_req, MPI_STATUS_IGNORE));
	want = operations * congestor_target_ns(l) / (sh->agree_out[1] + 1);
	want = fmin(want, fmin(2.0 * operations, fmin(limit, BATCH_MAX)));
	l->batch = want < 1 ? 1 : (int)want;
	return sh->agree_out[0] > 0;
}

/* Send nothing for span_ns, or until the canaries are done. */
static void
congestor_rest(struct shift *sh, uint64_t span_ns)
{
	uint64_t end_ns = clk_ns() + span_ns, now_ns;

	while ((now_ns = clk_ns()) < end_ns &&
	    (sh->until_ns == 0 || now_ns < sh->until_ns) &&
	    !(sh->warm && sh->until_ns == 0 && control_done(&sh->stop_req))) {
		uint64_t left_ns = end_ns - now_ns;
		struct timespec step = { .tv_nsec = (long)(left_ns <
						     PAUSE_STEP_NS
						 ? left_ns
						 : PAUSE_STEP_NS) };

		relay_poll();
		congestor_meet_canaries(sh);
		nanosleep(&step, NULL);
	}
}

/* After a batch: the rest that makes its share of the time the strength, and
 * the pause, if the ranks have agreed that the burst is over. All of them rest
 * after the same batch. */
static void
congestor_pause(struct shift *sh, uint64_t batch_ns)
{
	const struct settings *s = sh->load->settings;
	int is_over = sh->agree_operations > 0 && sh->agree_out[2] > 0;

	if (s->strength < 1)
		congestor_rest(sh,
		    (uint64_t)((double)batch_ns * (1 / s->strength - 1)));
	if (is_over) {
		congestor_rest(sh, s->pause_ns);
		sh->burst_start_ns = clk_ns();
	}
}

/* A rate covers a batch and the wait for the agreement before it, so that a
 * sender is not faster than what its root takes in. */
static void
congestor_work(struct shift *sh)
{
	struct congestor_load *l = sh->load;
	const struct congestor_ops *ops = &congestor_ops[l->kind];

	for (;;) {
		uint64_t start_ns = clk_ns(), batch_ns, span_ns;
		int operations = l->batch;

		for (int i = 0; i < operations; i++)
			congestor_once(l);
		link_drain(&l->link);
		batch_ns = clk_ns() - start_ns;
		/* which way an allreduce takes is the MPI's */
		if (l->kind != CONGESTOR_ALLREDUCE &&
		    !(ops->rooted && l->rank == 0))
			l->wanted_bytes[sh->phase] += ops->moved_bytes(l) *
			    operations;
		if (congestor_agreed_to_stop(sh))
			break;
		span_ns = clk_ns() - start_ns;
		l->busy_ns[sh->phase] += (double)span_ns;
		if (sh->warm && !(ops->rooted && l->rank == 0))
			hist_add(&l->rates[sh->phase],
			    ops->moved_bytes(l) * operations *
				(double)CLK_NS_PER_S / (double)(span_ns + 1));
		congestor_meet_canaries(sh);
		congestor_pause(sh, span_ns);
		sh->agree_operations = operations;
		sh->agree_in[0] = sh->until_ns > 0
		    ? clk_ns() >= sh->until_ns
		    : sh->warm && control_done(&sh->stop_req);
		sh->agree_in[1] = (double)batch_ns;
		sh->agree_in[2] = l->settings->burst_ns > 0 &&
		    clk_ns() - sh->burst_start_ns >= l->settings->burst_ns;
		MPI_DO(MPI_Iallreduce(sh->agree_in, sh->agree_out, 3,
		    MPI_DOUBLE, MPI_MAX, l->comm, &sh->agree_req));
		relay_poll();
	}
	/* The root of a one-sided kind has nothing to do but must not sleep
	 * while others still need its progress. */
	MPI_DO(MPI_Barrier(l->comm));
	l->span_ns[sh->phase] += (double)(clk_ns() - sh->started_ns);
	l->sent_bytes[sh->phase] += fmax(0,
	    fabric_sent_bytes() - sh->before_bytes);
}

static struct shift
congestor_shift_new(struct congestor_load *l, enum phase phase)
{
	struct shift sh = { .load = l,
		.phase = phase,
		.before_bytes = fabric_sent_bytes(),
		.started_ns = clk_ns(),
		.burst_start_ns = clk_ns(),
		.warm_req = MPI_REQUEST_NULL,
		.stop_req = MPI_REQUEST_NULL,
		.agree_req = MPI_REQUEST_NULL };

	return sh;
}

void
congestor_run(struct congestor_load *l)
{
	struct shift sh = congestor_shift_new(l, PHASE_CONGESTED);

	if (l->opened)
		congestor_work(&sh);
	/* A rank that stopped with its slice may not have seen the barrier
	 * complete; one without a load takes part in it too. */
	if (!sh.warm && sh.warm_req == MPI_REQUEST_NULL)
		MPI_DO(MPI_Ibarrier(l->world->control, &sh.warm_req));
	if (!sh.warm) {
		control_wait(&sh.warm_req);
		MPI_DO(MPI_Ibarrier(l->world->control, &sh.stop_req));
	}
	control_wait(&sh.stop_req);
}

void
congestor_run_alone(struct congestor_load *l, uint64_t span_ns)
{
	struct shift sh = congestor_shift_new(l, PHASE_ISOLATED);

	sh.until_ns = sh.started_ns + l->settings->load_warmup_ns + span_ns;
	if (l->opened)
		congestor_work(&sh);
}
