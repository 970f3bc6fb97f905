/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binding.h - a plan whose steps are measurements: what shows which NIC serves
 * which device (predict/binding_fit.h), each step timed by itself.
 *
 * Two groups of g ranks. First every device of the first group sends to its
 * partner alone; then the first 2, 3, ... g at once (rail); then the first 1,
 * 2, ... g each to all of the other group (asymmetric); and at last all with
 * all, both ways. Each sends `bytes` in every step.
 */
#ifndef PROBES_PATTERN_BINDING_H
#define PROBES_PATTERN_BINDING_H

#include "common/conf.h"
#include "probes/plan/plan.h"

#define BINDING_SECTION "binding"

enum binding_part {
	BINDING_ALONE,
	BINDING_RAIL,
	BINDING_ASYMMETRIC,
	BINDING_BOTH,
	BINDING_PART_MAX
};
extern const char *const binding_parts[BINDING_PART_MAX];

/* What step of a plan for g devices is: device k - 1 alone, or the first k.
 * 0 <= step < 3 g. */
enum binding_part binding_step(uint32_t g, uint32_t step, uint32_t *ret_k);
/* The step of a part; k as above. */
uint32_t binding_step_of(uint32_t g, enum binding_part part, uint32_t k);

#endif
