/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.c - the tables of verbs and options as help for people, as lists of the
 * manual page and as completion for the shell.
 */
#include "ctl/ctl.h"

#include <stdlib.h>
#include <string.h>

#include "ctl/print.h"

const struct verb *const verbs_all[] = { verbs_node, verbs_campaign, verbs_run,
	verbs_report, verbs_compare, verbs_matrix, verbs_baseline,
	verbs_schedule, verbs_stop, verbs_pki, verbs_db, verbs_verdict,
	verbs_diags, verbs_coverage, verbs_check, verbs_events, verbs_top,
	verbs_tuning, verbs_version, NULL };

char *
help_names(const char *noun)
{
	struct strbuf sb = { 0 };

	strbuf_add(&sb, "", 0);
	for (size_t i = 0; verbs_all[i] != NULL; i++)
		for (const struct verb *v = verbs_all[i]; v->noun != NULL;
		     v++) {
			if (noun == NULL && v != verbs_all[i])
				continue; /* the noun once */
			if (noun != NULL && strcmp(v->noun, noun) != 0)
				continue;
			strbuf_addf(&sb, "%s%s", sb.len_bytes == 0 ? "" : " ",
			    noun == NULL ? v->noun : v->verb);
		}
	return sb.text;
}

static void
print_options(const char *list, FILE *to)
{
	for (int i = 0; i < OPT_MAX; i++) {
		const struct opt_row *row = &opts_rows[i];
		char left[64], letter[8] = "    ";

		if (list == NULL ? row->global != 1 : !opts_listed(list, i))
			continue;
		if (row->letter != 0)
			snprintf(letter, sizeof(letter), "-%c, ", row->letter);
		snprintf(left, sizeof(left), "%s--%s%s%s", letter, row->name,
		    row->arg == NULL ? "" : " ",
		    row->arg == NULL ? "" : row->arg);
		fprintf(to, "      %-32s %s\n", left, row->text);
	}
}

void
help_print(const char *noun, FILE *to)
{
	fprintf(to, "usage: coalctl [options] noun [verb] [arguments]\n\n");
	for (size_t i = 0; verbs_all[i] != NULL; i++)
		for (const struct verb *v = verbs_all[i]; v->noun != NULL;
		     v++) {
			char left[128];

			if (noun != NULL && strcmp(noun, v->noun) != 0)
				continue;
			snprintf(left, sizeof(left), "%s%s%s%s%s", v->noun,
			    v->verb == NULL ? "" : " ",
			    v->verb == NULL ? "" : v->verb,
			    v->args[0] == '\0' ? "" : " ", v->args);
			fprintf(to, "  %-28s %s\n", left, v->text);
			if (noun != NULL)
				print_options(v->options, to);
		}
	fprintf(to, "\nOptions of every verb:\n");
	print_options(NULL, to);
	fprintf(to,
	    "\nExit codes: 0 ok, 1 warning, 2 bad, 3 unknown or wrong "
	    "use. See coalctl(8).\n");
}

/* Text as lines of mdoc: a sentence starts a line, and lines are short. */
static void
mdoc_text(const char *text)
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
dump_verb(const struct verb *v)
{
	printf(".It Cm %s", v->noun);
	if (v->verb != NULL)
		printf(" %s", v->verb);
	if (v->args[0] != '\0')
		printf(" Ar %s", v->args);
	putchar('\n');
	mdoc_text(v->text);
	if (v->more != NULL)
		mdoc_text(v->more);
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
dump_verbs(void)
{
	printf(".Bl -tag -width Ds\n");
	for (size_t i = 0; verbs_all[i] != NULL; i++)
		for (const struct verb *v = verbs_all[i]; v->noun != NULL; v++)
			dump_verb(v);
	printf(".El\n");
	return EXIT_CODE_OK;
}

static int
dump_options(void)
{
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
		mdoc_text(row->text);
	}
	printf(".El\n");
	return EXIT_CODE_OK;
}

/* The tables of the completion; its code is ctl/completion.bash. */
static int
dump_bash(void)
{
	char *nouns = help_names(NULL);

	printf("# bash completion for coalctl\n_coalctl_nouns=\"%s\"\n", nouns);
	free(nouns);
	printf("_coalctl_valued=\"");
	for (int i = 0; i < OPT_MAX; i++)
		if (opts_rows[i].arg != NULL && opts_rows[i].global != 2)
			printf(" --%s", opts_rows[i].name);
	printf(" \"\n_coalctl_global=\"");
	for (int i = 0; i < OPT_MAX; i++)
		if (opts_rows[i].global == 1)
			printf("--%s ", opts_rows[i].name);
	printf("\"\n_coalctl_verbs()\n{\n\tcase $1 in\n");
	for (size_t i = 0; verbs_all[i] != NULL; i++) {
		char *verbs;

		if (verbs_all[i]->verb == NULL)
			continue;
		verbs = help_names(verbs_all[i]->noun);
		printf("\t%s) echo \"%s\" ;;\n", verbs_all[i]->noun, verbs);
		free(verbs);
	}
	printf("\tesac\n}\n_coalctl_row()\n{\n\tcase $1 in\n");
	for (size_t i = 0; verbs_all[i] != NULL; i++)
		for (const struct verb *v = verbs_all[i]; v->noun != NULL;
		     v++) {
			printf("\t\"%s%s%s\") kind=%s; opts=\"", v->noun,
			    v->verb == NULL ? "" : " ",
			    v->verb == NULL ? "" : v->verb,
			    v->completes[0] == '\0' ? "none" : v->completes);
			for (int k = 0; k < OPT_MAX; k++)
				if (opts_rows[k].global == 1 ||
				    opts_listed(v->options, k))
					printf("--%s ", opts_rows[k].name);
			printf("\" ;;\n");
		}
	printf("\t*) return 1 ;;\n\tesac\n}\n");
	return EXIT_CODE_OK;
}

int
help_dump(const char *what)
{
	static const struct {
		const char *what;
		int (*print)(void);
	} dumps[] = { { "bash", dump_bash }, { "verbs", dump_verbs },
		{ "options", dump_options } };

	int i = STR_FIND(dumps, what);

	if (i >= 0)
		return dumps[i].print();
	return ctl_fail("--dump %.40s: allowed are bash, verbs and options",
	    what);
}

int
help_complete(struct ctl *c, const char *kind)
{
	static const struct {
		const char *kind, *path, *member;
	} kinds[] = { { "nodes", "/nodes", "node" },
		{ "campaigns", "/campaigns", "campaign" },
		{ "runs", "/runs?limit=50", "run" } };
	json_t *list = NULL, *item;
	size_t k;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (strcmp(kinds[i].kind, kind) != 0)
			continue;
		if (client_get(ctl_client(c), kinds[i].path, &list) < 0)
			return EXIT_CODE_UNKNOWN;
		json_array_foreach (list, k, item)
			puts(print_member(item, kinds[i].member, ""));
		json_decref(list);
		return EXIT_CODE_OK;
	}
	return EXIT_CODE_UNKNOWN;
}
