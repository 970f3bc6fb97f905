/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.c - the parts of each kind of load, the options of its runs, and its
 * promised time. Collectives exchange blocks directly between all pairs of
 * ranks, so that their time follows from the bytes on NICs and uplinks.
 */
#include "ctl/accept/load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/member.h"
#include "common/str.h"
#include "common/xalloc.h"

#define ITERATIONS      5 /* of a collective, and a warmup */
#define SOAK_RUNS       4 /* at least; a run takes 10 minutes at most */
#define SOAK_RUNS_MAX   64
#define SOAK_RUN_S      600.0
#define SOAK_MOST       100e3 /* iterations of a run */
#define GPCNET_NODES    10
#define GPCNET_S        25.0 /* estimate of a run of the campaign */
#define DEADLINE_MORE_S 600
#define DEADLINE_TIMES  3
#define NOT_PROMISED    "the promise has none"

static const struct load_row {
	const char *campaign, *section, *key;
	size_t rounds, looks;
	const char *none; /* value of the key without a promise */
} rows[LOAD_MAX] = {
	[LOAD_COLLECTIVE] = { "collectives", "collective", "names", 4, 3,
	    "none" },
	[LOAD_INCAST] = { "group", "incast", "senders", 4, 3, "none" },
	[LOAD_CONGESTION] = { "gpcnet", "congestion", "loads", 3, 3, "" },
	[LOAD_SOAK] = { "collectives", "soak", "time", SOAK_RUNS, 1, "0" },
};

/* Tests of the canaries of campaign gpcnet. */
static const char *const tests[] = { "lat", "bw-sync", "allreduce" };

static double
load_soak_s(const struct conf *promise)
{
	return (double)conf_span_ns(promise, "soak", "time") / CLK_NS_PER_S;
}

size_t
load_rounds(const struct conf *promise, enum load_kind kind)
{
	double runs = ceil(load_soak_s(promise) / SOAK_RUN_S);

	return kind != LOAD_SOAK || runs < SOAK_RUNS ? rows[kind].rounds
	    : runs > SOAK_RUNS_MAX                   ? SOAK_RUNS_MAX
						     : (size_t)runs;
}

size_t
load_looks(enum load_kind kind)
{
	return rows[kind].looks;
}

size_t
load_turns(const struct load *loads, size_t count)
{
	return count == 0 ? 0 : loads[count - 1].turn + 1;
}

/* ---- parts ---- */

static struct load *
load_add(struct load *ret, size_t *count, enum load_kind kind, const char *word)
{
	struct load *l = &ret[(*count)++];

	*l = (struct load){ .kind = kind };
	snprintf(l->word, sizeof(l->word), "%s", word);
	snprintf(l->name, sizeof(l->name), "%s", word);
	return l;
}

/* Skip a word that is repeated, and the one for no promise. */
static int
load_word_counts(char *const *words, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (strcmp(words[i], words[at]) == 0)
			return 0;
	return strcmp(words[at], "none") != 0;
}

/* Congestion of this percentage in a separate turn: a part for each test. */
static void
load_list_tests(const char *word, unsigned turn, struct load *ret,
    size_t *count)
{
	for (size_t k = 0; k < ARRAY_LEN(tests); k++) {
		struct load *l = load_add(ret, count, LOAD_CONGESTION,
		    tests[k]);

		snprintf(l->name, sizeof(l->name), "%s at %.4s %% load",
		    tests[k], word);
		l->number = (unsigned)strtoul(word, NULL, 10);
		l->turn = turn;
	}
}

static size_t
load_list_words(enum load_kind kind, const char *list, size_t nodes,
    struct load *ret, const char **ret_why)
{
	size_t count = 0, n = 0;
	char **words = str_list_parse(list, &n);
	struct load *l;

	for (size_t i = 0; i < n; i++) {
		if (!load_word_counts(words, i))
			continue;
		if (kind == LOAD_CONGESTION) {
			load_list_tests(words[i],
			    (unsigned)load_turns(ret, count), ret, &count);
		} else if (kind == LOAD_INCAST &&
		    strtoul(words[i], NULL, 10) >= nodes) {
			*ret_why = "some numbers of senders need more nodes";
		} else {
			l = load_add(ret, &count, kind, words[i]);
			if (kind != LOAD_INCAST)
				continue;
			l->number = (unsigned)strtoul(words[i], NULL, 10);
			snprintf(l->name, sizeof(l->name), "%u senders",
			    l->number);
		}
	}
	str_list_free(words);
	return count;
}

size_t
load_list(const struct conf *promise, enum load_kind kind, size_t nodes,
    size_t leaves, struct load *ret, const char **ret_why)
{
	const struct load_row *row = &rows[kind];
	const char *list = conf_string(promise, row->section, row->key);
	size_t count = 0;

	*ret_why = NULL;
	if (strcmp(list, row->none) == 0 ||
	    (kind == LOAD_CONGESTION &&
		!(conf_real(promise, "congestion", "impact") > 0)) ||
	    (kind == LOAD_SOAK && !(load_soak_s(promise) > 0)))
		*ret_why = NOT_PROMISED;
	else if ((kind == LOAD_COLLECTIVE || kind == LOAD_SOAK) && leaves > 1 &&
	    !(conf_real(promise, "leaf", "oversubscription") > 0))
		*ret_why = "the promise has no oversubscription";
	else if (kind == LOAD_CONGESTION && nodes < GPCNET_NODES)
		*ret_why = "at least 10 nodes are needed";
	if (*ret_why != NULL)
		return 0;
	if (kind == LOAD_SOAK) {
		struct load *l = load_add(ret, &count, kind, "alltoall");

		snprintf(l->name, sizeof(l->name), "alltoall for %.40s", list);
		return count;
	}
	return load_list_words(kind, list, nodes, ret, ret_why);
}

/* ---- runs ---- */

static double
load_nic_rate(const struct conf *promise)
{
	return conf_real(promise, "nic", "rate") / 8 * 1e9;
}

/* An allreduce is a reduce-scatter and an allgather. */
static int
load_passes(const struct load *l)
{
	return strcmp(l->word, "allreduce") == 0 ? 2 : 1;
}

/* The time of one message or block at the promised rate, in seconds a byte. */
static double
load_s_per_byte(const struct conf *promise, const struct load *l,
    const struct load_nodes *n)
{
	double rate = load_nic_rate(promise);

	return l->kind == LOAD_INCAST
	    ? 1 / (rate * conf_real(promise, "incast", "share"))
	    : load_passes(l) * n->blocks /
		(rate * conf_real(promise, "collective", "share"));
}

static void
load_option(json_t *options, const char *key, size_t value)
{
	json_object_set_new(options, key, json_sprintf("%zu", value));
}

/* "name allreduce alltoall", or "n 3 5": a value for each load that the nodes
 * can measure. Return the number of values. */
static size_t
load_option_vary(json_t *options, const struct load *loads, size_t count,
    size_t nodes)
{
	struct strbuf sb = { 0 };
	size_t values = 0;

	strbuf_addf(&sb, loads[0].kind == LOAD_INCAST ? "n" : "name");
	for (size_t i = 0; i < count; i++) {
		if (loads[i].number >= nodes)
			continue;
		if (loads[i].kind == LOAD_INCAST)
			strbuf_addf(&sb, " %u", loads[i].number + 1);
		else
			strbuf_addf(&sb, " %s", loads[i].word);
		values++;
	}
	json_object_set_new(options, "measure.vary", json_string(sb.text));
	strbuf_clear(&sb);
	return values;
}

/* The number of iterations that fill a run of the soak at the promised rate. */
static double
load_soak_iterations(const struct conf *promise, double iteration_s)
{
	double run_s = load_soak_s(promise) /
	    (double)load_rounds(promise, LOAD_SOAK);
	double n = ceil(run_s / iteration_s);

	return n < ITERATIONS ? ITERATIONS : n > SOAK_MOST ? SOAK_MOST : n;
}

static double
load_collectives_set(const struct conf *promise, const struct load *loads,
    size_t count, const struct load_nodes *n, uint64_t large, json_t *options)
{
	double sum_s = 0, iteration_s, iterations = ITERATIONS;

	for (size_t i = 0; i < count; i++)
		sum_s += (double)large * load_s_per_byte(promise, &loads[i], n);
	/* A small and a large message, in turns with the MPI's own. */
	iteration_s = 2 * sum_s * (1 + 1.0 / LOAD_SIZE_TIMES);
	if (loads[0].kind == LOAD_SOAK) {
		iterations = load_soak_iterations(promise, iteration_s);
		json_object_set_new(options, "campaign.deadline",
		    json_sprintf("%.0fs",
			DEADLINE_MORE_S +
			    DEADLINE_TIMES * iterations * iteration_s));
	}
	load_option(options, "measure.iterations", (size_t)iterations);
	json_object_set_new(options, "collective.tune", json_string("no"));
	json_object_set_new(options, "measure.bounds", json_string("no"));
	return (iterations + 1) * iteration_s;
}

static void
load_incast_set(const struct conf *promise, const struct load_nodes *n,
    json_t *options)
{
	load_option(options, "campaign.nodes_max", n->nodes);
	json_object_set_new(options, "group.direction", json_string("in"));
	load_option(options, "group.g", n->rails);
	load_option(options, "group.k", n->rails);
	json_object_set_new(options, "measure.time",
	    json_string(conf_string(promise, "accept", "time")));
}

double
load_run_set(const struct conf *promise, const struct load *loads, size_t count,
    unsigned turn, const struct load_nodes *n, uint64_t bytes, json_t *run)
{
	enum load_kind kind = loads[0].kind;
	uint64_t small = (kind == LOAD_INCAST ? bytes : bytes / n->nodes) /
		LOAD_SIZE_TIMES / 8 * 8 +
	    8;
	json_t *options = json_object();
	double seconds = 0;
	size_t values;

	json_object_set_new(run, "campaign", json_string(rows[kind].campaign));
	json_object_set_new(run, "options", options);
	json_object_set_new(run, "sizes",
	    json_pack("[I, I]", (json_int_t)small,
		(json_int_t)(small * LOAD_SIZE_TIMES)));
	if (kind == LOAD_CONGESTION) {
		while (loads->turn != turn)
			loads++;
		json_object_set_new(options, "congestor.strength",
		    json_sprintf("%.2f", loads->number / 100.0));
		return n->nodes < GPCNET_NODES ? 0 : GPCNET_S;
	}
	if (kind == LOAD_INCAST)
		load_incast_set(promise, n, options);
	else
		seconds = load_collectives_set(promise, loads, count, n,
		    small * LOAD_SIZE_TIMES, options);
	load_option(options, "campaign.ranks_per_node", n->rails);
	json_object_set_new(options, "measure.sizes",
	    json_sprintf("%llu,%llu", (unsigned long long)small,
		(unsigned long long)small * LOAD_SIZE_TIMES));
	values = load_option_vary(options, loads, count, n->nodes);
	if (kind == LOAD_INCAST)
		seconds = 2 * (double)values *
		    (double)conf_span_ns(promise, "accept", "time") /
		    CLK_NS_PER_S;
	return seconds;
}

/* ---- results ---- */

/* The time of a record of this load in seconds; NAN: it is of another one. */
static double
load_record_s(const struct load *l, const json_t *record)
{
	const char *probe = member_text(record, "probe");

	if (l->kind == LOAD_INCAST)
		return strcmp(probe, "group") == 0 &&
			strcmp(member_text(record, "of"), "whole") == 0 &&
			member_int(record, "groups") == l->number + 1
		    ? member_number(record, "median_middle")
		    : NAN;
	return strcmp(probe, "speedup") == 0 &&
		strcmp(member_text(record, "collective"), l->word) == 0
	    ? member_number(record, "seconds")
	    : NAN;
}

/* Return the difference between the times of the large and the small message;
 * NAN: they were not measured. */
static double
load_difference_s(const struct load *l, const json_t *records)
{
	double least = INFINITY, most = -INFINITY, small_s = NAN, large_s = NAN;
	const json_t *o;
	size_t i;

	json_array_foreach (records, i, o) {
		double s = load_record_s(l, o),
		       bytes = member_number(o, "bytes");

		if (!(s > 0))
			continue;
		if (bytes < least) {
			least = bytes;
			small_s = s;
		}
		if (bytes > most) {
			most = bytes;
			large_s = s;
		}
	}
	return least < most ? large_s - small_s : NAN;
}

static double
load_impact(const struct load *l, const json_t *records)
{
	const json_t *o;
	size_t i;

	json_array_foreach (records, i, o)
		if (strcmp(member_text(o, "probe"), "impact") == 0 &&
		    strcmp(member_text(o, "of"), "mean") == 0 &&
		    strcmp(member_text(o, "test"), l->word) == 0)
			return member_number(o, "value");
	return NAN;
}

double
load_value(const struct conf *promise, const struct load *l,
    const struct load_nodes *n, const json_t *run, const json_t *records)
{
	const json_t *sizes = json_object_get(run, "sizes");
	double bytes = json_number_value(json_array_get(sizes, 1)) -
	    json_number_value(json_array_get(sizes, 0));
	double ret;

	if (member_int(run, "shift") != (json_int_t)l->turn)
		return NAN;
	ret = l->kind == LOAD_CONGESTION
	    ? conf_real(promise, "congestion", "impact") /
		load_impact(l, records)
	    : bytes * load_s_per_byte(promise, l, n) /
		load_difference_s(l, records);
	return ret > 0 ? log(ret) : NAN;
}
