/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.c - a terminal gets one line that is redrawn, anything else a line
 * for each change; an interrupt prints that the run continues.
 */
#include "ctl/lib/progress.h"

#include <langinfo.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/table.h"
#include "common/xalloc.h"
#include "ctl/lib/print.h"

#define BAR_CELLS    24
#define COLUMNS_ELSE 80 /* where the terminal does not say */

struct progress {
	char *run;
	uint64_t start_ns;
	int bar; /* stderr is a terminal that can redraw a line */
	int color;
	int away;
	char last[256]; /* the last line printed */
};

/* For the handler: what to say when the wait is interrupted. */
static char interrupt_text[256];

static void
progress_interrupt_cb(int sig)
{
	ssize_t n = write(STDERR_FILENO, interrupt_text,
	    strlen(interrupt_text));

	(void)n;
	signal(sig, SIG_DFL);
	raise(sig);
}

int
progress_utf8(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

int
progress_has_colour(void)
{
	const char *term = getenv("TERM"), *plain = getenv("NO_COLOR");

	return term != NULL && strcmp(term, "dumb") != 0 &&
	    (plain == NULL || plain[0] == '\0');
}

struct progress *
progress_new(const char *run)
{
	struct progress *p = xcalloc(1, sizeof(*p));
	const char *term = getenv("TERM");

	p->run = xstrdup(run);
	p->start_ns = clk_ns();
	p->bar = isatty(STDERR_FILENO) && term != NULL &&
	    strcmp(term, "dumb") != 0;
	p->color = p->bar && progress_has_colour();
	snprintf(interrupt_text, sizeof(interrupt_text),
	    "%srun %s continues; coalctl run cancel %s ends it\n",
	    p->bar ? "\r\033[K" : "", run, run);
	signal(SIGINT, progress_interrupt_cb);
	return p;
}

/* ", 33 %, 40s left", as far as it is known. */
static void
progress_rest_of(const json_t *run, char *ret, size_t cap_bytes)
{
	const json_t *progress = json_object_get(run, "progress");
	double share = member_number(progress, "share");
	double remaining_s = member_number(progress, "remaining_s");
	char left[PRINT_BYTES];

	ret[0] = '\0';
	if (!isfinite(share))
		return;
	print_span(floor(remaining_s), left);
	snprintf(ret, cap_bytes, ", %.0f %%%s%s%s", share * 100,
	    isfinite(remaining_s) ? ", " : "",
	    isfinite(remaining_s) ? left : "",
	    isfinite(remaining_s) ? " left" : "");
}

void
progress_show(struct progress *p, const json_t *run)
{
	const json_t *progress = json_object_get(run, "progress");
	const char *phase = print_member(progress, "phase", "");
	const char *test = p->bar ? print_member(progress, "test", "") : "";
	double share = member_number(progress, "share");
	char bar[BAR_CELLS * 3 + 1], words[200], rest[100];
	int room = COLUMNS_ELSE - 1;
	size_t columns = table_terminal_width(stderr);

	p->away = 0;
	/* "running, congested", and with a bar its test, " lat". */
	snprintf(words, sizeof(words), "%s%s%s%s%s",
	    print_member(run, "state", "?"), phase[0] == '\0' ? "" : ", ",
	    phase, test[0] == '\0' ? "" : " ", test);
	progress_rest_of(run, rest, sizeof(rest));
	if (!p->bar) {
		if (strcmp(words, p->last) == 0)
			return;
		snprintf(p->last, sizeof(p->last), "%s", words);
		fprintf(stderr, "%llus: run %s %s%s\n",
		    (unsigned long long)((clk_ns() - p->start_ns) /
			CLK_NS_PER_S),
		    p->run, words, rest);
		return;
	}
	/* One line that replaces the last: words first, since a narrow
	 * terminal cuts the end. */
	if (columns > 0)
		room = (int)columns - 1;
	fprintf(stderr, "\r\033[K%.*s", room, words);
	room -= (int)(strlen(words) + strlen(rest));
	if (isfinite(share) && room >= BAR_CELLS + 3) {
		table_bar(share, BAR_CELLS, !progress_utf8(), bar, sizeof(bar));
		fprintf(stderr, " [%s%s%s]", p->color ? "\033[32m" : "", bar,
		    p->color ? "\033[0m" : "");
	}
	if (room >= 0)
		fputs(rest, stderr);
	fflush(stderr);
}

void
progress_away(struct progress *p)
{
	if (p->away)
		return;
	p->away = 1;
	fprintf(stderr,
	    "%scoalctl: the collector does not answer; waiting "
	    "for it\n",
	    p->bar ? "\r\033[K" : "");
}

void
progress_free(struct progress *p)
{
	if (p == NULL)
		return;
	if (p->bar)
		fputs("\r\033[K", stderr);
	signal(SIGINT, SIG_DFL);
	free(p->run);
	free(p);
}
