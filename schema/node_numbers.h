/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_numbers.h - numbers that a node's heartbeats carry: one row each, which
 * the collector keeps, the API shows and /metrics exports. A number in member
 * host of heartbeats needs no other change of the collector.
 */
#ifndef SCHEMA_NODE_NUMBERS_H
#define SCHEMA_NODE_NUMBERS_H

#define NODE_NUMBERS 2

struct node_number {
	const char *name; /* of the member: of the heartbeat, or of its host */
	int is_count;     /* a whole number, 0 where it is missing */
	/* In /metrics, of nodes that are not lost; NULL: not there. */
	const char *family, *help;
};
extern const struct node_number node_numbers[NODE_NUMBERS];

#endif
