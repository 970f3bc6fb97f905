/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series_rows.h - the metrics that are made of members of records, a row for
 * each. /metrics, the manual coalmine-output(7) and the dashboards are made
 * from it. A new metric of an existing member of records is one more row.
 */
#ifndef DAEMON_SERIES_SERIES_ROWS_H
#define DAEMON_SERIES_SERIES_ROWS_H

#include <stddef.h>

/* Words of records become labels only if they are known or have plain
 * characters, so that labels need no escapes and their number is limited. */
enum series_label_kind {
	SERIES_FIXED,  /* from is the value itself */
	SERIES_CLASS,  /* class of the run's campaign */
	SERIES_TEST,   /* a canary test of names_tests */
	SERIES_WORD,   /* one of words */
	SERIES_NAME,   /* letters, digits, '.', '_', '-' and '+' */
	SERIES_NODE,   /* a host's name */
	SERIES_DEVICE, /* device of the memory; no label for the host's */
	SERIES_BYTES,  /* a number of bytes; no label without it */
	SERIES_INT     /* a whole number, at least count */
};

/* A label of a metric, and its source in a record. */
struct series_label {
	const char *name;
	enum series_label_kind kind;
	const char *from; /* member of the record, or of an enclosing object */
	const char *const *words;
	size_t count; /* number of words; for SERIES_INT the smallest number */
};

/* The number that is shown. */
enum series_keep {
	SERIES_NEWEST,  /* number of the newest record; removed without one */
	SERIES_LAST,    /* number of the newest record that has the number */
	SERIES_LARGEST, /* number of the newest run with one, at the largest
			   size */
	SERIES_COUNT,   /* count of records since start */
	SERIES_LACKING, /* count of records without the members needed */
	SERIES_MERGED   /* histograms of all records since start, merged */
};

#define SERIES_LABELS_MAX 6

/* A metric, and its source in records. */
struct series_row {
	const char *family;
	const char *type; /* Prometheus' type: gauge, counter, ... */
	const char *help;
	const char *board; /* dashboard that shows it, "" for none */
	/* Conditions that a record must meet. */
	const char *probe;
	const char *of;       /* member "of"; NULL: any */
	const char *baseline; /* member "baseline"; NULL: any */
	const char *unit;     /* unit of the test in names_tests; NULL: any */
	/* The elements of this array each have a number: "rails.nodes" are the
	 * nodes of all rails; NULL: the record itself. */
	const char *each;
	struct series_label labels[SERIES_LABELS_MAX];
	const char *needs; /* members that must be above 0, or NULL */
	const char *value; /* member, as "bandwidth.median_middle" */
	const char *over;  /* divides the value, or NULL */
	enum series_keep keep;
};
extern const struct series_row series_rows[]; /* ends with a NULL family */

#endif
