/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accept_report.h - the report of an acceptance: what was measured, and what
 * follows from it. It is one JSON object. Its results can be computed from its
 * other members and the records of its runs at any time.
 */
#ifndef CTL_ACCEPT_ACCEPT_REPORT_H
#define CTL_ACCEPT_ACCEPT_REPORT_H

#include <jansson.h>

#include "common/conf.h"
#include "common/err.h"
#include "ctl/accept/evidence.h"

#define ACCEPT_PROBABILITY 0.95 /* of finding a part at accept.found */

/* Return a report without runs: {kind version software promise nodes away
 * excluded runs}. nodes: [{node leaf mtu}] of those that are measured; mtu can
 * be missing. excluded: [{subject what text}], nodes and leaves with which MPI
 * cannot exchange messages, as their verdicts say; they fail. The caller
 * decrefs it. */
json_t *accept_report_new(const char *promise_text, const struct conf *promise,
    const json_t *nodes, const json_t *away, const json_t *excluded);
/* Check a report that was read from a file, and parse its promise. Return 0 and
 * the promise, which the caller frees with conf_free; or -errno with err. */
int accept_report_check(const json_t *report, struct conf **ret_promise,
    struct err *err);
/* Return the evidence of the report's runs, judged. records: an array for each
 * run. The caller frees it with evidence_free. */
struct evidence *accept_report_evidence(const json_t *report,
    const struct conf *promise, const json_t *records);
/* Set the members {efficiency results detects kpis not_covered summary} of a
 * report. */
void accept_report_judge(json_t *report, const struct conf *promise,
    const struct evidence *e);
/* Return the report as one HTML file, which refers to no other file. The caller
 * frees it. */
char *accept_report_html(const json_t *report);

#endif
