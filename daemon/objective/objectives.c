/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objectives.c - rows of shares become node-hours of objectives and of the
 * parts that spend their budgets.
 */
#include "daemon/objective/objectives.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/hostlist.h"
#include "common/member.h"
#include "common/robust.h"
#include "common/str.h"
#include "common/text.h"
#include "common/utf8.h"
#include "common/xalloc.h"

#define NS_PER_H (3600 * CLK_NS_PER_S)
/* A row of shares is valid until the next one. While nodes are measured, a row
 * is written at least once a day. */
#define VALID_NS (25 * NS_PER_H)
/* Rows are at least 10 s apart: a slice has at most 2,160. */
#define SLICE_NS (6 * NS_PER_H)
/* Parts with a name; more bad parts than this are one outage. */
#define PARTS_MAX   1024
#define PARTS_SHOWN 100
#define ALL_PARTS   "all" /* subject, when every part is bad */
/* Bad node-hours of a part are kept in thirtieths of the window. */
#define SPANS   31
#define SPAN_OF 30
/* Rows that wait for the load: 10 minutes or more. */
#define WAITING_MAX 64
#define GAPS        9 /* the interval of rounds is the median of this many */

struct part {
	char *name;
	double hours[SPANS]; /* bad node-hours, by span */
	double nodes;        /* that are bad now; 0: the part is good */
	double share;        /* then */
};

struct entry {
	struct objective o;
	struct objective_tally *tally;
	double good, bad; /* nodes now */
	struct part *parts;
	size_t count;
	json_t *index; /* {subject: index of the part} */
	uint64_t span; /* the newest span of the parts */
};

/* Measured nodes, and their number by leaf; NULL: not counted. */
struct known {
	char *text;
	struct hostlist names;
	json_t *by_leaf;
};

struct objectives {
	struct entry list[OBJECTIVE_MAX];
	size_t count;
	struct objectives_ops ops;
	uint64_t now_unix_ns; /* up to here the time is counted; 0: nothing */
	uint64_t row_unix_ns; /* of the newest row */
	/* Nodes of the newest row: all, and the ones of the promise. */
	struct known known[OBJECTIVE_BASIS_MAX];
	/* Up to here the store is read; rows that wait for it. */
	uint64_t read_unix_ns;
	int is_loaded;
	json_t *waiting;
	uint64_t round_ns;
	double gaps[GAPS];
	size_t gap_count; /* since the start */
};

struct objectives *
objectives_new(const struct objective *list, size_t count,
    const struct objectives_ops *ops)
{
	struct objectives *os = xcalloc(1, sizeof(*os));

	os->count = count;
	os->ops = *ops;
	os->waiting = json_array();
	for (size_t i = 0; i < count; i++) {
		os->list[i].o = list[i];
		os->list[i].tally = objective_tally_new(&os->list[i].o);
		os->list[i].index = json_object();
	}
	return os;
}

void
objectives_free(struct objectives *os)
{
	if (os == NULL)
		return;
	for (size_t i = 0; i < os->count; i++) {
		struct entry *e = &os->list[i];

		for (size_t k = 0; k < e->count; k++)
			free(e->parts[k].name);
		free(e->parts);
		json_decref(e->index);
		objective_tally_free(e->tally);
	}
	for (int b = 0; b < OBJECTIVE_BASIS_MAX; b++) {
		free(os->known[b].text);
		hostlist_clear(&os->known[b].names);
		json_decref(os->known[b].by_leaf);
	}
	json_decref(os->waiting);
	free(os);
}

/* ---- parts ---- */

static double
objectives_part_hours(const struct entry *e, const struct part *p,
    uint64_t now_unix_ns)
{
	uint64_t width_ns = e->o.window_ns / SPAN_OF;
	double rest = (double)(now_unix_ns % width_ns) / (double)width_ns;
	double hours = 0;

	/* The window begins within the oldest span. */
	for (uint64_t k = 0; k < SPANS; k++)
		hours += p->hours[(e->span + SPANS - k) % SPANS] *
		    (k == SPAN_OF ? 1 - rest : 1);
	return hours;
}

/* Remove parts that are good now and were good in the whole window. */
static void
objectives_parts_prune(struct entry *e, uint64_t now_unix_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < e->count; i++) {
		if (e->parts[i].nodes == 0 &&
		    objectives_part_hours(e, &e->parts[i], now_unix_ns) == 0) {
			json_object_del(e->index, e->parts[i].name);
			free(e->parts[i].name);
			continue;
		}
		e->parts[kept] = e->parts[i];
		json_object_set_new(e->index, e->parts[kept].name,
		    json_integer((json_int_t)kept));
		kept++;
	}
	e->count = kept;
}

/* Enter the span of a time; spans that the window has left are cleared. */
static void
objectives_span_enter(struct entry *e, uint64_t unix_ns)
{
	uint64_t span = unix_ns / (e->o.window_ns / SPAN_OF);
	uint64_t from = e->span + SPANS < span ? span - SPANS : e->span;

	/* The clock may have been ahead. */
	if (span == e->span)
		return;
	for (uint64_t s = from + 1; s <= span; s++)
		for (size_t i = 0; i < e->count; i++)
			e->parts[i].hours[s % SPANS] = 0;
	e->span = span;
	objectives_parts_prune(e, unix_ns);
}

static void
objectives_parts_add(struct entry *e, uint64_t from_unix_ns,
    uint64_t to_unix_ns)
{
	uint64_t width_ns = e->o.window_ns / SPAN_OF;

	while (from_unix_ns < to_unix_ns) {
		uint64_t end_unix_ns = (from_unix_ns / width_ns + 1) * width_ns;
		double hours;

		if (end_unix_ns > to_unix_ns)
			end_unix_ns = to_unix_ns;
		objectives_span_enter(e, from_unix_ns);
		hours = (double)(end_unix_ns - from_unix_ns) / (double)NS_PER_H;
		for (size_t i = 0; i < e->count; i++)
			e->parts[i].hours[e->span % SPANS] += hours *
			    e->parts[i].nodes;
		from_unix_ns = end_unix_ns;
	}
}

static void
objectives_part_set(struct entry *e, const char *name, double nodes,
    double share)
{
	json_t *index = json_object_get(e->index, name);
	struct part *p;

	if (index == NULL) {
		if (e->count == PARTS_MAX)
			return;
		index = json_integer((json_int_t)e->count);
		json_object_set_new(e->index, name, index);
		e->parts = xreallocarray(e->parts, e->count + 1,
		    sizeof(*e->parts));
		e->parts[e->count++] = (struct part){ .name = xstrdup(name) };
	}
	p = &e->parts[json_integer_value(index)];
	p->nodes = nodes;
	p->share = share;
}

/* ---- rows ---- */

/* Count the time until now with the state of the newest row. */
static void
objectives_advance(struct objectives *os, uint64_t now_unix_ns)
{
	uint64_t end_unix_ns = os->row_unix_ns + VALID_NS;

	if (end_unix_ns > now_unix_ns)
		end_unix_ns = now_unix_ns;
	for (size_t i = 0; os->now_unix_ns < end_unix_ns && i < os->count;
	     i++) {
		struct entry *e = &os->list[i];

		objective_tally_add(e->tally, os->now_unix_ns, end_unix_ns,
		    e->good, e->bad);
		objectives_parts_add(e, os->now_unix_ns, end_unix_ns);
	}
	for (size_t i = 0; i < os->count; i++)
		objectives_span_enter(&os->list[i], now_unix_ns);
	/* Also backwards, if the clock was set back. */
	os->now_unix_ns = now_unix_ns;
}

static void
objectives_known_set(struct known *k, const char *text)
{
	if (k->text != NULL && strcmp(k->text, text) == 0)
		return;
	free(k->text);
	k->text = xstrdup(text);
	hostlist_clear(&k->names);
	if (hostlist_parse(text, &k->names, NULL) < 0)
		k->names = (struct hostlist){ 0 };
	json_decref(k->by_leaf);
	k->by_leaf = NULL;
}

/* Return the number of measured nodes by leaf. */
static const json_t *
objectives_by_leaf(const struct objectives *os, struct known *k)
{
	if (k->by_leaf != NULL)
		return k->by_leaf;
	k->by_leaf = json_object();
	for (size_t i = 0; i < k->names.count; i++) {
		const char *leaf = os->ops.leaf_of(os->ops.arg,
		    k->names.names[i]);

		json_object_set_new(k->by_leaf, leaf,
		    json_integer(member_int(k->by_leaf, leaf) + 1));
	}
	return k->by_leaf;
}

/* A row from the view of one objective. */
struct judgement {
	const struct known *known;
	const json_t *by_leaf;
	/* Rate of the typical node or leaf over the rate of the basis. */
	double factor;
	json_t *slow; /* {subject: share}, of known nodes, or of leaves */
};

/* Collect the subjects below the share. */
static void
objectives_slow_read(const struct entry *e, const json_t *row,
    struct judgement *j)
{
	const char *kind =
	    objective_classes[e->o.of == OBJECTIVE_LEAF ? OBJECTIVE_LEAF
							: OBJECTIVE_NODE];
	const json_t *o;
	size_t i;

	j->slow = json_object();
	member_foreach (row, "slow", i, o) {
		double share = member_number(o, "share") * j->factor;
		const char *subject = member_text(o, "subject");

		if (strcmp(member_text(o, "kind"), kind) == 0 &&
		    share < e->o.share &&
		    (e->o.basis == OBJECTIVE_PEERS ||
			e->o.of == OBJECTIVE_LEAF ||
			hostlist_has(&j->known->names, subject)))
			json_object_set_new(j->slow, subject, json_real(share));
	}
}

/* Sets of nodes of a leaf: its node-hours are as bad as the share of its sets
 * with a slow node, and each of its slow nodes has an equal part of them. */
static void
objectives_sets_set(const struct objectives *os, struct entry *e,
    const struct judgement *j)
{
	json_t *slow_by_leaf = json_object(), *share;
	const char *name;
	json_t *count;

	json_object_foreach (j->slow, name, share) {
		const char *leaf = os->ops.leaf_of(os->ops.arg, name);

		json_object_set_new(slow_by_leaf, leaf,
		    json_integer(member_int(slow_by_leaf, leaf) + 1));
	}
	e->good = 0;
	json_object_foreach ((json_t *)(uintptr_t)j->by_leaf, name, count) {
		unsigned nodes = (unsigned)json_integer_value(count);
		double good;

		if (nodes < e->o.set_nodes)
			continue;
		good = j->factor < e->o.share
		    ? 0
		    : objective_sets_good(e->o.set_nodes, nodes,
			  (unsigned)member_int(slow_by_leaf, name));
		e->good += good * nodes;
		e->bad += (1 - good) * nodes;
	}
	json_object_foreach (j->slow, name, share) {
		const char *leaf = os->ops.leaf_of(os->ops.arg, name);
		unsigned nodes = (unsigned)member_int(j->by_leaf, leaf);
		unsigned slow = (unsigned)member_int(slow_by_leaf, leaf);

		if (nodes >= e->o.set_nodes && j->factor >= e->o.share)
			objectives_part_set(e, name,
			    nodes *
				(1 -
				    objective_sets_good(e->o.set_nodes, nodes,
					slow)) /
				slow,
			    json_real_value(share));
	}
	json_decref(slow_by_leaf);
}

static void
objectives_slow_set(struct entry *e, const struct judgement *j)
{
	const char *name;
	json_t *share;

	json_object_foreach (j->slow, name, share) {
		double nodes = e->o.of == OBJECTIVE_NODE
		    ? 1
		    : (double)member_int(j->by_leaf, name);

		if (nodes == 0)
			continue;
		e->bad += nodes;
		objectives_part_set(e, name, nodes, json_real_value(share));
	}
	e->good = fmax(0, (double)j->known->names.count - e->bad);
}

static void
objectives_entry_set(struct objectives *os, struct entry *e, const json_t *row)
{
	const json_t *promise = json_object_get(row, "promise");
	struct known *known = &os->known[e->o.basis];
	struct judgement j = { known, objectives_by_leaf(os, known), 1, NULL };

	e->good = e->bad = 0;
	for (size_t i = 0; i < e->count; i++)
		e->parts[i].nodes = 0;
	if (e->o.basis == OBJECTIVE_PROMISE)
		j.factor = member_number(promise,
		    e->o.of == OBJECTIVE_LEAF ? "leaf" : "node");
	if (!(j.factor > 0))
		return; /* nothing was measured */
	objectives_slow_read(e, row, &j);
	if (e->o.of == OBJECTIVE_COLLECTIVE)
		objectives_sets_set(os, e, &j);
	else
		objectives_slow_set(e, &j);
	/* The typical part is below the share, so every part is. */
	if (j.factor < e->o.share) {
		for (size_t i = 0; i < e->count; i++)
			e->parts[i].nodes = 0;
		e->bad += e->good;
		e->good = 0;
		if (e->bad > 0)
			objectives_part_set(e, ALL_PARTS, e->bad, j.factor);
	}
	json_decref(j.slow);
}

static void
objectives_row_take(struct objectives *os, const json_t *row)
{
	uint64_t at_unix_ns = member_unsigned(row, "at_unix_ns");

	if (at_unix_ns == 0)
		return; /* malformed */
	objectives_advance(os, at_unix_ns);
	os->row_unix_ns = at_unix_ns;
	objectives_known_set(&os->known[OBJECTIVE_PEERS],
	    member_text(row, "known"));
	objectives_known_set(&os->known[OBJECTIVE_PROMISE],
	    member_text(json_object_get(row, "promise"), "known"));
	for (size_t i = 0; i < os->count; i++)
		objectives_entry_set(os, &os->list[i], row);
}

void
objectives_row(struct objectives *os, json_t *row)
{
	if (!os->is_loaded) {
		/* They are in the store, too. */
		if (json_array_size(os->waiting) == WAITING_MAX)
			json_array_remove(os->waiting, 0);
		json_array_append(os->waiting, row);
		return;
	}
	/* Nodes may have moved to another leaf. */
	for (int b = 0; b < OBJECTIVE_BASIS_MAX; b++) {
		json_decref(os->known[b].by_leaf);
		os->known[b].by_leaf = NULL;
	}
	objectives_row_take(os, row);
}

int
objectives_slice(struct objectives *os, int again, uint64_t now_unix_ns,
    uint64_t *ret_from_unix_ns, uint64_t *ret_to_unix_ns)
{
	uint64_t longest_ns = VALID_NS;

	if (os->is_loaded && !again)
		return 0;
	for (size_t i = 0; i < os->count; i++)
		if (os->list[i].o.window_ns + VALID_NS > longest_ns)
			longest_ns = os->list[i].o.window_ns + VALID_NS;
	if (os->read_unix_ns == 0 && now_unix_ns > longest_ns)
		os->read_unix_ns = now_unix_ns - longest_ns;
	*ret_from_unix_ns = os->read_unix_ns;
	*ret_to_unix_ns = os->read_unix_ns + SLICE_NS;
	if (*ret_to_unix_ns > now_unix_ns)
		*ret_to_unix_ns = now_unix_ns + 1;
	return 1;
}

void
objectives_load(struct objectives *os, const json_t *rows, uint64_t now_unix_ns)
{
	uint64_t to_unix_ns = os->read_unix_ns + SLICE_NS;
	json_t *row;
	size_t i;

	for (i = json_array_size(rows); i-- > 0;) {
		row = json_array_get(rows, i);
		/* A row in the future is of a clock that was ahead. */
		if (member_unsigned(row, "at_unix_ns") > os->row_unix_ns &&
		    member_unsigned(row, "at_unix_ns") <= now_unix_ns)
			objectives_row_take(os, row);
	}
	if (to_unix_ns <= now_unix_ns) {
		os->read_unix_ns = to_unix_ns;
		return;
	}
	if (os->row_unix_ns >= os->read_unix_ns)
		os->read_unix_ns = os->row_unix_ns + 1;
	os->is_loaded = 1;
	json_array_foreach (os->waiting, i, row)
		if (member_unsigned(row, "at_unix_ns") > os->row_unix_ns)
			objectives_row_take(os, row);
	json_array_clear(os->waiting);
}

void
objectives_round(struct objectives *os, uint64_t now_ns)
{
	if (os->round_ns != 0 && now_ns > os->round_ns)
		os->gaps[os->gap_count++ % GAPS] = (double)(now_ns -
		    os->round_ns);
	os->round_ns = now_ns;
}

/* Return the median interval of rounds; 0: unknown. */
static uint64_t
objectives_gap_ns(const struct objectives *os)
{
	double x[GAPS];
	size_t n = os->gap_count < GAPS ? os->gap_count : GAPS;

	if (n == 0)
		return 0;
	memcpy(x, os->gaps, n * sizeof(*x));
	return (uint64_t)robust_median(x, n);
}

/* ---- the state for people and programs ---- */

/* The parts with bad node-hours, the worst first. */
struct worst {
	const struct part *part;
	double hours;
};

static int
objectives_worst_compare(const void *a, const void *b)
{
	double x = ((const struct worst *)a)->hours;
	double y = ((const struct worst *)b)->hours;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* Return their number; the caller frees *ret. */
static size_t
objectives_worst(const struct entry *e, uint64_t now_unix_ns,
    struct worst **ret)
{
	size_t count = 0;

	*ret = xcalloc(e->count + 1, sizeof(**ret));
	for (size_t i = 0; i < e->count; i++) {
		double hours = objectives_part_hours(e, &e->parts[i],
		    now_unix_ns);

		if (hours > 0)
			(*ret)[count++] = (struct worst){ &e->parts[i], hours };
	}
	qsort(*ret, count, sizeof(**ret), objectives_worst_compare);
	return count;
}

/* Return the first alert that fires, or OBJECTIVE_ALERT_MAX. */
static int
objectives_alert(const struct objective_state *s)
{
	int a = 0;

	while (a < OBJECTIVE_ALERT_MAX && !s->burn[a].fires)
		a++;
	return a;
}

static const char *
objectives_state_name(const struct objective_state *s)
{
	int a = objectives_alert(s);

	return a < OBJECTIVE_ALERT_MAX ? objective_alerts[a]
	    : !s->is_known             ? "undetermined"
	    : s->budget <= 0           ? "spent"
				       : "ok";
}

/* "node n1 has", or "all nodes have". */
static const char *
objectives_part_title(const struct entry *e, const struct part *p,
    const char *verb, char ret[128])
{
	int is_leaf = e->o.of == OBJECTIVE_LEAF;
	int is_all = strcmp(p->name, ALL_PARTS) == 0;

	if (is_all)
		snprintf(ret, 128, "all %s%s", is_leaf ? "leaves" : "nodes",
		    verb[0] == '\0' ? "" : " have");
	else
		snprintf(ret, 128, "%s %.60s%s", is_leaf ? "leaf" : "node",
		    p->name, verb);
	return ret;
}

/* Append which part spends the budget, and which is bad now. */
static void
objectives_text_parts(const struct entry *e, const struct objective_state *s,
    uint64_t now_unix_ns, struct strbuf *to)
{
	const struct part *now = NULL;
	struct worst *worst;
	size_t others = 0, count = objectives_worst(e, now_unix_ns, &worst);
	char title[128];

	for (size_t i = 0; i < e->count; i++) {
		const struct part *p = &e->parts[i];

		if (p->nodes == 0)
			continue;
		others += now != NULL;
		if (now == NULL || p->share < now->share)
			now = p;
	}
	if (count > 0)
		strbuf_addf(to, "; %s spent %.0f %% of it, %.1f node-hours",
		    objectives_part_title(e, worst[0].part, "", title),
		    100 * fmin(1, worst[0].hours / s->bad_hours),
		    worst[0].hours);
	if (now != NULL)
		strbuf_addf(to, "; now %s %.0f %% of the %s",
		    objectives_part_title(e, now, " has", title),
		    100 * now->share,
		    e->o.basis == OBJECTIVE_PROMISE ? "promised bandwidth"
						    : "bandwidth of its peers");
	if (others > 0)
		strbuf_addf(to, ", and %zu more are below %.4g %%", others,
		    100 * e->o.share);
	free(worst);
}

/* Write the state as one sentence. */
static void
objectives_text(const struct entry *e, const struct objective_state *s,
    uint64_t now_unix_ns, char *ret, size_t cap)
{
	int a = objectives_alert(s);
	struct strbuf to = { 0 };
	char span[16];

	if (!s->is_known) {
		snprintf(ret, cap, "undetermined: %.1f of %.1f hours measured",
		    s->measured_hours, s->needed_hours);
		return;
	}
	clk_span_format(e->o.window_ns, span, sizeof(span));
	strbuf_addf(&to,
	    "%.4g %% of node-hours in %s were good, %.6g %% are promised; "
	    "%.0f %% of the error budget is spent",
	    100 * s->good, span, 100 * e->o.target, 100 * (1 - s->budget));
	if (a < OBJECTIVE_ALERT_MAX) {
		clk_span_format(s->burn[a].long_ns, span, sizeof(span));
		strbuf_addf(&to,
		    "; in the last %s it was spent %.1f times as fast as is "
		    "sustainable",
		    span, s->burn[a].long_rate);
	}
	objectives_text_parts(e, s, now_unix_ns, &to);
	utf8_format(ret, cap, "%s", to.text);
	strbuf_clear(&to);
}

void
objectives_tick(struct objectives *os, uint64_t now_unix_ns)
{
	if (!os->is_loaded)
		return;
	objectives_advance(os, now_unix_ns);
	for (size_t i = 0; i < os->count; i++) {
		struct entry *e = &os->list[i];
		struct objective_state was, is;
		char text[400];

		objective_tally_state(e->tally, 0, now_unix_ns, &was);
		objective_tally_judge(e->tally, objectives_gap_ns(os),
		    now_unix_ns, &is);
		if (objectives_alert(&was) == objectives_alert(&is))
			continue;
		objectives_text(e, &is, now_unix_ns, text, sizeof(text));
		os->ops.changed(os->ops.arg, e->o.name,
		    objectives_state_name(&is), text);
	}
}

size_t
objectives_count(const struct objectives *os)
{
	return os == NULL ? 0 : os->count;
}

void
objectives_look(struct objectives *os, size_t at, uint64_t now_unix_ns,
    struct objectives_view *ret)
{
	struct entry *e = &os->list[at];

	if (os->is_loaded && now_unix_ns > os->now_unix_ns)
		objectives_advance(os, now_unix_ns);
	ret->name = e->o.name;
	ret->of = objective_bases[e->o.basis];
	ret->target = e->o.target;
	objective_tally_state(e->tally, objectives_gap_ns(os), now_unix_ns,
	    &ret->state);
	ret->state_name = objectives_state_name(&ret->state);
	objectives_text(e, &ret->state, now_unix_ns, ret->text,
	    sizeof(ret->text));
}

static json_t *
objectives_number(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

static json_t *
objectives_parts_json(const struct entry *e, uint64_t now_unix_ns)
{
	json_t *list = json_array(), *o;
	struct worst *worst;
	size_t count = objectives_worst(e, now_unix_ns, &worst);

	for (size_t i = 0; i < count && i < PARTS_SHOWN; i++) {
		o = json_pack("{s:o, s:f}", "subject",
		    text_json(worst[i].part->name), "bad_hours",
		    worst[i].hours);
		if (worst[i].part->nodes > 0)
			json_object_set_new(o, "share",
			    json_real(worst[i].part->share));
		json_array_append_new(list, o);
	}
	free(worst);
	return list;
}

static json_t *
objectives_burn_json(const struct objective_burn *b)
{
	return json_pack("{s:f, s:f, s:o, s:o, s:f, s:b}", "long_s",
	    (double)b->long_ns / 1e9, "short_s", (double)b->short_ns / 1e9,
	    "long_rate", objectives_number(b->long_rate), "short_rate",
	    objectives_number(b->short_rate), "limit", b->limit, "fires",
	    b->fires);
}

/* "node", "leaf", or "collective:8" as in objective.rows. */
static json_t *
objectives_class_json(const struct objective *o)
{
	return o->set_nodes > 0
	    ? json_sprintf("%s:%u", objective_classes[o->of], o->set_nodes)
	    : json_string(objective_classes[o->of]);
}

json_t *
objectives_json(struct objectives *os, uint64_t now_unix_ns)
{
	json_t *list = json_array(), *burn;

	for (size_t i = 0; i < objectives_count(os); i++) {
		const struct entry *e = &os->list[i];
		struct objectives_view v;
		const struct objective_state *s = &v.state;

		objectives_look(os, i, now_unix_ns, &v);
		burn = json_object();
		for (int a = 0; a < OBJECTIVE_ALERT_MAX; a++)
			json_object_set_new(burn, objective_alerts[a],
			    objectives_burn_json(&s->burn[a]));
		json_array_append_new(list,
		    json_pack("{s:s, s:o, s:s, s:f, s:f, s:f, s:s, s:o, s:f, "
			      "s:f, s:f, s:f, s:o, s:o, s:o, s:o}",
			"name", e->o.name, "class",
			objectives_class_json(&e->o), "of",
			objective_bases[e->o.basis], "share", e->o.share,
			"target", e->o.target, "window_s",
			(double)e->o.window_ns / 1e9, "state", v.state_name,
			"text", text_json(v.text), "measured_hours",
			s->measured_hours, "needed_hours", s->needed_hours,
			"good_hours", s->good_hours, "bad_hours", s->bad_hours,
			"good", objectives_number(s->good), "budget",
			objectives_number(s->budget), "burn", burn, "parts",
			objectives_parts_json(e, now_unix_ns)));
	}
	return list;
}
