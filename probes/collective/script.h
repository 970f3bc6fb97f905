/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script.h - parse compositions in text form.
 *
 *   multicast send[i] of 0 to recv of all
 *   for i in all: reduce send[i] of all to recv of i
 *   fence
 *
 * coalmine-plan(7) has the grammar. script.c only parses. The caller
 * (compose_text.c) interprets each primitive and checks that its blocks exist.
 */
#ifndef PROBES_COLLECTIVE_SCRIPT_H
#define PROBES_COLLECTIVE_SCRIPT_H

#include <stdint.h>

#include "common/err.h"
#include "probes/collective/compose.h"

/* A buffer and the number of a block in it. */
struct script_place {
	char buffer[32];
	int64_t block;
};

/* A primitive. Root and leaves are existing ranks; leaves ascend and are
 * distinct. leaves is valid during the call of take. */
struct script_prim {
	enum compose_kind kind;
	uint32_t root;
	struct script_place from, to;
	uint64_t blocks; /* number of consecutive blocks */
	const uint32_t *leaves;
	uint32_t leaves_count;
};

/* The arguments of script_run. */
struct script_ask {
	const char *text; /* statements end with a newline or a '|' */
	uint32_t ranks, root;
	/* Called for every primitive, in order. If it returns a negative value
	 * and writes the reason (without a position) to err, script_run
	 * stops. */
	int (*take)(void *arg, const struct script_prim *prim, struct err *err);
	void *arg;
};

/* Parse the text. Return 0, or -EINVAL with the position and the reason in err:
 * "statement 2, at "of": ...". */
int script_run(const struct script_ask *ask, struct err *err);

#endif
