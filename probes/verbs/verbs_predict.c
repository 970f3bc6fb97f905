/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs_predict.c - coalmine-probe predict: the time of a plan on a described
 * machine, with the closed models of the papers.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/str.h"
#include "common/table.h"
#include "common/xalloc.h"
#include "probes/predict/expectation.h"
#include "probes/collective/shape.h"
#include "probes/pattern/builders.h"
#include "probes/verbs/verbs.h"

#define LINKS_MAX 1000000

struct ask {
	struct machine *m;
	const char *name;
	struct predict_options options;
	int paced;      /* by --pace, else as fits the plan */
	uint32_t links; /* to show; 0: all */
	int json;
	char **sets;
	int sets_count;
};

static void
verbs_predict_usage_print(FILE *to)
{
	fputs("usage: coalmine-probe predict PROBE [option=value ...]\n"
	      "           --machine NAME|FILE [-o section.key=value]... "
	      "[--ranks N]\n"
	      "           [--pace data|channels|steps] [--links N] "
	      "[--format table|json]\n"
	      "       coalmine-probe predict CAMPAIGN.conf --machine ...\n",
	    to);
}

static int
verbs_predict_usage(void)
{
	verbs_predict_usage_print(stderr);
	return VERBS_USAGE;
}

static int
verbs_predict_option(int o, char *text, struct ask *a, struct request *rq)
{
	int64_t n;
	int pace;

	switch (o) {
	case 'r':
		return verbs_ranks(text, rq);
	case 'm':
		a->name = text;
		return 0;
	case 'o':
		a->sets = xreallocarray(a->sets, (size_t)a->sets_count + 1,
		    sizeof(*a->sets));
		a->sets[a->sets_count++] = text;
		return 0;
	case 'p':
		pace = STR_FIND(predict_paces, text);
		a->paced = 1;
		a->options.pace = (enum predict_pace)pace;
		if (pace >= 0)
			return 0;
		return verbs_complain(
		    "--pace: expected data, channels or steps");
	case 'l':
		if (str_to_int(text, 0, LINKS_MAX, &n) < 0)
			return verbs_complain(
			    "--links: expected a number; 0 prints all");
		a->links = (uint32_t)n;
		return 0;
	case 'f':
		a->json = strcmp(text, "json") == 0;
		if (!a->json && strcmp(text, "table") != 0)
			return verbs_complain(
			    "--format: expected table or json");
		return 0;
	default:
		return verbs_predict_usage();
	}
}

/* "1.23 ms" of seconds. */
static void
verbs_predict_format_s(double s, char *ret, size_t ret_bytes)
{
	static const struct {
		double from;
		const char *name;
	} units[] = { { 1, "s" }, { 1e-3, "ms" }, { 1e-6, "us" }, { 0, "ns" } };
	static const double scales[] = { 1, 1e3, 1e6, 1e9 };
	size_t i = 0;

	while (s < units[i].from)
		i++;
	snprintf(ret, ret_bytes, "%.4g %s", s * scales[i], units[i].name);
}

static void
verbs_predict_format_model(const struct expectation_model *om, double value,
    char *ret, size_t ret_bytes)
{
	if (om->is_time)
		verbs_predict_format_s(value, ret, ret_bytes);
	else
		snprintf(ret, ret_bytes, "%.4g GB/s", value / 1e9);
}

/* After an empty line, unless it is empty itself. */
static void
verbs_predict_print_table(struct table *t, uint32_t rows)
{
	if (rows > 0) {
		putchar('\n');
		table_print(t, stdout);
	}
	table_free(t);
}

static void
verbs_predict_show_table(const struct expectation *ol,
    const struct shape_list *t)
{
	struct table *table;
	char text[40];

	verbs_predict_format_s(ol->time_s, text, sizeof(text));
	printf("%s on %s: %u ranks on %u nodes, %zu transfers, %" PRIu64
	       " flows\n\ntime        %s\n%-11s %.0f bytes\n"
	       "throughput  %.4g GB/s\n",
	    ol->title, ol->machine, ol->ranks, ol->nodes, ol->transfers,
	    ol->flows, text, ol->data_name, ol->data_bytes,
	    ol->data_bytes / ol->time_s / 1e9);
	if (ol->note[0] != '\0')
		printf("\nnote: %s\n", ol->note);
	table = table_new("model|>value|>predicted|>ratio");
	for (uint32_t i = 0; i < ol->models_count; i++) {
		const struct expectation_model *om = &ol->models[i];

		table_cell(table, "%s", om->text);
		verbs_predict_format_model(om, om->value, text, sizeof(text));
		table_cell(table, "%s", text);
		verbs_predict_format_model(om, om->predicted, text,
		    sizeof(text));
		table_cell(table, "%s", text);
		table_cell(table, "%.3f", om->predicted / om->value);
	}
	verbs_predict_print_table(table, ol->models_count);
	table = table_new("link|>busy|>bytes|>GB/s");
	for (uint32_t i = 0; i < ol->links_count; i++) {
		const struct expectation_link *l = &ol->links[i];

		table_cell(table, "%s", l->name);
		table_cell(table, "%.1f %%", 100 * l->busy);
		table_cell(table, "%.0f", l->bytes);
		table_cell(table, "%.4g", l->capacity_per_s / 1e9);
	}
	verbs_predict_print_table(table, ol->links_count);
	/* What tune = auto looked at, the choice first. */
	table = table_new("tried|>predicted");
	for (uint32_t i = 0; i < t->count; i++) {
		verbs_predict_format_s(t->rows[i].time_s, text, sizeof(text));
		table_cell(table, "%s", t->rows[i].words);
		table_cell(table, "%s", text);
	}
	verbs_predict_print_table(table, t->count);
}

static void
verbs_predict_show_json(const struct expectation *ol,
    const struct shape_list *t)
{
	json_t *models = json_array(), *links = json_array();
	json_t *tried = json_array(), *o;

	for (uint32_t i = 0; i < ol->models_count; i++) {
		const struct expectation_model *om = &ol->models[i];

		json_array_append_new(models,
		    json_pack("{s:s, s:s, s:f, s:f}", "model", om->name, "text",
			om->text,
			om->is_time ? "time_s" : "throughput_bytes_per_s",
			om->value, "ratio", om->predicted / om->value));
	}
	for (uint32_t i = 0; i < ol->links_count; i++) {
		const struct expectation_link *l = &ol->links[i];

		json_array_append_new(links,
		    json_pack("{s:s, s:f, s:f, s:f}", "link", l->name, "busy",
			l->busy, "bytes", l->bytes, "rate_bytes_per_s",
			l->capacity_per_s));
	}
	for (uint32_t i = 0; i < t->count; i++)
		json_array_append_new(tried,
		    json_pack("{s:s, s:f}", "options", t->rows[i].words,
			"time_s", t->rows[i].time_s));
	o = json_pack("{s:s, s:s, s:i, s:i, s:I, s:I, s:f, s:f, s:f, s:o, s:o}",
	    "probe", ol->title, "machine", ol->machine, "ranks", (int)ol->ranks,
	    "nodes", (int)ol->nodes, "transfers", (json_int_t)ol->transfers,
	    "flows", (json_int_t)ol->flows, "time_s", ol->time_s, "data_bytes",
	    ol->data_bytes, "throughput_bytes_per_s",
	    ol->data_bytes / ol->time_s, "models", models, "links", links);
	if (ol->note[0] != '\0')
		json_object_set_new(o, "note", json_string(ol->note));
	if (t->count > 0)
		json_object_set(o, "tried", tried);
	json_decref(tried);
	json_dumpf(o, stdout, JSON_COMPACT | JSON_REAL_PRECISION(12));
	putchar('\n');
	json_decref(o);
}

static int
verbs_predict_cb(const struct request *rq, const struct verbs_subject *of)
{
	const struct ask *a = rq->arg;
	struct err err;
	struct expectation_ask ask = { of->pt, of->c, of->p, a->m, a->options,
		a->links };
	struct pattern_site site = { .ranks = of->p->ranks, .machine = a->m };
	struct expectation ol;
	struct shape_list t = { 0 };

	if (!a->paced)
		ask.options.pace = predict_pace_for(of->p);
	if (of->pt == &pattern_collective &&
	    strcmp(conf_string(of->c, of->pt->name, "tune"), "auto") == 0 &&
	    shape_choose(&pattern_collective, of->c, &site, &t, &err) < 0)
		return verbs_complain(err.text);
	if (expectation_make(&ask, &ol, &err) < 0) {
		shape_clear(&t);
		return verbs_complain(err.text);
	}
	if (a->json)
		verbs_predict_show_json(&ol, &t);
	else
		verbs_predict_show_table(&ol, &t);
	expectation_clear(&ol);
	shape_clear(&t);
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	fprintf(stderr, "coalmine-probe: stdout: %s\n", strerror(errno));
	return EXIT_FAILURE;
}

int
predict_main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "ranks", required_argument, NULL, 'r' },
		{ "machine", required_argument, NULL, 'm' },
		{ "pace", required_argument, NULL, 'p' },
		{ "links", required_argument, NULL, 'l' },
		{ "format", required_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct ask a = { .links = 10 };
	struct request rq = { .arg = &a };
	struct err err;
	int o, rc = 0;

	optind = 0; /* glibc: start over */
	while (
	    rc == 0 && (o = getopt_long(argc, argv, "o:", longs, NULL)) != -1) {
		if (o == 'h') {
			verbs_predict_usage_print(stdout);
			free(a.sets);
			return fflush(stdout) == 0 ? 0 : EXIT_FAILURE;
		}
		rc = verbs_predict_option(o, optarg, &a, &rq);
	}
	rq.words = argv + optind;
	rq.count = argc - optind;
	if (rc == 0 && rq.count == 0)
		rc = verbs_predict_usage();
	else if (rc == 0 && a.name == NULL)
		rc = verbs_complain("missing --machine: expected a name, such "
				    "as perlmutter, or a file");
	else if (rc == 0 &&
	    machine_load(a.name, a.sets, a.sets_count, &a.m, &err) < 0)
		rc = verbs_complain(err.text);
	if (rc == 0) {
		rq.site.machine = a.m;
		rc = verbs_use(&rq, verbs_predict_cb);
	}
	machine_free(a.m);
	free(a.sets);
	return rc;
}
