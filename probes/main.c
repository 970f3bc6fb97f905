/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - coalmine-probe, the engine: an MPI program without state between
 * runs, started by the agents or by hand under any launcher.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/verbs/list.h"
#include "probes/pattern/pattern.h"
#include "probes/verbs/verbs.h"
#include "probes/verbs/run.h"
#include "probes/verbs/topo.h"

#define EXIT_USAGE 3

static const char usage[] =
    "usage: coalmine-probe run CAMPAIGN [--json FILE] [--run ID]\n"
    "                      [-o section.key=value]... [--quiet]\n"
    "       coalmine-probe plan PROBE|CAMPAIGN [option=value]... "
    "[--ranks N]\n"
    "                      [--format list|matrix|json|svg]\n"
    "       coalmine-probe check PROBE|CAMPAIGN [option=value]... "
    "[--ranks N]\n"
    "       coalmine-probe predict PROBE|CAMPAIGN [option=value]... "
    "--machine NAME\n"
    "                      [-o section.key=value]... [--ranks N] "
    "[--format table|json]\n"
    "       coalmine-probe topo [--root FOLDER]\n"
    "       coalmine-probe list\n"
    "       coalmine-probe --version | --help\n";

static int
wrong_usage(const char *what)
{
	if (verbs_first_rank()) {
		log_warnx("%s", what);
		fputs(usage, stderr);
	}
	return EXIT_USAGE;
}

static void
add_override(struct run_args *args, char *text)
{
	args->overrides = xreallocarray(args->overrides,
	    (size_t)args->override_count + 1, sizeof(*args->overrides));
	args->overrides[args->override_count++] = text;
}

static int
verb_run(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", required_argument, NULL, 'j' },
		{ "run", required_argument, NULL, 'r' },
		{ "quiet", no_argument, NULL, 'q' },
		{ NULL, 0, NULL, 0 },
	};
	struct run_args args = { 0 };
	int c, status;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		switch (c) {
		case 'j':
			args.json = optarg;
			break;
		case 'r':
			args.run = optarg;
			break;
		case 'q':
			args.quiet = 1;
			break;
		case 'o':
			add_override(&args, optarg);
			break;
		default:
			return wrong_usage("run: unknown option, or one "
					   "without its value");
		}
	}
	if (optind < argc && pattern_find(argv[optind]) != NULL) {
		args.words = argv + optind;
		args.words_count = argc - optind;
		if (args.override_count > 0)
			return wrong_usage("-o is for campaign files: write "
					   "option=value behind the probe");
	} else if (optind + 1 == argc) {
		args.campaign = argv[optind];
	} else {
		return wrong_usage("run: one campaign file is needed, or a "
				   "probe and its options");
	}
	args.steps = strcmp(argv[0], "measure") == 0;
	/* Records and tables would mix. */
	if (args.json != NULL && strcmp(args.json, "-") == 0)
		args.quiet = 1;
	status = run_campaign(&args, &argc, &argv);
	free(args.overrides);
	return status;
}

static int
verb_list(int argc, char **argv)
{
	(void)argv;
	if (argc != 1)
		return wrong_usage("list: takes no arguments");
	list_print(stdout);
	return 0;
}

static int
verb_version(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	puts("coalmine-probe " COALMINE_VERSION);
	return 0;
}

static int
verb_help(int argc, char **argv)
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
	{ "run", verb_run },
	{ "measure", verb_run },
	{ "list", verb_list },
	{ "topo", topo_main },
	{ "plan", plan_main },
	{ "check", check_main },
	{ "predict", predict_main },
	{ "--version", verb_version },
	{ "--help", verb_help },
};

int
main(int argc, char **argv)
{
	log_init("coalmine-probe", LOG_LEVEL_INFO);
	if (argc < 2)
		return wrong_usage("a verb is needed");
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
		if (strcmp(argv[1], verbs[i].name) == 0)
			return verbs[i].run(argc - 1, argv + 1);
	return wrong_usage("unknown verb");
}
