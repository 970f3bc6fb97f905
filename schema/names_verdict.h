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

/* The kind of an outlier: member "what" of a verdict. */
enum what {
	WHAT_NODE,
	WHAT_LEAF,
	WHAT_LINK,
	WHAT_HOST,         /* contention for the CPUs of the host */
	WHAT_UNDETERMINED, /* the node or its path: not distinguishable */
	WHAT_RAIL,         /* one NIC of a node that has several */
	WHAT_DRIFT,        /* slower than its own past */
	WHAT_PREDICTION,   /* slower than the described machine should be */
	WHAT_PORT,         /* a port runs below its rate */
	WHAT_INTERMITTENT, /* slow repeatedly, but not in confirmation runs */
	WHAT_FLEET,        /* all nodes are slower than they were */
	WHAT_LINK_ERRORS,  /* a port counts errors in consecutive readings */
	WHAT_MTU,          /* large packets are lost there */
	WHAT_STUCK,        /* exchanges with it do not complete */
	WHAT_SPINE,        /* one of the switches above the leaves */
	WHAT_MAX
};
extern const char *const names_whats[WHAT_MAX];

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
