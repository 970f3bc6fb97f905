/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of each kind of inject.h fail once, each in a separate process: the
 * store does not crash, keeps acknowledged data, is never set aside as damaged,
 * and logs the failed call.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/wait.h>

#include "common/log.h"

#include "tests/unit/daemon/store/store_fix.h"
#include "tests/unit/inject.h"

#define RECORDS 30

/* Of the child, shared with the parent. */
static struct shared {
	struct inject_calls calls;
	unsigned char acked[RECORDS + 1];
	int opened, refused;
} * shared;

static void
put_cb(int status, json_t *result, void *arg)
{
	(void)result;
	if (status == 0)
		*(unsigned char *)arg = 1;
	else
		shared->refused = 1;
}

/* Two rounds of a store that is opened, written and closed. */
static void
child(struct fix *f, const char *log, enum kind kind, unsigned long at)
{
	json_t *records[RECORDS + 1];

	inject_log_to(log);
	for (int seq = 1; seq <= RECORDS; seq++)
		records[seq] = fix_canary("r", seq, "lat", "isolated", seq);
	inject_arm(&shared->calls, kind, at);
	for (int round = 0; round < 2; round++) {
		struct timeval slice = { .tv_usec = 300000 };
		int half = RECORDS / 2;

		if (store_open(&f->options, f->base, &f->st) < 0)
			_exit(1);
		shared->opened++;
		for (int i = 1; i <= half; i++) {
			int seq = round * half + i;

			store_put_record(f->st, records[seq], NULL, put_cb,
			    &shared->acked[seq]);
		}
		event_base_loopexit(f->base, &slice);
		event_base_dispatch(f->base);
		store_close(f->st);
	}
	_exit(0);
}

/* Return NULL if the run was not found. */
static json_t *
fix_try(struct fix *f, enum store_question what, json_t *args)
{
	struct answer a = { 0 };

	store_ask(f->st, what, args, answer_cb, &a);
	json_decref(args);
	fix_wait(f, &a.got, 1);
	assert_true(a.status == 0 || a.status == -ENOENT);
	return a.result;
}

/* Run one child whose call `at` of the kind fails, then check the store. */
static void
play(enum kind kind, unsigned long at)
{
	struct fix f;
	unsigned char have[RECORDS + 1] = { 0 };
	json_t *list, *record;
	char *log;
	pid_t pid;
	size_t i;
	int status;

	memset(shared, 0, sizeof(*shared));
	fix_folder(&f);
	f.options.url = NULL;
	f.st = NULL;
	log = xasprintf("%s/log", f.dir);
	pid = fork();
	if (pid == 0)
		child(&f, log, kind, at);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status))
		fail_msg("%s %lu: signal %d", inject_kinds[kind], at,
		    WTERMSIG(status));
	if (WEXITSTATUS(status) != 0 || shared->refused)
		if (!inject_log_has(log, "store") &&
		    !inject_log_has(log, "memory"))
			fail_msg("%s %lu: no message", inject_kinds[kind], at);
	if (inject_log_has(log, "damaged"))
		fail_msg("%s %lu: set aside", inject_kinds[kind], at);
	fix_open(&f);
	/* If no record was stored, the run is missing too. */
	list = fix_try(&f, STORE_RECORDS, json_pack("{s:s}", "run", "r"));
	json_array_foreach (list, i, record)
		have[json_integer_value(json_object_get(record, "seq"))] = 1;
	json_decref(list);
	for (int seq = 1; seq <= RECORDS; seq++)
		if (shared->acked[seq] && !have[seq])
			fail_msg("%s %lu: record %d was acknowledged and lost",
			    inject_kinds[kind], at, seq);
	if (kind == KIND_NONE)
		for (int seq = 1; seq <= RECORDS; seq++)
			assert_true(shared->acked[seq]);
	free(log);
	fix_close(&f);
}

static void
test_each_call(void **state)
{
	unsigned long counts[KIND_MAX], step;

	(void)state;
	play(KIND_NONE, 0);
	for (int kind = 0; kind < KIND_MAX; kind++)
		counts[kind] = shared->calls.of[kind];
	for (int kind = KIND_NONE + 1; kind < KIND_MAX; kind++) {
		print_message("%s: %lu calls\n", inject_kinds[kind],
		    counts[kind]);
		step = inject_step(counts[kind]);
		for (unsigned long at = 1; at <= counts[kind]; at += step)
			play((enum kind)kind, at);
	}
	assert_true(counts[KIND_WRITE] > 10 && counts[KIND_SYNC] > 0 &&
	    counts[KIND_READ] > 10 && counts[KIND_OPEN] > 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_call),
	};

	shared = inject_shared(sizeof(*shared));
	log_init("test", LOG_LEVEL_INFO);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
