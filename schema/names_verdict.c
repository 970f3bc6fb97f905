/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_verdict.c - the rows: verdicts and their subjects.
 */
#include "schema/names_verdict.h"

#include <stddef.h>

const struct what_row names_whats[WHAT_MAX] = {
#define FAULT(id, name, test, verdicts, text, step, section)                   \
	{ name, test, verdicts, text, step, section },
#include "schema/faults.inc"
#undef FAULT
};

const char *const names_verdicts[VERDICT_MAX] = { "ok", "warn", "bad",
	"unknown" };
