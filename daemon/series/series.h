/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.h - the newest numbers of records, as /metrics shows them. What is
 * kept is a table: series_rows[] in series_rows.c has a row for each number
 * that a record carries, and the table feeds this projection, /metrics, the
 * manual coalmine-output(7) and the dashboards. A new metric of a number that
 * records carry already is one more row.
 *
 * Pure memory; filled from committed records, on start from the store's last
 * finished runs (series_warm).
 */
#ifndef DAEMON_SERIES_SERIES_H
#define DAEMON_SERIES_SERIES_H

#include <jansson.h>
#include <stddef.h>

#include "common/hist.h"

/* Words of records become labels only when they are known or plain, so that
 * labels need no escapes and their number stays bounded. */
enum series_label_kind {
	SERIES_FIXED,  /* from is the value itself */
	SERIES_CLASS,  /* class of the run's campaign */
	SERIES_TEST,   /* a canary test of names_tests */
	SERIES_WORD,   /* one of words */
	SERIES_NAME,   /* letters, digits, '.', '_', '-' and '+' */
	SERIES_NODE,   /* a host's name */
	SERIES_DEVICE, /* whose memory; no label for the host's */
	SERIES_INT     /* a whole number from count on */
};

struct series_label {
	const char *name;
	enum series_label_kind kind;
	const char *from; /* member of the record, or of an enclosing object */
	const char *const *words;
	size_t count; /* of words; for SERIES_INT the smallest number */
};

/* Which record's number is shown. */
enum series_keep {
	SERIES_NEWEST,  /* the newest; one without a number takes it away */
	SERIES_LAST,    /* the newest that has a number */
	SERIES_LARGEST, /* of the newest run with a number the largest bytes */
	SERIES_COUNT,   /* how many records since start */
	SERIES_LACKING, /* how many of them without what the row needs */
	SERIES_MERGED   /* their histograms since start, merged */
};

#define SERIES_LABELS_MAX 5

struct series_row {
	const char *family;
	const char *type; /* of Prometheus: gauge, counter, ... */
	const char *help;
	const char *board; /* dashboard that shows it, "" for none */
	/* Which records: all that are given must fit. */
	const char *probe;
	const char *of;       /* member "of"; NULL: any */
	const char *baseline; /* likewise */
	const char *unit;     /* of the test of names_tests */
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

struct series;
struct store;

struct series *series_new(void);
void series_free(struct series *s); /* NULL is allowed */
/* A numbered record, once, of a run of a campaign of that class. line: as it
 * arrived, or NULL. */
struct record_line;
void series_record(struct series *s, const char *class, const json_t *record,
    const struct record_line *line);
/* The same for a record of before this start: newest numbers are taken, but
 * what counts up is not. */
void series_record_old(struct series *s, const char *class,
    const json_t *record);

struct series_sample {
	char *labels; /* {name="value",...}, as in /metrics */
	double value; /* NAN: not shown */
	double bytes; /* SERIES_LARGEST: of the record it is from */
	char *run;
	int is_new;        /* of a record of this life */
	struct hist *hist; /* SERIES_MERGED; NULL: none yet */
};
/* Samples of a row's family, in the order of their first record; good until
 * the next record. Rows of one family stand together and share them. */
size_t series_samples(const struct series *s, size_t row,
    const struct series_sample **ret);

/* A record, of a run of a campaign of that class; the oldest run first. */
typedef void series_warm_cb(void *arg, const char *class, const json_t *record);

/* Records of the last finished runs after a start, so that /metrics and the
 * page do not begin empty: asks the store, whose records come on later turns
 * of the loop. */
void series_warm(struct store *store, series_warm_cb *take, void *arg);

#endif
