/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_numbers.c - the table of numbers of a node. Counts come first in the
 * API, as in this table.
 */
#include "schema/node_numbers.h"

#include <stddef.h>

const struct node_number node_numbers[NODE_NUMBERS] = {
	{ "spool_bytes", 1, "coalmine_agent_spool_bytes",
	    "Records that wait on the node for the collector." },
	{ "load", 0, NULL, "Load average of the node in the last minute." },
};
