/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opts.h - the options of all verbs as rows, and their values.
 */
#ifndef CTL_LIB_OPTS_H
#define CTL_LIB_OPTS_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

enum opt {
	/* of every verb */
	OPT_URL,
	OPT_CA,
	OPT_CRL,
	OPT_CERT,
	OPT_KEY,
	OPT_CLUSTER,
	OPT_HELP,
	OPT_VERSION,
	OPT_DUMP,
	OPT_COMPLETE,
	/* of those that name it */
	OPT_JSON,
	OPT_CSV,
	OPT_ASCII,
	OPT_ALL,
	OPT_ANY,
	OPT_AT,
	OPT_BYTES,
	OPT_BY,
	OPT_CAMPAIGN,
	OPT_DAYS,
	OPT_DOWN,
	OPT_DRAIN,
	OPT_END,
	OPT_ENROLLED,
	OPT_EVERY,
	OPT_FAIL_ON,
	OPT_FILE,
	OPT_FOLD,
	OPT_FOLLOW,
	OPT_FOR,
	OPT_FORMAT,
	OPT_FROM,
	OPT_GBPS,
	OPT_HOURS,
	OPT_HTML,
	OPT_IDENTIFIABLE,
	OPT_JOB,
	OPT_KIND,
	OPT_LIMIT,
	OPT_LOCAL,
	OPT_MACHINE,
	OPT_MARGIN,
	OPT_NODE,
	OPT_NODES,
	OPT_OP,
	OPT_OUT,
	OPT_OVERRIDE,
	OPT_PLAN,
	OPT_RAILS,
	OPT_RANKS,
	OPT_RANKS_PER_NODE,
	OPT_RAW,
	OPT_REASON,
	OPT_REKEY,
	OPT_ROLE,
	OPT_SAN,
	OPT_SINCE,
	OPT_SKIP,
	OPT_SLOW,
	OPT_SOFTWARE,
	OPT_SORT,
	OPT_STATE,
	OPT_STRICT,
	OPT_USES,
	OPT_WAIT,
	OPT_WHERE,
	OPT_WITHIN,
	OPT_MAX
};

struct opt_row {
	const char *name;
	char letter;     /* 0: none */
	const char *arg; /* NULL: a switch */
	int global;      /* 1: every verb takes it; 2: so, and not for people */
	const char *text;
	const char *words;   /* the only values, "a|b|c"; NULL: any */
	int64_t least, most; /* of a number; most 0: any text */
};
extern const struct opt_row opts_rows[OPT_MAX];

struct opts {
	struct opt_values {
		char **values; /* in the order given; NULL for a switch */
		size_t count;
	} of[OPT_MAX];
};

/* Split argv into options and arguments, which are moved behind: *ret_first is
 * the index of the first argument. -EINVAL for an unknown option or an invalid
 * value. */
int opts_parse(struct opts *o, int argc, char **argv, int *ret_first,
    struct err *err);
void opts_clear(struct opts *o);
/* The option of "--name" or "-n"; OPT_MAX: none. */
enum opt opts_find(const char *word);
int opts_given(const struct opts *o, enum opt id);
/* The last value given, or NULL. */
const char *opts_value(const struct opts *o, enum opt id);
/* The same of one that is a number, or otherwise. */
int64_t opts_number(const struct opts *o, enum opt id, int64_t otherwise);
/* 1 when list, names with blanks between, holds the option's name. */
int opts_listed(const char *list, enum opt id);

#endif
