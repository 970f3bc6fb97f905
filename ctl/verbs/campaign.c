/* SPDX-License-Identifier: Apache-2.0 */
/*
 * campaign.c - campaigns are checked here by the collector's own code
 * before they are sent, so that errors name file and line.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/err.h"
#include "common/file.h"
#include "common/program.h"
#include "common/xalloc.h"
#include "ctl/lib/print.h"
#include "ctl/lib/runs.h"
#include "ctl/verbs/campaign.h"
#include "ctl/verbs/verbs.h"
#include "schema/names_run.h"
#include "schema/names_verdict.h"
#include "schema/options.h"

#define FILE_BYTES_MAX (512 * 1024)
#define ERRORS_MAX     20 /* of one file */

/* Return the error of a broken file, else its description. */
static const char *
campaign_about_of(const json_t *row, char *scratch)
{
	(void)scratch;
	return print_member(row, "error", print_member(row, "about", ""));
}

static const struct print_column columns[] = {
	{ "campaign", "campaign", "?", PRINT_TEXT, NULL },
	{ "class", "class", "-", PRINT_TEXT, NULL },
	{ "mpi", "mpi", "-", PRINT_TEXT, NULL },
	{ "nodes", "nodes", "-", PRINT_TEXT, NULL },
	{ "every", NULL, NULL, PRINT_OF, print_every },
	{ "next (UTC)", "next_unix_ns", NULL, PRINT_TIME, NULL },
	{ "last run", "last_run", "-", PRINT_TEXT, NULL },
	{ "last state", "last_state", "-", PRINT_TEXT, NULL },
	{ "about", NULL, NULL, PRINT_OF, campaign_about_of },
	{ 0 },
};

static int
campaign_list(struct ctl *c)
{
	json_t *list, *item;
	size_t i;
	int rc = ctl_get(c, "campaigns", NULL, &list);

	if (rc != 0)
		return rc;
	json_array_foreach (list, i, item)
		if (json_is_false(json_object_get(item, "ok")))
			rc = EXIT_CODE_WARN; /* a broken file */
	print_list(c, list, columns, NULL);
	return rc;
}

static int
campaign_show(struct ctl *c)
{
	json_t *campaign;
	int rc = ctl_get(c, "campaigns/*", c->args[0], &campaign);

	if (rc != 0)
		return rc;
	if (opts_given(&c->opts, OPT_JSON))
		print_json(campaign);
	else
		fputs(print_member(campaign, "text", ""), stdout);
	json_decref(campaign);
	return EXIT_CODE_OK;
}

/* The standard input to its end. */
static int
campaign_read_input(char **ret, size_t *ret_len, struct err *err)
{
	char *text = xcalloc(1, FILE_BYTES_MAX + 1);
	size_t n;
	int rc;

	errno = 0;
	n = fread(text, 1, FILE_BYTES_MAX + 1, stdin);
	if (!ferror(stdin) && n <= FILE_BYTES_MAX) {
		*ret = text; /* handed over */
		*ret_len = n;
		return 0;
	}
	rc = !ferror(stdin) ? -EFBIG : errno != 0 ? -errno : -EIO;
	err_say(err, "-: %s", strerror(-rc));
	free(text);
	return rc;
}

/* The text of a file or, for "-", of the standard input; caller frees. */
static int
campaign_slurp(const char *path, char **ret, struct err *err)
{
	size_t len;
	int rc;

	if (strcmp(path, "-") == 0)
		rc = campaign_read_input(ret, &len, err);
	else
		rc = file_read(path, FILE_BYTES_MAX, ret, &len, err);
	if (rc < 0 || strlen(*ret) == len)
		return rc;
	free(*ret);
	*ret = NULL;
	return err_set(err, -EILSEQ,
	    "%.300s: contains a NUL byte: expected a text file", path);
}

/* Read and check a campaign here, by the same code as the collector's. 0 or
 * an exit code; the caller frees *ret_text and *ret_conf. */
static int
campaign_load(const char *path, char **ret_text, struct conf **ret_conf)
{
	char *text;
	struct err err;

	if (campaign_slurp(path, &text, &err) < 0)
		return ctl_fail("%s", err.text);
	if (conf_parse(options_campaign, path, text, ret_conf, &err) < 0) {
		free(text);
		return ctl_fail("%s", err.text);
	}
	*ret_text = text; /* handed over */
	return 0;
}

/* Run the engine's check on the plans of a file, for any number of ranks;
 * return an exit code. Only the engine can build them. */
static int
campaign_plans_check(const char *path)
{
	char *probe = ctl_beside("bin/coalmine-probe");
	const char *argv[] = { probe, "check", path, "--ranks", "any", NULL };
	int status = 0, rc = -ENOENT;
	pid_t pid;

	if (strcmp(path, "-") != 0)
		rc = program_start((char *const *)argv, environ, -1,
		    STDERR_FILENO, &pid);
	free(probe);
	if (rc < 0) {
		fprintf(stderr,
		    "coalctl: %s: the plans of this campaign were not checked: "
		    "%s\n",
		    path,
		    strcmp(path, "-") == 0 ? "that takes a file"
					   : "coalmine-probe is not installed");
		return EXIT_CODE_OK;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return program_exit(status);
}

/* Read a campaign and print every error of its lines: a line with an error
 * becomes a comment, and the rest is read again. Return 0 and the campaign, or
 * an exit code. */
static int
campaign_lines_check(const char *path, char *text, struct conf **ret_conf)
{
	size_t len = strlen(path);
	int rc = 0;
	struct err err;

	for (int i = 0; i < ERRORS_MAX &&
	     conf_parse(options_campaign, path, text, ret_conf, &err) < 0;
	     i++) {
		char *at = text, *end;
		unsigned long line = 0;

		rc = ctl_fail("%s", err.text);
		if (strncmp(err.text, path, len) == 0 && err.text[len] == ':')
			line = strtoul(err.text + len + 1, NULL, 10);
		for (unsigned long k = 1; k < line && at != NULL; k++)
			at = strchr(at, '\n') != NULL ? strchr(at, '\n') + 1
						      : NULL;
		/* The keys after a wrong section are not known. */
		if (line == 0 || at == NULL || strchr("[#\n", *at) != NULL)
			break;
		end = strchrnul(at, '\n');
		memset(at, '#', (size_t)(end - at));
	}
	return rc;
}

/* Print every rule over several values that a campaign breaks. Return 0 or an
 * exit code. */
static int
campaign_rules_check(const struct conf *conf)
{
	struct err err;
	size_t at = 0;
	int rc = 0;

	while (options_campaign_next(conf, &at, &err) < 0)
		rc = ctl_fail("%s", err.text);
	return rc;
}

static int
campaign_validate(struct ctl *c)
{
	int rc = EXIT_CODE_OK;
	struct err err;

	for (int i = 0; i < c->args_count; i++) {
		struct conf *conf = NULL;
		char *text = NULL;
		int bad = campaign_slurp(c->args[i], &text, &err) < 0
		    ? ctl_fail("%s", err.text)
		    : campaign_lines_check(c->args[i], text, &conf);

		if (bad == 0)
			bad = campaign_rules_check(conf);
		for (const struct conf_row *row = options_patterns;
		     bad == 0 && row->key != NULL; row++)
			if (conf_has_section(conf, row->section)) {
				bad = campaign_plans_check(c->args[i]);
				break;
			}
		if (bad == 0)
			printf("%s: ok\n", c->args[i]);
		else
			rc = bad;
		conf_free(conf);
		free(text);
	}
	return rc;
}

static void
campaign_override_put(const char *text, json_t *overrides)
{
	size_t len = strcspn(text, "=");
	char *name = xstrndup(text, len);

	json_object_set_new(overrides, name,
	    json_string(text[len] == '=' ? text + len + 1 : ""));
	free(name);
}

int
campaign_override_add(const char *text, const char *from, struct conf *conf,
    json_t *overrides)
{
	struct err err;

	if (conf_override(conf, text, from, &err) < 0)
		return ctl_fail("%s", err.text);
	campaign_override_put(text, overrides);
	return 0;
}

void
campaign_overrides_put(const struct ctl *c, json_t *overrides)
{
	const struct opt_values *given = &c->opts.of[OPT_OVERRIDE];

	for (size_t i = 0; i < given->count; i++)
		campaign_override_put(given->values[i], overrides);
}

/* "etc/campaigns/quick.conf" names the campaign "quick". */
static char *
campaign_name_of_file(const char *path)
{
	const char *base = strrchr(path, '/');
	size_t n;

	base = base == NULL ? path : base + 1;
	n = strlen(base);
	if (n > 5 && strcmp(base + n - 5, ".conf") == 0)
		n -= 5;
	return xstrndup(base, n);
}

/* The body of the order; 0 or an exit code. */
static int
campaign_order_make(struct ctl *c, json_t **ret)
{
	const struct opt_values *given = &c->opts.of[OPT_OVERRIDE];
	const char *path = opts_value(&c->opts, OPT_FILE);
	json_t *overrides = json_object();
	struct conf *conf = NULL;
	char *text = NULL;
	struct err err;
	int rc = 0;

	if (path != NULL)
		rc = campaign_load(path, &text, &conf);
	else
		conf_parse(options_campaign, "default", "", &conf, &err);
	for (size_t i = 0; rc == 0 && i < given->count; i++)
		rc = campaign_override_add(given->values[i], "--override", conf,
		    overrides);
	if (rc == 0 && path != NULL && options_campaign_check(conf, &err) < 0)
		rc = ctl_fail("%s", err.text);
	if (rc == 0)
		*ret = json_pack("{s:O, s:s*}", "overrides", overrides, "text",
		    text);
	conf_free(conf);
	free(text);
	json_decref(overrides);
	return rc;
}

int
campaign_order_post(struct ctl *c, const char *campaign, const json_t *order,
    char **ret_run)
{
	json_t *answer = NULL;
	int rc = ctl_post(c, "campaigns/*/run", campaign, order, &answer);

	if (rc != 0)
		return rc;
	*ret_run = xstrdup(print_member(answer, "run", ""));
	if (json_object_get(answer, "unseen") != NULL)
		fprintf(stderr,
		    "coalctl: no agent has ever connected from: %s; the run "
		    "takes the other nodes\n",
		    print_member(answer, "unseen", ""));
	json_decref(answer);
	if ((*ret_run)[0] != '\0')
		return 0;
	free(*ret_run);
	return ctl_fail("the collector's answer has no run id");
}

/* Give the order; *ret_run is the caller's. 0 or an exit code. */
static int
campaign_submit(struct ctl *c, const char *campaign, char **ret_run)
{
	json_t *order = NULL;
	int rc = campaign_order_make(c, &order);

	if (rc == 0)
		rc = campaign_order_post(c, campaign, order, ret_run);
	json_decref(order);
	return rc;
}

static int
campaign_wait_and_tell(struct ctl *c, const char *id)
{
	json_t *run, *told;
	int rc = runs_wait(c, id, &run);

	if (rc != 0)
		return rc;
	rc = runs_exit_code(run);
	if (opts_given(&c->opts, OPT_JSON)) {
		/* The JSON of a run for scripts: always run and state. */
		told = json_pack("{s:s, s:s, s:s, s:s, s:s}", "run",
		    print_member(run, "run", ""), "campaign",
		    print_member(run, "campaign", ""), "state",
		    print_member(run, "state", ""), "cause",
		    print_member(run, "cause", "none"), "text",
		    print_member(run, "text", ""));
		print_json_line(told);
		json_decref(told);
	} else {
		runs_print_end(run, stdout);
		if (rc == EXIT_CODE_OK)
			printf("see: coalctl report %s\n", id);
	}
	json_decref(run);
	return rc;
}

static int
campaign_run(struct ctl *c)
{
	const char *path = opts_value(&c->opts, OPT_FILE);
	char *campaign, *id = NULL;
	int rc;

	if (c->args_count == 0 && path == NULL)
		return ctl_fail("campaign run needs NAME or --file FILE");
	campaign = c->args_count > 0 ? xstrdup(c->args[0])
				     : campaign_name_of_file(path);
	rc = campaign_submit(c, campaign, &id);
	if (rc == 0 && opts_given(&c->opts, OPT_WAIT)) {
		rc = campaign_wait_and_tell(c, id);
	} else if (rc == 0 && opts_given(&c->opts, OPT_JSON)) {
		json_t *told = json_pack("{s:s, s:s, s:s}", "run", id,
		    "campaign", campaign, "state",
		    names_run_states[RUN_PENDING].name);

		print_json_line(told);
		json_decref(told);
	} else if (rc == 0) {
		printf("run %s\n", id);
	}
	free(campaign);
	free(id);
	return rc;
}

const struct verb verbs_campaign[] = {
	{ "campaign", "list", "", 0, 0, "json where sort", "",
	    "List the campaigns with their schedules and last runs.",
	    "An invalid file is listed with its error, and the exit code is 1.",
	    campaign_list },
	{ "campaign", "show", "NAME", 1, 1, "json", "campaigns",
	    "Print the file of a campaign.", NULL, campaign_show },
	{ "campaign", "run", "[NAME]", 0, 1, "wait json override file",
	    "campaigns", "Start a run of a campaign now.",
	    "With --file, NAME defaults to the file name. Without --wait only "
	    "the id of the run is printed. With --wait and --json exactly one "
	    "object is printed, with run, campaign, state, cause and text.",
	    campaign_run },
	{ "campaign", "validate", "FILE...", 1, -1, "", "file",
	    "Check campaign files; needs no collector.",
	    "Each error is printed as file:line: the error and the expected "
	    "values. Plans are built by coalmine-probe, if it is installed. "
	    "Errors that depend on the number of ranks or on files of nodes "
	    "are found only by a run.",
	    campaign_validate },
	{ 0 },
};
