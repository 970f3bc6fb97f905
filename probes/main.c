/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - coalmine-probe, the engine: an MPI program without state between
 * runs, started by the agents or by hand under any launcher.
 */
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/str.h"
#include "probes/verbs/verbs.h"

static const char usage[] =
    "usage: coalmine-probe run CAMPAIGN [--json FILE] [--run ID]\n"
    "                      [-o section.key=value]... [--quiet]\n"
    "       coalmine-probe run|measure PROBE [option=value]... [--json FILE]\n"
    "       coalmine-probe plan PROBE|CAMPAIGN [option=value]... "
    "[--ranks N]\n"
    "                      [--format list|matrix|json|svg]\n"
    "       coalmine-probe check PROBE|CAMPAIGN [option=value]... "
    "[--ranks N]\n"
    "       coalmine-probe predict PROBE|CAMPAIGN [option=value]... "
    "--machine NAME\n"
    "                      [-o section.key=value]... [--ranks N] "
    "[--format table|json]\n"
    "       coalmine-probe expect FILE\n"
    "       coalmine-probe scan [--option value]...\n"
    "       coalmine-probe topo [--root FOLDER]\n"
    "       coalmine-probe list\n"
    "       coalmine-probe --version | --help\n";

int
verbs_wrong_usage(const char *what)
{
	if (verbs_first_rank()) {
		log_warnx("%s", what);
		fputs(usage, stderr);
	}
	return VERBS_USAGE;
}

static int
main_verb_version(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	puts("coalmine-probe " COALMINE_VERSION);
	return 0;
}

static int
main_verb_help(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	fputs(usage, stdout);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} verbs[] = {
	{ "run", run_main },
	{ "measure", run_main },
	{ "list", list_main },
	{ "topo", topo_main },
	{ "plan", plan_main },
	{ "check", check_main },
	{ "predict", predict_main },
	{ "expect", expect_main },
	{ "scan", scan_main },
	{ "--version", main_verb_version },
	{ "--help", main_verb_help },
	{ "help", main_verb_help },
};

int
main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');
	struct err err;

	log_init("coalmine-probe", LOG_LEVEL_INFO);
	if (strcmp(name == NULL ? argv[0] : name + 1, "coalmine-scan") == 0)
		return scan_main(argc, argv);
	if (argc < 2)
		return verbs_wrong_usage(
		    "missing verb: expected one of those in --help");
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
		if (strcmp(argv[1], verbs[i].name) == 0)
			return verbs[i].run(argc - 1, argv + 1);
	err_say(&err, "unknown verb %.40s", argv[1]);
	return verbs_wrong_usage(err.text);
}
