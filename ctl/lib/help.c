/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.c - the tables of verbs and options as help for people, as lists of the
 * manual page and as completion. The shells' own parts, in ctl/completion/,
 * only ask: what can be said is known here.
 */
#include "ctl/lib/help.h"

#include <stdlib.h>
#include <string.h>

#include "common/table.h"
#include "common/xalloc.h"
#include "ctl/lib/ctl.h"
#include "ctl/lib/print.h"
#include "schema/names_agent.h"
#include "schema/names_run.h"

#define HELP_LEFT 30 /* characters of the left column */

/* Of its noun: a table may have several. */
static int
help_is_first(const struct verb *table, const struct verb *v)
{
	return v == table || strcmp(v->noun, v[-1].noun) != 0;
}

char *
help_names(const struct verb_table *all, const char *noun)
{
	struct strbuf sb = { 0 };

	strbuf_add(&sb, "", 0);
	for (size_t i = 0; all[i].verbs != NULL; i++)
		for (const struct verb *v = all[i].verbs; v->noun != NULL;
		     v++) {
			if (noun == NULL && !help_is_first(all[i].verbs, v))
				continue;
			if (noun != NULL && strcmp(v->noun, noun) != 0)
				continue;
			strbuf_addf(&sb, "%s%s", sb.len_bytes == 0 ? "" : " ",
			    noun == NULL ? v->noun : v->verb);
		}
	return sb.text;
}

/* Print left in its column, and text in the column to the right of it, in lines
 * of the terminal's width. */
static void
help_print_row(FILE *to, int indent, const char *left, const char *text)
{
	size_t width = table_terminal_width(to);
	size_t at = (size_t)indent + HELP_LEFT + 1, bytes;
	const char *next;

	width = width == 0 ? 80 : width < 60 ? 60 : width;
	fprintf(to, "%*s%-*s", indent, "", HELP_LEFT, left);
	if (strlen(left) >= HELP_LEFT)
		fprintf(to, "\n%*s", (int)at - 1, "");
	for (; *text != '\0'; text = next) {
		bytes = table_wrap(text, width - at, &next);
		fprintf(to, " %.*s\n", (int)bytes, text);
		if (*next != '\0')
			fprintf(to, "%*s", (int)at - 1, "");
	}
}

static void
help_print_options(const char *noun, const char *list, FILE *to)
{
	for (int i = 0; i < OPT_MAX; i++) {
		const struct opt_row row = opts_row(noun, i);
		char left[64], letter[8] = "    ", *text;

		if (list == NULL ? row.global != 1 : !opts_listed(list, i))
			continue;
		if (row.letter != 0)
			snprintf(letter, sizeof(letter), "-%c, ", row.letter);
		snprintf(left, sizeof(left), "%s--%s%s%s", letter, row.name,
		    row.arg == NULL ? "" : " ", row.arg == NULL ? "" : row.arg);
		text = xasprintf("%s%s%s", row.text,
		    row.words != NULL ? " One of " : "",
		    row.words != NULL ? row.words : "");
		help_print_row(to, 4, left, text);
		free(text);
	}
}

void
help_print(const struct verb_table *all, const char *noun, FILE *to)
{
	fprintf(to, "usage: coalctl [options] noun [verb] [arguments]\n\n");
	for (size_t i = 0; all[i].verbs != NULL; i++) {
		if (noun == NULL && all[i].group != NULL)
			fprintf(to, "%s%s:\n", i > 0 ? "\n" : "", all[i].group);
		for (const struct verb *v = all[i].verbs; v->noun != NULL;
		     v++) {
			char left[128];

			if (noun != NULL && strcmp(noun, v->noun) != 0)
				continue;
			snprintf(left, sizeof(left), "%s%s%s%s%s", v->noun,
			    v->verb == NULL ? "" : " ",
			    v->verb == NULL ? "" : v->verb,
			    v->args[0] == '\0' ? "" : " ", v->args);
			help_print_row(to, 2, left, v->text);
			if (noun != NULL)
				help_print_options(noun, v->options, to);
		}
	}
	fprintf(to, "\nOptions of every verb:\n");
	help_print_options(NULL, NULL, to);
	fprintf(to,
	    "\nExit codes: 0 ok, 1 warning, 2 bad, 3 unknown or wrong use; "
	    "some verbs have others. See coalctl(8).\n");
}

/* Text as lines of mdoc: a sentence starts a line, and lines are short. */
static void
help_mdoc_text(const char *text)
{
	size_t column = 0;

	while (*text != '\0') {
		size_t n = strcspn(text, " ");
		int ends = text[n - 1] == '.' && text[n] == ' ';

		if (column > 0 && column + 1 + n > 78) {
			putchar('\n');
			column = 0;
		}
		printf("%s%.*s%s", column == 0 ? "" : " ", (int)n, text,
		    ends ? "\n" : "");
		column = ends ? 0 : column + n + (column > 0);
		text += n;
		text += strspn(text, " ");
	}
	if (column > 0)
		putchar('\n');
}

/* A verb as an item of mdoc. */
static void
help_dump_verb(const struct verb *v)
{
	printf(".It Cm %s", v->noun);
	if (v->verb != NULL)
		printf(" %s", v->verb);
	if (v->args[0] != '\0')
		printf(" Ar %s", v->args);
	putchar('\n');
	help_mdoc_text(v->text);
	if (v->more != NULL)
		help_mdoc_text(v->more);
	if (v->options[0] == '\0')
		return;
	printf("Options:\n");
	for (int i = 0, n = 0; i < OPT_MAX; i++)
		if (opts_listed(v->options, i))
			printf("%s.Fl -%s", n++ == 0 ? "" : " ,\n",
			    opts_rows[i].name);
	printf(" .\n");
}

static int
help_dump_verbs(const struct verb_table *all)
{
	printf(".Bl -tag -width Ds\n");
	for (size_t i = 0; all[i].verbs != NULL; i++)
		for (const struct verb *v = all[i].verbs; v->noun != NULL; v++)
			help_dump_verb(v);
	printf(".El\n");
	return EXIT_CODE_OK;
}

static int
help_dump_options(const struct verb_table *all)
{
	(void)all;
	printf(".Bl -tag -width Ds\n");
	for (int i = 0; i < OPT_MAX; i++) {
		const struct opt_row *row = &opts_rows[i];

		if (row->global == 2)
			continue;
		printf(".It");
		if (row->letter != 0)
			printf(" Fl %c ,", row->letter);
		printf(" Fl -%s", row->name);
		if (row->arg != NULL)
			printf(" Ar %s", row->arg);
		putchar('\n');
		help_mdoc_text(row->text);
		if (row->words != NULL)
			printf("One of\n.Li %s .\n", row->words);
	}
	printf(".El\n");
	return EXIT_CODE_OK;
}

int
help_dump(const struct verb_table *all, const char *what)
{
	static const struct {
		const char *what;
		int (*print)(const struct verb_table *all);
	} dumps[] = { { "verbs", help_dump_verbs },
		{ "options", help_dump_options } };

	int i = STR_FIND(dumps, what);

	if (i >= 0)
		return dumps[i].print(all);
	return ctl_fail("--dump %.40s: expected verbs and options", what);
}

/* ---- completion ---- */

/* Offer a completion for the word at the cursor, and its meaning. */
static void
help_offer(const char *cursor, const char *prefix, const char *word,
    const char *text)
{
	size_t len = strlen(cursor), prefix_len = strlen(prefix);

	if (strncmp(cursor, prefix, prefix_len < len ? prefix_len : len) == 0 &&
	    (len <= prefix_len ||
		strncmp(cursor + prefix_len, word, len - prefix_len) == 0))
		printf("%s%s\t%s\n", prefix, word, text);
}

/* Names of a kind: asked of the collector, or ":file" for the shell's own. */
static int
help_offer_names(struct ctl *c, const char *kind, const char *cursor)
{
	static const struct {
		const char *kind, *path, *member;
	} kinds[] = { { "nodes", "/nodes", "node" },
		{ "campaigns", "/campaigns", "campaign" },
		{ "runs", "/runs?limit=50&brief=yes", "run" } };
	int k = STR_FIND(kinds, kind);
	json_t *list = NULL, *item;
	size_t i;

	if (strcmp(kind, "file") == 0)
		puts(":file");
	if (k < 0)
		return EXIT_CODE_OK;
	if (client_get(ctl_client(c), kinds[k].path, &list) < 0)
		return EXIT_CODE_UNKNOWN;
	json_array_foreach (list, i, item)
		help_offer(cursor, "", print_member(item, kinds[k].member, ""),
		    "");
	json_decref(list);
	return EXIT_CODE_OK;
}

static int
help_offer_value(struct ctl *c, enum opt id, const char *noun,
    const char *cursor)
{
	const struct opt_row row = opts_row(noun, id);
	char word[64];

	if (id == OPT_STATE && strcmp(noun, "node") == 0)
		for (size_t i = 0; i < AGENT_STATE_MAX; i++)
			help_offer(cursor, "", names_agent_states[i], "");
	else if (id == OPT_STATE)
		for (size_t i = 0; i < RUN_STATE_MAX; i++)
			help_offer(cursor, "", names_run_states[i].name,
			    names_run_states[i].text);

	for (const char *p = row.words; p != NULL;) {
		size_t n = strcspn(p, "|");

		snprintf(word, sizeof(word), "%.*s", (int)n, p);
		help_offer(cursor, "", word, "");
		p = p[n] == '\0' ? NULL : p + n + 1;
	}
	if (id == OPT_CAMPAIGN)
		return help_offer_names(c, "campaigns", cursor);
	return help_offer_names(c, strcmp(row.arg, "FILE") == 0 ? "file" : "",
	    cursor);
}

/* Return the verb given by the words before the cursor that are not options,
 * and the option whose value is at the cursor, or OPT_MAX. */
static const struct verb *
help_words_read(const struct verb_table *all, char *const *words, int count,
    enum opt *ret_option, const char *ret_plain[2])
{
	const struct verb *verb = NULL;
	enum opt option = OPT_MAX;
	int plain = 0;

	for (int i = 0; i < count; i++) {
		if (option != OPT_MAX)
			option = OPT_MAX;
		else if (words[i][0] == '-')
			option = opts_find(words[i]);
		else if (plain < 2)
			ret_plain[plain++] = words[i];
		if (option != OPT_MAX && opts_rows[option].arg == NULL)
			option = OPT_MAX;
	}
	for (size_t i = 0; plain > 0 && all[i].verbs != NULL; i++)
		for (const struct verb *v = all[i].verbs; v->noun != NULL; v++)
			if (strcmp(v->noun, ret_plain[0]) == 0 &&
			    (v->verb == NULL ||
				(plain > 1 &&
				    strcmp(v->verb, ret_plain[1]) == 0)))
				verb = v;
	*ret_option = option;
	return verb;
}

int
help_complete(const struct verb_table *all, struct ctl *c, char *const *words)
{
	const char *plain[2] = { NULL, NULL }, *cursor = "";
	const struct verb *verb;
	enum opt option;
	int count = 0;

	while (words[count] != NULL)
		count++;
	if (count > 0)
		cursor = words[--count];
	verb = help_words_read(all, words, count, &option, plain);
	if (option != OPT_MAX)
		return help_offer_value(c, option,
		    plain[0] != NULL ? plain[0] : "", cursor);
	if (cursor[0] == '-') {
		for (int i = 0; i < OPT_MAX; i++)
			if (opts_rows[i].global == 1 ||
			    (verb != NULL && opts_listed(verb->options, i)))
				help_offer(cursor, "--", opts_rows[i].name,
				    opts_rows[i].text);
		return EXIT_CODE_OK;
	}
	if (verb != NULL)
		return help_offer_names(c, verb->completes, cursor);
	for (size_t i = 0; plain[1] == NULL && all[i].verbs != NULL; i++)
		for (const struct verb *v = all[i].verbs; v->noun != NULL; v++)
			if (plain[0] == NULL && help_is_first(all[i].verbs, v))
				help_offer(cursor, "", v->noun, v->text);
			else if (plain[0] != NULL &&
			    strcmp(plain[0], v->noun) == 0)
				help_offer(cursor, "", v->verb, v->text);
	return EXIT_CODE_OK;
}
