/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_predict - the cost of predictions by ranks, channels and shape. Each
 * case runs in a separate process, so that its peak memory is separate too.
 */
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "common/err.h"
#include "tests/unit/probes/plan/cases.h"

#include "probes/predict/predict.h"

static double
cpu_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int
predict(const char *folder, const char *machine, const char *text)
{
	char *path = xasprintf("%s/%s.conf", folder, machine);
	struct err err = { 0 };
	double start_s = cpu_s(), built_s;
	struct plan *p = case_plan(text, 0, &err);
	struct machine *m = NULL;
	struct predict pr;
	struct rusage ru;

	built_s = cpu_s();
	if (p == NULL || machine_load(path, NULL, 0, &m, &err) < 0 ||
	    predict_plan(p, m, NULL, &pr, &err) < 0) {
		printf("%s: %s\n", text, err.text);
		return 1;
	}
	getrusage(RUSAGE_SELF, &ru);
	printf("| %s | %s | %u | %zu | %llu | %.2f | %.2f | %ld | %.4g |\n",
	    text + 11, machine, p->ranks, p->transfers_count,
	    (unsigned long long)pr.flows, built_s - start_s, cpu_s() - built_s,
	    ru.ru_maxrss / 1024, (double)pr.total_ps / 1e9);
	fflush(stdout);
	free(path);
	return 0;
}

static int
apart(const char *folder, const char *machine, const char *text)
{
	pid_t pid = fork();
	int status = 1;

	if (pid == 0)
		_exit(predict(folder, machine, text));
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return 1;
	return status != 0;
}

int
main(int argc, char **argv)
{
	static const char *const cases[][2] = {
		{ "perlmutter", "collective name=allreduce hierarchy=4,4,4" },
		{ "perlmutter", "collective name=allreduce hierarchy=4,4,4,4" },
		{ "perlmutter", "collective name=allreduce hierarchy=4,4,8,4" },
		{ "perlmutter", "collective name=allreduce hierarchy=4,8,8,4" },
		{ "perlmutter", "collective name=allreduce hierarchy=8,8,8,4" },
		{ "perlmutter",
		    "collective name=allreduce hierarchy=4,8,8,4 depth=4" },
		{ "perlmutter",
		    "collective name=allreduce hierarchy=4,8,8,4 depth=16" },
		{ "frontier",
		    "collective name=allreduce hierarchy=4,4,8,8 depth=16 "
		    "count=1003" },
		{ "frontier",
		    "collective name=broadcast hierarchy=128,8 ring=128 "
		    "stripe=8 depth=32" },
		{ "perlmutter", "collective name=alltoall ranks=1024" },
	};
	int bad = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: bench_predict FOLDER\n");
		return 3;
	}
	printf("| plan | machine | ranks | transfers | flows | build, CPU s "
	       "| predict, CPU s | peak MiB | predicted ms |\n"
	       "|---|---|---|---|---|---|---|---|---|\n");
	fflush(stdout);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		bad |= apart(argv[1], cases[i][0], cases[i][1]);
	return bad;
}
