/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_verdict.h - verdicts, their subjects, and exit codes.
 *
 * STR_FIND (common/str.h) finds a word in each table. A new word is a row at
 * the place of its enum; stored words do not change.
 */
#ifndef SCHEMA_NAMES_VERDICT_H
#define SCHEMA_NAMES_VERDICT_H

/* What an outlier is, in one word: member "what" of a verdict. */
enum what {
	WHAT_NODE,
	WHAT_LEAF,
	WHAT_LINK,
	WHAT_HOST,         /* host contention */
	WHAT_UNDETERMINED, /* node or path */
	WHAT_RAIL,         /* one NIC of a node that has several */
	WHAT_DRIFT,        /* against its own past */
	WHAT_PREDICTION,   /* against a described machine */
	WHAT_PORT,         /* a port below its rate */
	WHAT_INTERMITTENT, /* slow again and again, and well when looked at */
	WHAT_FLEET,        /* all are slower than they were */
	WHAT_LINK_ERRORS,  /* a port counts errors, look after look */
	WHAT_MTU,          /* large packets vanish there */
	WHAT_STUCK,        /* exchanges with it do not end */
	WHAT_SPINE,        /* one of the switches above leaves */
	WHAT_MAX
};
extern const char *const names_whats[WHAT_MAX];

/* What measurements mean for a node or leaf. */
enum verdict {
	VERDICT_OK,
	VERDICT_WARN,    /* outlier, not confirmed */
	VERDICT_BAD,     /* and a confirmation run agrees */
	VERDICT_UNKNOWN, /* no data, which is never ok */
	VERDICT_MAX
};
extern const char *const names_verdicts[VERDICT_MAX];

/* Exit codes of coalctl, as Nagios and NHC read them. */
enum exit_code {
	EXIT_CODE_OK,
	EXIT_CODE_WARN,
	EXIT_CODE_BAD,
	EXIT_CODE_UNKNOWN
};

#endif
