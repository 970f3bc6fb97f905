/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb.h - a verb is a row; the rows feed the parser, the help, the completion
 * and the manual page.
 */
#ifndef CTL_LIB_VERB_H
#define CTL_LIB_VERB_H

#include "ctl/lib/ctl.h"

struct verb {
	const char *noun;
	const char *verb; /* NULL: the noun stands alone */
	const char *args; /* for people: "RUN", "[NODES]" */
	int args_min, args_max;
	const char *options;   /* names of its options, blanks between */
	const char *completes; /* its arguments: nodes, campaigns, runs, file or
				  "" */
	const char *text;      /* one sentence */
	const char *more;      /* further sentences for the manual, or NULL */
	int (*run)(struct ctl *c);
};

#endif
