/* SPDX-License-Identifier: Apache-2.0 */
/*
 * canary_loop.c - visits of tests: rounds until the root says that a test has
 * measured enough.
 */
#include "probes/congestion/canary_loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "probes/congestion/canary_command.h"
#include "probes/job/relay.h"
#include "probes/congestion/report.h"

#define PROGRESS_GAP_NS   (500 * CLK_NS_PER_MS)
#define ROUNDS_IN_A_VISIT 1000000 /* rings of two visits never meet */
#define STREAM_PAIRS      3       /* of the seed */

/* All canaries alike: what one slice cannot do is not measured at all. */
static void
open_test(struct canary_loop *m, int i)
{
	struct canary_loop_test *t = &m->tests[i];
	int rc = 0;

	t->canary.test = m->settings->tests[i];
	if (t->canary.test == CANARY_COMMAND)
		return; /* moves no bytes of its own */
	if (!world_alone(m->world))
		rc = canary_open(&t->canary, m->settings->tests[i],
		    m->world->slice, &t->err);
	MPI_DO(MPI_Allreduce(MPI_IN_PLACE, &rc, 1, MPI_INT, MPI_MIN,
	    m->world->group));
	if (rc == 0)
		return;
	for (int k = 0; k < PHASE_MAX; k++)
		t->cells[k].cause = CAUSE_UNSUPPORTED;
	if (m->world->group_rank == 0)
		log_warnx("test %s: %s",
		    names_tests[m->settings->tests[i]].name, t->err.text);
}

struct canary_loop *
canary_loop_new(const struct world *w, const struct settings *s)
{
	struct canary_loop *m = xcalloc(1, sizeof(*m));

	m->world = w;
	m->settings = s;
	m->rounds = rounds_new(w, s);
	m->tests = xcalloc((size_t)s->test_count, sizeof(*m->tests));
	for (int i = 0; i < s->test_count; i++) {
		enum canary_test test = s->tests[i];

		for (int k = 0; k < PHASE_MAX; k++) {
			struct canary_loop_cell *cell = &m->tests[i].cells[k];

			hist_clear(&cell->mine);
			cell->stopped_by = STOP_TIME;
			if (w->group_rank != 0)
				continue;
			tally_init(&cell->tally, s->visits);
			if (canary_ops[test].ring)
				cell->pairs =
				    pair_medians_new(canary_low_is_bad(test),
					s->seed + STREAM_PAIRS);
		}
		open_test(m, i);
	}
	m->started_ns = clk_ns();
	return m;
}

void
canary_loop_free(struct canary_loop *m)
{
	if (m == NULL)
		return;
	for (int i = 0; i < m->settings->test_count; i++) {
		struct canary_loop_test *t = &m->tests[i];

		if (t->canary.send != NULL)
			canary_close(&t->canary);
		for (int k = 0; k < PHASE_MAX; k++) {
			tally_clear(&t->cells[k].tally);
			pair_medians_free(t->cells[k].pairs);
		}
	}
	rounds_free(m->rounds);
	free(m->tests);
	free(m);
}

/* Where a visit stands, for decisions and for the progress shown. */
struct visit {
	int test; /* index */
	enum phase phase;
	int number;
	int rounds;
	uint64_t started_ns;
};

static void
tell_progress(struct canary_loop *m, const struct visit *v)
{
	const struct settings *s = m->settings;
	uint64_t now = clk_ns();
	double part = (double)(now - v->started_ns) * s->visits /
	    (double)s->time_ns;
	double units = settings_stretches(s) * s->test_count, done, spent_s;

	if (now - m->told_ns < PROGRESS_GAP_NS)
		return;
	m->told_ns = now;
	done = m->stretch * s->test_count + v->test + (part < 1 ? part : 1);
	done /= units;
	if (done <= 0)
		return;
	spent_s = (double)(now - m->started_ns) / (double)CLK_NS_PER_S;
	relay_put_soon(report_progress(done, v->phase, s->tests[v->test],
	    spent_s * (1 - done) / done));
}

/* At the root: keep the round, and say whether another is wanted. */
static enum stop
keep_round(struct canary_loop *m, const struct visit *v,
    const struct rounds_result *res)
{
	const struct settings *s = m->settings;
	struct canary_loop_cell *cell = &m->tests[v->test].cells[v->phase];
	enum canary_test test = s->tests[v->test];
	struct report_stretch at = { v->phase, v->number, s->visits };
	struct stop_ask ask = {
		.settings = s,
		.tally = &cell->tally,
		.exact = s->exact ? &stop_exact[test] : NULL,
		.q = canary_tail(test),
		.rounds = v->rounds,
		.visit_ns = clk_ns() - v->started_ns,
		.timed_out = res->timed_out,
	};

	tally_add(&cell->tally, v->number, &res->all);
	/* a rank's median is evidence on the pairs with both neighbours */
	for (int i = 0; cell->pairs != NULL && res->ranks != NULL &&
	     i < m->world->group_size;
	     i++) {
		const struct rounds_rank *r = &res->ranks[i];

		if (r->n == 0)
			continue;
		pair_medians_add(cell->pairs, (int)r->node, (int)r->left,
		    r->p50);
		if (r->right != r->left)
			pair_medians_add(cell->pairs, (int)r->node,
			    (int)r->right, r->p50);
	}
	if (s->raw)
		relay_put(report_round(test, &at, v->rounds - 1, &res->all));
	tell_progress(m, v);
	return stop_decide(&ask);
}

static struct rounds_ask
round_ask(const struct canary_loop *m, const struct visit *v)
{
	const struct settings *s = m->settings;
	const struct stop_exact *exact = &stop_exact[s->tests[v->test]];
	struct canary_loop_test *t = &m->tests[v->test];
	struct rounds_ask ask = {
		.canary = &t->canary,
		.number = v->number * ROUNDS_IN_A_VISIT + v->rounds,
		.iterations = t->cells[v->phase].iterations,
		.warmup = s->warmup,
	};

	if (s->exact) {
		ask.number = v->rounds % exact->rings;
		ask.iterations = exact->iterations;
		ask.warmup = exact->warmup;
	}
	return ask;
}

/* All rounds so far tell how many operations the next shall have: the first
 * look at a congested network can be far off. Every rank sees the same sums. */
static void
count_speed(const struct canary_loop *m, enum canary_test test,
    struct canary_loop_cell *cell, const struct rounds_result *res)
{
	cell->operations += (uint64_t)res->operations;
	cell->elapsed_ns += res->elapsed_ns;
	cell->iterations = m->settings->iterations;
	if (m->settings->exact)
		cell->iterations = stop_exact[test].iterations;
	if (cell->iterations == 0)
		cell->iterations = rounds_fit(cell->operations,
		    cell->elapsed_ns);
}

/* Once per test and phase: known data, and the length of a round. */
static void
calibrate(struct canary_loop *m, const struct visit *v)
{
	struct canary_loop_cell *cell = &m->tests[v->test].cells[v->phase];
	struct rounds_ask ask = round_ask(m, v);
	struct rounds_result *res = xcalloc(1, sizeof(*res));

	rounds_calibrate(m->rounds, &ask, res);
	count_speed(m, m->settings->tests[v->test], cell, res);
	if (res->timed_out) {
		cell->cause = CAUSE_TIMEOUT;
		cell->stopped_by = STOP_TIMEOUT;
	}
	if (res->wrong_at >= 0)
		cell->cause = CAUSE_WRONG_DATA;
	if (res->wrong_at >= 0 && m->world->group_rank == 0)
		log_warnx("test %s: wrong data at byte %ld",
		    names_tests[m->settings->tests[v->test]].name,
		    res->wrong_at);
	free(res);
}

static void
run_rounds(struct canary_loop *m, struct visit *v)
{
	struct canary_loop_cell *cell = &m->tests[v->test].cells[v->phase];
	struct rounds_result *res = xcalloc(1, sizeof(*res));
	int decision = STOP_GO_ON;

	v->started_ns = clk_ns();
	while (decision == STOP_GO_ON) {
		struct rounds_ask ask = round_ask(m, v);

		rounds_run(m->rounds, &ask, res);
		v->rounds++;
		cell->rounds++;
		hist_merge(&cell->mine, &res->mine);
		cell->cores.run_ns += res->cores.run_ns;
		cell->cores.wait_ns += res->cores.wait_ns;
		count_speed(m, m->settings->tests[v->test], cell, res);
		if (m->world->group_rank == 0)
			decision = keep_round(m, v, res);
		MPI_DO(MPI_Bcast(&decision, 1, MPI_INT, 0, m->world->group));
		relay_poll();
	}
	cell->stopped_by = (enum stop)decision;
	if (decision == STOP_TIMEOUT)
		cell->cause = CAUSE_TIMEOUT;
	free(res);
}

void
canary_loop_visit(struct canary_loop *m, enum phase phase, int visit,
    int stretch)
{
	m->stretch = stretch;
	for (int i = 0; i < m->settings->test_count; i++) {
		struct canary_loop_cell *cell = &m->tests[i].cells[phase];
		struct visit v = { .test = i, .phase = phase, .number = visit };

		if (m->settings->tests[i] == CANARY_COMMAND) {
			if (cell->cause == CAUSE_NONE)
				measure_command(m, i, phase, visit);
			continue;
		}
		if (cell->cause == CAUSE_NONE && cell->iterations == 0)
			calibrate(m, &v);
		if (cell->cause == CAUSE_NONE)
			run_rounds(m, &v);
	}
}
