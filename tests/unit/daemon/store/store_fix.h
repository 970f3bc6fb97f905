/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_fix.h - a store in a temporary folder, and calls that run the event
 * loop until they have their answer. Included by tests only, after cmocka.h.
 */
#ifndef TESTS_STORE_FIX_H
#define TESTS_STORE_FIX_H

#include <event2/event.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/hist.h"
#include "common/xalloc.h"
#include "daemon/store/store.h"
#include "schema/record.h"

#define DAY_NS  (24 * 3600 * CLK_NS_PER_S)
#define WAIT_NS (90 * CLK_NS_PER_S) /* then a test has failed */

struct fix {
	char dir[64];
	char schema[64];
	struct event_base *base;
	struct store_options options;
	struct store *st;
};

struct answer {
	int got;
	int status;
	json_t *result;
};

static void
answer_cb(int status, json_t *result, void *arg)
{
	struct answer *a = arg;

	a->got++;
	a->status = status;
	json_decref(a->result);
	a->result = result;
}

/* Run the loop until *count reaches want. */
static inline void
fix_wait(struct fix *f, const int *count, int want)
{
	struct timeval slice = { .tv_usec = 10000 };
	uint64_t end_ns = clk_ns() + WAIT_NS;

	while (*count < want && clk_ns() < end_ns) {
		event_base_loopexit(f->base, &slice);
		event_base_dispatch(f->base);
	}
	if (*count < want)
		fail_msg("no answer within the time limit");
}

static inline json_t *
fix_ask(struct fix *f, enum store_question what, json_t *args, int want)
{
	struct answer a = { 0 };

	store_ask(f->st, what, args, answer_cb, &a);
	json_decref(args);
	fix_wait(f, &a.got, 1);
	assert_int_equal(a.status, want);
	return a.result;
}

static inline int
fix_put_record(struct fix *f, json_t *record)
{
	struct answer a = { 0 };

	store_put_record(f->st, record, NULL, answer_cb, &a);
	json_decref(record);
	fix_wait(f, &a.got, 1);
	assert_null(a.result);
	return a.status;
}

static inline int
fix_put_run(struct fix *f, json_t *run)
{
	struct answer a = { 0 };

	store_put_run(f->st, run, NULL, answer_cb, &a);
	json_decref(run);
	fix_wait(f, &a.got, 1);
	return a.status;
}

static inline void
fix_folder(struct fix *f)
{
	snprintf(f->dir, sizeof(f->dir), "/tmp/coalmine-test-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	f->base = event_base_new();
	/* Of the server of on_postgresql.py, or no such thing. */
	snprintf(f->schema, sizeof(f->schema), "%s", strrchr(f->dir, '/') + 1);
	f->options = (struct store_options){ .dir = f->dir,
		.url = getenv("COALMINE_TEST_STORE_URL"),
		.schema = f->schema,
		.retention_ns = 90 * DAY_NS,
		.raw_retention_ns = 7 * DAY_NS };
}

static inline void
fix_open(struct fix *f)
{
	assert_int_equal(store_open(&f->options, f->base, &f->st), 0);
}

static inline void
fix_reopen(struct fix *f)
{
	store_close(f->st);
	fix_open(f);
}

static int
fix_unlink_cb(const char *path, const struct stat *st, int type,
    struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void
fix_close(struct fix *f)
{
	store_close(f->st);
	event_base_free(f->base);
	nftw(f->dir, fix_unlink_cb, 8, FTW_DEPTH | FTW_PHYS);
}

static inline json_t *
fix_run(const char *run, const char *campaign, const char *state,
    uint64_t created_unix_ns)
{
	return json_pack("{s:s,s:s,s:s,s:s,s:[s,s],s:I}", "run", run,
	    "campaign", campaign, "class", "exclusive", "state", state, "nodes",
	    "node1", "node2", "created_unix_ns", (json_int_t)created_unix_ns);
}

/* As the store writes a record of the collector: with nine digits. Takes o. */
static inline json_t *
fix_written(json_t *o)
{
	char *text = json_dumps(o, JSON_REAL_PRECISION(9));
	json_t *written = json_loads(text, 0, NULL);

	free(text);
	json_decref(o);
	return written;
}

static inline json_t *
fix_canary(const char *run, int seq, const char *test, const char *phase,
    double scale)
{
	json_t *record = json_pack("{s:s,s:i,s:s,s:s,s:s,s:s,s:s,s:[]}", "run",
	    run, "seq", seq, "probe", "canary", "test", test, "phase", phase,
	    "unit", "s", "stopped_by", "precision", "pairs");
	struct hist *h = xcalloc(1, sizeof(*h));

	hist_clear(h);
	for (int i = 1; i <= 200; i++)
		hist_add(h, scale * (1 + i / 100.0));
	record_put_hist(record, h);
	json_object_set_new(record, "interval",
	    json_pack("{s:s,s:f,s:f,s:f}", "of", "p99", "level", 0.95, "lo",
		scale * 2.8, "hi", scale * 3.0));
	free(h);
	return fix_written(record);
}

static inline json_t *
fix_impact(const char *run, int seq, const char *test, double value)
{
	return json_pack("{s:s,s:i,s:s,s:s,s:s,s:f,s:{s:f,s:f,s:f}}", "run",
	    run, "seq", seq, "probe", "impact", "test", test, "of", "p99",
	    "value", value, "interval", "level", 0.95, "lo", value * 0.9, "hi",
	    value * 1.1);
}

#endif
