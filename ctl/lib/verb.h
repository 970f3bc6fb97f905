/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb.h - the table of verbs. The parser, the help, the completion and the
 * manual page use its rows.
 */
#ifndef CTL_LIB_VERB_H
#define CTL_LIB_VERB_H

#include "ctl/lib/ctl.h"

/* A verb. */
struct verb {
	const char *noun;
	const char *verb; /* NULL: the noun is used without verb */
	const char *args; /* for the help: "RUN", "[NODES]" */
	int args_min, args_max;
	const char *options; /* names of its options, separated by blanks */
	/* Kind of the verb's arguments, for completion: nodes, campaigns, runs,
	 * file or "". */
	const char *completes;
	const char *text; /* a sentence for the help */
	const char *more; /* further sentences for the manual, or NULL */
	/* Carries out the verb; returns an exit code. */
	int (*run)(struct ctl *c);
};

/* The verbs of a noun, or of several nouns of one subject. */
struct verb_table {
	const struct verb *verbs; /* ends with a row without noun */
	/* For the help, above the first table of a group; NULL: the group of
	 * the table before. */
	const char *group;
};

#endif
