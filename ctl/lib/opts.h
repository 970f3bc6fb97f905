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
	OPT_WINDOW,
	OPT_WITHIN,
	OPT_MAX
};

/* Limit of the name of a member in --where and --sort, with its NUL. */
#define OPTS_MEMBER_MAX 64

struct opt_row;
/* Check a value of an option. Return 0, or a negative errno; err then has a
 * sentence that names the option, or is unchanged. */
typedef int opt_check(const struct opt_row *row, const char *value,
    struct err *err);

/* An option. */
struct opt_row {
	const char *name; /* without the two dashes */
	char letter;      /* one-letter form; 0: none */
	/* Name of its value in the help; NULL: it has no value. */
	const char *arg;
	/* 1: every verb has it; 2: as 1, but it is not in the help. */
	int global;
	const char *text;  /* a sentence for the help */
	const char *words; /* the only values, "a|b|c"; NULL: any */
	/* Valid range of a number, of a duration in ns (opts_check_span), or
	 * of the bytes of a text (opts_check_text); most 0: no range. */
	int64_t least, most;
	opt_check *check;     /* NULL: of words, range, or not empty */
	const char *expected; /* the values that check accepts */
};
extern const struct opt_row opts_rows[OPT_MAX];

/* The values of all options. */
struct opts {
	struct opt_values {
		/* The values in the given order; NULL for an option without
		 * value. */
		char **values;
		size_t count;
	} of[OPT_MAX];
};

/* Return the row of an option, with the text and the values that it has with
 * this noun. noun can be NULL. */
struct opt_row opts_row(const char *noun, enum opt id);
/* Split argv into options and arguments. Arguments are moved to the end:
 * *ret_first is the index of the first one. Return 0, or -EINVAL with err for
 * an unknown option, or a missing or superfluous value. */
int opts_parse(struct opts *o, int argc, char **argv, int *ret_first,
    struct err *err);
/* Check the values of all options for a verb of this noun. Return 0, or -EINVAL
 * with err. */
int opts_check(const struct opts *o, const char *noun, struct err *err);
void opts_clear(struct opts *o);
/* Return the option "--name" or "-n"; OPT_MAX: unknown. */
enum opt opts_find(const char *word);
/* Return 1 if the option was given, 0 if not. */
int opts_given(const struct opts *o, enum opt id);
/* Return the last value of an option, or NULL. */
const char *opts_value(const struct opts *o, enum opt id);
/* Return the last value as a number, or otherwise if the option was not
 * given. */
int64_t opts_number(const struct opts *o, enum opt id, int64_t otherwise);
/* Return the last value as a duration, or otherwise if the option was not
 * given. */
uint64_t opts_span_ns(const struct opts *o, enum opt id, uint64_t otherwise);
/* Return 1 if list, names separated by blanks, contains the option's name; 0 if
 * not. */
int opts_listed(const char *list, enum opt id);

#endif
