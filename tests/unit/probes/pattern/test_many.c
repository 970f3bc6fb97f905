/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 2,048 ranks of an all-gather over four levels are proven in 10 s of one core
 * and 2 GiB. Processor time, since other tests may share the machine.
 */
#include "probes/plan/check.h"

#include <sys/resource.h>
#include <time.h>

#include "tests/unit/probes/plan/cases.h"

static void
test_many_ranks(void **state)
{
	struct rusage ru;
	struct plan *p =
	    case_proven("collective name=allgather hierarchy=4,8,8,8", 2048);

	(void)state;
	/* every rank gets the blocks of all others, each once */
	assert_int_equal(p->transfers_count, 2048 * 2047);
	assert_int_equal(p->steps, 4);
	plan_free(p);
	assert_int_equal(getrusage(RUSAGE_SELF, &ru), 0);
	printf("%.1f s, %ld MiB\n", (double)clock() / CLOCKS_PER_SEC,
	    ru.ru_maxrss / 1024);
	assert_true(clock() < 10 * CLOCKS_PER_SEC);
	assert_true(ru.ru_maxrss < 2L * 1024 * 1024);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
