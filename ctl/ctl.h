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

#include "ctl/client.h"
#include "ctl/opts.h"
#include "schema/names.h"

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
/* GET part/arg (arg may be NULL): 0, or EXIT_CODE_UNKNOWN and it was said. */
int ctl_get(struct ctl *c, const char *part, const char *arg, json_t **ret);

#endif
