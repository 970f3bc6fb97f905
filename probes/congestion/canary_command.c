/* SPDX-License-Identifier: Apache-2.0 */
/*
 * canary_command.c - runs of a program take the place of rounds: who starts it,
 * what it is told, and which run counts.
 */
#include "probes/congestion/canary_command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/job/command.h"
#include "probes/job/control.h"
#include "probes/job/relay.h"
#include "probes/congestion/report.h"
#include "probes/job/roles.h"

/* What a rank tells the root of a run. */
struct told {
	double elapsed_s; /* < 0: it ran nothing */
	int status;
	int timed_out;
	int node;
	char tail[COMMAND_TAIL_BYTES];
};

/* Run the program here, with what it may want to know in its environment. */
static void
run_here(const struct canary_loop *m, const struct report_stretch *at,
    struct told *ret)
{
	const struct world *w = m->world;
	char **argv = command_words(m->settings->command);
	struct strbuf hosts = { 0 }, phase = { 0 }, visit = { 0 };
	char *env[4];
	struct command_ask ask = { argv, env, m->settings->command_timeout_ns,
		relay_poll };
	struct command_result res;

	strbuf_addf(&hosts, "COALMINE_HOSTS=");
	for (int i = 0, n = 0; i < w->nodes; i++)
		if (w->node_roles[i] == ROLES_CANARY)
			strbuf_addf(&hosts, "%s%s", n++ > 0 ? "," : "",
			    w->names[i]);
	strbuf_addf(&phase, "COALMINE_PHASE=%s", names_phases[at->phase]);
	strbuf_addf(&visit, "COALMINE_VISIT=%d", at->visit + 1);
	env[0] = hosts.text;
	env[1] = phase.text;
	env[2] = visit.text;
	env[3] = NULL;
	command_run(&ask, &res);
	ret->elapsed_s = res.elapsed_s;
	ret->status = res.status;
	ret->timed_out = res.timed_out;
	memcpy(ret->tail, res.tail, sizeof(ret->tail));
	strbuf_clear(&hosts);
	strbuf_clear(&phase);
	strbuf_clear(&visit);
	command_words_free(argv);
}

static enum cause
cause_of(const struct told *t)
{
	if (t->timed_out)
		return CAUSE_TIMEOUT;
	return t->status == 0 ? CAUSE_NONE : CAUSE_COMMAND;
}

static void
told_say(const struct canary_loop *m, const struct told *t, struct err *err)
{
	const char *node = m->world->names[t->node];

	if (t->timed_out)
		err_say(err, "on %.60s: not done in time%s%.150s", node,
		    t->tail[0] == '\0' ? "" : ": ", t->tail);
	else
		err_say(err, "on %.60s: exit %d%s%.150s", node, t->status,
		    t->tail[0] == '\0' ? "" : ": ", t->tail);
}

/* At the root: all good times become one round, and the run that counts a
 * record: the slowest, or else one that failed. */
static enum cause
take_runs(struct canary_loop *m, int test, const struct report_stretch *at,
    int number, const struct told *all)
{
	struct canary_loop_test *ct = &m->tests[test];
	const struct told *worst = NULL;
	struct hist round;
	enum cause cause;
	json_t *r;

	hist_clear(&round);
	for (int i = 0; i < m->world->group_size; i++) {
		const struct told *t = &all[i];

		if (t->elapsed_s < 0)
			continue;
		if (cause_of(t) == CAUSE_NONE)
			hist_add(&round, t->elapsed_s);
		if (worst == NULL ||
		    (cause_of(worst) == CAUSE_NONE &&
			(cause_of(t) != CAUSE_NONE ||
			    t->elapsed_s > worst->elapsed_s)))
			worst = t;
	}
	cause = cause_of(worst);
	r = json_pack("{s:s, s:s, s:i, s:i, s:s, s:o, s:s, s:i}", "probe",
	    "command", "phase", names_phases[at->phase], "visit", at->visit + 1,
	    "run_number", number + 1, "node", m->world->names[worst->node],
	    "seconds",
	    cause == CAUSE_NONE ? json_real(worst->elapsed_s) : json_null(),
	    "verdict",
	    names_verdicts[cause == CAUSE_NONE ? VERDICT_OK : VERDICT_BAD],
	    "status", worst->status);
	if (cause == CAUSE_NONE) {
		tally_add(&ct->cells[at->phase].tally, at->visit, &round);
	} else {
		told_say(m, worst, &ct->err);
		json_object_set_new(r, "cause",
		    json_string(names_causes[cause].name));
		json_object_set_new(r, "text", json_string(ct->err.text));
	}
	relay_put(r);
	return cause;
}

/* One run, on the first canary or one rank of every node; nobody spins while
 * others run: the wait is asleep. */
static enum cause
run_once(struct canary_loop *m, int test, const struct report_stretch *at,
    int number)
{
	const struct world *w = m->world;
	struct told mine = { .elapsed_s = -1, .node = w->node }, *all = NULL;
	int each = m->settings->command_on == COMMAND_EACH;
	int cause = CAUSE_NONE;

	control_barrier(w->group);
	if (each ? w->local == 0 : w->group_rank == 0)
		run_here(m, at, &mine);
	control_barrier(w->group);
	if (w->group_rank == 0)
		all = xcalloc((size_t)w->group_size, sizeof(all[0]));
	MPI_DO(MPI_Gather(&mine, sizeof(mine), MPI_BYTE, all, sizeof(mine),
	    MPI_BYTE, 0, w->group));
	if (w->group_rank == 0)
		cause = (int)take_runs(m, test, at, number, all);
	free(all);
	MPI_DO(MPI_Bcast(&cause, 1, MPI_INT, 0, w->group));
	if (cause == CAUSE_NONE && mine.elapsed_s >= 0)
		hist_add(&m->tests[test].cells[at->phase].mine, mine.elapsed_s);
	return (enum cause)cause;
}

/* How far the campaign is, after a run. */
static void
tell_progress(const struct canary_loop *m, enum phase phase, int test,
    int number)
{
	const struct settings *s = m->settings;
	double units = settings_stretches(s) * s->test_count;
	double done = m->stretch * s->test_count + test +
	    (number + 1.0) / s->command_repetitions;
	double spent_s = (double)(clk_ns() - m->started_ns) /
	    (double)CLK_NS_PER_S;

	done /= units;
	relay_put_soon(report_progress(done, phase, s->tests[test],
	    spent_s * (1 - done) / done));
}

void
measure_command(struct canary_loop *m, int test, enum phase phase, int visit)
{
	struct canary_loop_cell *cell = &m->tests[test].cells[phase];
	const struct settings *s = m->settings;
	struct report_stretch at = { phase, visit, s->visits };

	cell->iterations = 1;
	cell->stopped_by = STOP_COUNT;
	for (int i = 0; i < s->command_repetitions; i++) {
		if (cell->rounds > 0 && s->command_interval_ns > 0)
			clk_sleep_ns(s->command_interval_ns);
		cell->cause = run_once(m, test, &at, i);
		cell->rounds++;
		if (cell->cause != CAUSE_NONE)
			break;
		if (m->world->group_rank == 0)
			tell_progress(m, phase, test, i);
		relay_poll();
	}
	if (cell->cause == CAUSE_TIMEOUT)
		cell->stopped_by = STOP_TIMEOUT;
	if (cell->cause != CAUSE_NONE && m->world->group_rank == 0)
		log_warnx("command %s", m->tests[test].err.text);
}
