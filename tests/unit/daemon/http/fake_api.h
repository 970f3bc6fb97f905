/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FAKE_API_H
#define TESTS_FAKE_API_H

#include <jansson.h>

#include "daemon/api/orders.h"
#include "daemon/api/forecast.h"
#include "daemon/diags/diags.h"
#include "daemon/series/series.h"
#include "daemon/api/api.h"

struct fake {
	int nodes;
	const char *first_node; /* name of the first one, or NULL */
	json_t *runs;           /* borrowed, or NULL */
	json_t *diags;          /* the reply of diags */
	json_t *verdicts;       /* the reply of verdicts */
	struct series *series;  /* NULL: none yet */
	uint64_t since_unix_ns; /* of the states; 0: an hour ago */
	uint64_t make_ns;       /* cost of a list of nodes, in made_ns */
	uint64_t made_ns;
	int scored; /* the node that is far from its peers; 0: none has a score
		     */
	char last_by[160];
	int stopped;
	int enabled;
	int jobs;            /* the API has jobs */
	json_t *told;        /* events, or NULL */
	const char *cluster; /* NULL: it has no name */
	struct objectives_view objectives[2];
	size_t objective_count;
};
extern struct fake fake;

#endif
