/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - the record: one JSON object, the same on the engine's output, on
 * the wire and in the store.
 *
 * Kinds, by "probe" (record_fields.c has the members of each):
 *   begin     first line of a run: version, mpi, nodes, roles, seed, options
 *   phase     a phase border: event begin|end, phase, visit, visits
 *   progress  no seq; shown while the run lasts and never stored
 *   round     raw, only with raw = yes: the first data that a full spool drops
 *   canary    one test in one phase: the headline record
 *   congestor a congestor's own rate, alone or under load
 *   impact    congested against isolated for one test
 *   group stripe self sparse collective neighbor
 *             one plan that ran, or one step of it
 *   binding   a step of binding; fit: the result over its steps
 *   speedup   a plan against another implementation
 *   spmm      the same for a product of a sparse and a dense matrix
 *   bad       a wrong byte: of (the probe) plan verdict cause when rank node
 *             buffer offset want got text
 *   mesh      one class of the agents' mesh in one epoch; of the collector
 *   end       last line: records (their count), status, cause, text
 * Numbered records start with run, seq (from 1, no gaps) and probe.
 *
 * canary and congestor: run seq probe test phase unit n mean min p50 p90 p99
 * p999 max interval{of level lo hi} hist nodes pairs stopped_by rounds seed,
 * and cause if nothing was measured (n is 0 and the numbers are null). Of a
 * canary also p99_time, of a rate p01_time: see hist_quantile_by_time; with
 * exact = gpcnet also rings {n min max avg avg_worst p001}.
 *   scores {hosts, q25 or q75}: of all nodes, where nodes has only the worst
 * (scores.h)
 *   hist   [[index, count], ...], indices as in common/hist.h
 *   nodes  [{node n p50 p99 q25 q75 partners slow_partners wait_ratio}, ...];
 *          q25, q75: quartiles of the medians of the node's pairs. The node is
 *          judged by the one on the good side (q25 of s, q75 of B/s), computed
 *          without slow partners if a quarter of its partners is slow.
 *          wait_ratio: share of the runnable time of its ranks during the
 *          measurement in which they had no core
 *   pairs  the worst 16: [{a b n p50}, ...]; with partners one-way also forth,
 *          from a to b, and back
 *   grid   {nodes p50}, of at most RECORD_GRID_MAX nodes: row i of p50 has the
 *          medians of node i with nodes 0 to i - 1, null without a measurement
 *
 * group and the like: run seq probe plan of ("whole", "step" with step, or
 * "concurrent") device via ranks nodes messages footprint_bytes bytes bytes_of
 * unit n mean min p50 ... max hist median_upper median_middle interval samples
 * [[s, slowest rank]] stopped_by bandwidth{min median_upper median_middle mean
 * max} memory_bytes_per_s above_memory setup_s verified notes, or cause, text.
 *
 * impact: run seq probe test of ("mean" or "p99") value interval{level lo hi}.
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
#define RECORD_LEVEL_MAX 0.9999 /* of an interval */
#define RECORD_PAIRS_MAX 16
#define RECORD_GRID_MAX  64 /* up to this many nodes a record has all pairs */

/* A run id: letters, digits and '-', at most RECORD_RUN_MAX. 0 or -EINVAL. */
int record_run_check(const char *run);

/* The part every reader needs. Strings point into the object. */
struct record_head {
	const char *run;
	uint64_t seq; /* 0: progress */
	const char *probe;
	const char *test;  /* NULL where the kind has none */
	const char *phase; /* NULL if the kind has none */
	int raw;           /* 1: may be dropped first */
};

/* A record as it arrived: its text, not NUL-ended, and its histogram, which is
 * then not among its values. hist NULL: it has none, or one of its values. */
struct record_line {
	const char *text;
	size_t len_bytes;
	size_t cut_from, cut_to; /* of the text: hist and its comma */
	const struct strict_bucket *hist;
	size_t hist_count;
};
/* Return line i, which points into lines; text is NULL if it does not exist.
 * lines may be NULL. */
struct record_line record_line_at(const struct strict_lines *lines, size_t i);
/* A copy whose text the caller frees, with which its histogram goes. */
struct record_line record_line_copy(const struct record_line *line);

/* One line from an engine, which is not trusted: -EPROTO and a reason for
 * anything but an object with a valid head and, by kind, its fields. The
 * caller decrefs *ret. */
int record_parse(const char *line, size_t len_bytes, json_t **ret,
    struct record_head *ret_head, struct err *err);

/* Check values instead of text: the caller has limited length, depth and
 * duplicate keys, as wire_parse does. line: the original text, or NULL if the
 * histogram is among the values. The strings of *ret_head live as long as the
 * record. */
int record_check(const json_t *record, const struct record_line *line,
    struct record_head *ret_head, struct err *err);

/* hist <-> [[index, count], ...]; sum, min and max travel as mean, min, max.
 * -EPROTO: the record has no valid one. line may be NULL. */
int record_hist_read(const json_t *record, const struct record_line *line,
    struct hist *ret);
/* The same, added to what there is, of a record that was checked. */
void record_hist_merge(const json_t *record, const struct record_line *line,
    struct hist *into);
/* Return x as a JSON number, null if it is not finite. A new reference. */
json_t *record_number(double x);
/* The statistics of h as members of record: n mean min p50 ... hist. */
void record_put_hist(json_t *record, const struct hist *h);

/* ---- record_fields.c: which members each kind of record has: one row a
 * member, by which record.c checks what an engine printed ---- */

/* Is a value one that the member may have? 1 or 0. */
typedef int record_value_check(const json_t *v);

/* kind: s string, i integer not negative, N number or null, a array,
 * o object, O object or null, '*' anything. */
struct record_field {
	const char *name;
	char kind;
	record_value_check *check; /* NULL: any value of that kind */
	int optional;
};

struct record_kind {
	const char *probe;
	const struct record_field *fields; /* ends with a NULL name */
	int numbered;                      /* 0: it has no seq */
};

/* Return NULL for an unknown probe. */
const struct record_kind *record_kind_find(const char *probe);

/* [[index, count], ...] with indices that ascend and counts above 0. */
record_value_check record_is_hist;
/* The same for a list of buckets. */
int record_is_buckets(const struct strict_bucket *list, size_t count);

#endif
