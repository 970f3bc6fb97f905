/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arguments.c - command line of coalmined.
 */
#include "daemon/arguments.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/log.h"

static void
arguments_usage(FILE *to)
{
	fprintf(to,
	    "usage: coalmined [--config FILE] [-o SECTION.KEY=VALUE]...\n"
	    "                 [--check-config | --print-config | "
	    "--restore BACKUP |\n"
	    "                 --copy FROM TO | --recover DAMAGED NEW]\n"
	    "                 [--foreground] [--version]\n");
}

void
arguments_read(int argc, char **argv, struct arguments *ret)
{
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "option", required_argument, NULL, 'o' },
		{ "check-config", no_argument, NULL, 'n' },
		{ "print-config", no_argument, NULL, 'p' },
		{ "restore", required_argument, NULL, 'r' },
		{ "copy", no_argument, NULL, 'C' },
		{ "recover", no_argument, NULL, 'R' },
		{ "takeover", no_argument, NULL, 't' },
		{ "foreground", no_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while (
	    (c = getopt_long(argc, argv, "c:o:npr:tfhV", options, NULL)) != -1)
		switch (c) {
		case 'c':
			ret->config = optarg;
			break;
		case 'o':
			if (ret->set_count == ARGUMENTS_SETS)
				fatalx("-o is given more than %d times",
				    ARGUMENTS_SETS);
			ret->sets[ret->set_count++] = optarg;
			break;
		case 'n':
			ret->act = ACT_CHECK;
			break;
		case 'p':
			ret->act = ACT_PRINT;
			break;
		case 'r':
			ret->act = ACT_RESTORE;
			ret->backup = optarg;
			break;
		case 't':
			fatalx("--takeover was removed: the store's file is "
			       "not copied to a second machine any more; use "
			       "PostgreSQL with standby collectors (store.url, "
			       "store.lease)");
		case 'C':
			ret->act = ACT_COPY;
			break;
		case 'R':
			ret->act = ACT_RECOVER;
			break;
		case 'f':
			break; /* the program ends afterwards */
		case 'h':
			arguments_usage(stdout);
			exit(0);
		case 'V':
			printf("coalmined " COALMINE_VERSION "\n");
			exit(0);
		default:
			arguments_usage(stderr);
			exit(EXIT_CONFIG);
		}
	ret->ends = argv + optind;
	if (argc - optind !=
	    (ret->act == ACT_COPY || ret->act == ACT_RECOVER ? 2 : 0)) {
		arguments_usage(stderr);
		exit(EXIT_CONFIG);
	}
}
