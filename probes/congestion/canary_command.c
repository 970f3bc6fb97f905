/* SPDX-License-Identifier: Apache-2.0 */
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

#define ENV_COUNT 4

/* What a rank tells the root of a run. */
struct told {
	double elapsed_s; /* < 0: it ran nothing */
	int status;
	int timed_out;
	int node;
	char tail[COMMAND_TAIL_BYTES];
};

/* The first canary, or one on every node. */
static int
is_runner(const struct canary_loop *m)
{
	const struct world *w = m->world;

	return m->settings->command_on == COMMAND_EACH ? w->local == 0
						       : w->group_rank == 0;
}

/* What the program may want to know; the words are the caller's. */
static void
env_fill(const struct canary_loop *m, enum phase phase, int visit,
    char *ret[ENV_COUNT])
{
	const struct world *w = m->world;
	struct strbuf hosts = { 0 }, text = { 0 };

	for (int i = 0; i < w->nodes; i++)
		if (w->node_roles[i] == ROLES_CANARY)
			strbuf_addf(&hosts, "%s%s",
			    hosts.len_bytes > 0 ? "," : "", w->names[i]);
	strbuf_addf(&text, "COALMINE_HOSTS=%s", hosts.text);
	ret[0] = text.text;
	text = (struct strbuf){ 0 };
	strbuf_addf(&text, "COALMINE_PHASE=%s", names_phases[phase]);
	ret[1] = text.text;
	text = (struct strbuf){ 0 };
	strbuf_addf(&text, "COALMINE_VISIT=%d", visit + 1);
	ret[2] = text.text;
	ret[3] = NULL;
	strbuf_clear(&hosts);
}

static void
run_here(const struct canary_loop *m, enum phase phase, int visit,
    struct told *ret)
{
	char **argv = command_words(m->settings->command), *env[ENV_COUNT];
	struct command_ask ask = { argv, env, m->settings->command_timeout_ns,
		relay_poll };
	struct command_result res;

	env_fill(m, phase, visit, env);
	command_run(&ask, &res);
	ret->elapsed_s = res.elapsed_s;
	ret->status = res.status;
	ret->timed_out = res.timed_out;
	memcpy(ret->tail, res.tail, sizeof(ret->tail));
	for (size_t i = 0; env[i] != NULL; i++)
		free(env[i]);
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

/* A program's run as a record: the slowest, or else one that failed. */
static void
put_record(const struct canary_loop *m, const struct told *t, enum phase phase,
    int visit, int number)
{
	enum cause cause = cause_of(t);
	struct err err;
	json_t *r = json_pack("{s:s, s:s, s:i, s:i, s:s, s:o, s:s, s:i}",
	    "probe", "command", "phase", names_phases[phase], "visit",
	    visit + 1, "run_number", number + 1, "node",
	    m->world->names[t->node], "seconds",
	    cause == CAUSE_NONE ? json_real(t->elapsed_s) : json_null(),
	    "verdict",
	    names_verdicts[cause == CAUSE_NONE ? VERDICT_OK : VERDICT_BAD],
	    "status", t->status);

	if (cause != CAUSE_NONE) {
		told_say(m, t, &err);
		json_object_set_new(r, "cause",
		    json_string(names_causes[cause].name));
		json_object_set_new(r, "text", json_string(err.text));
	}
	relay_put(r);
}

/* At the root: the run that counts, and all good times as one round. */
static const struct told *
take(struct canary_loop *m, int test, enum phase phase, int visit,
    const struct told *all)
{
	struct canary_loop_cell *cell = &m->tests[test].cells[phase];
	const struct told *worst = NULL;
	struct hist round;

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
	if (cause_of(worst) == CAUSE_NONE)
		tally_add(&cell->tally, visit, &round);
	else
		told_say(m, worst, &m->tests[test].err);
	return worst;
}

/* Nobody spins while others run: the wait is asleep. 0, or the cause. */
static enum cause
run_once(struct canary_loop *m, int test, enum phase phase, int visit,
    int number)
{
	const struct world *w = m->world;
	struct told mine = { .elapsed_s = -1, .node = w->node }, *all = NULL;
	struct canary_loop_cell *cell = &m->tests[test].cells[phase];
	int cause = CAUSE_NONE;

	control_barrier(w->group);
	if (is_runner(m))
		run_here(m, phase, visit, &mine);
	control_barrier(w->group);
	if (w->group_rank == 0)
		all = xcalloc((size_t)w->group_size, sizeof(all[0]));
	MPI_DO(MPI_Gather(&mine, sizeof(mine), MPI_BYTE, all, sizeof(mine),
	    MPI_BYTE, 0, w->group));
	if (w->group_rank == 0) {
		const struct told *worst = take(m, test, phase, visit, all);

		cause = (int)cause_of(worst);
		put_record(m, worst, phase, visit, number);
	}
	free(all);
	MPI_DO(MPI_Bcast(&cause, 1, MPI_INT, 0, w->group));
	if (cause == CAUSE_NONE && mine.elapsed_s >= 0)
		hist_add(&cell->mine, mine.elapsed_s);
	return (enum cause)cause;
}

static void
tell(const struct canary_loop *m, enum phase phase, int test, int number)
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

	cell->iterations = 1;
	cell->stopped_by = STOP_COUNT;
	for (int i = 0; i < s->command_repetitions; i++) {
		if (cell->rounds > 0 && s->command_interval_ns > 0)
			clk_sleep_ns(s->command_interval_ns);
		cell->cause = run_once(m, test, phase, visit, i);
		cell->rounds++;
		if (cell->cause != CAUSE_NONE)
			break;
		if (m->world->group_rank == 0)
			tell(m, phase, test, i);
		relay_poll();
	}
	if (cell->cause == CAUSE_TIMEOUT)
		cell->stopped_by = STOP_TIMEOUT;
	if (cell->cause != CAUSE_NONE && m->world->group_rank == 0)
		log_warnx("command %s", m->tests[test].err.text);
}
