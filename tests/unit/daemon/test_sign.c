/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/clk.h"
#include "daemon/once.c"
#include "daemon/sign.c"

#define S CLK_NS_PER_S

static struct sign
sign(enum sign_weight weight, uint64_t onset_ns)
{
	struct sign s = { .weight = weight, .onset_ns = onset_ns };

	return s;
}

static enum sign_weight
chosen(const struct sign *signs, size_t count)
{
	return sign_choose(signs, count, NULL)->weight;
}

static void
test_choose(void **state)
{
	/* A rank dies, the launcher reports it four seconds later. */
	struct sign rank[] = { sign(SIGN_RANK, 10 * S),
		sign(SIGN_LAUNCHER, 14 * S) };
	/* Its peers find out and end themselves, and their news is first. */
	struct sign peers[] = { sign(SIGN_EXITED, 10 * S),
		sign(SIGN_RANK, 10 * S + S / 5),
		sign(SIGN_EXITED, 10 * S + S / 10) };
	/* A node is cut: silent since 10, its peers' ranks die at 21. */
	struct sign cut[] = { sign(SIGN_RANK, 21 * S),
		sign(SIGN_LAUNCHER, 22 * S), sign(SIGN_AGENT, 10 * S) };
	/* The launcher is killed, ranks follow at once. */
	struct sign killed[] = { sign(SIGN_KILLED, 10 * S),
		sign(SIGN_RANK, 10 * S + S / 2) };
	/* A rank dies on a machine so busy that an agent is late after it. */
	struct sign busy[] = { sign(SIGN_RANK, 10 * S),
		sign(SIGN_AGENT, 13 * S) };
	/* An agent is killed, ranks of other nodes follow within a second. */
	struct sign agent[] = { sign(SIGN_RANK, 10 * S + S / 2),
		sign(SIGN_AGENT, 10 * S), sign(SIGN_DAEMON, 10 * S) };

	(void)state;
	assert_null(sign_choose(NULL, 0, NULL));
	assert_int_equal(chosen(rank, 2), SIGN_RANK);
	assert_int_equal(chosen(peers, 3), SIGN_RANK);
	assert_int_equal(chosen(cut, 3), SIGN_AGENT);
	assert_int_equal(chosen(killed, 2), SIGN_KILLED);
	assert_int_equal(chosen(busy, 2), SIGN_RANK);
	assert_int_equal(chosen(agent, 3), SIGN_AGENT);
}

/* A rank dies, its launcher kills the others, and their news is here first. */
static void
test_named(void **state)
{
	struct sign s[] = { sign(SIGN_RANK, 10 * S), sign(SIGN_RANK, 11 * S),
		sign(SIGN_LAUNCHER, 11 * S) };

	(void)state;
	s[0].rank = 2;
	s[0].pid = 77;
	strcpy(s[0].node, "n3");
	s[1].rank = 4;
	s[1].pid = 7;
	strcpy(s[1].node, "n5");
	assert_ptr_equal(sign_choose(s, 3, NULL), &s[0]);
	assert_ptr_equal(sign_choose(s, 3, "killed\n"), &s[0]);
	assert_ptr_equal(sign_choose(s, 3, "=   PID 7 RUNNING AT n5\n"), &s[1]);
	assert_ptr_equal(sign_choose(s, 3, "=   PID 7 RUNNING AT n55\n"),
	    &s[0]);
	assert_ptr_equal(sign_choose(s, 3, "=   PID 7 RUNNING AT n3\n"), &s[0]);
	assert_ptr_equal(sign_choose(s, 3,
			     "process rank 4 with PID 0 on node n5"),
	    &s[1]);
	assert_ptr_equal(sign_choose(s, 3,
			     "process rank 44 with PID 0 on node n5"),
	    &s[0]);
}

static void
test_stderr(void **state)
{
	static const char tail[] =
	    "[n1:17] plm:rsh: Warning: setpgid(9,9) failed in parent\n"
	    "-----------------------------------------------------\n"
	    "mpirun noticed that process rank 13 with PID 0 on node n4\n"
	    "exited on signal 9 (Killed).\n"
	    "-----------------------------------------------------\n";
	char text[160], small[12];

	(void)state;
	sign_stderr(tail, text, sizeof(text));
	assert_string_equal(text,
	    "mpirun noticed that process rank 13 with "
	    "PID 0 on node n4 exited on signal 9 "
	    "(Killed).");
	assert_int_equal(sign_signal(tail, 13), 9);
	assert_int_equal(sign_signal(tail, 1), 0);
	sign_stderr("", text, sizeof(text));
	assert_string_equal(text, "");
	sign_stderr("a line\x1b[31m with\tcontrol\n", text, sizeof(text));
	assert_string_equal(text, "a line [31m with control");
	sign_stderr("much too long for it\n", small, sizeof(small));
	assert_string_equal(small, "");
}

static void
test_once(void **state)
{
	static struct once o;
	char who[32];
	uint64_t hidden = 7;
	int told = 0;

	(void)state;
	assert_true(once_tell(&o, "a", "bad", S, &hidden));
	assert_int_equal(hidden, 0);
	assert_false(once_tell(&o, "a", "bad", 2 * S, &hidden));
	assert_true(once_tell(&o, "a", "worse", 2 * S, &hidden));
	assert_int_equal(hidden, 1);
	assert_true(once_tell(&o, "b", "bad", 2 * S, &hidden));
	assert_true(once_tell(&o, "a", "bad", S + ONCE_AGAIN_NS, &hidden));
	/* A scan from everywhere. */
	for (int i = 0; i < 100000; i++) {
		snprintf(who, sizeof(who), "10.0.%d.%d", i / 256, i % 256);
		told += once_tell(&o, who, "bad", 2 * ONCE_AGAIN_NS, &hidden);
	}
	assert_int_equal(told, ONCE_LINES_MINUTE);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choose),
		cmocka_unit_test(test_named),
		cmocka_unit_test(test_stderr),
		cmocka_unit_test(test_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
