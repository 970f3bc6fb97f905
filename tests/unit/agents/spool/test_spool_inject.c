/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of each kind of inject.h fail once, each in a separate process: the
 * spool does not crash, records that it synced without an alarm exist after a
 * restart or are counted as lost, and it logs the failure. If all reads from
 * one on fail, each record is still in a file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glob.h>
#include <sys/wait.h>

#include "agents/spool/spool.h"
#include "common/log.h"
#include "common/xalloc.h"

#include "tests/unit/inject.h"

#define RECORDS 40
#define ACKED   10
#define BYTES   2000

static struct shared {
	struct inject_calls calls;
	int has_alarm;
	uint64_t lost;
} * shared;

static void
child(const char *dir, const char *log, enum kind kind, unsigned long at)
{
	char *line = xasprintf("{\"text\":\"%0*d\"}", BYTES, 0);
	struct spool *sp;
	uint64_t records, bytes;

	inject_log_to(log);
	inject_arm(&shared->calls, kind, at);
	for (int round = 0; round < 2; round++) {
		int half = RECORDS / 2;

		/* Room for half of them: the file is rewritten. */
		if (spool_open(dir, RECORDS / 2 * BYTES, &sp) < 0)
			_exit(1);
		for (int i = 1; i <= half; i++)
			spool_append(sp, "r", (uint64_t)(round * half + i), 0,
			    line, strlen(line));
		spool_ack(sp, "r", ACKED);
		spool_sync(sp);
		if (spool_lost(sp, "r", &records, &bytes))
			shared->lost += records;
		shared->has_alarm = spool_alarm(sp) != NULL;
		spool_free(sp);
	}
	_exit(0);
}

/* Count the records that are in any file, without those before ACKED. */
static uint64_t
count_in_files(const char *dir)
{
	char *pattern = xasprintf("%s/*", dir);
	int has[RECORDS + 1] = { 0 };
	struct spool_entry e;
	uint64_t count = 0;
	glob_t g;

	assert_int_equal(glob(pattern, 0, NULL, &g), 0);
	for (size_t i = 0; i < g.gl_pathc; i++) {
		struct spool_scan w = { .fd = open(g.gl_pathv[i], O_RDONLY) };

		w.end = (uint64_t)lseek(w.fd, 0, SEEK_END);
		while (spool_entry_next(&w, &e)) {
			free(e.line);
			assert_true(e.seq <= RECORDS);
			count += e.seq > ACKED && !has[e.seq]++;
		}
		close(w.fd);
	}
	globfree(&g);
	free(pattern);
	return count;
}

static void
play(enum kind kind, unsigned long at)
{
	char top[] = "/tmp/coalmine-inject-XXXXXX", *dir, *log, *clean;
	struct spool_entry e;
	struct spool *sp;
	uint64_t seen = 0;
	pid_t pid;
	int status;

	memset(shared, 0, sizeof(*shared));
	assert_non_null(mkdtemp(top));
	dir = xasprintf("%s/spool", top);
	log = xasprintf("%s/log", top);
	pid = fork();
	if (pid == 0)
		child(dir, log, kind, at);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status))
		fail_msg("%s %lu: signal %d", inject_kinds[kind], at,
		    WTERMSIG(status));
	if ((WEXITSTATUS(status) != 0 || shared->has_alarm) &&
	    !inject_log_has(log, "spool") && !inject_log_has(log, "memory"))
		fail_msg("%s %lu: no message", inject_kinds[kind], at);
	if (injected.stays &&
	    count_in_files(dir) + shared->lost < RECORDS - ACKED)
		fail_msg("%s from %lu on: %llu records are in files, %llu "
			 "counted as lost",
		    inject_kinds[kind], at,
		    (unsigned long long)count_in_files(dir),
		    (unsigned long long)shared->lost);
	assert_int_equal(spool_open(dir, 1 << 30, &sp), 0);
	spool_rewind(sp);
	while (spool_next(sp, "r", 1 << 20, &e)) {
		free(e.line);
		seen++;
	}
	if (WEXITSTATUS(status) == 0 && !shared->has_alarm && !injected.stays &&
	    seen + shared->lost < RECORDS - ACKED)
		fail_msg("%s %lu: %llu records are there, %llu counted as lost",
		    inject_kinds[kind], at, (unsigned long long)seen,
		    (unsigned long long)shared->lost);
	spool_free(sp);
	clean = xasprintf("rm -rf %s", top);
	assert_int_equal(system(clean), 0);
	free(clean);
	free(log);
	free(dir);
}

static void
test_each_call(void **state)
{
	unsigned long counts[KIND_MAX];

	(void)state;
	play(KIND_NONE, 0);
	for (int kind = 0; kind < KIND_MAX; kind++)
		counts[kind] = shared->calls.of[kind];
	for (int kind = KIND_NONE + 1; kind < KIND_MAX; kind++) {
		print_message("%s: %lu calls\n", inject_kinds[kind],
		    counts[kind]);
		for (unsigned long at = 1; at <= counts[kind];
		     at += inject_step(counts[kind]))
			play((enum kind)kind, at);
	}
	injected.stays = 1;
	for (unsigned long at = 1; at <= counts[KIND_READ];
	     at += inject_step(counts[KIND_READ]))
		play(KIND_READ, at);
	assert_true(counts[KIND_WRITE] > RECORDS / 2 && counts[KIND_SYNC] > 0 &&
	    counts[KIND_OPEN] > 2 && counts[KIND_RENAME] > 0);
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
