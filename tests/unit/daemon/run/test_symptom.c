/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/clk.h"
#include "daemon/agents/log_limit.h"
#include "daemon/run/symptom.h"

#define S CLK_NS_PER_S

static struct symptom
sign(enum symptom_weight weight, uint64_t onset_ns)
{
	struct symptom s = { .weight = weight, .onset_ns = onset_ns };

	return s;
}

static enum symptom_weight
chosen(const struct symptom *signs, size_t count)
{
	return symptom_choose(signs, count)->weight;
}

static void
test_choose(void **state)
{
	/* A rank dies, the launcher reports it four seconds later. */
	struct symptom rank[] = { sign(SYMPTOM_RANK, 10 * S),
		sign(SYMPTOM_LAUNCHER, 14 * S) };
	/* Its peers find out and end themselves, and their news is first. */
	struct symptom peers[] = { sign(SYMPTOM_EXITED, 10 * S),
		sign(SYMPTOM_RANK, 10 * S + S / 5),
		sign(SYMPTOM_EXITED, 10 * S + S / 10) };
	/* A node is cut: silent since 10, its peers' ranks die at 21. */
	struct symptom cut[] = { sign(SYMPTOM_RANK, 21 * S),
		sign(SYMPTOM_LAUNCHER, 22 * S), sign(SYMPTOM_AGENT, 10 * S) };
	/* The launcher is killed, ranks follow at once. */
	struct symptom killed[] = { sign(SYMPTOM_KILLED, 10 * S),
		sign(SYMPTOM_RANK, 10 * S + S / 2) };
	/* A rank dies on a machine so busy that an agent is late after it. */
	struct symptom busy[] = { sign(SYMPTOM_RANK, 10 * S),
		sign(SYMPTOM_AGENT, 13 * S) };
	/* An agent is killed, ranks of other nodes follow within a second. */
	struct symptom agent[] = { sign(SYMPTOM_RANK, 10 * S + S / 2),
		sign(SYMPTOM_AGENT, 10 * S), sign(SYMPTOM_EXITED, 10 * S) };
	/* Ranks wait for the ranks of a node that is disconnected, or that
	 * died; they end themselves. */
	struct symptom lost[] = { sign(SYMPTOM_STUCK, 10 * S),
		sign(SYMPTOM_AGENT, 11 * S), sign(SYMPTOM_EXITED, 10 * S) };
	struct symptom dead[] = { sign(SYMPTOM_STUCK, 10 * S),
		sign(SYMPTOM_RANK, 10 * S) };

	(void)state;
	assert_null(symptom_choose(NULL, 0));
	assert_int_equal(chosen(lost, 3), SYMPTOM_AGENT);
	lost[1].onset_ns = 13 * S;
	assert_int_equal(chosen(lost, 3), SYMPTOM_STUCK);
	assert_int_equal(chosen(dead, 2), SYMPTOM_RANK);
	assert_int_equal(chosen(rank, 2), SYMPTOM_RANK);
	assert_int_equal(chosen(peers, 3), SYMPTOM_RANK);
	assert_int_equal(chosen(cut, 3), SYMPTOM_AGENT);
	assert_int_equal(chosen(killed, 2), SYMPTOM_KILLED);
	assert_int_equal(chosen(busy, 2), SYMPTOM_RANK);
	assert_int_equal(chosen(agent, 3), SYMPTOM_AGENT);
}

static void
test_stderr(void **state)
{
	static const char tail[] =
	    "-----------------------------------------------------\n"
	    "coalmine-probe: eth7: no such\n"
	    "device.\n"
	    "-----------------------------------------------------\n";
	char text[160], small[12];

	(void)state;
	symptom_stderr(tail, text, sizeof(text));
	assert_string_equal(text, "coalmine-probe: eth7: no such device.");
	symptom_stderr("", text, sizeof(text));
	assert_string_equal(text, "");
	symptom_stderr("a line\x1b[31m with\tcontrol\n", text, sizeof(text));
	assert_string_equal(text, "a line [31m with control");
	symptom_stderr("much too long for it\n", small, sizeof(small));
	assert_string_equal(small, "");
}

static void
test_once(void **state)
{
	static struct log_limit o;
	char who[32];
	uint64_t hidden = 7;
	int told = 0;

	(void)state;
	assert_true(log_limit_tell(&o, "a", "bad", S, &hidden));
	assert_int_equal(hidden, 0);
	assert_false(log_limit_tell(&o, "a", "bad", 2 * S, &hidden));
	assert_true(log_limit_tell(&o, "a", "worse", 2 * S, &hidden));
	assert_int_equal(hidden, 1);
	assert_true(log_limit_tell(&o, "b", "bad", 2 * S, &hidden));
	assert_true(
	    log_limit_tell(&o, "a", "bad", S + LOG_LIMIT_AGAIN_NS, &hidden));
	/* A scan from everywhere. */
	for (int i = 0; i < 100000; i++) {
		snprintf(who, sizeof(who), "10.0.%d.%d", i / 256, i % 256);
		told += log_limit_tell(&o, who, "bad", 2 * LOG_LIMIT_AGAIN_NS,
		    &hidden);
	}
	assert_int_equal(told, LOG_LIMIT_LINES_MINUTE);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choose),
		cmocka_unit_test(test_stderr),
		cmocka_unit_test(test_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
