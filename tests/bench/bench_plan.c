/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_plan [EVERY] - prove all collectives in every form and shape, or one
 * case in EVERY of them, and print the cost of plans of many ranks.
 */
#include <sys/resource.h>
#include <time.h>

#include "common/err.h"
#include "tests/unit/probes/plan/sweep.h"

static double
cpu_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* The cases are in the order of their size, because peak memory never falls. */
static int
prove(const char *text)
{
	struct err err = { 0 };
	struct check_fault fault;
	struct rusage ru;
	double start_s = cpu_s(), built_s;
	struct plan *p = case_plan(text, 0, &err);
	size_t transfers;

	if (p == NULL) {
		printf("%s: %s\n", text, err.text);
		return 1;
	}
	built_s = cpu_s();
	if (check_plan(p, &fault) < 0) {
		printf("%s: %s\n", text, fault.text);
		plan_free(p);
		return 1;
	}
	transfers = p->transfers_count;
	plan_free(p);
	getrusage(RUSAGE_SELF, &ru);
	printf("| %s | %zu | %.2f | %.2f | %ld |\n", text + 11, transfers,
	    built_s - start_s, cpu_s() - built_s, ru.ru_maxrss / 1024);
	fflush(stdout);
	return 0;
}

static int
sweep(uint64_t every)
{
	uint64_t count = sweep_count(), done = 0;
	double start_s = cpu_s();

	for (uint64_t x = 0; x < count; x += every, done++) {
		char text[300];
		struct err err = { 0 };
		struct check_fault fault;
		struct plan *p;

		sweep_case(x, text, sizeof(text));
		p = case_plan(text, 0, &err);
		if (p == NULL || check_plan(p, &fault) < 0) {
			printf("case %llu: %s: %s\n", (unsigned long long)x,
			    text, p == NULL ? err.text : fault.text);
			return 1;
		}
		plan_free(p);
	}
	printf("Proven: %llu of %llu collectives in all forms, factorisations "
	       "of 8, 12, 16 and 24 ranks, stripes, rings, depths, counts and "
	       "roots, lean or not; %.0f s of one core.\n",
	    (unsigned long long)done, (unsigned long long)count,
	    cpu_s() - start_s);
	return 0;
}

int
main(int argc, char **argv)
{
	static const char *const large[] = {
		"collective name=allgather hierarchy=4,4,4,4",
		"collective name=allgather hierarchy=4,4,8,8",
		"collective name=allgather hierarchy=4,8,8,8",
		"collective name=allreduce hierarchy=4,4,8,8",
		"collective name=allreduce hierarchy=4,4,8,8 stripe=8 "
		"type=float",
	};
	uint64_t every = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	int bad = 0;

	printf("| plan | transfers | build, CPU s | check, CPU s | peak MiB "
	       "|\n|---|---|---|---|---|\n");
	for (size_t i = 0; i < ARRAY_LEN(large); i++)
		bad |= prove(large[i]);
	printf("\n");
	return bad | sweep(every > 0 ? every : 1);
}
