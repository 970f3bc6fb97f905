/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_numbers.h - the numbers that the heartbeats of a node carry, one row
 * each. The collector keeps them, the API shows them and /metrics exports them.
 * A new number in member "host" of heartbeats needs a row here and no other
 * change of the collector.
 */
#ifndef SCHEMA_NODE_NUMBERS_H
#define SCHEMA_NODE_NUMBERS_H

#define NODE_NUMBERS 2

/* A number. */
struct node_number {
	/* Name of the member, in the heartbeat or in its member "host". */
	const char *name;
	/* 1: an integer, taken as 0 if missing; 0: a real number, absent if
	 * missing. */
	int is_count;
	/* Name of the metric in /metrics, which exists for nodes that are not
	 * lost. NULL: the number is not exported. */
	const char *family;
	/* Help of the metric, and of the member in the manual. */
	const char *help;
};
extern const struct node_number node_numbers[NODE_NUMBERS];

#endif
