/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_doorbell.c - two processes that sleep until the other has written: no
 * ring is lost, for any timing, and a ring without a sleeper wakes no process
 * but is detected by the next waiter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probes/transport/doorbell.h"

#define ROUNDS   2000
#define SLEEPERS 4

/* Data shared by two processes: a word of each, and its bell. */
struct table {
	struct doorbell bells[2];
	atomic_uint words[2];
};

static struct table *
table_new(void)
{
	void *t = mmap(NULL, sizeof(struct table), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(t != MAP_FAILED);
	return t;
}

static void
say(struct table *t, int who, unsigned int word)
{
	atomic_store(&t->words[who], word);
	doorbell_ring(&t->bells[who]);
}

/* 1: detected only after the time limit of a sleep. */
static int
hear(struct table *t, int who, unsigned int word)
{
	int heard = 1;

	for (;;) {
		unsigned int rings = doorbell_rings(&t->bells[who]);

		if (atomic_load(&t->words[who]) >= word)
			return !heard;
		heard = doorbell_sleep(&t->bells[who], rings);
	}
}

/* Were rings lost, every round would miss one. One that has to wait for a busy
 * machine may, here and below. */
static void
test_both_ways(void **state)
{
	struct table *t = table_new();
	pid_t other = fork();
	int status, missed = 0;

	(void)state;
	if (other == 0) {
		for (unsigned int i = 1; i <= ROUNDS; i++) {
			hear(t, 0, i);
			say(t, 1, i);
		}
		_exit(0);
	}
	for (unsigned int i = 1; i <= ROUNDS; i++) {
		say(t, 0, i);
		missed += hear(t, 1, i);
	}
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_int_equal(status, 0);
	assert_true(missed < ROUNDS);
	munmap(t, sizeof(*t));
}

/* How many of them miss a ring while all sleep. */
static int
wake_sleepers(void)
{
	struct table *t = table_new();
	pid_t sleepers[SLEEPERS];
	int status, missed = 0;

	for (int i = 0; i < SLEEPERS; i++) {
		sleepers[i] = fork();
		if (sleepers[i] == 0)
			_exit(hear(t, 0, 1));
	}
	while (atomic_load(&t->bells[0].sleepers) < SLEEPERS)
		sched_yield();
	say(t, 0, 1);
	for (int i = 0; i < SLEEPERS; i++) {
		assert_int_equal(waitpid(sleepers[i], &status, 0), sleepers[i]);
		missed += WEXITSTATUS(status);
	}
	assert_int_equal(atomic_load(&t->bells[0].sleepers), 0);
	munmap(t, sizeof(*t));
	return missed;
}

static void
test_many(void **state)
{
	int missed = 0;

	(void)state;
	for (int i = 0; i < 20; i++)
		missed += wake_sleepers();
	assert_true(missed < 20 * SLEEPERS);
}

/* Until it sleeps, or has slept and gone before this process ran again. */
static void
await_sleeper(struct doorbell *b, pid_t sleeper)
{
	siginfo_t gone = { 0 };

	while (atomic_load(&b->sleepers) == 0 && gone.si_pid == 0) {
		assert_int_equal(waitid(P_PID, (id_t)sleeper, &gone,
				     WEXITED | WNOHANG | WNOWAIT),
		    0);
		sched_yield();
	}
}

/* A sleeper and many rings. The first ring, or all but the last one, arrive
 * while it falls asleep: only the last ring wakes it up. */
static int
sleep_through(unsigned int before, unsigned int more)
{
	struct table *t = table_new();
	struct doorbell *b = &t->bells[0];
	unsigned int rings = doorbell_rings(b);
	pid_t sleeper;
	int status;

	for (unsigned int i = 0; i < before; i++)
		doorbell_ring(b);
	sleeper = fork();
	if (sleeper == 0) {
		int heard = doorbell_sleep_many(b, rings, more);

		_exit(heard && doorbell_rings(b) - rings < more ? 2 : !heard);
	}
	if (before < more)
		await_sleeper(b, sleeper);
	for (unsigned int i = before; i < more; i++)
		doorbell_ring(b);
	assert_int_equal(waitpid(sleeper, &status, 0), sleeper);
	assert_int_equal(atomic_load(&b->sleepers), 0);
	assert_int_equal(atomic_load(&b->many), 0);
	munmap(t, sizeof(*t));
	return WEXITSTATUS(status);
}

static void
test_through_many(void **state)
{
	int missed = 0;

	(void)state;
	for (int i = 0; i < 50; i++) {
		int first = sleep_through(0, 3), last = sleep_through(2, 3);

		assert_true(first < 2 && last < 2);
		missed += first + last;
		assert_int_equal(sleep_through(3, 3), 0);
	}
	assert_true(missed < 100);
}

/* After one in vain its bell is as before. */
static void
test_one_after_many(void **state)
{
	struct table *t = table_new();
	struct doorbell *b = &t->bells[0];
	pid_t sleeper;
	int status, missed = 0;

	(void)state;
	for (int i = 0; i < 10; i++) {
		unsigned int rings = doorbell_rings(b);

		assert_false(doorbell_sleep_many(b, rings, 1000));
		sleeper = fork();
		if (sleeper == 0)
			_exit(!doorbell_sleep(b, rings));
		await_sleeper(b, sleeper);
		doorbell_ring(b);
		assert_int_equal(waitpid(sleeper, &status, 0), sleeper);
		missed += WEXITSTATUS(status);
	}
	assert_true(missed < 10);
	munmap(t, sizeof(*t));
}

/* A ring between the check and the sleep; and a ring that never arrives. */
static void
test_no_sleep_and_no_end(void **state)
{
	struct table *t = table_new();
	unsigned int rings = doorbell_rings(&t->bells[0]);

	(void)state;
	doorbell_ring(&t->bells[0]);
	assert_int_equal(doorbell_rings(&t->bells[0]), rings + 1);
	assert_true(doorbell_sleep(&t->bells[0], rings));
	assert_false(doorbell_sleep(&t->bells[0], rings + 1));
	munmap(t, sizeof(*t));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_through_many),
		cmocka_unit_test(test_one_after_many),
		cmocka_unit_test(test_no_sleep_and_no_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
