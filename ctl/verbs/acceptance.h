/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acceptance.h - one acceptance: the nodes that it measures, its runs, and its
 * report. Functions that return int print the error and return an exit code, or
 * 0.
 */
#ifndef CTL_VERBS_ACCEPTANCE_H
#define CTL_VERBS_ACCEPTANCE_H

#include <jansson.h>

#include "ctl/accept/accept_report.h"
#include "ctl/lib/ctl.h"
#include "schema/window.h"

/* Probability with which the planned rounds find a part at accept.found. */
#define ACCEPTANCE_FOUND_WITH 0.95

/* Set c, and for acceptance_load the promise, the report and an empty array of
 * records; the rest is 0. Clear it in the end. */
struct acceptance {
	struct ctl *c;
	char *text; /* the promise file */
	struct conf *promise;
	json_t *report, *records; /* of each run */
	struct evidence *e;
	size_t rounds;
	struct window_list window;
	int postponed; /* how often the next run was */
	int in_vain;   /* runs in succession that measured nothing */
};

void acceptance_clear(struct acceptance *a);
/* Read a JSON file into *ret, which the caller decrefs. */
int acceptance_read(const char *path, json_t **ret);
/* Read the promise file, the first argument. Continue the report of --out, or
 * begin a report of the nodes that can measure. */
int acceptance_open(struct acceptance *a);
/* Fetch the records of the runs in the report from the collector, and judge
 * them. Records that have changed are an error. */
int acceptance_load(struct acceptance *a);
/* Make the runs that the report lacks, in the windows. The report is written
 * after each run. */
int acceptance_measure(struct acceptance *a);
/* Write the report to --out, if given. */
int acceptance_save(const struct acceptance *a);

#endif
