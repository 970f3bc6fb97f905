/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_verdict.h - verdicts, the subjects of verdicts, and exit codes.
 *
 * STR_FIND (common/str.h) finds a word in each table. A new word is a row at
 * the place of its enum value; words that records or the store contain must not
 * change.
 */
#ifndef SCHEMA_NAMES_VERDICT_H
#define SCHEMA_NAMES_VERDICT_H

/* The slow part, or the kind of fault: member "what" of a verdict. */
enum what {
#define FAULT(id, name, test, verdicts, text, step, section) WHAT_##id,
#include "schema/faults.inc"
#undef FAULT
	WHAT_MAX
};
struct what_row {
	const char *name;
	const char *test;     /* evidence that shows the fault; NULL: rounds */
	const char *verdicts; /* "warn, bad" */
	const char *text;     /* its meaning */
	const char *step;     /* what an operator should check */
	const char *section;  /* section of coalmine-verdict(7) */
};
extern const struct what_row names_whats[WHAT_MAX];

/* The judgement of the measurements of a node or leaf. */
enum verdict {
	VERDICT_OK,
	VERDICT_WARN,    /* an outlier that is not confirmed yet */
	VERDICT_BAD,     /* an outlier that a confirmation run confirmed */
	VERDICT_UNKNOWN, /* no data; never reported as ok */
	VERDICT_MAX
};
extern const char *const names_verdicts[VERDICT_MAX];

/* Exit codes of coalctl, with the meaning that Nagios and NHC (node health
 * check) give them. */
enum exit_code {
	EXIT_CODE_OK,
	EXIT_CODE_WARN,
	EXIT_CODE_BAD,
	EXIT_CODE_UNKNOWN
};

#endif
