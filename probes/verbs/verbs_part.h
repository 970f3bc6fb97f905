/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs_part.h - what the verbs that take plans share.
 */
#ifndef PROBES_VERBS_VERBS_PART_H
#define PROBES_VERBS_VERBS_PART_H

#include "probes/pattern/pattern.h"
#include "probes/verbs/verbs.h"
#include "probes/plan/print.h"

struct request {
	struct pattern_site site;
	const struct print_row *format;
	char **words; /* PROBE option=value ..., or a campaign file */
	int count;
	int sweeps; /* with measure.vary and measure.sizes, as a run has them */
	void *arg;  /* of the verb */
};

/* One probe of a request. */
struct verbs_subject {
	const struct pattern *pt;
	const struct conf *c; /* its options */
	const struct plan *p;
};

/* What a verb does with one plan; an exit code. */
typedef int (
    *verbs_use_cb)(const struct request *rq, const struct verbs_subject *of);

/* Build each plan of the request and use it: the worst exit code. */
int verbs_use(const struct request *rq, verbs_use_cb use);
/* Says why on stderr; VERBS_USAGE. */
int verbs_complain(const char *why);
/* The value of --ranks; 0 or VERBS_USAGE. */
int verbs_ranks(const char *text, struct request *rq);

#endif
