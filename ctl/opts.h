/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opts.h - all options of all verbs, as rows.
 */
#ifndef CTL_OPTS_H
#define CTL_OPTS_H

#include <stddef.h>

#include "common/err.h"

enum opt {
	/* of every verb */
	OPT_URL,
	OPT_CA,
	OPT_CERT,
	OPT_KEY,
	OPT_HELP,
	OPT_DUMP,
	OPT_COMPLETE,
	/* of those that name it */
	OPT_JSON,
	OPT_CSV,
	OPT_TABLE,
	OPT_ASCII,
	OPT_ALL,
	OPT_CAMPAIGN,
	OPT_DAYS,
	OPT_EVERY,
	OPT_FAIL_ON,
	OPT_FILE,
	OPT_FOLD,
	OPT_FOLLOW,
	OPT_HOURS,
	OPT_HTML,
	OPT_KIND,
	OPT_LIMIT,
	OPT_LOCAL,
	OPT_MARGIN,
	OPT_OVERRIDE,
	OPT_RAW,
	OPT_ROLE,
	OPT_SAN,
	OPT_STATE,
	OPT_SVG,
	OPT_WAIT,
	OPT_MAX
};

struct opt_row {
	const char *name;
	char letter;     /* 0: none */
	const char *arg; /* NULL: a switch */
	int global;      /* 1: every verb takes it; 2: so, and not for people */
	const char *text;
};
extern const struct opt_row opts_rows[OPT_MAX];

struct opts {
	struct opt_values {
		char **values; /* in the order given; NULL for a switch */
		size_t count;
	} of[OPT_MAX];
};

/* Splits argv into options and the rest, which is moved behind: *ret_first is
 * its index. -EINVAL and why for an option that is none. */
int opts_parse(struct opts *o, int argc, char **argv, int *ret_first,
    struct err *err);
void opts_clear(struct opts *o);
int opts_given(const struct opts *o, enum opt id);
/* The last value given, or NULL. */
const char *opts_value(const struct opts *o, enum opt id);
/* 1 when list, names with blanks between, holds the option's name. */
int opts_listed(const char *list, enum opt id);

#endif
