/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script.h - compositions in text form.
 *
 *   multicast send[i] of 0 to recv of all
 *   for i in all: reduce send[i] of all to recv of i
 *   fence
 *
 * coalmine-plan(7) has the grammar. script.c only parses. The caller
 * (compose_text.c) interprets a primitive and checks that its blocks exist.
 */
#ifndef PROBES_COLLECTIVE_SCRIPT_H
#define PROBES_COLLECTIVE_SCRIPT_H

#include <stdint.h>

#include "common/err.h"
#include "probes/collective/compose.h"

struct script_place {
	char buffer[32];
	int64_t block;
};

/* Root and leaves are ranks that exist; leaves ascend and are distinct. */
struct script_prim {
	enum compose_kind kind;
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
