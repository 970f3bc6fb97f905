/* SPDX-License-Identifier: Apache-2.0 */
/*
 * canary_loop.c - a visit of each test: rounds until the root's stop rule ends
 * them, or for the test `command` runs of a program.
 */

#include "probes/congestion/canary_loop.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/congestion/canary.h"
#include "probes/congestion/rounds.h"
#include "probes/job/command.h"
#include "probes/job/control.h"
#include "probes/job/fabric.h"
#include "probes/job/relay.h"
#include "probes/job/roles.h"
#include "probes/job/world.h"
#include "probes/sampling/impact.h"
#include "probes/sampling/pair_medians.h"
#include "probes/sampling/stop.h"
#include "probes/sampling/tally.h"
#include "schema/names_verdict.h"
#include "schema/record.h"

#define PROGRESS_GAP_NS   (500 * CLK_NS_PER_MS)
#define ROUNDS_IN_A_VISIT 1000000 /* rings of two visits never meet */
#define STREAM_PAIRS      3       /* of the seed */
#define ENV_COUNT         3       /* of the test command */

/* The same decision on all canaries: a test that one slice cannot do is not
 * measured, nor any without a link. */
static void
canary_loop_open_test(struct canary_loop *m, int i, int rc,
    const struct err *why)
{
	struct canary_loop_test *t = &m->tests[i];
	const struct settings *s = m->settings;
	enum canary_test test = s->tests[i];
	int root = m->world->group_rank == 0;

	for (int k = 0; k < PHASE_MAX; k++) {
		struct canary_loop_cell *cell = &t->cells[k];

		hist_clear(&cell->mine);
		cell->stopped_by = STOP_TIME;
		if (root)
			tally_init(&cell->tally, s->visits);
		if (root && canary_ops[test].ring)
			cell->pairs = pair_medians_new(canary_low_is_bad(test),
			    m->world->nodes, s->seed + STREAM_PAIRS);
		for (int way = 0; cell->pairs != NULL && way < 2 &&
		     s->partners == PARTNERS_ONE_WAY;
		     way++)
			cell->ways[way] = pair_medians_new(canary_low_is_bad(
							       test),
			    m->world->nodes, s->seed + STREAM_PAIRS);
	}
	t->canary.test = test;
	if (test == CANARY_COMMAND)
		return; /* the test itself moves no bytes */
	if (rc < 0)
		t->err = *why;
	else if (!world_alone(m->world))
		rc = canary_open(&t->canary, test,
		    canary_low_is_bad(test) && s->rate_bytes > 0 ? s->rate_bytes
								 : s->bytes,
		    m->world, &m->link, &t->err);
	MPI_DO(MPI_Allreduce(MPI_IN_PLACE, &rc, 1, MPI_INT, MPI_MIN,
	    m->world->group));
	if (rc == 0)
		return;
	for (int k = 0; k < PHASE_MAX; k++)
		t->cells[k].cause = CAUSE_UNSUPPORTED;
	if (root)
		log_warnx("test %s: unsupported: %s", names_tests[test].name,
		    t->err.text);
}

struct canary_loop *
canary_loop_new(struct world *w, const struct settings *s)
{
	struct canary_loop *m = xcalloc(1, sizeof(*m));
	struct err err = { 0 };
	int rc;

	m->world = w;
	m->settings = s;
	rc = link_open(&m->link, w, w->slice, CONTROL_REQS_MAX, &err);
	m->rounds = rounds_new(w, s);
	m->tests = xcalloc((size_t)s->test_count, sizeof(*m->tests));
	for (int i = 0; i < s->test_count; i++)
		canary_loop_open_test(m, i, rc, &err);
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

		canary_close(&t->canary);
		for (int k = 0; k < PHASE_MAX; k++) {
			tally_clear(&t->cells[k].tally);
			pair_medians_free(t->cells[k].pairs);
			pair_medians_free(t->cells[k].ways[0]);
			pair_medians_free(t->cells[k].ways[1]);
		}
	}
	link_close(&m->link);
	rounds_free(m->rounds);
	free(m->tests);
	free(m);
}

/* One test in one visit. */
struct visit {
	int test; /* index */
	enum phase phase;
	int number;
	int rounds;
	struct canary_loop_cell *cell;
};

/* part: how much of this test in this visit is done, 0 to 1. */
static void
canary_loop_put_progress(const struct canary_loop *m, const struct visit *v,
    double part)
{
	const struct settings *s = m->settings;
	double units = settings_stretches(s) * s->test_count;
	double done = (m->stretch * s->test_count + v->test + part) / units;
	double spent_s = (double)(clk_ns() - m->started_ns) /
	    (double)CLK_NS_PER_S;

	if (done > 0)
		relay_put_soon(json_pack("{s:s, s:f, s:s, s:s, s:f}", "probe",
		    "progress", "share", done, "phase", names_phases[v->phase],
		    "test", names_tests[s->tests[v->test]].name, "remaining_s",
		    spent_s * (1 - done) / done));
}

/* ---- rounds ---- */

static struct rounds_ask
canary_loop_round_ask(const struct canary_loop *m, const struct visit *v)
{
	const struct settings *s = m->settings;
	const struct test_counts *exact =
	    &names_tests[s->tests[v->test]].gpcnet;
	int turns = canary_turns(&m->tests[v->test].canary);
	struct rounds_ask ask = {
		.canary = &m->tests[v->test].canary,
		.number = v->number * (ROUNDS_IN_A_VISIT / turns * turns) +
		    v->rounds,
		.iterations = v->cell->iterations,
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
canary_loop_count_speed(const struct canary_loop *m, const struct visit *v,
    const struct rounds_result *res)
{
	struct canary_loop_cell *cell = v->cell;

	cell->operations += (uint64_t)res->operations;
	cell->elapsed_ns += res->elapsed_ns;
	cell->iterations = settings_iterations(m->settings,
	    m->settings->tests[v->test]);
	if (m->settings->exact)
		cell->iterations =
		    names_tests[m->settings->tests[v->test]].gpcnet.iterations;
	if (cell->iterations == 0)
		cell->iterations = rounds_fit(cell->operations,
		    cell->elapsed_ns);
}

/* Once per test and phase: known data, and the length of a round. */
static void
canary_loop_calibrate(struct canary_loop *m, const struct visit *v)
{
	struct rounds_ask ask = canary_loop_round_ask(m, v);
	struct rounds_result *res = xcalloc(1, sizeof(*res));

	ask.iterations = settings_iterations(m->settings,
	    m->settings->tests[v->test]);
	rounds_calibrate(m->rounds, &ask, res);
	canary_loop_count_speed(m, v, res);
	if (res->timed_out) {
		v->cell->cause = CAUSE_TIMEOUT;
		v->cell->stopped_by = STOP_TIMEOUT;
	}
	if (res->wrong_at >= 0) {
		v->cell->cause = CAUSE_WRONG_DATA;
		if (m->world->group_rank == 0)
			log_warnx("test %s: received wrong data at byte %ld",
			    names_tests[m->settings->tests[v->test]].name,
			    res->wrong_at);
	}
	free(res);
}

static void
canary_loop_count_ring(const struct canary_loop *m,
    const struct rounds_result *res, int rate, struct canary_loop_rings *rings)
{
	double sum = 0, worst = NAN;
	int n = 0;

	for (int i = 0; i < m->world->group_size; i++) {
		const struct rounds_rank *k = &res->ranks[i];
		double x = rate ? k->n / k->inverse : k->sum / k->n;

		if (k->n == 0)
			continue;
		n++;
		sum += x;
		worst = rate ? fmin(worst, x) : fmax(worst, x);
		rings->min = rings->n + n == 1 ? x : fmin(rings->min, x);
		rings->max = rings->n + n == 1 ? x : fmax(rings->max, x);
	}
	if (n == 0)
		return;
	rings->n++;
	rings->sum_mean += sum / n;
	rings->sum_worst += worst;
}

/* At the root: into the statistics, and as a record where wanted. */
static void
canary_loop_keep_round(const struct canary_loop *m, const struct visit *v,
    const struct rounds_result *res)
{
	enum canary_test test = m->settings->tests[v->test];
	/* NULL too where no rank has a sample. */
	struct pair_medians *pairs = res->ranks == NULL ? NULL : v->cell->pairs;
	json_t *r;

	tally_add(&v->cell->tally, v->number, &res->all, res->inverse);
	if (res->ranks != NULL)
		canary_loop_count_ring(m, res, canary_low_is_bad(test),
		    &v->cell->rings);
	/* A rank's median is evidence on the pairs with both neighbours. */
	for (int i = 0; pairs != NULL && i < m->world->group_size; i++) {
		const struct rounds_rank *k = &res->ranks[i];

		if (k->n == 0)
			continue;
		pair_medians_add(pairs, (int)k->node, (int)k->left, k->p50);
		if (v->cell->ways[0] != NULL && (int)k->way != CANARY_BOTH_WAYS)
			pair_medians_add(v->cell->ways[((int)k->way ==
							   CANARY_SENDS) ==
					     (k->node > k->left)],
			    (int)k->node, (int)k->left, k->p50);
		if (k->right != k->left)
			pair_medians_add(pairs, (int)k->node, (int)k->right,
			    k->p50);
	}
	if (!m->settings->raw)
		return;
	r = json_pack("{s:s, s:s, s:s, s:s, s:i, s:i}", "probe", "round",
	    "test", names_tests[test].name, "phase", names_phases[v->phase],
	    "unit", names_tests[test].unit, "visit", v->number + 1, "round",
	    v->rounds);
	record_put_hist(r, &res->all);
	if (res->all.count == 0)
		json_object_set_new(r, "cause", json_string("timeout"));
	relay_put(r);
}

/* Rounds of one visit, until the root has seen enough. */
static void
canary_loop_run_rounds(struct canary_loop *m, struct visit *v)
{
	const struct settings *s = m->settings;
	enum canary_test test = s->tests[v->test];
	int turns = s->exact ? 1 : canary_turns(&m->tests[v->test].canary);
	struct canary_loop_cell *cell = v->cell;
	struct rounds_result *res = xcalloc(1, sizeof(*res));
	uint64_t started_ns = clk_ns(), now_ns;
	double before_bytes = fabric_sent_bytes();
	int decision = STOP_GO_ON;
	MPI_Request req;

	while (decision == STOP_GO_ON) {
		struct rounds_ask ask = canary_loop_round_ask(m, v);
		struct stop_ask stop = { .settings = s,
			.tally = &cell->tally,
			.exact = s->exact ? &names_tests[test].gpcnet : NULL,
			.q = canary_tail(test),
			.rounds_exact = settings_rounds(s, test) };

		rounds_run(m->rounds, &ask, res);
		v->rounds++;
		cell->rounds++;
		hist_merge(&cell->mine, &res->mine);
		/* The MPI decides which way the messages of an allreduce go. */
		if (test == CANARY_INCAST ||
		    (test != CANARY_ALLREDUCE &&
			m->tests[v->test].canary.way != CANARY_RECEIVES))
			cell->wanted_bytes += (double)res->mine.count *
			    canary_ops[test].sent_bytes(
				&m->tests[v->test].canary);
		cell->cores.run_ns += res->cores.run_ns;
		cell->cores.wait_ns += res->cores.wait_ns;
		canary_loop_count_speed(m, v, res);
		if (m->world->group_rank == 0) {
			now_ns = clk_ns();
			canary_loop_keep_round(m, v, res);
			/* A node without a turn would not be measured. */
			stop.rounds = v->rounds / turns;
			stop.visit_ns = now_ns - started_ns;
			stop.timed_out = res->timed_out;
			decision = stop_decide(&stop);
			if (decision != STOP_TIMEOUT && v->rounds % turns != 0)
				decision = STOP_GO_ON;
			if (now_ns - m->told_ns >= PROGRESS_GAP_NS) {
				m->told_ns = now_ns;
				canary_loop_put_progress(m, v,
				    fmin(1,
					(double)stop.visit_ns * s->visits /
					    (double)s->time_ns));
			}
		}
		MPI_DO(MPI_Ibcast(&decision, 1, MPI_INT, 0, m->world->group,
		    &req));
		control_complete(&req);
		relay_poll();
	}
	cell->sent_bytes += fmax(0, fabric_sent_bytes() - before_bytes);
	cell->stopped_by = (enum stop)decision;
	if (decision == STOP_TIMEOUT)
		cell->cause = CAUSE_TIMEOUT;
	free(res);
}

/* ---- runs of a program ---- */

/* A rank's report of a run to the root. */
struct told {
	double elapsed_s; /* < 0: it ran nothing */
	int status;
	int timed_out;
	int node;
	char tail[COMMAND_TAIL_BYTES];
};

static enum cause
canary_loop_told_cause(const struct told *t)
{
	if (t->timed_out)
		return CAUSE_TIMEOUT;
	return t->status == 0 ? CAUSE_NONE : CAUSE_COMMAND;
}

/* The program gets its phase, its visit and the nodes of the canaries. */
static void
canary_loop_run_here(const struct canary_loop *m, const struct visit *v,
    struct told *ret)
{
	const struct world *w = m->world;
	struct strbuf env[ENV_COUNT] = { 0 };
	char *env_list[ENV_COUNT + 1] = { 0 };
	char **argv = command_words(m->settings->command);
	struct command_ask ask = { argv, env_list,
		m->settings->command_timeout_ns, relay_poll };
	struct command_result res;

	strbuf_addf(&env[0], "COALMINE_HOSTS=");
	for (int i = 0, n = 0; i < w->nodes; i++)
		if (w->node_roles[i] == ROLES_CANARY)
			strbuf_addf(&env[0], "%s%s", n++ > 0 ? "," : "",
			    w->names[i]);
	strbuf_addf(&env[1], "COALMINE_PHASE=%s", names_phases[v->phase]);
	strbuf_addf(&env[2], "COALMINE_VISIT=%d", v->number + 1);
	for (int i = 0; i < ENV_COUNT; i++)
		env_list[i] = env[i].text;
	command_run(&ask, &res);
	ret->elapsed_s = res.elapsed_s;
	ret->status = res.status;
	ret->timed_out = res.timed_out;
	memcpy(ret->tail, res.tail, sizeof(ret->tail));
	for (int i = 0; i < ENV_COUNT; i++)
		strbuf_clear(&env[i]);
	command_words_free(argv);
}

/* At the root: all good times as one round, and a record of the run that
 * counts, the slowest, or else one that failed. number: of the run. */
static enum cause
canary_loop_keep_run(struct canary_loop *m, const struct visit *v, int number,
    const struct told *all)
{
	struct err *err = &m->tests[v->test].err;
	const struct told *worst = NULL;
	const char *node, *colon;
	enum cause cause;
	struct hist round;
	json_t *r;

	hist_clear(&round);
	for (int i = 0; i < m->world->group_size; i++) {
		const struct told *t = &all[i];

		if (t->elapsed_s < 0)
			continue;
		if (canary_loop_told_cause(t) == CAUSE_NONE)
			hist_add(&round, t->elapsed_s);
		if (worst == NULL ||
		    (canary_loop_told_cause(worst) == CAUSE_NONE &&
			(canary_loop_told_cause(t) != CAUSE_NONE ||
			    t->elapsed_s > worst->elapsed_s)))
			worst = t;
	}
	assert(worst != NULL);
	cause = canary_loop_told_cause(worst);
	node = m->world->names[worst->node];
	colon = worst->tail[0] == '\0' ? "" : ": ";
	r = json_pack("{s:s, s:s, s:i, s:i, s:s, s:o, s:s, s:i}", "probe",
	    "command", "phase", names_phases[v->phase], "visit", v->number + 1,
	    "run_number", number + 1, "node", node, "seconds",
	    cause == CAUSE_NONE ? json_real(worst->elapsed_s) : json_null(),
	    "verdict",
	    names_verdicts[cause == CAUSE_NONE ? VERDICT_OK : VERDICT_BAD],
	    "status", worst->status);
	if (cause == CAUSE_NONE) {
		tally_add(&v->cell->tally, v->number, &round, 0);
	} else {
		if (worst->timed_out)
			err_say(err, "on %.60s: timeout%s%.150s", node, colon,
			    worst->tail);
		else
			err_say(err, "on %.60s: exited with status %d%s%.150s",
			    node, worst->status, colon, worst->tail);
		json_object_set_new(r, "cause",
		    json_string(names_causes[cause].name));
		json_object_set_new(r, "text", json_string(err->text));
	}
	relay_put(r);
	return cause;
}

/* Runs of the program on the first canary, or on every node, instead of rounds:
 * every run is a record, and its time a sample. A run that fails ends the test
 * in this phase, and its cell has the cause. */
static void
canary_loop_run_commands(struct canary_loop *m, const struct visit *v)
{
	const struct settings *s = m->settings;
	const struct world *w = m->world;
	struct canary_loop_cell *cell = v->cell;
	int root = w->group_rank == 0, cause = CAUSE_NONE;
	int runs = s->command_on == COMMAND_EACH ? w->local == 0 : root;
	struct told *all = NULL;

	if (root)
		all = xcalloc((size_t)w->group_size, sizeof(all[0]));
	cell->iterations = 1;
	cell->stopped_by = STOP_COUNT;
	for (int i = 0; i < s->command_repetitions; i++) {
		struct told mine = { .elapsed_s = -1, .node = w->node };

		if (cell->rounds > 0 && s->command_interval_ns > 0)
			clk_sleep_ns(s->command_interval_ns);
		/* Ranks without a program wait asleep. */
		control_barrier(w->group);
		if (runs)
			canary_loop_run_here(m, v, &mine);
		control_barrier(w->group);
		MPI_DO(MPI_Gather(&mine, sizeof(mine), MPI_BYTE, all,
		    sizeof(mine), MPI_BYTE, 0, w->group));
		if (root)
			cause = (int)canary_loop_keep_run(m, v, i, all);
		MPI_DO(MPI_Bcast(&cause, 1, MPI_INT, 0, w->group));
		cell->rounds++;
		if (cause != CAUSE_NONE)
			break;
		if (runs)
			hist_add(&cell->mine, mine.elapsed_s);
		if (root)
			canary_loop_put_progress(m, v,
			    (i + 1.0) / s->command_repetitions);
		relay_poll();
	}
	cell->cause = (enum cause)cause;
	if (cause == CAUSE_TIMEOUT)
		cell->stopped_by = STOP_TIMEOUT;
	if (cause != CAUSE_NONE && root)
		log_warnx("command %s", m->tests[v->test].err.text);
	free(all);
}

void
canary_loop_visit(struct canary_loop *m, enum phase phase, int visit,
    int stretch)
{
	m->stretch = stretch;
	for (int i = 0; i < m->settings->test_count; i++) {
		struct canary_loop_cell *cell = &m->tests[i].cells[phase];
		struct visit v = { .test = i,
			.phase = phase,
			.number = visit,
			.cell = cell };

		if (cell->cause != CAUSE_NONE || m->tests[i].known)
			continue;
		if (m->settings->tests[i] == CANARY_COMMAND) {
			control_watch(m->world, NULL);
			canary_loop_run_commands(m, &v);
			continue;
		}
		if (cell->iterations == 0)
			canary_loop_calibrate(m, &v);
		if (cell->cause == CAUSE_NONE)
			canary_loop_run_rounds(m, &v);
		/* Until run_stretch has seen all others come. */
		control_watch(m->world,
		    names_tests[m->settings->tests[i]].name);
	}
}

struct impact_ask
canary_loop_impact(const struct canary_loop *m, int test)
{
	const struct canary_loop_cell *cells = m->tests[test].cells;
	struct impact_ask ask = { &cells[m->settings->quiet].tally,
		&cells[PHASE_CONGESTED].tally,
		canary_low_is_bad(m->settings->tests[test]), m->settings->level,
		m->settings->seed, m->settings->exact };

	return ask;
}

/* Runs of a program are few, and their number was asked for. */
int
canary_loop_pair(struct canary_loop *m, int pairs)
{
	const struct settings *s = m->settings;
	int left = 0;

	for (int i = 0; i < s->test_count; i++) {
		struct canary_loop_test *t = &m->tests[i];
		struct canary_loop_cell *quiet = &t->cells[s->quiet];
		struct canary_loop_cell *loaded = &t->cells[PHASE_CONGESTED];
		struct impact_ask ask = canary_loop_impact(m, i);

		if (m->world->group_rank == 0 &&
		    s->tests[i] != CANARY_COMMAND &&
		    quiet->cause == CAUSE_NONE && loaded->cause == CAUSE_NONE)
			t->known = stop_pairs(&ask, s, pairs);
		MPI_DO(MPI_Bcast(&t->known, 1, MPI_INT, 0, m->world->group));
		if (t->known)
			quiet->stopped_by = loaded->stopped_by = STOP_PRECISION;
		else if (quiet->cause == CAUSE_NONE ||
		    loaded->cause == CAUSE_NONE)
			left++;
	}
	return left;
}
