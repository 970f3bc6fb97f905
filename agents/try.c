/* SPDX-License-Identifier: Apache-2.0 */
/*
 * try.c - runs two ranks without a collector: this node is the only one, so the
 * data that its ranks give to a fence is the whole result of the fence.
 */
#include "agents/try.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agents/run/cleanup.h"
#include "agents/run/run.h"
#include "common/clk.h"
#include "common/err.h"
#include "common/log.h"
#include "common/member.h"
#include "common/str.h"

#define RUN      "try"
#define LIMIT_MS 60000
#define GRACE_MS 1000
#define TEXT_MAX 1000

/* The ranks count as two nodes, so that the message goes through the MPI. */
static const char campaign[] = "[campaign]\nranks_per_node = 2\n"
			       "[group]\npattern = rail\nn = 2\ng = 1\n"
			       "count = 16384\n";

struct
try {
	struct agent ag;
	struct run *run; /* NULL: closed */
	int ended;       /* the end record says ok */
	char why[TEXT_MAX];
};

/* The first reason counts: others follow from it. */
static void
try_failed(struct try *t, const char *what, const char *text, const char *more)
{
	if (t->why[0] == '\0')
		snprintf(t->why, sizeof(t->why), "%s%s%s%s", what, text,
		    more[0] == '\0' ? "" : ": ", more);
}

static int
try_send(enum wire_type type, json_t *msg, void *arg)
{
	struct try *t = arg;
	char rank[40];

	if (type == WIRE_FENCE && member_int(msg, "parts") > 0) {
		(void)ranks_fence(t->run->ranks, msg);
	} else if (type == WIRE_LAUNCHED && !member_bool(msg, "ok")) {
		try_failed(t, "", member_text(msg, "text"), "");
		event_base_loopbreak(t->ag.base);
	} else if (type == WIRE_RANK_LOST) {
		snprintf(rank, sizeof(rank),
		    "rank %lld: ", (long long)member_int(msg, "rank"));
		try_failed(t, rank,
		    member_text_or(msg, "abort", "ended unexpectedly"),
		    member_text(msg, "stderr"));
	} else if (type == WIRE_EXITED) {
		if (member_int(msg, "status") != 0)
			try_failed(t, "the ranks failed", "",
			    member_text(msg, "stderr"));
		event_base_loopbreak(t->ag.base);
	}
	json_decref(msg);
	return 0;
}

static void
try_record(const char *run, const struct record_head *head, const char *line,
    size_t len_bytes, void *arg)
{
	json_t *record = json_loadb(line, len_bytes, 0, NULL);
	struct try *t = arg;

	(void)run;
	if (strcmp(member_text(record, "verdict"), "bad") == 0)
		try_failed(t, "a message between the ranks arrived corrupted",
		    "", "");
	if (strcmp(head->probe, "end") == 0)
		t->ended = strcmp(member_text(record, "status"), "ok") == 0;
	json_decref(record);
}

static void
try_flush(void *arg)
{
	(void)arg;
}

static void
try_closed(const char *run, void *arg)
{
	struct try *t = arg;

	(void)run;
	t->run = NULL;
	event_base_loopbreak(t->ag.base);
}

static const struct run_ops try_ops = { try_send, try_record, try_flush,
	try_closed };

static void
try_child_cb(evutil_socket_t sig, short what, void *arg)
{
	(void)sig;
	(void)what;
	(void)arg;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

static void
try_late_cb(evutil_socket_t fd, short what, void *arg)
{
	struct try *t = arg;

	(void)fd;
	(void)what;
	try_failed(t, "the ranks did not end within 60 s", "", "");
	event_base_loopbreak(t->ag.base);
}

static void
try_run(struct try *t, const struct mpi_impl_mpi *mpi)
{
	struct timeval limit = clk_timeval(LIMIT_MS * CLK_NS_PER_MS);
	struct event *child = evsignal_new(t->ag.base, SIGCHLD, try_child_cb,
	    t);
	struct event *late = evtimer_new(t->ag.base, try_late_cb, t);
	struct err err;

	event_add(child, NULL);
	event_add(late, &limit);
	if (run_open(&t->ag, RUN, LIMIT_MS, &t->run, &err) < 0) {
		try_failed(t, err.text, "", "");
	} else {
		t->run->mpi = mpi;
		run_start(t->run,
		    &(struct run_start){ .local = 2,
			.size = 2,
			.campaign = campaign,
			.net = "" });
		if (t->why[0] == '\0')
			event_base_dispatch(t->ag.base);
		run_end(t->run, GRACE_MS, "tried");
		while (t->run != NULL)
			event_base_loop(t->ag.base, EVLOOP_ONCE);
	}
	event_free(child);
	event_free(late);
}

int
try_mpi(struct agent *ag, const char *name)
{
	char dir[] = "/tmp/coalmine-try-XXXXXX", set[80], env[2100];
	const struct mpi_impl_mpi *mpi = mpi_impl_find(name);
	struct try t = { .ag = *ag };
	struct err err;

	if (mpi == NULL) {
		log_warnx("unknown MPI %.60s: run coalmine-build-probe for it "
			  "on this node",
		    name);
		return 1;
	}
	if (mkdtemp(dir) == NULL || chmod(dir, 0711) < 0) {
		log_warn("cannot prepare the directory %s", dir);
		return 1;
	}
	snprintf(set, sizeof(set), "agent.run_dir=%s", dir);
	/* keep the site's settings */
	snprintf(env, sizeof(env), "mpi.env=%s%sCOALMINE_FAKE_NODES=rank",
	    conf_string(ag->conf, "mpi", "env"),
	    conf_string(ag->conf, "mpi", "env")[0] == '\0' ? "" : ",");
	if (conf_override(ag->conf, set, "--try", &err) < 0 ||
	    conf_override(ag->conf, env, "--try", &err) < 0)
		try_failed(&t, err.text, "", "");
	t.ag.run_ops = &try_ops;
	t.ag.base = event_base_new();
	TAILQ_INIT(&t.ag.runs);
	if (t.why[0] == '\0')
		try_run(&t, mpi);
	event_base_free(t.ag.base);
	rmdir(dir);
	if (t.why[0] == '\0' && !t.ended)
		try_failed(&t, "the ranks ended without an end record", "", "");
	if (t.why[0] == '\0')
		printf("%s: two ranks connected by %s\n", name, mpi->wireup);
	else
		log_warnx("%s: the test with two ranks, connected by %s, "
			  "failed: %s",
		    name, mpi->wireup, t.why);
	return t.why[0] == '\0' ? 0 : 1;
}
