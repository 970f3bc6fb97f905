/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - the record: one JSON object on one line, the same on the engine's
 * output, on the wire and in the store.
 *
 * The member "probe" is the kind of a record. record_fields.c lists the members
 * of each kind.
 *   begin     first line of a run: version, mpi, nodes, roles, seed, options
 *   phase     begin or end of a phase: event, phase, visit (its number), visits
 *   progress  without seq; shown while the run lasts, and never stored
 *   round     raw data, only with raw = yes; a full spool drops it first
 *   canary    one test in one phase: the main result of a run
 *   congestor the rate of a congestor, alone or while canaries run
 *   impact    the congested compared with the isolated result of one test
 *   group stripe self sparse collective neighbor
 *             one plan that ran, or one step of it
 *   binding   one step of the probe binding; fit: the result over its steps
 *   speedup   a plan compared with another implementation
 *   spmm      the same for a product of a sparse and a dense matrix
 *   bad       a wrong byte: of (the probe) plan verdict cause when rank node
 *             buffer offset want got text
 *   mesh      one class of the agents' mesh in one epoch; the collector makes
 *             it
 *   end       last line: records (their number), status, cause, text
 * Numbered records begin with run, seq (from 1, without gaps) and probe.
 *
 * Members of canary and congestor: run seq probe test phase unit n mean min p50
 * p90 p99 p999 max interval{of level lo hi} hist nodes pairs stopped_by rounds
 * seed. If nothing was measured, n is 0, the numbers are null, and cause states
 * why. A canary also has p99_time, or p01_time if it measures a rate (see
 * hist_quantile_by_time), and with exact = gpcnet it has
 * rings {n min max avg avg_worst p001}.
 *   scores {hosts, q25 or q75}: the scores of all nodes, if nodes has only the
 *          worst (scores.h)
 *   hist   [[index, count], ...], with the indices of common/hist.h
 *   nodes  [{node n p50 p99 q25 q75 partners slow_partners wait_ratio}, ...];
 *          q25, q75: quartiles of the medians of the node's pairs. The node is
 *          judged by the one on the good side (q25 of s, q75 of B/s), computed
 *          without slow partners if a quarter of its partners is slow.
 *          wait_ratio: share of the runnable time of its ranks during the
 *          measurement in which they had no core
 *   pairs  the worst 16 pairs: [{a b n p50}, ...]; with partners one-way also
 *          forth (from a to b) and back (from b to a)
 *   grid   {nodes p50} for at most RECORD_GRID_MAX nodes: row i of p50 has the
 *          medians of node i with nodes 0 to i - 1, null without a measurement
 *
 * Members of a plan's record (group stripe self sparse collective neighbor):
 * run seq probe plan of ("whole", "step" with step, or "concurrent") device via
 * ranks nodes messages footprint_bytes bytes bytes_of unit n mean min p50 ...
 * max hist median_upper median_middle interval samples [[s, slowest rank]]
 * stopped_by bandwidth{min median_upper median_middle mean max}
 * memory_bytes_per_s above_memory setup_s verified notes, or cause and text.
 *
 * Members of impact: run seq probe test of ("mean" or "p99") value
 * interval{level lo hi}.
 */
#ifndef SCHEMA_RECORD_H
#define SCHEMA_RECORD_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/hist.h"
#include "schema/strict.h"

#define RECORD_LINE_MAX  (512 * 1024) /* bytes of one line */
#define RECORD_DEPTH_MAX 8
#define RECORD_RUN_MAX   63     /* bytes of a run id */
#define RECORD_LEVEL_MAX 0.9999 /* confidence level of an interval */
#define RECORD_PAIRS_MAX 16
#define RECORD_GRID_MAX  64 /* up to this many nodes a record has all pairs */

/* Return 0, or -EINVAL if the text is not a run id: letters, digits and '-', at
 * most RECORD_RUN_MAX. */
int record_run_check(const char *run);

/* The members of a record that every reader needs. The strings point into the
 * JSON object of the record. */
struct record_head {
	const char *run;
	uint64_t seq; /* sequence number; 0: the kind has none */
	const char *probe;
	const char *test;  /* NULL if the kind has none */
	const char *phase; /* NULL if the kind has none */
	int raw;           /* 1: a full spool drops this record first */
};

/* A record as it arrived: its text, which has no NUL at its end. If hist is not
 * NULL, the histogram was read from the text into hist, and the JSON object of
 * the record has no member "hist". If hist is NULL, the record has no
 * histogram, or its histogram is in the JSON object. */
struct record_line {
	const char *text;
	size_t len_bytes;
	size_t cut_from, cut_to; /* in text: the member hist and its comma */
	const struct strict_bucket *hist;
	size_t hist_count; /* number of buckets */
};
/* Return line i of lines, with pointers into lines. The member text of the
 * result is NULL if line i does not exist or lines is NULL. */
struct record_line record_line_at(const struct strict_lines *lines, size_t i);
/* Copy a line. The caller frees the text of the copy, and this also frees its
 * histogram. */
struct record_line record_line_copy(const struct record_line *line);

/* Parse one line of an engine's output, which is not trusted. Return 0, the
 * JSON object, which the caller decrefs, and its head. Return -EPROTO, with the
 * reason in err, if the line is not an object with a valid head and the members
 * that its kind must have. */
int record_parse(const char *line, size_t len_bytes, json_t **ret,
    struct record_head *ret_head, struct err *err);

/* Check a record that is already parsed by code that limits length, depth and
 * duplicate keys, as wire_parse does. line: the original text, or NULL if the
 * histogram is in the object. Return 0, or -EPROTO with the reason in err. The
 * strings of *ret_head live as long as the record. */
int record_check(const json_t *record, const struct record_line *line,
    struct record_head *ret_head, struct err *err);

/* Read the histogram of a record. Its sum is computed from the member mean; min
 * and max are members too. line: as for record_check. Return 0, or -EPROTO if
 * the record has no valid histogram. */
int record_hist_read(const json_t *record, const struct record_line *line,
    struct hist *ret);
/* Add the histogram of a record that record_check has accepted to *into. */
void record_hist_merge(const json_t *record, const struct record_line *line,
    struct hist *into);
/* Return x as a JSON number, or null if x is not finite: a new reference. */
json_t *record_number(double x);
/* Set the statistics of h as members of record: n, mean, min, p50, p90, p99,
 * p999, max and hist. */
void record_put_hist(json_t *record, const struct hist *h);

#endif
