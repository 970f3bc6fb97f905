/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ab_timing.c - in which order two ways take turns, what counts as one turn's
 * time, and when there were enough of them.
 */

#include "probes/measure/ab_timing.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/clk.h"
#include "common/xalloc.h"
#include "probes/execute/trial.h"
#include "probes/job/fabric.h"
#include "probes/job/world.h"
#include "probes/sampling/stop.h"
#include "probes/sampling/timing.h"
#include "probes/transport/backoff.h"

#define TURNS_MAX 10000

static struct timing_sample
ab_timing_turn(const struct transport_team *team,
    const struct ab_timing_side *side)
{
	struct timing_sample one;
	uint64_t start_ns;

	trial_meet_to_start(team);
	start_ns = clk_ns();
	side->run(side->arg);
	one.s = (double)(clk_ns() - start_ns) / (double)CLK_NS_PER_S;
	trial_slowest(team, &one, 1);
	return one;
}

/* Rank 0's clock decides for all. */
static int
ab_timing_decide(const struct transport_team *team, const struct trial_ask *ask,
    const struct ab_timing *v, uint64_t start_ns)
{
	int decision = STOP_GO_ON, known = 1;
	MPI_Request req;

	for (int i = 0; i < v->sides; i++) {
		const struct trial *t = &v->side[i].trial;
		struct timing now;

		known &= timing_of(t->samples, t->count, &now) == 0 &&
		    timing_known(&now, ask->precision);
	}
	if (ask->iterations > 0 &&
	    v->side[0].trial.count >= (size_t)ask->iterations)
		decision = STOP_COUNT;
	else if (ask->iterations == 0 && known)
		decision = STOP_PRECISION;
	else if (ask->iterations == 0 &&
	    clk_ns() - start_ns >= (uint64_t)v->sides * ask->time_ns)
		decision = STOP_TIME;
	else if (v->side[0].trial.count >= TURNS_MAX)
		decision = STOP_COUNT;
	MPI_DO(MPI_Ibcast(&decision, 1, MPI_INT, 0, team->comm, &req));
	MPI_DO(backoff_request(&req));
	return decision;
}

void
ab_timing_time(const struct transport_team *team, const struct trial_ask *ask,
    struct ab_timing *v)
{
	uint64_t start_ns;
	int decision, first = 0;

	for (int i = 0; i < ask->warmup; i++)
		for (int k = 0; k < v->sides; k++)
			ab_timing_turn(team, &v->side[k]);
	start_ns = clk_ns();
	do {
		/* Whatever is still acknowledged after a turn counts for it,
		 * since the next one starts after a reading. */
		for (int k = 0; k < v->sides; k++) {
			struct ab_timing_side *side = &v->side[first ^ k];
			struct nic_bytes before = { 0 }, now = { 0 };
			struct trial *t = &side->trial;
			double sent_bytes;
			int rc;

			trial_meet(
			    team); /* no rank is still in the last turn */
			if (nic_bytes_read(&before) < 0)
				v->wire_rc = -ENODATA;
			sent_bytes = fabric_sent_bytes();
			t->samples = xreallocarray(t->samples, t->count + 1,
			    sizeof(*t->samples));
			t->samples[t->count++] = ab_timing_turn(team, side);
			t->runs++;
			t->sent_bytes += fmax(0,
			    fabric_sent_bytes() - sent_bytes);
			rc = nic_bytes_read(&now);
			if (rc < 0)
				v->wire_rc = rc;
			side->wire.out_bytes += now.out_bytes -
			    before.out_bytes;
			side->wire.in_bytes += now.in_bytes - before.in_bytes;
			/* less when a connection has ended meanwhile */
			if (now.resent_bytes > before.resent_bytes)
				side->wire.resent_bytes += now.resent_bytes -
				    before.resent_bytes;
		}
		first = v->sides - 1 - first;
		decision = ab_timing_decide(team, ask, v, start_ns);
	} while (decision == STOP_GO_ON);
	for (int i = 0; i < v->sides; i++) {
		struct trial *t = &v->side[i].trial;
		double mine = t->sent_bytes;
		MPI_Request req;

		t->stopped_by = (enum stop)decision;
		MPI_DO(MPI_Ireduce(&mine, &t->sent_bytes, 1, MPI_DOUBLE,
		    MPI_SUM, 0, team->comm, &req));
		MPI_DO(backoff_request(&req));
	}
}

void
ab_timing_clear(struct ab_timing *v)
{
	for (int i = 0; i < AB_TIMING_SIDES; i++)
		trial_clear(&v->side[i].trial);
}

int
ab_timing_ratio(const struct ab_timing *v, struct timing *ret)
{
	size_t n = v->side[0].trial.count;
	struct timing_sample *ratios = xcalloc(n + 1, sizeof(*ratios));
	int rc;

	for (size_t i = 0; i < n; i++)
		ratios[i].s = v->side[1].trial.samples[i].s /
		    v->side[0].trial.samples[i].s;
	rc = timing_of(ratios, n, ret);
	free(ratios);
	return rc;
}

double
ab_timing_median_s(const struct ab_timing *v, int side)
{
	return trial_median_s(&v->side[side].trial);
}
