/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.c - a run is named by its id, a unique beginning, last or last:CAMPAIGN;
 * its state decides the exit code; a wait outlives a restart of the collector.
 */
#include "ctl/lib/runs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/xalloc.h"
#include "ctl/lib/ctl.h"
#include "ctl/lib/print.h"
#include "ctl/lib/progress.h"
#include "schema/names_run.h"

#define POLL_NS (500 * CLK_NS_PER_MS)
/* A collector that was killed comes back within this, or the wait ends. */
#define AWAY_LIMIT_NS (120 * CLK_NS_PER_S)
#define FIND_LIMIT    1000
/* Parts of a list: a collector that sends endless parts does not hold us. */
#define PARTS_MAX 10000

int
runs_list(struct ctl *c, const struct runs_filter *f, int64_t limit,
    json_t **ret)
{
	json_t *all = json_array(), *part;
	char want[24], before[24] = "";
	int64_t next = INT64_MAX;
	int rc;

	for (int i = 0; i < PARTS_MAX; i++) {
		struct strbuf path = { 0 };

		snprintf(want, sizeof(want), "%lld",
		    (long long)(limit - (int64_t)json_array_size(all)));
		client_part(&path, "runs");
		client_param(&path, "campaign", f->campaign);
		client_param(&path, "state", f->state);
		client_param(&path, "limit", want);
		client_param(&path, "brief", f->is_brief ? "yes" : NULL);
		client_param(&path, "before",
		    before[0] != '\0' ? before : NULL);
		rc = client_get(ctl_client(c), path.text, &part);
		strbuf_clear(&path);
		if (rc < 0) {
			json_decref(all);
			return ctl_fail_client(c);
		}
		json_array_extend(all, part);
		json_decref(part);
		if (client_next(ctl_client(c)) == 0 ||
		    client_next(ctl_client(c)) >= next ||
		    (int64_t)json_array_size(all) >= limit)
			break;
		next = client_next(ctl_client(c));
		snprintf(before, sizeof(before), "%lld", (long long)next);
	}
	rc = ctl_arrange(c, all);
	if (rc == 0)
		*ret = all; /* handed over */
	return rc;
}

static json_int_t
runs_created(const json_t *run)
{
	return member_int(run, "created_unix_ns");
}

static int
runs_find_prefix(struct ctl *c, const json_t *list, const char *text,
    char **ret_run)
{
	json_t *old = NULL;
	int rc = 0;
	const char *found = NULL;
	size_t i, count = 0;
	json_t *run;

	json_array_foreach (list, i, run) {
		const char *id = print_member(run, "run", "");

		if (strcmp(id, text) == 0) {
			*ret_run = xstrdup(id);
			return 0;
		}
		if (strncmp(id, text, strlen(text)) != 0)
			continue;
		found = id;
		count++;
	}
	if (count > 1)
		return ctl_fail(
		    "%s: the ids of %zu runs begin with this text; expected "
		    "the id of a run, its unique beginning, last or "
		    "last:CAMPAIGN",
		    text, count);
	/* An old run is in the store and not in the list. */
	if (found == NULL)
		rc = runs_get(c, text, &old);
	json_decref(old);
	if (rc != 0)
		return rc;
	*ret_run = xstrdup(found == NULL ? text : found);
	return 0;
}

int
runs_find(struct ctl *c, const char *text, char **ret_run)
{
	const char *campaign = NULL;
	json_t *list = NULL, *run, *newest = NULL;
	size_t i;
	int rc, last;

	last = strcmp(text, "last") == 0 || strncmp(text, "last:", 5) == 0;
	if (strncmp(text, "last:", 5) == 0)
		campaign = text + 5;
	if (text[0] == '\0')
		return ctl_fail(
		    "the run's id is empty: expected the id of a run, its "
		    "unique beginning, last or last:CAMPAIGN");
	rc = runs_list(c,
	    &(struct runs_filter){ .campaign = campaign, .is_brief = 1 },
	    FIND_LIMIT, &list);
	if (rc != 0)
		return rc;
	if (!last) {
		rc = runs_find_prefix(c, list, text, ret_run);
	} else {
		json_array_foreach (list, i, run)
			if (newest == NULL ||
			    runs_created(run) > runs_created(newest))
				newest = run;
		if (newest == NULL)
			rc = ctl_fail("%s: no run found", text);
		else
			*ret_run = xstrdup(print_member(newest, "run", ""));
	}
	json_decref(list);
	return rc;
}

int
runs_get(struct ctl *c, const char *run, json_t **ret)
{
	struct strbuf path = { 0 };
	int rc;

	client_part(&path, "runs");
	client_part(&path, run);
	rc = client_get(ctl_client(c), path.text, ret);
	strbuf_clear(&path);
	if (rc == -ENOENT)
		return ctl_fail("run %s not found; see coalctl run list", run);
	return rc == 0 ? 0 : ctl_fail_client(c);
}

static int
runs_state_of(const json_t *run)
{
	return STR_FIND(names_run_states, print_member(run, "state", ""));
}

int
runs_final(const json_t *run)
{
	int state = runs_state_of(run);

	return state >= 0 && names_run_states[state].final;
}

int
runs_exit_code(const json_t *run)
{
	static const int codes[RUN_STATE_MAX] = {
		[RUN_FAILED] = EXIT_CODE_BAD,
		[RUN_TIMED_OUT] = EXIT_CODE_BAD,
		[RUN_NONSTART] = EXIT_CODE_BAD,
		[RUN_MISSED] = EXIT_CODE_BAD,
		[RUN_CANCELLED] = EXIT_CODE_WARN,
		[RUN_PREEMPTED] = EXIT_CODE_WARN,
		[RUN_OVERDUE] = EXIT_CODE_WARN,
	};
	int state = runs_state_of(run);

	return state < 0 ? EXIT_CODE_UNKNOWN : codes[state];
}

void
runs_print_end(const json_t *run, FILE *to)
{
	double from = member_number(run, "started_unix_ns");
	double until = member_number(run, "ended_unix_ns");
	const char *cause = print_member(run, "cause", "none");
	const char *text = print_member(run, "text", "");
	char took[PRINT_BYTES];

	fprintf(to, "run %s %s", print_member(run, "run", "?"),
	    print_member(run, "state", "?"));
	print_span((until - from) / 1e9, took);
	if (from > 0 && until >= from)
		fprintf(to, " after %s", took);
	if (strcmp(cause, "none") != 0 &&
	    strcmp(cause, print_member(run, "state", "")) != 0)
		fprintf(to, ": %s", cause);
	if (text[0] != '\0')
		fprintf(to, ": %s", text);
	fputc('\n', to);
}

int
runs_wait(struct ctl *c, const char *run, json_t **ret)
{
	struct progress *p = progress_new(run);
	struct strbuf path = { 0 };
	uint64_t away_ns = 0;
	json_t *now = NULL;
	int rc = 0;

	client_part(&path, "runs");
	client_part(&path, run);
	for (;; clk_sleep_ns(POLL_NS)) {
		rc = client_get(ctl_client(c), path.text, &now);
		if (rc == -EHOSTUNREACH &&
		    (away_ns == 0 || clk_ns() - away_ns < AWAY_LIMIT_NS)) {
			away_ns = away_ns == 0 ? clk_ns() : away_ns;
			progress_away(p);
			continue;
		}
		if (rc < 0)
			break;
		away_ns = 0;
		progress_show(p, now);
		if (runs_final(now))
			break;
		json_decref(now);
	}
	progress_free(p);
	strbuf_clear(&path);
	if (rc < 0)
		return ctl_fail_client(c);
	*ret = now; /* handed over */
	return 0;
}
