/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scores.c - values keep four digits: enough to compare nodes, and few enough
 * for 10,000 of them in one line.
 */
#include "schema/scores.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

static void
scores_add(struct record_scores *s, const char *node, const json_t *q)
{
	double value = json_is_number(q) ? json_number_value(q) : NAN;

	if (node == NULL || !(value > 0))
		return;
	s->list[s->count].node = node;
	s->list[s->count++].q = value;
}

void
record_scores_read(const json_t *record, const char *key,
    struct record_scores *ret)
{
	const json_t *scores = json_object_get(record, "scores");
	const json_t *q = json_object_get(scores, key);
	const char *hosts = json_string_value(json_object_get(scores, "hosts"));
	const json_t *rows = json_object_get(record, "nodes"), *row;
	size_t i;

	memset(ret, 0, sizeof(*ret));
	if (hosts == NULL || hostlist_parse(hosts, &ret->hosts, NULL) < 0 ||
	    ret->hosts.count != json_array_size(q)) {
		ret->list = xcalloc(json_array_size(rows) + 1,
		    sizeof(*ret->list));
		json_array_foreach (rows, i, row)
			scores_add(ret,
			    json_string_value(json_object_get(row, "node")),
			    json_object_get(row, key));
		return;
	}
	ret->list = xcalloc(ret->hosts.count + 1, sizeof(*ret->list));
	for (i = 0; i < ret->hosts.count; i++)
		scores_add(ret, ret->hosts.names[i], json_array_get(q, i));
}

void
record_scores_clear(struct record_scores *s)
{
	free(s->list);
	hostlist_clear(&s->hosts);
	memset(s, 0, sizeof(*s));
}

static json_t *
scores_short_number(double q)
{
	char text[32];

	if (!isfinite(q))
		return json_null();
	snprintf(text, sizeof(text), "%.3e", q);
	return json_real(strtod(text, NULL));
}

/* The order is that in which the folded list is read again. */
json_t *
record_scores_make(const char *const *names, const double *q, size_t count,
    const char *key)
{
	json_t *values = json_array(), *index = json_object();
	char *hosts = hostlist_format(names, count);
	struct hostlist hl = { 0 };

	for (size_t i = 0; i < count; i++)
		json_object_set_new(index, names[i],
		    json_integer((json_int_t)i));
	if (hostlist_parse(hosts, &hl, NULL) == 0)
		for (size_t i = 0; i < hl.count; i++)
			json_array_append_new(values,
			    scores_short_number(q[json_integer_value(
				json_object_get(index, hl.names[i]))]));
	json_decref(index);
	hostlist_clear(&hl);
	index = json_pack("{s:s, s:o}", "hosts", hosts, key, values);
	free(hosts);
	return index;
}

static int
scores_is_values(const json_t *v, size_t count)
{
	const json_t *q;
	size_t i;

	if (!json_is_array(v) || json_array_size(v) != count)
		return 0;
	json_array_foreach (v, i, q)
		if (!json_is_number(q) && !json_is_null(q))
			return 0;
	return 1;
}

int
record_scores_check(const json_t *v)
{
	const char *hosts = json_string_value(json_object_get(v, "hosts"));
	const json_t *q = json_object_get(v, "q25");
	struct hostlist hl = { 0 };
	int good;

	if (hosts == NULL || hostlist_parse(hosts, &hl, NULL) < 0)
		return 0;
	good = scores_is_values(q != NULL ? q : json_object_get(v, "q75"),
	    hl.count);
	hostlist_clear(&hl);
	return good;
}
