/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/record_value.h"

#include <string.h>

#include "common/hist.h"
#include "common/hostlist.h"
#include "common/str.h"
#include "schema/mesh.h"
#include "schema/names.h"
#include "schema/record.h"

static int
in_words(const char *const *words, size_t count, const json_t *v)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(words[i], json_string_value(v)) == 0)
			return 1;
	return 0;
}

int
record_is_test(const json_t *v)
{
	return names_test_find(json_string_value(v)) >= 0;
}

int
record_is_congestor(const json_t *v)
{
	return names_congestor_find(json_string_value(v)) >= 0;
}

int
record_is_mesh_class(const json_t *v)
{
	return mesh_class_find(json_string_value(v)) >= 0;
}

int
record_is_phase(const json_t *v)
{
	return in_words(names_phases, PHASE_MAX, v);
}

int
record_is_partners(const json_t *v)
{
	return in_words(names_partners, PARTNERS_MAX, v);
}

int
record_is_stop(const json_t *v)
{
	return in_words(names_stops, STOP_MAX, v);
}

int
record_is_cause(const json_t *v)
{
	return names_cause_find(json_string_value(v)) >= 0;
}

int
record_is_verdict(const json_t *v)
{
	return in_words(names_verdicts, VERDICT_MAX, v);
}

int
record_is_unit(const json_t *v)
{
	static const char *const units[] = { "s", "B/s" };

	return in_words(units, ARRAY_LEN(units), v);
}

int
record_is_event(const json_t *v)
{
	static const char *const events[] = { "begin", "end" };

	return in_words(events, ARRAY_LEN(events), v);
}

int
record_is_of(const json_t *v)
{
	static const char *const ofs[] = { "mean", "p99" };

	return in_words(ofs, ARRAY_LEN(ofs), v);
}

int
record_is_positive(const json_t *v)
{
	return json_is_null(v) || json_number_value(v) >= 0;
}

/* {level lo hi}, of too where the record has several headlines. */
int
record_is_interval(const json_t *v)
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
int
record_is_hist(const json_t *v)
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

int
record_is_node(const json_t *v)
{
	return json_is_string(v) &&
	    hostlist_name_check(json_string_value(v)) == 0;
}

static int
is_number_or_null(const json_t *v)
{
	return v == NULL || json_is_null(v) || json_is_number(v);
}

int
record_is_node_list(const json_t *v)
{
	size_t i;
	json_t *n;

	if (json_array_size(v) > HOSTLIST_MAX)
		return 0;
	json_array_foreach (v, i, n)
		if (!record_is_node(json_object_get(n, "node")) ||
		    !json_is_integer(json_object_get(n, "n")) ||
		    !is_number_or_null(json_object_get(n, "p50")) ||
		    !is_number_or_null(json_object_get(n, "p99")) ||
		    !is_number_or_null(json_object_get(n, "q25")) ||
		    !is_number_or_null(json_object_get(n, "q75")) ||
		    !is_number_or_null(json_object_get(n, "wait_ratio")))
			return 0;
	return 1;
}

int
record_is_pair_list(const json_t *v)
{
	size_t i;
	json_t *n;

	if (json_array_size(v) > RECORD_PAIRS_MAX)
		return 0;
	json_array_foreach (v, i, n)
		if (!record_is_node(json_object_get(n, "a")) ||
		    !record_is_node(json_object_get(n, "b")) ||
		    !json_is_integer(json_object_get(n, "n")) ||
		    !is_number_or_null(json_object_get(n, "p50")))
			return 0;
	return 1;
}

/* {nodes, p50}: names, and the half of a symmetric matrix below its middle. */
int
record_is_grid(const json_t *v)
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

int
record_is_part(const json_t *v)
{
	static const char *const parts[] = { "whole", "step", "concurrent" };

	return in_words(parts, ARRAY_LEN(parts), v);
}

/* Guards before a buffer have negative offsets. */
int
record_is_offset(const json_t *v)
{
	return json_is_integer(v);
}

/* [[seconds, slowest rank], ...] in the order in which they were taken. */
int
record_is_samples(const json_t *v)
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
int
record_is_plan_nodes(const json_t *v)
{
	size_t i;
	json_t *n;

	if (json_array_size(v) > HOSTLIST_MAX)
		return 0;
	json_array_foreach (v, i, n)
		if (!record_is_node(json_object_get(n, "node")) ||
		    !is_number_or_null(json_object_get(n, "seconds")) ||
		    !is_number_or_null(json_object_get(n, "predicted")) ||
		    !is_number_or_null(json_object_get(n, "ratio")))
			return 0;
	return 1;
}

/* [{rail ... nodes: [{node ratio}, ...]}, ...] */
int
record_is_rails(const json_t *v)
{
	size_t i;
	json_t *rail;

	json_array_foreach (v, i, rail)
		if (!json_is_integer(json_object_get(rail, "rail")) ||
		    (json_object_get(rail, "nodes") != NULL &&
			!record_is_plan_nodes(json_object_get(rail, "nodes"))))
			return 0;
	return 1;
}

int
record_is_binding(const json_t *v)
{
	static const char *const words[] = { "packed", "round-robin",
		"dynamic" };

	return in_words(words, ARRAY_LEN(words), v);
}

/* [{words predicted seconds}, ...] */
int
record_is_tried(const json_t *v)
{
	size_t i;
	json_t *o;

	json_array_foreach (v, i, o)
		if (!json_is_string(json_object_get(o, "words")) ||
		    !is_number_or_null(json_object_get(o, "predicted")) ||
		    !is_number_or_null(json_object_get(o, "seconds")))
			return 0;
	return 1;
}

int
record_is_why_tuned(const json_t *v)
{
	static const char *const words[] = { "measured", "remembered",
		"predicted" };

	return in_words(words, ARRAY_LEN(words), v);
}
