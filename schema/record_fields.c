/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_fields.c - which members each kind of record has, and what each may
 * say: a value gets here once its kind of JSON is right.
 */
#include "schema/record_fields.h"

#include <string.h>

#include "common/hist.h"
#include "common/hostlist.h"
#include "common/str.h"
#include "schema/mesh.h"
#include "schema/names_gpu.h"
#include "schema/names_probe.h"
#include "schema/names_run.h"
#include "schema/names_verdict.h"
#include "schema/options.h"
#include "schema/record.h"
#include "schema/scores.h"

/* A text that is a word of a table. */
#define WORD_OF(name, rows)                                                    \
	static int name(const json_t *v)                                       \
	{                                                                      \
		return STR_FIND(rows, json_string_value(v)) >= 0;              \
	}

static const char *const units[] = { "s", "B/s" };
static const char *const events[] = { "begin", "end" };
static const char *const ofs[] = { "mean", "p99" };
static const char *const parts[] = { "whole", "step", "concurrent" };
static const char *const bindings[] = { "packed", "round-robin", "dynamic" };
static const char *const whys_tuned[] = { "measured", "remembered",
	"predicted" };
static const char *const transports[] = { "tcp", "rdma" };
WORD_OF(record_is_test, names_tests)
WORD_OF(record_is_congestor, names_congestors)
WORD_OF(record_is_mesh_class, mesh_classes)
WORD_OF(record_is_phase, names_phases)
WORD_OF(record_is_partners, names_partners)
WORD_OF(record_is_stop, names_stops)
WORD_OF(record_is_cause, names_causes)
WORD_OF(record_is_verdict, names_verdicts)
WORD_OF(record_is_unit, units)
WORD_OF(record_is_event, events)
WORD_OF(record_is_of, ofs)
WORD_OF(record_is_part, parts)
WORD_OF(record_is_binding, bindings)
WORD_OF(record_is_why_tuned, whys_tuned)
WORD_OF(record_is_fabric, names_fabrics)
WORD_OF(record_is_transport, transports)
WORD_OF(record_is_impl, names_impls)

static int
record_is_device(const json_t *v)
{
	return names_gpu_is_device(json_string_value(v));
}

static int
record_fields_is_positive(const json_t *v)
{
	return json_is_null(v) || json_number_value(v) >= 0;
}

/* {level lo hi}, of too where the record has several headlines. */
static int
record_fields_is_interval(const json_t *v)
{
	const json_t *lo = json_object_get(v, "lo");
	const json_t *hi = json_object_get(v, "hi");
	double level = json_number_value(json_object_get(v, "level"));

	if (json_is_null(v))
		return 1;
	return json_is_number(lo) && json_is_number(hi) &&
	    json_number_value(lo) <= json_number_value(hi) && level > 0 &&
	    level <= RECORD_LEVEL_MAX;
}

/* [[index, count], ...], ascending; in all no more than a double counts. */
int
record_is_hist(const json_t *v)
{
	json_int_t last = HIST_FIRST - 1, left = HIST_COUNT_MAX;
	size_t i;
	json_t *pair;

	json_array_foreach (v, i, pair) {
		json_t *index = json_array_get(pair, 0);
		json_t *count = json_array_get(pair, 1);

		if (json_array_size(pair) != 2 || !json_is_integer(index) ||
		    !json_is_integer(count) ||
		    json_integer_value(index) <= last ||
		    json_integer_value(index) > HIST_LAST ||
		    json_integer_value(count) <= 0 ||
		    json_integer_value(count) > left)
			return 0;
		last = json_integer_value(index);
		left -= json_integer_value(count);
	}
	return 1;
}

int
record_is_buckets(const struct strict_bucket *list, size_t count)
{
	uint64_t left = HIST_COUNT_MAX;
	int last = HIST_FIRST - 1;

	for (size_t i = 0; i < count; i++) {
		if (list[i].index <= last || list[i].index > HIST_LAST ||
		    list[i].count == 0 || list[i].count > left)
			return 0;
		last = list[i].index;
		left -= list[i].count;
	}
	return 1;
}

static int
record_fields_is_node(const json_t *v)
{
	return json_is_string(v) &&
	    hostlist_name_check(json_string_value(v)) == 0;
}

static int
record_fields_is_number_or_null(const json_t *v)
{
	return v == NULL || json_is_null(v) || json_is_number(v);
}

/* Read once from member to member: a record has hundreds of nodes, and a key
 * that is looked up is hashed. */
static int
record_fields_is_node_row(json_t *row)
{
	static const char *const numbers[] = { "p50", "p99", "q25", "q75",
		"wait_ratio" };
	int has_node = 0, has_n = 0;
	const char *key;
	json_t *v;

	json_object_foreach (row, key, v) {
		if (strcmp(key, "node") == 0)
			has_node = record_fields_is_node(v);
		else if (strcmp(key, "n") == 0)
			has_n = json_is_integer(v);
		else if (!record_fields_is_number_or_null(v) &&
		    STR_FIND(numbers, key) >= 0)
			return 0;
	}
	return has_node && has_n;
}

static int
record_fields_is_node_list(const json_t *v)
{
	size_t i;
	json_t *row;

	if (json_array_size(v) > HOSTLIST_MAX)
		return 0;
	json_array_foreach (v, i, row)
		if (!record_fields_is_node_row(row))
			return 0;
	return 1;
}

static int
record_fields_is_pair_list(const json_t *v)
{
	size_t i;
	json_t *n;

	if (json_array_size(v) > RECORD_PAIRS_MAX)
		return 0;
	json_array_foreach (v, i, n)
		if (!record_fields_is_node(json_object_get(n, "a")) ||
		    !record_fields_is_node(json_object_get(n, "b")) ||
		    !json_is_integer(json_object_get(n, "n")) ||
		    !record_fields_is_number_or_null(
			json_object_get(n, "p50")) ||
		    !record_fields_is_number_or_null(
			json_object_get(n, "forth")) ||
		    !record_fields_is_number_or_null(
			json_object_get(n, "back")))
			return 0;
	return 1;
}

/* {nodes, p50}: names, and the half of a symmetric matrix below its middle. */
static int
record_fields_is_grid(const json_t *v)
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
			if (!record_fields_is_number_or_null(x))
				return 0;
	}
	return 1;
}

/* Guards before a buffer have negative offsets. */
static int
record_fields_is_offset(const json_t *v)
{
	return json_is_integer(v);
}

/* [[seconds, slowest rank], ...] in the order in which they were taken. */
static int
record_fields_is_samples(const json_t *v)
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
record_fields_is_plan_nodes(const json_t *v)
{
	size_t i;
	json_t *n;

	if (json_array_size(v) > HOSTLIST_MAX)
		return 0;
	json_array_foreach (v, i, n)
		if (!record_fields_is_node(json_object_get(n, "node")) ||
		    !record_fields_is_number_or_null(
			json_object_get(n, "seconds")) ||
		    !record_fields_is_number_or_null(
			json_object_get(n, "predicted")) ||
		    !record_fields_is_number_or_null(
			json_object_get(n, "ratio")))
			return 0;
	return 1;
}

/* [{rail ... nodes: [{node ratio}, ...]}, ...] */
static int
record_fields_is_rails(const json_t *v)
{
	size_t i;
	json_t *rail;

	json_array_foreach (v, i, rail)
		if (!json_is_integer(json_object_get(rail, "rail")) ||
		    (json_object_get(rail, "nodes") != NULL &&
			!record_fields_is_plan_nodes(
			    json_object_get(rail, "nodes"))))
			return 0;
	return 1;
}

/* [{words predicted seconds}, ...] */
static int
record_fields_is_tried(const json_t *v)
{
	size_t i;
	json_t *o;

	json_array_foreach (v, i, o)
		if (!json_is_string(json_object_get(o, "words")) ||
		    !record_fields_is_number_or_null(
			json_object_get(o, "predicted")) ||
		    !record_fields_is_number_or_null(
			json_object_get(o, "seconds")))
			return 0;
	return 1;
}

/* {wanted library transport devices seen_bytes wanted_bytes verdict text}, of
 * which only the first is always known. */
static int
record_fields_is_carried(const json_t *v)
{
	const json_t *wanted = json_object_get(v, "wanted"), *x;
	const json_t *transport = json_object_get(v, "transport");
	const json_t *library = json_object_get(v, "library");
	const json_t *devices = json_object_get(v, "devices");
	size_t i;

	if (!json_is_string(wanted) || !record_is_fabric(wanted) ||
	    (transport != NULL &&
		(!json_is_string(transport) ||
		    !record_is_transport(transport))) ||
	    (library != NULL && !json_is_string(library)) ||
	    (devices != NULL && !json_is_array(devices)) ||
	    !record_fields_is_number_or_null(
		json_object_get(v, "seen_bytes")) ||
	    !record_fields_is_number_or_null(
		json_object_get(v, "wanted_bytes")))
		return 0;
	json_array_foreach (devices, i, x)
		if (!json_is_string(x))
			return 0;
	return 1;
}

/* [{nodes local cores numa}, ...] */
static int
record_fields_is_bound(const json_t *v)
{
	static const char *const texts[] = { "nodes", "cores", "numa" };
	size_t i;
	json_t *o;

	if (json_array_size(v) > HOSTLIST_MAX)
		return 0;
	json_array_foreach (v, i, o) {
		if (!json_is_integer(json_object_get(o, "local")))
			return 0;
		for (size_t k = 0; k < ARRAY_LEN(texts); k++)
			if (!json_is_string(json_object_get(o, texts[k])))
				return 0;
	}
	return 1;
}

/* clang-format off */
#define CARRIED       { "carried", 'o', record_fields_is_carried, 1 }
#define NUMBER(name)  { name, 'N', record_fields_is_positive, 0 }
#define STATISTICS    NUMBER("mean"), NUMBER("min"), NUMBER("p50"), \
	NUMBER("p90"), NUMBER("p99"), NUMBER("p999"), NUMBER("max")
/* Memory of a GPU, and by what messages went; absent: of the host, by MPI. */
#define ON_DEVICE     { "device", 's', record_is_device, 1 }, \
	{ "via", 's', NULL, 1 }, { "impl", 's', record_is_impl, 1 }, \
	{ "staging", 's', NULL, 1 }
#define LAST          { NULL, 0, NULL, 0 }
/* clang-format on */

static const struct record_field begin_fields[] = {
	{ "version", 's', NULL, 0 },
	{ "mpi", 's', NULL, 0 },
	{ "nodes", 'a', NULL, 0 },
	{ "roles", '*', NULL, 0 },
	{ "seed", 'i', NULL, 0 },
	{ "options", '*', NULL, 0 },
	{ "affinity", 'a', record_fields_is_bound, 1 },
	{ "networks", 'a', NULL, 1 },
	{ "device_name", 's', NULL, 1 },
	ON_DEVICE,
	CARRIED,
	LAST,
};
static const struct record_field phase_fields[] = {
	{ "event", 's', record_is_event, 0 },
	{ "phase", 's', record_is_phase, 0 },
	{ "visit", 'i', NULL, 0 },
	{ "visits", 'i', NULL, 0 },
	LAST,
};
static const struct record_field progress_fields[] = {
	LAST,
};
static const struct record_field round_fields[] = {
	{ "test", 's', record_is_test, 0 },
	{ "phase", 's', record_is_phase, 0 },
	LAST,
};
static const struct record_field canary_fields[] = {
	{ "test", 's', record_is_test, 0 },
	{ "phase", 's', record_is_phase, 0 },
	{ "unit", 's', record_is_unit, 0 },
	{ "n", 'i', NULL, 0 },
	STATISTICS,
	{ "rings", 'o', NULL, 1 },
	{ "p99_time", 'N', record_fields_is_positive, 1 },
	{ "p01_time", 'N', record_fields_is_positive, 1 },
	{ "interval", 'O', record_fields_is_interval, 0 },
	{ "hist", 'a', record_is_hist, 0 },
	{ "nodes", 'a', record_fields_is_node_list, 0 },
	{ "scores", 'o', record_scores_check, 1 },
	{ "pairs", 'a', record_fields_is_pair_list, 0 },
	{ "grid", 'O', record_fields_is_grid, 1 },
	{ "stopped_by", 's', record_is_stop, 0 },
	{ "rounds", 'i', NULL, 0 },
	{ "seed", 'i', NULL, 0 },
	{ "partners", 's', record_is_partners, 1 },
	{ "cause", 's', record_is_cause, 1 },
	{ "bytes", 'i', NULL, 1 },
	ON_DEVICE,
	CARRIED,
	LAST,
};
static const struct record_field command_fields[] = {
	{ "phase", 's', record_is_phase, 0 },
	{ "visit", 'i', NULL, 0 },
	{ "run_number", 'i', NULL, 0 },
	{ "node", 's', record_fields_is_node, 0 },
	NUMBER("seconds"),
	{ "verdict", 's', record_is_verdict, 0 },
	{ "status", 'i', NULL, 0 },
	{ "cause", 's', record_is_cause, 1 },
	{ "text", 's', NULL, 1 },
	LAST,
};
static int
record_fields_is_share(const json_t *v)
{
	return json_number_value(v) >= 0 && json_number_value(v) <= 1;
}

/* A congestor has no ring, so the members about partners are optional. */
static const struct record_field congestor_fields[] = {
	{ "busy", 'n', record_fields_is_share, 1 },
	{ "test", 's', record_is_congestor, 0 },
	{ "phase", 's', record_is_phase, 0 },
	{ "unit", 's', record_is_unit, 0 },
	{ "n", 'i', NULL, 0 },
	STATISTICS,
	{ "interval", 'O', record_fields_is_interval, 1 },
	{ "hist", 'a', record_is_hist, 0 },
	{ "nodes", 'a', record_fields_is_node_list, 1 },
	{ "pairs", 'a', record_fields_is_pair_list, 1 },
	{ "stopped_by", 's', record_is_stop, 1 },
	{ "rounds", 'i', NULL, 1 },
	{ "seed", 'i', NULL, 1 },
	{ "cause", 's', record_is_cause, 1 },
	ON_DEVICE,
	CARRIED,
	LAST,
};
static const struct record_field impact_fields[] = {
	{ "test", 's', record_is_test, 0 },
	{ "of", 's', record_is_of, 0 },
	{ "value", 'N', record_fields_is_positive, 0 },
	{ "interval", 'O', record_fields_is_interval, 0 },
	{ "cause", 's', record_is_cause, 1 },
	{ "bytes", 'i', NULL, 1 },
	ON_DEVICE,
	CARRIED,
	LAST,
};
/* A plan that was run: group, stripe, self, sparse, collective. Without a
 * measurement n is 0, statistics are null, and there is a cause. */
static const struct record_field plan_fields[] = {
	{ "plan", 's', NULL, 0 },
	{ "of", 's', record_is_part, 0 },
	{ "step", 'i', NULL, 1 },
	{ "unit", 's', record_is_unit, 0 },
	{ "n", 'i', NULL, 0 },
	STATISTICS,
	{ "hist", 'a', record_is_hist, 0 },
	{ "median_upper", 'N', record_fields_is_positive, 1 },
	{ "median_middle", 'N', record_fields_is_positive, 1 },
	{ "interval", 'O', record_fields_is_interval, 1 },
	{ "samples", 'a', record_fields_is_samples, 1 },
	{ "stopped_by", 's', record_is_stop, 1 },
	{ "device", 's', NULL, 1 },
	{ "via", 's', NULL, 1 },
	{ "bytes", 'i', NULL, 1 },
	{ "footprint_bytes", 'i', NULL, 1 },
	{ "messages", 'i', NULL, 1 },
	{ "bandwidth", 'O', NULL, 1 },
	{ "memory_bytes_per_s", 'N', record_fields_is_positive, 1 },
	{ "machine", 's', NULL, 1 },
	{ "predicted", 'N', record_fields_is_positive, 1 },
	{ "pattern", 's', NULL, 1 },
	{ "direction", 's', NULL, 1 },
	{ "k", 'i', NULL, 1 },
	{ "groups", 'i', NULL, 1 },
	{ "node_bandwidth", 'N', record_fields_is_positive, 1 },
	{ "rated", 'N', record_fields_is_positive, 1 },
	{ "rated_ratio", 'N', record_fields_is_positive, 1 },
	{ "model", 'N', record_fields_is_positive, 1 },
	{ "ratio", 'N', record_fields_is_positive, 1 },
	{ "nodes", 'a', record_fields_is_plan_nodes, 1 },
	{ "rails", 'a', record_fields_is_rails, 1 },
	{ "cause", 's', record_is_cause, 1 },
	{ "text", 's', NULL, 1 },
	CARRIED,
	LAST,
};
/* The result over all steps of a plan: which device is bound to which NIC. */
static const struct record_field fit_fields[] = {
	{ "of", 's', NULL, 0 },
	{ "plan", 's', NULL, 0 },
	{ "pattern", 's', NULL, 0 },
	{ "g", 'i', NULL, 0 },
	{ "binding", 's', record_is_binding, 0 },
	{ "p", 'i', NULL, 1 },
	{ "r", 'i', NULL, 1 },
	NUMBER("nic_bytes_per_s"),
	NUMBER("residual"),
	NUMBER("tolerance"),
	{ "packed", 'o', NULL, 0 },
	{ "round_robin", 'o', NULL, 0 },
	{ "profile", 'a', NULL, 0 },
	{ "rails", 'a', record_fields_is_rails, 0 },
	{ "verdict", 's', NULL, 0 },
	{ "text", 's', NULL, 0 },
	LAST,
};
/* A plan against another way to do the same. */
static const struct record_field speedup_fields[] = {
	{ "of", 's', NULL, 0 },
	{ "plan", 's', NULL, 0 },
	{ "baseline", 's', NULL, 0 },
	{ "n", 'i', NULL, 0 },
	NUMBER("value"),
	{ "interval", 'O', record_fields_is_interval, 0 },
	{ "seconds", 'N', record_fields_is_positive, 1 },
	{ "baseline_seconds", 'N', record_fields_is_positive, 1 },
	{ "setup_s", 'N', record_fields_is_positive, 1 },
	{ "baseline_setup_s", 'N', record_fields_is_positive, 1 },
	{ "collective", 's', NULL, 1 },
	{ "throughput", 'N', record_fields_is_positive, 1 },
	{ "baseline_throughput", 'N', record_fields_is_positive, 1 },
	{ "baseline_impl", 's', NULL, 1 },
	{ "bound", 'N', record_fields_is_positive, 1 },
	{ "bound_ratio", 'N', record_fields_is_positive, 1 },
	{ "bound_exceeded", 'N', record_fields_is_positive, 1 },
	{ "ranks", 'i', NULL, 1 },
	{ "bytes", 'i', NULL, 1 },
	{ "edges", 'i', NULL, 1 },
	{ "density", 'N', record_fields_is_positive, 1 },
	{ "byte_ratio", 'N', record_fields_is_positive, 1 },
	{ "byte_ratio_expected", 'N', record_fields_is_positive, 1 },
	{ "load_bound", 'N', record_fields_is_positive, 1 },
	{ "order", 's', NULL, 1 },
	{ "pattern", 's', NULL, 1 },
	{ "scope", 's', NULL, 1 },
	{ "stripes", 'i', NULL, 1 },
	{ "pair_class", 's', NULL, 1 },
	{ "model_ratio", 'N', record_fields_is_positive, 1 },
	{ "stated_ratio", 'N', record_fields_is_positive, 1 },
	{ "choice", 's', NULL, 1 },
	{ "ways", 'a', NULL, 1 },
	{ "verdict", 's', NULL, 1 },
	{ "efficiency", 'N', record_fields_is_positive, 1 },
	{ "g", 'i', NULL, 1 },
	{ "via", 's', NULL, 1 },
	{ "steps_seconds", 'N', record_fields_is_positive, 1 },
	{ "rails", 'a', record_fields_is_rails, 1 },
	{ "wire", 'a', record_fields_is_plan_nodes, 1 },
	{ "cause", 's', record_is_cause, 1 },
	{ "text", 's', NULL, 1 },
	CARRIED,
	LAST,
};
/* A product of a sparse and a dense matrix. */
static const struct record_field spmm_fields[] = {
	{ "plan", 's', NULL, 0 },
	{ "baseline", 's', NULL, 0 },
	{ "n", 'i', NULL, 0 },
	NUMBER("value"),
	NUMBER("steady_value"),
	{ "interval", 'O', record_fields_is_interval, 0 },
	{ "order", 's', NULL, 1 },
	{ "rows", 'i', NULL, 1 },
	{ "nonzeros", 'i', NULL, 1 },
	{ "columns", 'i', NULL, 1 },
	{ "seconds", 'N', record_fields_is_positive, 1 },
	{ "baseline_seconds", 'N', record_fields_is_positive, 1 },
	{ "setup_s", 'N', record_fields_is_positive, 1 },
	{ "baseline_setup_s", 'N', record_fields_is_positive, 1 },
	{ "repay", 'N', record_fields_is_positive, 1 },
	{ "cause", 's', record_is_cause, 1 },
	{ "text", 's', NULL, 1 },
	CARRIED,
	LAST,
};
/* Why a collective has its shape. */
static const struct record_field tuning_fields[] = {
	{ "machine", 's', NULL, 0 },
	{ "asked", 's', NULL, 0 },
	{ "ranks", 'i', NULL, 0 },
	{ "class", 'i', NULL, 0 },
	{ "bytes", 'i', NULL, 0 },
	{ "why", 's', record_is_why_tuned, 0 },
	{ "choice", 's', NULL, 0 },
	{ "tried", 'a', record_fields_is_tried, 0 },
	{ "measured_unix_s", 'i', NULL, 0 },
	LAST,
};
/* The measured machine description. */
static const struct record_field machine_fields[] = {
	{ "machine", 's', NULL, 0 },
	{ "ranks", 'i', NULL, 0 },
	{ "nodes", 'i', NULL, 0 },
	{ "ranks_per_node", 'i', NULL, 0 },
	NUMBER("step_s"),
	NUMBER("memory_bytes_per_s"),
	{ "ways", 'a', NULL, 0 },
	LAST,
};
/* A wrong byte. */
static const struct record_field bad_fields[] = {
	{ "of", 's', NULL, 0 },
	{ "plan", 's', NULL, 0 },
	{ "verdict", 's', NULL, 0 },
	{ "cause", 's', record_is_cause, 0 },
	{ "when", 's', NULL, 0 },
	{ "rank", 'i', NULL, 0 },
	{ "node", 's', record_fields_is_node, 0 },
	{ "buffer", 's', NULL, 0 },
	{ "offset", '*', record_fields_is_offset, 0 },
	{ "text", 's', NULL, 0 },
	LAST,
};
/* Made by the collector of many agents' reports. */
static const struct record_field mesh_fields[] = {
	{ "test", 's', record_is_mesh_class, 0 },
	{ "phase", 's', record_is_phase, 0 },
	{ "unit", 's', record_is_unit, 0 },
	{ "epoch", 'i', NULL, 0 },
	{ "n", 'i', NULL, 0 },
	{ "lost", 'i', NULL, 0 },
	{ "unknown", 'i', NULL, 0 },
	{ "unsent", 'i', NULL, 0 },
	STATISTICS,
	{ "interval", 'O', record_fields_is_interval, 0 },
	{ "hist", 'a', record_is_hist, 0 },
	{ "nodes", 'a', record_fields_is_node_list, 0 },
	{ "pairs", 'a', record_fields_is_pair_list, 0 },
	{ "reports", 'i', NULL, 0 },
	{ "seed", 'i', NULL, 0 },
	{ "cause", 's', record_is_cause, 1 },
	LAST,
};
static const struct record_field end_fields[] = {
	{ "records", 'i', NULL, 0 },
	{ "status", 's', NULL, 0 },
	{ "cause", 's', record_is_cause, 1 },
	{ "text", 's', NULL, 1 },
	LAST,
};

static const struct record_kind kinds[] = {
	{ "begin", begin_fields, 1 },
	{ "phase", phase_fields, 1 },
	{ "progress", progress_fields, 0 },
	{ "round", round_fields, 1 },
	{ "canary", canary_fields, 1 },
	{ "command", command_fields, 1 },
	{ "congestor", congestor_fields, 1 },
	{ "impact", impact_fields, 1 },
	{ "fit", fit_fields, 1 },
	{ "machine", machine_fields, 1 },
	{ "tuning", tuning_fields, 1 },
	{ "speedup", speedup_fields, 1 },
	{ "spmm", spmm_fields, 1 },
	{ "concurrent", plan_fields, 1 },
	{ "bad", bad_fields, 1 },
	{ "mesh", mesh_fields, 1 },
	{ "end", end_fields, 1 },
};

/* Of every probe in schema/patterns.c that has no row above. */
static const struct record_kind plan_kind = { "", plan_fields, 1 };

const struct record_kind *
record_kind_find(const char *probe)
{
	int i = STR_FIND(kinds, probe);

	if (i >= 0)
		return &kinds[i];
	return options_is_plan(probe) ? &plan_kind : NULL;
}
