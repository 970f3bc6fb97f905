/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top.c - the cluster on one screen, again and again: which nodes are outliers,
 * what congestion costs, what runs.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "common/table.h"
#include "common/xalloc.h"
#include "ctl/lib/print.h"
#include "ctl/lib/progress.h"
#include "ctl/verbs/verbs.h"
#include "schema/names_agent.h"
#include "schema/names_probe.h"
#include "schema/names_verdict.h"

#define EVERY_S     2
#define LINES       40 /* if the height of the screen is unknown */
#define COLUMNS     100
#define COLUMNS_MIN 20 /* of a wrapped text */
#define HEAD_LINES  6

/* Cursor home; clear the rest of a line; clear below. */
#define HOME       "\033[H"
#define LINE_REST  "\033[K\n"
#define BELOW      "\033[J"
#define RED        "\033[31m"
#define YELLOW     "\033[33m"
#define COLOUR_OFF "\033[0m"
#define SCREEN_ON  "\033[?1049h\033[?25l"
#define SCREEN_OFF "\033[?25h\033[?1049l"

static volatile sig_atomic_t ended;

static void
top_end_cb(int number)
{
	(void)number;
	ended = 1;
}

/* What one look needs; each may be NULL where the collector has none. */
struct look {
	json_t *nodes, *runs, *impacts, *diags, *verdicts;
};

static void
top_look_clear(struct look *l)
{
	json_decref(l->nodes);
	json_decref(l->runs);
	json_decref(l->impacts);
	json_decref(l->diags);
	json_decref(l->verdicts);
	memset(l, 0, sizeof(*l));
}

static int
top_look_get(struct ctl *c, struct look *l)
{
	struct client *cl = ctl_client(c);
	int rc;

	memset(l, 0, sizeof(*l));
	rc = client_get(cl, "/nodes?brief=yes", &l->nodes);
	if (rc == 0)
		rc = client_get(cl, "/runs?limit=10", &l->runs);
	if (rc == 0)
		rc = client_get(cl, "/impacts?limit=60", &l->impacts);
	if (rc == 0)
		rc = client_get(cl, "/diags", &l->diags);
	/* An older collector has no verdicts. */
	if (rc == 0 && client_get(cl, "/verdicts", &l->verdicts) != 0)
		l->verdicts = NULL;
	if (rc != 0)
		top_look_clear(l);
	return rc;
}

/* A screen: lines that are cut at its width, as many as there is room for. */
struct screen {
	struct strbuf text;
	int columns, lines, used;
	const char *rest; /* what ends a line */
	int has_colour;
};

static void
top_line(struct screen *s, const char *text)
{
	size_t len = strlen(text), max = (size_t)s->columns;

	if (s->used >= s->lines)
		return;
	/* Never in the middle of a letter. */
	if (len > max)
		for (len = max; len > 0 && (text[len] & 0xc0) == 0x80;)
			len--;
	strbuf_add(&s->text, text, len);
	strbuf_add(&s->text, s->rest, strlen(s->rest));
	s->used++;
}

/* A text that matters to its end: wrapped, later lines indented. colour: of the
 * terminal, "" without one. */
static void
top_text(struct screen *s, const char *text, const char *colour)
{
	const char *margin = "", *next;

	if (!s->has_colour)
		colour = "";
	do {
		size_t room = s->columns < COLUMNS_MIN
		    ? COLUMNS_MIN
		    : (size_t)s->columns - strlen(margin);
		size_t len = table_wrap(text, room, &next);

		if (s->used >= s->lines)
			return;
		strbuf_addf(&s->text, "%s%s%.*s%s%s", colour, margin, (int)len,
		    text, colour[0] != '\0' ? COLOUR_OFF : "", s->rest);
		s->used++;
		text = next;
		margin = "      ";
	} while (*text != '\0');
}

static void
top_put_head(struct screen *s, const struct look *l)
{
	int by_state[AGENT_STATE_MAX] = { 0 };
	char text[256], now[32];
	time_t at = time(NULL);
	struct tm tm;
	json_t *n;
	size_t i;

	json_array_foreach (l->nodes, i, n)
		for (int k = 0; k < AGENT_STATE_MAX; k++)
			by_state[k] += strcmp(names_agent_states[k],
					   print_member(n, "state", "")) == 0;
	strftime(now, sizeof(now), "%H:%M:%S", gmtime_r(&at, &tm));
	snprintf(text, sizeof(text),
	    "coalmine  %s UTC  %zu nodes: %d ok, %d busy, %d late, %d lost",
	    now, json_array_size(l->nodes), by_state[AGENT_OK],
	    by_state[AGENT_BUSY], by_state[AGENT_LATE], by_state[AGENT_LOST]);
	if (by_state[AGENT_MAINTENANCE] > 0)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
		    ", %d in maintenance", by_state[AGENT_MAINTENANCE]);
	top_line(s, text);
	json_array_foreach (l->diags, i, n) {
		snprintf(text, sizeof(text), "%s: %s",
		    print_member(n, "severity", "?"),
		    print_member(n, "text", ""));
		if (i < HEAD_LINES)
			top_line(s, text);
	}
}

static void
top_put_verdicts(struct screen *s, const json_t *verdicts)
{
	char text[512];
	const char *pending;
	json_t *v;
	size_t i;

	json_array_foreach (verdicts, i, v) {
		const char *word = print_member(v, "verdict", "?");

		if (strcmp(word, "ok") == 0 || strcmp(word, "unknown") == 0)
			continue;
		pending = print_member(v, "pending", "");
		snprintf(text, sizeof(text), "%-5s %-16s %-6s %s%s%s", word,
		    print_member(v, "node", print_member(v, "subject", "-")),
		    print_member(v, "what", ""), pending,
		    pending[0] != '\0' ? "; " : "",
		    print_member(v, "text", ""));
		top_text(s, text,
		    strcmp(word, names_verdicts[VERDICT_BAD]) == 0 ? RED
								   : YELLOW);
	}
}

struct scored {
	const json_t *node;
	double score;
};

static int
top_compare_cb(const void *a, const void *b)
{
	const struct scored *x = a, *y = b;

	return (x->score < y->score) - (x->score > y->score);
}

/* The highest scores, and a bar for each. Which are slow is what the
 * collector's verdict says: a score is of one round only. */
static void
top_put_scores(struct screen *s, const json_t *nodes)
{
	struct scored *rows = xcalloc(json_array_size(nodes) + 1,
	    sizeof(*rows));
	size_t count = 0, i;
	char text[256];
	json_t *n;

	json_array_foreach (nodes, i, n) {
		rows[count].node = n;
		rows[count].score = member_number(n, "score");
		count += isfinite(rows[count].score) != 0;
	}
	qsort(rows, count, sizeof(*rows), top_compare_cb);
	top_line(s, "");
	top_line(s,
	    count > 0 ? "SLOWEST NODES    leaf             state  z-score"
		      : "no node has been measured");
	for (i = 0; i < count && i < 10; i++) {
		int bar = (int)fmin(fmax(rows[i].score, 0), 20);
		int verdict = STR_FIND(names_verdicts,
		    print_member(rows[i].node, "verdict", ""));

		snprintf(text, sizeof(text), "%-16s %-16s %-6s %6.1f %.*s%s",
		    print_member(rows[i].node, "node", "?"),
		    print_member(rows[i].node, "leaf", "-"),
		    print_member(rows[i].node, "state", "?"), rows[i].score,
		    bar, "####################",
		    verdict == VERDICT_WARN || verdict == VERDICT_BAD ? " slow"
								      : "");
		top_line(s, text);
	}
	free(rows);
}

/* The newest of every test. */
static void
top_put_impacts(struct screen *s, const json_t *impacts)
{
	char text[256];

	top_line(s, "");
	top_line(s, "IMPACT OF CONGESTION (p99, times the isolated value)");
	for (int t = 0; t < CANARY_MAX; t++) {
		const json_t *i;
		size_t k;

		json_array_foreach (impacts, k, i) {
			const json_t *v = json_object_get(i, "interval");
			double value = member_number(i, "value");
			double lo = member_number(v, "lo");
			double hi = member_number(v, "hi");
			char span[64] = "(undetermined)";

			if (strcmp(print_member(i, "test", ""),
				names_tests[t].name) != 0 ||
			    strcmp(print_member(i, "of", ""), "p99") != 0)
				continue;
			if (isfinite(lo) && isfinite(hi))
				snprintf(span, sizeof(span), "(%.2f to %.2f)",
				    lo, hi);
			snprintf(text, sizeof(text), "%-12s %8.2f  %s  %s",
			    names_tests[t].name, value, span,
			    print_member(i, "campaign", ""));
			if (!isfinite(value))
				snprintf(text, sizeof(text),
				    "%-12s %8s  undetermined  %s",
				    names_tests[t].name, "-",
				    print_member(i, "campaign", ""));
			top_line(s, text);
			break;
		}
	}
}

static void
top_put_runs(struct screen *s, const json_t *runs)
{
	char text[320], at[PRINT_BYTES], left[PRINT_BYTES];
	json_t *r;
	size_t i;

	top_line(s, "");
	top_line(s, "RUNS");
	json_array_foreach (runs, i, r) {
		const json_t *p = json_object_get(r, "progress");

		print_time(r, "created_unix_ns", at);
		if (p != NULL) {
			print_span(member_number(p, "remaining_s"), left);
			snprintf(text, sizeof(text),
			    "%-24s %-12s %-12s %s %3.0f %% %s, %s left",
			    print_member(r, "run", "?"),
			    print_member(r, "campaign", "-"),
			    print_member(r, "state", "?"), at,
			    member_number(p, "share") * 100,
			    print_member(p, "phase", ""), left);
		} else {
			snprintf(text, sizeof(text), "%-24s %-12s %-12s %s %s",
			    print_member(r, "run", "?"),
			    print_member(r, "campaign", "-"),
			    print_member(r, "state", "?"), at,
			    print_member(r, "text", ""));
		}
		top_line(s, text);
	}
}

static void
top_draw(const struct look *l, int live)
{
	struct winsize size = { 0 };
	struct screen s = { .columns = COLUMNS,
		.lines = LINES,
		.rest = live ? LINE_REST : "\n",
		.has_colour = live && progress_has_colour() };

	if (live && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
	    size.ws_col > 0 && size.ws_row > 1) {
		s.columns = size.ws_col;
		s.lines = size.ws_row - 1;
	} else if (!live) {
		s.columns = 1 << 16; /* a pipe has no width */
		s.lines = 1 << 16;
	}
	top_put_head(&s, l);
	top_put_verdicts(&s, l->verdicts);
	top_put_scores(&s, l->nodes);
	top_put_impacts(&s, l->impacts);
	top_put_runs(&s, l->runs);
	printf("%s%s%s", live ? HOME : "", s.text.text, live ? BELOW : "");
	fflush(stdout);
	strbuf_clear(&s.text);
}

/* One that does not answer stays on the screen as such: no old numbers. */
static int
top_turn(struct ctl *c, int live)
{
	struct look l;
	int rc = top_look_get(c, &l);

	if (rc == 0)
		top_draw(&l, live);
	else if (live)
		printf(HOME "no answer from %s: %s" LINE_REST BELOW,
		    client_url(ctl_client(c)), client_why(ctl_client(c)));
	fflush(stdout);
	if (rc == 0)
		top_look_clear(&l);
	return rc;
}

/* All answers of one look in one object. */
static int
top_json(struct ctl *c)
{
	struct look l;
	json_t *told;

	if (top_look_get(c, &l) != 0)
		return ctl_fail_client(c);
	told = json_pack("{sO? sO? sO? sO? sO?}", "nodes", l.nodes, "verdicts",
	    l.verdicts, "diags", l.diags, "impacts", l.impacts, "runs", l.runs);
	print_json_line(told);
	json_decref(told);
	top_look_clear(&l);
	return EXIT_CODE_OK;
}

static int
top(struct ctl *c)
{
	const struct timespec wait = {
		opts_number(&c->opts, OPT_EVERY, EVERY_S), 0
	};
	int live = isatty(STDOUT_FILENO);
	struct sigaction sa = { .sa_handler = top_end_cb };

	if (opts_given(&c->opts, OPT_JSON))
		return top_json(c);
	if (!live)
		return top_turn(c, 0) == 0 ? EXIT_CODE_OK : ctl_fail_client(c);
	(void)ctl_client(c); /* or its end, while the screen is as it was */
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	fputs(SCREEN_ON, stdout);
	while (!ended) {
		top_turn(c, 1);
		nanosleep(&wait, NULL); /* a signal ends it */
	}
	fputs(SCREEN_OFF, stdout);
	return EXIT_CODE_OK;
}

/* ---- status: the head of the screen once, with an exit code ---- */

/* The worst verdict of nodes and other subjects; unknown if no node has been
 * judged. */
static int
top_status_of(const struct look *l)
{
	int judged = 0, worst = EXIT_CODE_OK;
	size_t i;
	json_t *o;

	json_array_foreach (l->nodes, i, o) {
		const char *word = print_member(o, "verdict", "");

		judged += word[0] != '\0' &&
		    strcmp(word, names_verdicts[VERDICT_UNKNOWN]) != 0;
	}
	json_array_foreach (l->verdicts, i, o) {
		int verdict = STR_FIND(names_verdicts,
		    print_member(o, "verdict", ""));

		if (verdict == VERDICT_BAD)
			worst = EXIT_CODE_BAD;
		else if (verdict == VERDICT_WARN && worst == EXIT_CODE_OK)
			worst = EXIT_CODE_WARN;
	}
	return worst != EXIT_CODE_OK ? worst
	    : judged > 0             ? EXIT_CODE_OK
				     : EXIT_CODE_UNKNOWN;
}

static int
top_status(struct ctl *c)
{
	struct screen s = { .columns = 1 << 16,
		.lines = 1 << 16,
		.rest = "\n" };
	struct look l;
	int rc = top_look_get(c, &l);

	if (rc != 0)
		return ctl_fail_client(c);
	top_put_head(&s, &l);
	top_put_verdicts(&s, l.verdicts);
	rc = top_status_of(&l);
	if (rc == EXIT_CODE_UNKNOWN)
		top_line(&s, "no node has a verdict yet");
	else if (rc == EXIT_CODE_OK)
		top_line(&s, "no node has a verdict of warn or bad");
	fputs(s.text.text, stdout);
	strbuf_clear(&s.text);
	top_look_clear(&l);
	return rc;
}

const struct verb verbs_status[] = {
	{ "status", NULL, "", 0, 0, "", "",
	    "Print the state of nodes, problems and verdicts.",
	    "The first line counts the nodes by state. Then follow the "
	    "problems "
	    "of the collector (diags) and the verdicts. The exit code is 0 if "
	    "no verdict is warn or bad, 1 for warn, 2 for bad, and 3 if no "
	    "node "
	    "has been judged.",
	    top_status },
	{ 0 },
};

const struct verb verbs_top[] = {
	{ "top", NULL, "", 0, 0, "every json", "",
	    "Show the cluster on one screen, refreshed periodically.",
	    "The screen has the agents by state, problems of the "
	    "collector (diags), outliers, the nodes that are slowest "
	    "compared with their peers, the impact of congestion and "
	    "the newest runs. If the output is not a terminal, it is "
	    "printed once. --json prints one object with the answers of the "
	    "collector: nodes, verdicts, diags, impacts and runs.",
	    top },
	{ 0 },
};
