/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c - the tables of schema/ and of daemon/series as text.
 *
 *   coalmine-tables rows           "table name" of every row, for man.sh
 *   coalmine-tables links          kinds of errors of links: kind|text
 *   coalmine-tables mdoc TABLE     the rows as an mdoc list, for a manual page
 *   coalmine-tables series         metrics of records, for the dashboards
 *   coalmine-tables defaults KIND  a configuration file equal to the defaults
 *   coalmine-tables check KIND FILE...          report errors of files
 */
#include <stdio.h>
#include <string.h>

#include "common/conf_print.h"
#include "common/err.h"
#include "common/str.h"
#include "daemon/series/series_rows.h"
#include "schema/names_event.h"
#include "schema/names_link.h"
#include "schema/names_probe.h"
#include "schema/names_run.h"
#include "schema/names_verdict.h"
#include "schema/node_numbers.h"
#include "schema/options.h"
#include "schema/wire.h"

/* A row of any table of words: its name and its sentence. */
struct word {
	const char *name;
	const char *text;
};

static void
tables_test_at(size_t i, struct word *ret)
{
	ret->name = names_tests[i].name;
	ret->text = names_tests[i].text;
}

static void
tables_congestor_at(size_t i, struct word *ret)
{
	ret->name = names_congestors[i].name;
	ret->text = names_congestors[i].text;
}

static void
tables_state_at(size_t i, struct word *ret)
{
	ret->name = names_run_states[i].name;
	ret->text = names_run_states[i].text;
}

static void
tables_cause_at(size_t i, struct word *ret)
{
	ret->name = names_causes[i].name;
	ret->text = names_causes[i].text;
}

static void
tables_event_at(size_t i, struct word *ret)
{
	ret->name = names_events[i].name;
	ret->text = names_events[i].text;
}

static void
tables_message_at(size_t i, struct word *ret)
{
	ret->name = wire_messages[i].name;
	ret->text = wire_messages[i].text;
}

static void
tables_fault_at(size_t i, struct word *ret)
{
	static char text[256];

	snprintf(text, sizeof(text), "(%s) %s; %s", names_whats[i].verdicts,
	    names_whats[i].text, names_whats[i].step);
	ret->name = names_whats[i].name;
	ret->text = text;
}

static void
tables_print_section(size_t i, FILE *to)
{
	fprintf(to, "See\n.Sx %s .\n", names_whats[i].section);
}

/* Rows of series_rows[] that begin a family. */
static const struct series_row *
tables_family_at(size_t i)
{
	const struct series_row *row = series_rows;

	for (; i > 0; i--)
		for (row++; row->family != NULL &&
		     strcmp(row[-1].family, row->family) == 0;)
			row++;
	return row;
}

static size_t
tables_family_count(void)
{
	size_t count = 0;

	while (tables_family_at(count)->family != NULL)
		count++;
	return count;
}

/* The last full stop of a metric's help is the page's. */
static void
tables_help_set(const char *name, const char *help, struct word *ret)
{
	static char text[256];

	snprintf(text, sizeof(text), "%.*s", (int)strlen(help) - 1, help);
	ret->name = name;
	ret->text = text;
}

static void
tables_metric_at(size_t i, struct word *ret)
{
	tables_help_set(tables_family_at(i)->family, tables_family_at(i)->help,
	    ret);
}

static void
tables_number_at(size_t i, struct word *ret)
{
	tables_help_set(node_numbers[i].name, node_numbers[i].help, ret);
}

static void
tables_print_family(size_t i, FILE *to)
{
	if (node_numbers[i].family != NULL)
		fprintf(to, "Metric\n.Li %s .\n", node_numbers[i].family);
}

static void
tables_print_labels(size_t i, FILE *to)
{
	const struct series_row *row = tables_family_at(i);

	fprintf(to, "From records of kind %s%s%s; labels\n.Va", row->probe,
	    row->of != NULL ? ", member of = " : "",
	    row->of != NULL ? row->of : "");
	for (size_t k = 0; k < SERIES_LABELS_MAX && row->labels[k].name != NULL;
	     k++)
		fprintf(to, "%s %s", k > 0 ? " ," : "", row->labels[k].name);
	fprintf(to, " .\n");
}

/* For etc/grafana/make.py: family, type, dashboard, labels, help. */
static int
tables_print_series(void)
{
	for (size_t i = 0; tables_family_at(i)->family != NULL; i++) {
		const struct series_row *row = tables_family_at(i);

		printf("%s\t%s\t%s\t", row->family, row->type, row->board);
		for (size_t k = 0;
		     k < SERIES_LABELS_MAX && row->labels[k].name != NULL; k++)
			printf("%s%s", k > 0 ? "," : "", row->labels[k].name);
		printf("\t%s\n", row->help);
	}
	return 0;
}

static void
tables_print_fields(size_t i, FILE *to)
{
	static const struct word kinds[] = { { "s", "string" },
		{ "i", "integer" }, { "n", "number" }, { "b", "boolean" },
		{ "o", "object" }, { "a", "array" } };
	static const char *const senders[] = { [WIRE_AGENT] = "the agent",
		[WIRE_COLLECTOR] = "the collector",
		[WIRE_BOTH] = "both" };
	const struct wire_field *f = wire_messages[i].fields;

	fprintf(to, "Sent by %s.\n.Bl -tag -width Ds -compact\n",
	    senders[wire_messages[i].from]);
	for (; f->name != NULL; f++) {
		const char *kind = "?";

		for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
			if (kinds[k].name[0] == f->kind)
				kind = kinds[k].text;
		}
		fprintf(to, ".It Va %s No (%s%s)\n%s\n", f->name,
		    f->optional ? "optional " : "", kind, f->text);
	}
	fprintf(to, ".El\n");
}

static const struct words {
	const char *name;
	size_t count; /* 0: as tables_family_count() says */
	void (*at)(size_t i, struct word *ret);
	void (*more)(size_t i, FILE *to); /* NULL: nothing */
} words[] = {
	{ "test", CANARY_MAX, tables_test_at, NULL },
	{ "congestor", CONGESTOR_MAX, tables_congestor_at, NULL },
	{ "state", RUN_STATE_MAX, tables_state_at, NULL },
	{ "cause", CAUSE_MAX, tables_cause_at, NULL },
	{ "event", NAMES_EVENTS_MAX, tables_event_at, NULL },
	{ "fault", WHAT_MAX, tables_fault_at, tables_print_section },
	{ "message", WIRE_TYPE_MAX, tables_message_at, tables_print_fields },
	{ "metric", 0, tables_metric_at, tables_print_labels },
	{ "number", NODE_NUMBERS, tables_number_at, tables_print_family },
};

static size_t
tables_words_count(const struct words *w)
{
	return w->count > 0 ? w->count : tables_family_count();
}

/* A campaign's rows without the rows of its probes, which are a separate kind.
 */
static const struct conf_row *
tables_own_rows(const char *kind)
{
	static struct conf_row own[256];
	const struct conf_row *rows = options_find(kind);
	size_t count = (size_t)(options_patterns - options_campaign);

	if (rows != options_campaign)
		return rows;
	memcpy(own, rows, count * sizeof(*rows));
	return own;
}

static const char *const kinds[] = { "campaign", "coalmined", "coalmine-agent",
	"plan", "machine", "promise", "scan" };

static int
tables_print_rows(void)
{
	struct word word;

	for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
		const struct conf_row *row = tables_own_rows(kinds[k]);

		for (; row->key != NULL; row++)
			printf("%s %s\n", kinds[k], row->key);
	}
	for (size_t t = 0; t < ARRAY_LEN(words); t++) {
		for (size_t i = 0; i < tables_words_count(&words[t]); i++) {
			words[t].at(i, &word);
			printf("%s %s\n", words[t].name, word.name);
		}
	}
	return 0;
}

/* A text that starts with one of these would be a request to mdoc. */
static void
tables_print_text(const char *text)
{
	printf("%s%s.\n", *text == '.' || *text == '\'' ? "\\&" : "", text);
}

/* Counters of links by kind; a counter that suffices alone is emphasised. */
static void
tables_print_links(void)
{
	const struct link_counter *c;

	printf(".Bl -tag -width Ds\n");
	for (int kind = 0; kind < LINK_KIND_MAX; kind++) {
		printf(".It Li %s\n", names_link_errors[kind]);
		tables_print_text(names_link_texts[kind]);
		for (c = names_link_counters; c->name != NULL; c++)
			if ((int)c->kind == kind)
				printf(".%s %s\n", c->is_fact ? "Em" : "Li",
				    c->name);
	}
	printf(".El\n");
}

static int
tables_print_link_kinds(void)
{
	for (int kind = 0; kind < LINK_KIND_MAX; kind++)
		printf("%s|%s\n", names_link_errors[kind],
		    names_link_texts[kind]);
	return 0;
}

static int
tables_print_mdoc(const char *table)
{
	const struct conf_row *rows = tables_own_rows(table);
	struct word word;

	if (strcmp(table, "links") == 0) {
		tables_print_links();
		return 0;
	}
	if (rows != NULL) {
		conf_print_mdoc(rows, stdout);
		return 0;
	}
	for (size_t t = 0; t < ARRAY_LEN(words); t++) {
		if (strcmp(table, words[t].name) != 0)
			continue;
		printf(".Bl -tag -width Ds\n");
		for (size_t i = 0; i < tables_words_count(&words[t]); i++) {
			words[t].at(i, &word);
			printf(".It Li %s\n", word.name);
			tables_print_text(word.text);
			if (words[t].more != NULL)
				words[t].more(i, stdout);
		}
		printf(".El\n");
		return 0;
	}
	return 3;
}

static int
tables_print_defaults(const char *kind)
{
	const struct conf_row *rows = options_find(kind);

	if (rows == NULL)
		return 3;
	printf("# SPDX-License-Identifier: Apache-2.0\n"
	       "# Every key of %s.conf, commented out and equal to its "
	       "default.\n# See coalmine.conf(5).\n\n",
	    kind);
	conf_print_defaults(rows, stdout);
	return 0;
}

static int
tables_check(const char *kind, const char *path)
{
	const struct conf_row *rows = options_find(kind);
	struct err err;
	struct conf *c;
	int rc;

	if (rows == NULL)
		return 3;
	rc = conf_load(rows, path, &c, &err);
	if (rc == 0 && rows == options_campaign)
		rc = options_campaign_check(c, &err);
	if (rc < 0) {
		printf("%s\n", err.text);
		return 1;
	}
	conf_free(c);
	return 0;
}

static int
tables_check_all(const char *kind, char **paths)
{
	int rc = 0;

	for (; *paths != NULL && rc != 3; paths++) {
		int one = tables_check(kind, *paths);

		rc = one > rc ? one : rc;
	}
	return rc;
}

int
main(int argc, char **argv)
{
	int rc = 3;

	if (argc == 2 && strcmp(argv[1], "rows") == 0)
		rc = tables_print_rows();
	else if (argc == 2 && strcmp(argv[1], "series") == 0)
		rc = tables_print_series();
	else if (argc == 2 && strcmp(argv[1], "links") == 0)
		rc = tables_print_link_kinds();
	else if (argc == 3 && strcmp(argv[1], "mdoc") == 0)
		rc = tables_print_mdoc(argv[2]);
	else if (argc == 3 && strcmp(argv[1], "defaults") == 0)
		rc = tables_print_defaults(argv[2]);
	else if (argc >= 4 && strcmp(argv[1], "check") == 0)
		rc = tables_check_all(argv[2], argv + 3);
	if (rc == 3)
		fprintf(stderr,
		    "usage: coalmine-tables rows | series | links | mdoc TABLE "
		    "| "
		    "defaults KIND | check KIND FILE...\n");
	return rc;
}
