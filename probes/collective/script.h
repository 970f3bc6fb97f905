/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script.h - compositions written as text, one primitive a line:
 *
 *   multicast send[i] of 0 to recv of all
 *   for i in all: reduce send[i] of all to recv of i
 *   fence
 *
 * coalmine-plan(7) has the grammar. A reader only: what a primitive means, and
 * whether its places exist, is for whoever takes it (compose_text.c).
 */
#ifndef PROBES_COLLECTIVE_SCRIPT_H
#define PROBES_COLLECTIVE_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

enum script_kind { SCRIPT_MULTICAST, SCRIPT_REDUCE, SCRIPT_FENCE };

struct script_place {
	char buffer[32];
	int64_t block;
};

/* Root and leaves are ranks that exist; leaves ascend and are distinct. */
struct script_prim {
	enum script_kind kind;
	int line; /* statement, from 1 */
	uint32_t root;
	struct script_place from, to;
	uint64_t blocks;
	const uint32_t *leaves;
	uint32_t leaves_count;
};

struct script_ask {
	const char *text; /* statements end with a line or a '|' */
	uint32_t ranks, root;
	/* Every primitive in order. < 0 and why, without a place, ends it. */
	int (*take)(void *arg, const struct script_prim *prim, struct err *err);
	void *arg;
};

/* 0, or -EINVAL and why: "statement 2, at "of": ...". */
int script_run(const struct script_ask *ask, struct err *err);

#endif
