/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctl.h - what every verb gets and gives.
 *
 * A verb is a row; the rows feed the parser, the help, the completion and the
 * manual page. A verb's function returns an exit code (names.h) and has said
 * on stderr why, where it is not EXIT_CODE_OK.
 */
#ifndef CTL_CTL_H
#define CTL_CTL_H

#include <stdio.h>

#include "ctl/client.h"
#include "schema/names.h"

/* ---- options: all of all verbs, as rows ---- */

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
	OPT_SOFTWARE,
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

/* ---- verbs ---- */

struct ctl {
	struct opts opts;
	char **args; /* without noun and verb; ends with NULL */
	int args_count;
	struct client *client; /* opened by ctl_client */
};

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

/* Ends with a row without noun. */
extern const struct verb verbs_baseline[], verbs_campaign[], verbs_compare[],
    verbs_db[], verbs_check[], verbs_coverage[], verbs_diags[], verbs_events[],
    verbs_matrix[], verbs_node[], verbs_pki[], verbs_report[], verbs_run[],
    verbs_schedule[], verbs_stop[], verbs_top[], verbs_tuning[],
    verbs_verdict[], verbs_version[];
extern const struct verb *const verbs_all[]; /* ends with NULL */

/* The client of the collector that --url or the environment name. */
struct client *ctl_client(struct ctl *c);
/* Say on stderr what went wrong; EXIT_CODE_UNKNOWN. */
int ctl_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The client's last error, as the server wrote it; EXIT_CODE_UNKNOWN. */
int ctl_fail_client(struct ctl *c);
/* GET part, in which arg stands for "*": 0, or EXIT_CODE_UNKNOWN and it was
 * said. */
int ctl_get(struct ctl *c, const char *part, const char *arg, json_t **ret);
/* The same of part with parameters: name and value of each, and NULL. One
 * whose value is NULL is left out. */
int ctl_list(struct ctl *c, json_t **ret, const char *part, ...)
    __attribute__((sentinel));
/* POST to part, likewise; body may be NULL. */
int ctl_post(struct ctl *c, const char *part, const char *arg,
    const json_t *body, json_t **ret);

/* ---- help.c: what the tables of verbs and options say ---- */

/* Names of all nouns, or of one noun's verbs, with blanks; caller frees. */
char *help_names(const char *noun);
/* All verbs, or those of one noun with their options. */
void help_print(const char *noun, FILE *to);
/* what: "bash" the completion, "verbs" and "options" lists in mdoc. */
int help_dump(const char *what);
/* Names for the shell, one a line; silent when there is no answer. */
int help_complete(struct ctl *c, const char *kind);

#endif
