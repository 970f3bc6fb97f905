/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - coalctl: find the verb, check its options and arguments, run it.
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "common/err.h"
#include "common/hostlist.h"
#include "ctl/lib/help.h"
#include "ctl/lib/meant.h"
#include "ctl/verbs/verbs.h"
#include "schema/names_verdict.h"

/* Return a word for a message, in which an empty one would not be seen. */
static const char *
main_word(const char *word)
{
	return word[0] == '\0' ? "\"\"" : word;
}

/* Return the verb of the first one or two words. NULL: the nouns, or the verbs
 * of the noun, were printed. */
static const struct verb *
main_verb_find(const char *noun, const char *name)
{
	int known = 0;
	char *allowed, *meant;
	const char *word;

	for (size_t i = 0; verbs_all[i].verbs != NULL; i++)
		for (const struct verb *v = verbs_all[i].verbs; v->noun != NULL;
		     v++) {
			if (strcmp(v->noun, noun) != 0)
				continue;
			known = 1;
			if (v->verb == NULL ||
			    (name != NULL && strcmp(v->verb, name) == 0))
				return v;
		}
	allowed = help_names(verbs_all, known ? noun : NULL);
	word = known ? name : noun;
	meant = word == NULL ? NULL : meant_find(word, allowed);
	if (word == NULL)
		ctl_fail("%s needs a verb: valid verbs are %s", noun, allowed);
	else if (meant != NULL)
		ctl_fail("unknown %s%s%.60s: did you mean %s?",
		    known ? noun : "noun", known ? " verb " : " ", word, meant);
	else
		ctl_fail("unknown %s%s%.60s: valid %s are %s",
		    known ? noun : "noun", known ? " verb " : " ",
		    main_word(word), known ? "verbs" : "nouns", allowed);
	free(allowed);
	free(meant);
	return NULL;
}

/* Check that no operand is empty, and that host lists are valid. An empty VALUE
 * of sweep can be valid. */
static int
main_operands_check(const struct ctl *c, const struct verb *v)
{
	static const char *const lists[] = { "HOSTS", "NAMES", "NODES" };
	const char *at = v->args;
	struct hostlist hl;
	struct err err;

	for (int i = 0; i < c->args_count; i++) {
		char name[32];
		size_t n;

		at += strspn(at, " [");
		n = strcspn(at, " ].|");
		snprintf(name, sizeof(name), "%.*s", (int)n, at);
		if (c->args[i][0] == '\0' && strcmp(name, "VALUE") != 0)
			return ctl_fail("%s is empty; see coalctl %s --help",
			    name, v->noun);
		if (STR_FIND(lists, name) >= 0) {
			if (hostlist_parse(c->args[i], &hl, &err) < 0)
				return ctl_fail("%s %.100s: invalid host "
						"list: %s",
				    name, c->args[i], err.text);
			hostlist_clear(&hl);
		}
		if (at[n] != '.') /* the last operand can be repeated */
			at += strcspn(at, " ");
	}
	return 0;
}

/* Check that the options are options of the verb, their values, and the number
 * of operands. */
static int
main_verb_check(const struct ctl *c, const struct verb *v)
{
	const char *name = v->verb == NULL ? "" : v->verb;
	const char *blank = v->verb == NULL ? "" : " ";
	struct err err;

	for (int i = 0; i < OPT_MAX; i++)
		if (opts_given(&c->opts, i) && !opts_rows[i].global &&
		    !opts_listed(v->options, i))
			return ctl_fail("--%s is not an option of %s%s%s; see "
					"coalctl %s --help",
			    opts_rows[i].name, v->noun, blank, name, v->noun);
	if (opts_check(&c->opts, v->noun, &err) < 0)
		return ctl_fail("%s", err.text);
	if (c->args_count < v->args_min)
		return ctl_fail("%s%s%s needs %s; see coalctl %s --help",
		    v->noun, blank, name, v->args, v->noun);
	if (v->args_max >= 0 && c->args_count > v->args_max)
		return ctl_fail("unexpected argument %.60s: %s%s%s takes %s",
		    main_word(c->args[v->args_max]), v->noun, blank, name,
		    v->args[0] == '\0' ? "no argument" : v->args);
	return main_operands_check(c, v);
}

/* Print the help of a noun, or of all nouns. Return an exit code. */
static int
main_help(const char *noun)
{
	for (size_t i = 0; noun != NULL && verbs_all[i].verbs != NULL; i++)
		for (const struct verb *v = verbs_all[i].verbs; v->noun != NULL;
		     v++)
			if (strcmp(v->noun, noun) == 0) {
				help_print(verbs_all, noun, stdout);
				return EXIT_CODE_OK;
			}
	if (noun != NULL)
		(void)main_verb_find(noun, NULL); /* prints the valid nouns */
	else
		help_print(verbs_all, NULL, stdout);
	return noun == NULL ? EXIT_CODE_OK : EXIT_CODE_UNKNOWN;
}

static int
main_run(struct ctl *c, char **words)
{
	const struct verb *v;
	int rc;

	if (words[0] != NULL && strcmp(words[0], "help") == 0)
		return main_help(words[1]);
	if (opts_given(&c->opts, OPT_HELP))
		return main_help(words[0]);
	if (opts_given(&c->opts, OPT_VERSION)) {
		puts("coalctl " COALMINE_VERSION);
		return EXIT_CODE_OK;
	}
	if (opts_given(&c->opts, OPT_DUMP))
		return help_dump(verbs_all, opts_value(&c->opts, OPT_DUMP));
	if (opts_given(&c->opts, OPT_COMPLETE))
		return help_complete(verbs_all, c, words);
	if (words[0] == NULL) {
		help_print(verbs_all, NULL, stderr);
		return EXIT_CODE_UNKNOWN;
	}
	v = main_verb_find(words[0], words[1]);
	if (v == NULL)
		return EXIT_CODE_UNKNOWN;
	c->args = words + (v->verb == NULL ? 1 : 2);
	while (c->args[c->args_count] != NULL)
		c->args_count++;
	rc = main_verb_check(c, v);
	return rc == 0 ? v->run(c) : rc;
}

int
main(int argc, char **argv)
{
	struct ctl c = { 0 };
	struct err err;
	int first, rc;

	/* Not LC_NUMERIC: numbers are the same everywhere. */
	setlocale(LC_CTYPE, "");
	curl_global_init(CURL_GLOBAL_DEFAULT);
	if (opts_parse(&c.opts, argc, argv, &first, &err) < 0)
		rc = ctl_fail("%s", err.text);
	else
		rc = main_run(&c, argv + first);
	if (fflush(stdout) != 0 || ferror(stdout))
		rc = ctl_fail("cannot write the output: %s", strerror(errno));
	client_free(c.client);
	opts_clear(&c.opts);
	curl_global_cleanup();
	return rc;
}
