/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serial.c - coalmine-probe for a machine without MPI: the verbs that need
 * none.
 */
#include <stdio.h>
#include <string.h>

#include "probes/verbs/verbs.h"

static const struct {
	const char *name;
	int (*main)(int argc, char **argv);
} verbs[] = {
	{ "plan", plan_main },
	{ "check", check_main },
	{ "predict", predict_main },
	{ "expect", expect_main },
};

int
main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(verbs) / sizeof(verbs[0]);
	     i++)
		if (strcmp(argv[1], verbs[i].name) == 0)
			return verbs[i].main(argc - 1, argv + 1);
	fprintf(stderr,
	    "usage: coalmine-probe plan|check|predict PROBE|CAMPAIGN ...\nThis "
	    "engine has no MPI: to run probes, install package "
	    "coalmine-probe-openmpi or coalmine-probe-mpich, or build with an "
	    "MPI\n");
	return VERBS_USAGE;
}
