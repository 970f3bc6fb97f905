/* SPDX-License-Identifier: Apache-2.0 */
/*
 * differences.c - values are counted by kind and setting. Most nodes share the
 * object of their settings with others (roster_inventory_share); each object is
 * then counted and compared only once.
 */
#include "daemon/cluster/differences.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/member.h"
#include "common/str.h"
#include "common/text.h"
#include "common/utf8.h"
#include "common/xalloc.h"

#define KIND_BYTES      400
#define NAME_BYTES_MAX  100 /* bytes; longer names, and values, are skipped */
#define VALUE_BYTES_MAX 300
#define SETTINGS_MAX    500   /* of a node; agents send fewer */
#define ROWS_MAX        10000 /* of the answer */
#define OPEN_MAX        200
#define RECENT          256 /* objects of settings among which one is looked up */

/* Nodes of one kind with the same settings. */
struct group {
	/* Of the counts: {setting: {value: nodes}}, in the end {setting:
	 * [usual, have, of]}, null without a majority. */
	json_t *kind;
	const char *kind_name; /* key of the counts */
	const json_t *settings;
	json_int_t nodes;
};

struct differences {
	json_t *counts; /* by kind */
	json_t *sizes;  /* nodes of each kind */
	struct group *groups;
	size_t group_count;
	struct row {
		const char *node, *leaf;
		size_t group;
	} * rows;
	size_t row_count;
};

struct differences *
differences_new(void)
{
	struct differences *d = xcalloc(1, sizeof(*d));

	d->counts = json_object();
	d->sizes = json_object();
	return d;
}

/* Add the models of a list, each once, in the order of text. */
static void
differences_models(const json_t *inventory, const char *list, char *ret,
    size_t cap_bytes)
{
	json_t *set = json_object(), *o;
	const char *last = "", *best, *model;
	size_t i, len = 0;

	ret[0] = '\0';
	member_foreach (inventory, list, i, o)
		if (member_text(o, "model")[0] != '\0')
			json_object_set_new(set, member_text(o, "model"),
			    json_true());
	do {
		best = NULL;
		json_object_foreach (set, model, o)
			if (strcmp(model, last) > 0 &&
			    (best == NULL || strcmp(model, best) < 0))
				best = model;
		if (best != NULL && len + 20 < cap_bytes)
			len += (size_t)snprintf(ret + len, cap_bytes - len,
			    "%s%.16s", len > 0 ? " " : "", best);
		last = best;
	} while (best != NULL);
	json_decref(set);
}

static void
differences_kind(const json_t *inventory, char ret[KIND_BYTES])
{
	size_t gpus = json_array_size(json_object_get(inventory, "gpus"));
	const char *cpu = member_text(inventory, "cpu");
	char nics[120], models[100], count[48] = "";

	differences_models(inventory, "nics", nics, sizeof(nics));
	differences_models(inventory, "gpus", models, sizeof(models));
	if (gpus > 0)
		snprintf(count, sizeof(count), ", GPUs %zu ", gpus);
	utf8_format(ret, KIND_BYTES, "%.80s%s%s%s%s",
	    cpu[0] != '\0' ? cpu : "unknown CPU",
	    nics[0] != '\0' ? ", NICs " : "", nics, count, models);
}

/* Return the value of a setting if it can be compared, or NULL. */
static const char *
differences_value(const char *setting, const json_t *value)
{
	const char *text = json_string_value(value);

	return text != NULL && text[0] != '\0' &&
		strlen(text) <= VALUE_BYTES_MAX &&
		strlen(setting) <= NAME_BYTES_MAX
	    ? text
	    : NULL;
}

static void
differences_count(const struct group *g)
{
	const char *setting, *text;
	json_t *value, *values;
	size_t count = 0;

	json_object_foreach ((json_t *)(uintptr_t)g->settings, setting, value) {
		text = differences_value(setting, value);
		if (text == NULL || ++count > SETTINGS_MAX)
			continue;
		values = json_object_get(g->kind, setting);
		if (values == NULL) {
			values = json_object();
			json_object_set_new(g->kind, setting, values);
		}
		json_object_set_new(values, text,
		    json_integer(member_int(values, text) + g->nodes));
	}
}

void
differences_add(struct differences *d, const char *node, const char *leaf,
    const json_t *inventory)
{
	const json_t *settings = json_object_get(inventory, "settings");
	char kind[KIND_BYTES];
	size_t g = d->group_count, last;

	if (!json_is_object(settings) || json_object_size(settings) == 0)
		return;
	differences_kind(inventory, kind);
	last = g > RECENT ? g - RECENT : 0;
	while (g > last &&
	    (d->groups[g - 1].settings != settings ||
		strcmp(d->groups[g - 1].kind_name, kind) != 0))
		g--;
	if (g == last) {
		if (json_object_get(d->counts, kind) == NULL)
			json_object_set_new(d->counts, kind, json_object());
		g = ++d->group_count;
		d->groups = xmore(d->groups, g - 1, sizeof(*d->groups));
		d->groups[g - 1] = (struct group){
			.kind = json_object_get(d->counts, kind),
			.settings = settings
		};
		d->groups[g - 1].kind_name = json_object_iter_key(
		    json_object_iter_at(d->counts, kind));
	}
	d->groups[g - 1].nodes++;
	json_object_set_new(d->sizes, kind,
	    json_integer(member_int(d->sizes, kind) + 1));
	d->rows = xmore(d->rows, d->row_count, sizeof(*d->rows));
	d->rows[d->row_count++] = (struct row){ node, leaf, g - 1 };
}

/* Find the most frequent of values, and how many nodes have any. Return 1 if it
 * has the majority. */
static int
differences_usual(const json_t *values, const char **ret_usual,
    json_int_t *ret_have, json_int_t *ret_of)
{
	json_t *count;
	const char *value;

	*ret_usual = "";
	*ret_have = *ret_of = 0;
	json_object_foreach ((json_t *)(uintptr_t)values, value, count) {
		*ret_of += json_integer_value(count);
		if (json_integer_value(count) > *ret_have) {
			*ret_have = json_integer_value(count);
			*ret_usual = value;
		}
	}
	return *ret_of >= DIFFERENCES_LEAST && 2 * *ret_have > *ret_of;
}

/* Replace the counts of each setting by its majority, so that each value is
 * looked at once. Return the settings of enough nodes without a majority. */
static json_t *
differences_judge(json_t *counts)
{
	json_t *open = json_array(), *kind, *values;
	const char *name, *usual;
	json_int_t have, of;
	void *i;

	json_object_foreach (counts, name, kind)
		for (i = json_object_iter(kind); i != NULL;
		     i = json_object_iter_next(kind, i)) {
			int found;

			values = json_object_iter_value(i);
			found = differences_usual(values, &usual, &have, &of);
			if (!found && of >= DIFFERENCES_LEAST &&
			    json_array_size(open) < OPEN_MAX)
				json_array_append_new(open,
				    json_pack("{s:s, s:s, s:i}", "kind", name,
					"setting", json_object_iter_key(i),
					"values",
					(int)json_object_size(values)));
			json_object_iter_set_new(kind, i,
			    found ? json_pack("[s, I, I]", usual, have, of)
				  : json_null());
		}
	return open;
}

/* Return the differences of a group: [{kind setting value usual have of}]. */
static json_t *
differences_of(const struct group *g)
{
	const char *setting, *text, *usual;
	json_t *list = json_array(), *value;
	size_t count = 0;

	json_object_foreach ((json_t *)(uintptr_t)g->settings, setting, value) {
		const json_t *most = json_object_get(g->kind, setting);

		text = differences_value(setting, value);
		usual = json_string_value(json_array_get(most, 0));
		if (text == NULL || ++count > SETTINGS_MAX || usual == NULL ||
		    strcmp(text, usual) == 0)
			continue;
		json_array_append_new(list,
		    json_pack("{s:s, s:o, s:o, s:O, s:O, s:O}", "kind",
			g->kind_name, "setting", text_json(setting), "value",
			text_json(text), "usual", json_array_get(most, 0),
			"have", json_array_get(most, 1), "of",
			json_array_get(most, 2)));
	}
	return list;
}

json_t *
differences_end(struct differences *d)
{
	json_t **of = xcalloc(d->group_count + 1, sizeof(json_t *));
	json_t *list = json_array(), *kinds = json_array(), *one, *o, *count;
	json_t *open;
	const char *kind;
	size_t i, k;

	for (i = 0; i < d->group_count; i++)
		differences_count(&d->groups[i]);
	open = differences_judge(d->counts);
	for (i = 0; i < d->group_count; i++)
		of[i] = differences_of(&d->groups[i]);
	for (i = 0; i < d->row_count; i++)
		json_array_foreach (of[d->rows[i].group], k, one) {
			if (json_array_size(list) >= ROWS_MAX)
				break;
			o = json_pack("{s:s, s:s}", "node", d->rows[i].node,
			    "leaf", d->rows[i].leaf);
			json_object_update(o, one);
			json_array_append_new(list, o);
		}
	json_object_foreach (d->sizes, kind, count)
		json_array_append_new(kinds,
		    json_pack("{s:s, s:O}", "kind", kind, "nodes", count));
	o = json_pack("{s:I, s:o, s:o, s:o}", "nodes", (json_int_t)d->row_count,
	    "kinds", kinds, "open", open, "differences", list);
	for (i = 0; i < d->group_count; i++)
		json_decref(of[i]);
	free(of);
	json_decref(d->counts);
	json_decref(d->sizes);
	free(d->groups);
	free(d->rows);
	free(d);
	return o;
}

size_t
differences_change(const json_t *before, const json_t *after, char *ret,
    size_t cap_bytes)
{
	const json_t *old = json_object_get(before, "settings"), *was;
	const char *setting;
	json_t *now;
	size_t count = 0, len = 0;
	char one[200];

	ret[0] = '\0';
	json_object_foreach (json_object_get(after, "settings"), setting, now) {
		was = json_object_get(old, setting);
		if (differences_value(setting, was) == NULL ||
		    differences_value(setting, now) == NULL ||
		    json_equal(was, now))
			continue;
		utf8_format(one, sizeof(one),
		    "%s%.60s: %.60s before, now %.60s", count > 0 ? "; " : "",
		    setting, json_string_value(was), json_string_value(now));
		if (++count <= SETTINGS_MAX && len + strlen(one) < cap_bytes)
			len += (size_t)snprintf(ret + len, cap_bytes - len,
			    "%s", one);
	}
	return count;
}
