/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.c - an engine is a child that runs as someone else: what it prints is
 * checked field by field before it is kept.
 */
#include "schema/record.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/hostlist.h"
#include "schema/mesh.h"
#include "schema/names.h"
#include "schema/scores.h"
#include "schema/strict.h"

#define DEPTH_MAX 8
/* clang-format off */
#define NUMBER(name)  { name, 'N', is_positive, 0 }
#define LAST          { NULL, 0, NULL, 0 }
/* clang-format on */

/* Is a value one that this field may have? NULL in a row: any. */
typedef int value_check(const json_t *v);

/* kind: s string, i integer not negative, N number or null, a array,
 * o object, O object or null, '*' anything. */
struct field {
	const char *name;
	char kind;
	value_check *check;
	int optional;
};

struct kind {
	const char *probe;
	const struct field *fields; /* ends with a NULL name */
	int numbered;
};

static int __attribute__((format(printf, 3, 4)))
refuse(char *why, size_t why_bytes, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, why_bytes, fmt, ap);
	va_end(ap);
	return -EPROTO;
}

int
record_run_check(const char *run)
{
	size_t n = strlen(run);

	if (n == 0 || n > RECORD_RUN_MAX || run[0] == '-')
		return -EINVAL;
	for (; *run != '\0'; run++)
		if (!isascii((unsigned char)*run) ||
		    (!isalnum((unsigned char)*run) && *run != '-'))
			return -EINVAL;
	return 0;
}

static int
in_words(const char *const *words, size_t count, const json_t *v)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(words[i], json_string_value(v)) == 0)
			return 1;
	return 0;
}

static int
is_test(const json_t *v)
{
	return names_test_find(json_string_value(v)) >= 0;
}

static int
is_congestor(const json_t *v)
{
	return names_congestor_find(json_string_value(v)) >= 0;
}

static int
is_mesh_class(const json_t *v)
{
	return mesh_class_find(json_string_value(v)) >= 0;
}

static int
is_phase(const json_t *v)
{
	return in_words(names_phases, PHASE_MAX, v);
}

static int
is_partners(const json_t *v)
{
	return in_words(names_partners, PARTNERS_MAX, v);
}

static int
is_stop(const json_t *v)
{
	return in_words(names_stops, STOP_MAX, v);
}

static int
is_cause(const json_t *v)
{
	return names_cause_find(json_string_value(v)) >= 0;
}

static int
is_verdict(const json_t *v)
{
	return in_words(names_verdicts, VERDICT_MAX, v);
}

static int
is_unit(const json_t *v)
{
	static const char *const units[] = { "s", "B/s" };

	return in_words(units, 2, v);
}

static int
is_event(const json_t *v)
{
	static const char *const events[] = { "begin", "end" };

	return in_words(events, 2, v);
}

static int
is_of(const json_t *v)
{
	static const char *const ofs[] = { "mean", "p99" };

	return in_words(ofs, 2, v);
}

static int
is_positive(const json_t *v)
{
	return json_is_null(v) || json_number_value(v) >= 0;
}

/* {level lo hi}, of too where the record has several headlines. */
static int
is_interval(const json_t *v)
{
	const json_t *lo = json_object_get(v, "lo");
	const json_t *hi = json_object_get(v, "hi");
	double level = json_number_value(json_object_get(v, "level"));

	if (json_is_null(v))
		return 1;
	return json_is_number(lo) && json_is_number(hi) &&
	    json_number_value(lo) <= json_number_value(hi) && level > 0 &&
	    level < 1;
}

/* [[index, count], ...], ascending. */
static int
is_hist(const json_t *v)
{
	json_int_t last = HIST_FIRST - 1;
	size_t i;
	json_t *pair;

	json_array_foreach (v, i, pair) {
		json_t *index = json_array_get(pair, 0);
		json_t *count = json_array_get(pair, 1);

		if (json_array_size(pair) != 2 || !json_is_integer(index) ||
		    !json_is_integer(count) ||
		    json_integer_value(index) <= last ||
		    json_integer_value(index) > HIST_LAST ||
		    json_integer_value(count) <= 0)
			return 0;
		last = json_integer_value(index);
	}
	return 1;
}

static int
is_node(const json_t *v)
{
	return json_is_string(v) &&
	    hostlist_name_check(json_string_value(v)) == 0;
}

static int
is_number_or_null(const json_t *v)
{
	return v == NULL || json_is_null(v) || json_is_number(v);
}

static int
is_node_list(const json_t *v)
{
	size_t i;
	json_t *n;

	if (json_array_size(v) > HOSTLIST_MAX)
		return 0;
	json_array_foreach (v, i, n)
		if (!is_node(json_object_get(n, "node")) ||
		    !json_is_integer(json_object_get(n, "n")) ||
		    !is_number_or_null(json_object_get(n, "p50")) ||
		    !is_number_or_null(json_object_get(n, "p99")) ||
		    !is_number_or_null(json_object_get(n, "q25")) ||
		    !is_number_or_null(json_object_get(n, "q75")))
			return 0;
	return 1;
}

static int
is_pair_list(const json_t *v)
{
	size_t i;
	json_t *n;

	if (json_array_size(v) > RECORD_PAIRS_MAX)
		return 0;
	json_array_foreach (v, i, n)
		if (!is_node(json_object_get(n, "a")) ||
		    !is_node(json_object_get(n, "b")) ||
		    !json_is_integer(json_object_get(n, "n")) ||
		    !is_number_or_null(json_object_get(n, "p50")))
			return 0;
	return 1;
}

/* {nodes, p50}: names, and the half of a symmetric matrix below its middle. */
static int
is_grid(const json_t *v)
{
	const json_t *nodes = json_object_get(v, "nodes"), *name;
	const json_t *rows = json_object_get(v, "p50"), *row, *x;
	size_t i, j;

	if (json_array_size(nodes) > RECORD_GRID_MAX ||
	    json_array_size(rows) != json_array_size(nodes))
		return 0;
	json_array_foreach (nodes, i, name)
		if (!json_is_string(name))
			return 0;
	json_array_foreach (rows, i, row) {
		if (!json_is_array(row) || json_array_size(row) != i)
			return 0;
		json_array_foreach (row, j, x)
			if (!is_number_or_null(x))
				return 0;
	}
	return 1;
}

static int
is_part(const json_t *v)
{
	static const char *const parts[] = { "whole", "step", "concurrent" };

	return in_words(parts, sizeof(parts) / sizeof(parts[0]), v);
}

/* Guards before a buffer have negative offsets. */
static int
is_offset(const json_t *v)
{
	return json_is_integer(v);
}

/* [[seconds, slowest rank], ...] in the order in which they were taken. */
static int
is_samples(const json_t *v)
{
	size_t i;
	json_t *pair;

	json_array_foreach (v, i, pair)
		if (json_array_size(pair) != 2 ||
		    !json_is_number(json_array_get(pair, 0)) ||
		    json_number_value(json_array_get(pair, 0)) < 0 ||
		    !json_is_integer(json_array_get(pair, 1)) ||
		    json_integer_value(json_array_get(pair, 1)) < 0)
			return 0;
	return 1;
}

/* [{node sent_bytes received_bytes slowest seconds predicted ratio}, ...] */
static int
is_plan_nodes(const json_t *v)
{
	size_t i;
	json_t *n;

	if (json_array_size(v) > HOSTLIST_MAX)
		return 0;
	json_array_foreach (v, i, n)
		if (!is_node(json_object_get(n, "node")) ||
		    !is_number_or_null(json_object_get(n, "seconds")) ||
		    !is_number_or_null(json_object_get(n, "predicted")) ||
		    !is_number_or_null(json_object_get(n, "ratio")))
			return 0;
	return 1;
}

/* [{rail ... nodes: [{node ratio}, ...]}, ...] */
static int
is_rails(const json_t *v)
{
	size_t i;
	json_t *rail;

	json_array_foreach (v, i, rail)
		if (!json_is_integer(json_object_get(rail, "rail")) ||
		    (json_object_get(rail, "nodes") != NULL &&
			!is_plan_nodes(json_object_get(rail, "nodes"))))
			return 0;
	return 1;
}

static int
is_binding(const json_t *v)
{
	static const char *const words[] = { "packed", "round-robin",
		"dynamic" };

	return in_words(words, sizeof(words) / sizeof(words[0]), v);
}

static const struct field begin_fields[] = {
	{ "version", 's', NULL, 0 },
	{ "mpi", 's', NULL, 0 },
	{ "nodes", 'a', NULL, 0 },
	{ "roles", '*', NULL, 0 },
	{ "seed", 'i', NULL, 0 },
	{ "options", '*', NULL, 0 },
	LAST,
};
static const struct field phase_fields[] = {
	{ "event", 's', is_event, 0 },
	{ "phase", 's', is_phase, 0 },
	{ "visit", 'i', NULL, 0 },
	{ "visits", 'i', NULL, 0 },
	LAST,
};
static const struct field progress_fields[] = {
	LAST,
};
static const struct field round_fields[] = {
	{ "test", 's', is_test, 0 },
	{ "phase", 's', is_phase, 0 },
	LAST,
};
static const struct field canary_fields[] = {
	{ "test", 's', is_test, 0 },
	{ "phase", 's', is_phase, 0 },
	{ "unit", 's', is_unit, 0 },
	{ "n", 'i', NULL, 0 },
	NUMBER("mean"),
	NUMBER("min"),
	NUMBER("p50"),
	NUMBER("p90"),
	NUMBER("p99"),
	NUMBER("p999"),
	NUMBER("max"),
	{ "interval", 'O', is_interval, 0 },
	{ "hist", 'a', is_hist, 0 },
	{ "nodes", 'a', is_node_list, 0 },
	{ "scores", 'o', record_scores_check, 1 },
	{ "pairs", 'a', is_pair_list, 0 },
	{ "grid", 'O', is_grid, 1 },
	{ "stopped_by", 's', is_stop, 0 },
	{ "rounds", 'i', NULL, 0 },
	{ "seed", 'i', NULL, 0 },
	{ "partners", 's', is_partners, 1 },
	{ "cause", 's', is_cause, 1 },
	LAST,
};
static const struct field command_fields[] = {
	{ "phase", 's', is_phase, 0 },
	{ "visit", 'i', NULL, 0 },
	{ "run_number", 'i', NULL, 0 },
	{ "node", 's', is_node, 0 },
	NUMBER("seconds"),
	{ "verdict", 's', is_verdict, 0 },
	{ "status", 'i', NULL, 0 },
	{ "cause", 's', is_cause, 1 },
	{ "text", 's', NULL, 1 },
	LAST,
};
/* A congestor has no ring: who met whom may be left out. */
static const struct field congestor_fields[] = {
	{ "test", 's', is_congestor, 0 },
	{ "phase", 's', is_phase, 0 },
	{ "unit", 's', is_unit, 0 },
	{ "n", 'i', NULL, 0 },
	NUMBER("mean"),
	NUMBER("min"),
	NUMBER("p50"),
	NUMBER("p90"),
	NUMBER("p99"),
	NUMBER("p999"),
	NUMBER("max"),
	{ "interval", 'O', is_interval, 1 },
	{ "hist", 'a', is_hist, 0 },
	{ "nodes", 'a', is_node_list, 1 },
	{ "pairs", 'a', is_pair_list, 1 },
	{ "stopped_by", 's', is_stop, 1 },
	{ "rounds", 'i', NULL, 1 },
	{ "seed", 'i', NULL, 1 },
	{ "cause", 's', is_cause, 1 },
	LAST,
};
static const struct field impact_fields[] = {
	{ "test", 's', is_test, 0 },
	{ "of", 's', is_of, 0 },
	{ "value", 'N', is_positive, 0 },
	{ "interval", 'O', is_interval, 0 },
	{ "cause", 's', is_cause, 1 },
	LAST,
};
/* A plan that was run: group, stripe, self, sparse, collective. What nothing
 * was measured of has n 0, nulls and a cause. */
static const struct field plan_fields[] = {
	{ "plan", 's', NULL, 0 },
	{ "of", 's', is_part, 0 },
	{ "step", 'i', NULL, 1 },
	{ "unit", 's', is_unit, 0 },
	{ "n", 'i', NULL, 0 },
	NUMBER("mean"),
	NUMBER("min"),
	NUMBER("p50"),
	NUMBER("p90"),
	NUMBER("p99"),
	NUMBER("p999"),
	NUMBER("max"),
	{ "hist", 'a', is_hist, 0 },
	{ "median_upper", 'N', is_positive, 1 },
	{ "median_middle", 'N', is_positive, 1 },
	{ "interval", 'O', is_interval, 1 },
	{ "samples", 'a', is_samples, 1 },
	{ "stopped_by", 's', is_stop, 1 },
	{ "device", 's', NULL, 1 },
	{ "via", 's', NULL, 1 },
	{ "bytes", 'i', NULL, 1 },
	{ "footprint_bytes", 'i', NULL, 1 },
	{ "messages", 'i', NULL, 1 },
	{ "bandwidth", 'O', NULL, 1 },
	{ "memory_bytes_per_s", 'N', is_positive, 1 },
	{ "machine", 's', NULL, 1 },
	{ "predicted", 'N', is_positive, 1 },
	{ "pattern", 's', NULL, 1 },
	{ "direction", 's', NULL, 1 },
	{ "k", 'i', NULL, 1 },
	{ "model", 'N', is_positive, 1 },
	{ "ratio", 'N', is_positive, 1 },
	{ "nodes", 'a', is_plan_nodes, 1 },
	{ "rails", 'a', is_rails, 1 },
	{ "cause", 's', is_cause, 1 },
	{ "text", 's', NULL, 1 },
	LAST,
};
/* What the steps of a plan say together: which binding of devices to NICs. */
static const struct field fit_fields[] = {
	{ "of", 's', NULL, 0 },
	{ "plan", 's', NULL, 0 },
	{ "pattern", 's', NULL, 0 },
	{ "g", 'i', NULL, 0 },
	{ "binding", 's', is_binding, 0 },
	{ "p", 'i', NULL, 1 },
	{ "r", 'i', NULL, 1 },
	NUMBER("nic_bytes_per_s"),
	NUMBER("residual"),
	NUMBER("tolerance"),
	{ "packed", 'o', NULL, 0 },
	{ "round_robin", 'o', NULL, 0 },
	{ "profile", 'a', NULL, 0 },
	{ "rails", 'a', is_rails, 0 },
	{ "verdict", 's', NULL, 0 },
	{ "text", 's', NULL, 0 },
	LAST,
};
/* A plan against another way to do the same. */
static const struct field speedup_fields[] = {
	{ "of", 's', NULL, 0 },
	{ "plan", 's', NULL, 0 },
	{ "baseline", 's', NULL, 0 },
	{ "n", 'i', NULL, 0 },
	NUMBER("value"),
	{ "interval", 'O', is_interval, 0 },
	{ "seconds", 'N', is_positive, 1 },
	{ "baseline_seconds", 'N', is_positive, 1 },
	{ "setup_s", 'N', is_positive, 1 },
	{ "baseline_setup_s", 'N', is_positive, 1 },
	{ "collective", 's', NULL, 1 },
	{ "throughput", 'N', is_positive, 1 },
	{ "baseline_throughput", 'N', is_positive, 1 },
	{ "baseline_impl", 's', NULL, 1 },
	{ "bound", 'N', is_positive, 1 },
	{ "bound_ratio", 'N', is_positive, 1 },
	{ "ranks", 'i', NULL, 1 },
	{ "bytes", 'i', NULL, 1 },
	{ "edges", 'i', NULL, 1 },
	{ "density", 'N', is_positive, 1 },
	{ "byte_ratio", 'N', is_positive, 1 },
	{ "byte_ratio_expected", 'N', is_positive, 1 },
	{ "load_bound", 'N', is_positive, 1 },
	{ "order", 's', NULL, 1 },
	{ "pair_class", 's', NULL, 1 },
	{ "model_ratio", 'N', is_positive, 1 },
	{ "stated_ratio", 'N', is_positive, 1 },
	{ "choice", 's', NULL, 1 },
	{ "ways", 'a', NULL, 1 },
	{ "verdict", 's', NULL, 1 },
	{ "efficiency", 'N', is_positive, 1 },
	{ "g", 'i', NULL, 1 },
	{ "via", 's', NULL, 1 },
	{ "steps_seconds", 'N', is_positive, 1 },
	{ "rails", 'a', is_rails, 1 },
	{ "wire", 'a', is_plan_nodes, 1 },
	{ "cause", 's', is_cause, 1 },
	{ "text", 's', NULL, 1 },
	LAST,
};
/* A product of a sparse and a dense matrix, likewise. */
static const struct field spmm_fields[] = {
	{ "plan", 's', NULL, 0 },
	{ "baseline", 's', NULL, 0 },
	{ "n", 'i', NULL, 0 },
	NUMBER("value"),
	NUMBER("steady_value"),
	{ "interval", 'O', is_interval, 0 },
	{ "order", 's', NULL, 1 },
	{ "rows", 'i', NULL, 1 },
	{ "nonzeros", 'i', NULL, 1 },
	{ "columns", 'i', NULL, 1 },
	{ "seconds", 'N', is_positive, 1 },
	{ "baseline_seconds", 'N', is_positive, 1 },
	{ "setup_s", 'N', is_positive, 1 },
	{ "baseline_setup_s", 'N', is_positive, 1 },
	{ "repay", 'N', is_positive, 1 },
	{ "cause", 's', is_cause, 1 },
	{ "text", 's', NULL, 1 },
	LAST,
};
/* [{words predicted seconds}, ...] */
static int
is_tried(const json_t *v)
{
	size_t i;
	json_t *o;

	json_array_foreach (v, i, o)
		if (!json_is_string(json_object_get(o, "words")) ||
		    !json_is_number(json_object_get(o, "predicted")) ||
		    !is_number_or_null(json_object_get(o, "seconds")))
			return 0;
	return 1;
}

static int
is_why_tuned(const json_t *v)
{
	static const char *const words[] = { "measured", "remembered",
		"predicted" };

	return in_words(words, sizeof(words) / sizeof(words[0]), v);
}

/* Why a collective has its shape. */
static const struct field tuning_fields[] = {
	{ "machine", 's', NULL, 0 },
	{ "asked", 's', NULL, 0 },
	{ "ranks", 'i', NULL, 0 },
	{ "class", 'i', NULL, 0 },
	{ "bytes", 'i', NULL, 0 },
	{ "why", 's', is_why_tuned, 0 },
	{ "choice", 's', NULL, 0 },
	{ "tried", 'a', is_tried, 0 },
	{ "measured_unix_s", 'i', NULL, 0 },
	LAST,
};
/* A wrong byte. */
static const struct field bad_fields[] = {
	{ "of", 's', NULL, 0 },
	{ "plan", 's', NULL, 0 },
	{ "verdict", 's', NULL, 0 },
	{ "cause", 's', is_cause, 0 },
	{ "when", 's', NULL, 0 },
	{ "rank", 'i', NULL, 0 },
	{ "node", 's', is_node, 0 },
	{ "buffer", 's', NULL, 0 },
	{ "offset", '*', is_offset, 0 },
	{ "text", 's', NULL, 0 },
	LAST,
};
/* Made by the collector of many agents' reports. */
static const struct field mesh_fields[] = {
	{ "test", 's', is_mesh_class, 0 },
	{ "phase", 's', is_phase, 0 },
	{ "unit", 's', is_unit, 0 },
	{ "epoch", 'i', NULL, 0 },
	{ "n", 'i', NULL, 0 },
	{ "lost", 'i', NULL, 0 },
	{ "unknown", 'i', NULL, 0 },
	{ "unsent", 'i', NULL, 0 },
	NUMBER("mean"),
	NUMBER("min"),
	NUMBER("p50"),
	NUMBER("p90"),
	NUMBER("p99"),
	NUMBER("p999"),
	NUMBER("max"),
	{ "interval", 'O', is_interval, 0 },
	{ "hist", 'a', is_hist, 0 },
	{ "nodes", 'a', is_node_list, 0 },
	{ "pairs", 'a', is_pair_list, 0 },
	{ "reports", 'i', NULL, 0 },
	{ "seed", 'i', NULL, 0 },
	{ "cause", 's', is_cause, 1 },
	LAST,
};
static const struct field end_fields[] = {
	{ "records", 'i', NULL, 0 },
	{ "status", 's', NULL, 0 },
	{ "cause", 's', is_cause, 1 },
	{ "text", 's', NULL, 1 },
	LAST,
};

static const struct kind kinds[] = {
	{ "begin", begin_fields, 1 },
	{ "phase", phase_fields, 1 },
	{ "progress", progress_fields, 0 },
	{ "round", round_fields, 1 },
	{ "canary", canary_fields, 1 },
	{ "command", command_fields, 1 },
	{ "congestor", congestor_fields, 1 },
	{ "impact", impact_fields, 1 },
	{ "group", plan_fields, 1 },
	{ "stripe", plan_fields, 1 },
	{ "self", plan_fields, 1 },
	{ "pairs", plan_fields, 1 },
	{ "sparse", plan_fields, 1 },
	{ "collective", plan_fields, 1 },
	{ "neighbor", plan_fields, 1 },
	{ "binding", plan_fields, 1 },
	{ "fit", fit_fields, 1 },
	{ "tuning", tuning_fields, 1 },
	{ "speedup", speedup_fields, 1 },
	{ "spmm", spmm_fields, 1 },
	{ "multipath", plan_fields, 1 },
	{ "allreduce", plan_fields, 1 },
	{ "concurrent", plan_fields, 1 },
	{ "bad", bad_fields, 1 },
	{ "mesh", mesh_fields, 1 },
	{ "end", end_fields, 1 },
};

static const struct kind *
kind_find(const char *probe)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].probe, probe) == 0)
			return &kinds[i];
	return NULL;
}

static int
kind_matches(char kind, const json_t *v)
{
	switch (kind) {
	case 's':
		return json_is_string(v);
	case 'i':
		return json_is_integer(v) && json_integer_value(v) >= 0;
	case 'N':
		return json_is_number(v) || json_is_null(v);
	case 'a':
		return json_is_array(v);
	case 'O':
		return json_is_object(v) || json_is_null(v);
	default:
		return v != NULL;
	}
}

static int
fields_check(const struct field *f, const json_t *record, char *why,
    size_t why_bytes)
{
	for (; f->name != NULL; f++) {
		const json_t *v = json_object_get(record, f->name);

		if (v == NULL && f->optional)
			continue;
		if (v == NULL)
			return refuse(why, why_bytes, "%s is missing", f->name);
		if (!kind_matches(f->kind, v))
			return refuse(why, why_bytes, "%s is of another kind",
			    f->name);
		if (f->check != NULL && !f->check(v))
			return refuse(why, why_bytes,
			    "%s has a value that is not allowed", f->name);
	}
	return 0;
}

/* No number without samples, no samples without numbers, and the histogram
 * counts each sample once. */
static int
numbers_check(const json_t *record, char *why, size_t why_bytes)
{
	json_int_t n = json_integer_value(json_object_get(record, "n"));
	json_int_t sum = 0;
	int null = json_is_null(json_object_get(record, "mean"));
	size_t i;
	json_t *pair;

	json_array_foreach (json_object_get(record, "hist"), i, pair) {
		json_int_t count = json_integer_value(json_array_get(pair, 1));

		if (count > n - sum)
			return refuse(why, why_bytes,
			    "hist counts more than n");
		sum += count;
	}
	if (sum != n)
		return refuse(why, why_bytes, "hist counts less than n");
	if (null != (n == 0))
		return refuse(why, why_bytes, "mean does not agree with n");
	if (n == 0 && json_object_get(record, "cause") == NULL)
		return refuse(why, why_bytes, "no number and no cause");
	return 0;
}

static int
head_read(const json_t *record, struct record_head *ret,
    const struct kind **ret_kind, char *why, size_t why_bytes)
{
	const json_t *seq = json_object_get(record, "seq");
	struct record_head h = { 0 };

	h.probe = json_string_value(json_object_get(record, "probe"));
	*ret_kind = h.probe == NULL ? NULL : kind_find(h.probe);
	if (*ret_kind == NULL)
		return refuse(why, why_bytes, "unknown probe %.32s",
		    h.probe == NULL ? "(none)" : h.probe);
	h.run = json_string_value(json_object_get(record, "run"));
	if (!json_object_get(record, "run") && !(*ret_kind)->numbered)
		h.run = "";
	else if (h.run == NULL || record_run_check(h.run) < 0)
		return refuse(why, why_bytes, "run is missing or malformed");
	if (!(*ret_kind)->numbered && seq != NULL)
		return refuse(why, why_bytes, "%s has no seq", h.probe);
	if ((*ret_kind)->numbered && json_integer_value(seq) < 1)
		return refuse(why, why_bytes, "seq is missing or below 1");
	h.seq = (uint64_t)json_integer_value(seq);
	h.test = json_string_value(json_object_get(record, "test"));
	h.phase = json_string_value(json_object_get(record, "phase"));
	h.raw = strcmp(h.probe, "round") == 0;
	*ret = h;
	return 0;
}

int
record_parse(const char *line, size_t len_bytes, json_t **ret,
    struct record_head *ret_head, char *why, size_t why_bytes)
{
	const struct kind *kind;
	struct record_head head;
	json_t *record;
	int rc;

	if (len_bytes > RECORD_LINE_MAX)
		return refuse(why, why_bytes, "longer than %d bytes",
		    RECORD_LINE_MAX);
	rc = strict_object(line, len_bytes, DEPTH_MAX, &record, why, why_bytes);
	if (rc < 0)
		return rc;
	rc = head_read(record, &head, &kind, why, why_bytes);
	if (rc == 0)
		rc = fields_check(kind->fields, record, why, why_bytes);
	if (rc == 0 && json_object_get(record, "hist") != NULL)
		rc = numbers_check(record, why, why_bytes);
	if (rc < 0)
		goto out;
	*ret_head = head;
	*ret = record;
	record = NULL; /* handed over */
out:
	json_decref(record);
	return rc;
}

json_t *
record_hist_json(const struct hist *h)
{
	json_t *array = json_array();

	for (int i = HIST_FIRST; i <= HIST_LAST; i++) {
		uint64_t count = h->bucket[i - HIST_FIRST];

		if (count > 0)
			json_array_append_new(array,
			    json_pack("[i,I]", i, (json_int_t)count));
	}
	return array;
}

int
record_hist_parse(const json_t *array, double mean, double min, double max,
    struct hist *ret)
{
	size_t i;
	json_t *pair;

	if (!json_is_array(array) || !is_hist(array))
		return -EPROTO;
	hist_clear(ret);
	json_array_foreach (array, i, pair) {
		json_int_t at = json_integer_value(json_array_get(pair, 0));
		uint64_t count = (uint64_t)json_integer_value(
		    json_array_get(pair, 1));

		ret->bucket[at - HIST_FIRST] = count;
		ret->count += count;
	}
	ret->sum = ret->count == 0 ? 0 : mean * (double)ret->count;
	ret->min = min;
	ret->max = max;
	return 0;
}

static void
put_number(json_t *record, const char *name, double x)
{
	json_object_set_new(record, name,
	    isfinite(x) ? json_real(x) : json_null());
}

void
record_put_hist(json_t *record, const struct hist *h)
{
	static const struct {
		const char *name;
		double q;
	} quantiles[] = { { "p50", 0.5 }, { "p90", 0.9 }, { "p99", 0.99 },
		{ "p999", 0.999 } };

	json_object_set_new(record, "n", json_integer((json_int_t)h->count));
	put_number(record, "mean", hist_mean(h));
	put_number(record, "min", h->count == 0 ? NAN : h->min);
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++)
		put_number(record, quantiles[i].name,
		    hist_quantile(h, quantiles[i].q));
	put_number(record, "max", h->count == 0 ? NAN : h->max);
	json_object_set_new(record, "hist", record_hist_json(h));
}
