/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - a health check. It runs on all nodes at once and within a job's
 * prolog, so it reads one local file and sends no request.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/file.h"
#include "common/str.h"
#include "ctl/lib/print.h"
#include "ctl/verbs/verbs.h"
#include "schema/names_verdict.h"

#define VERDICT_FILE "/run/coalmine-agent/verdict"
#define FILE_MAX     8192

/* The file's object, or NULL and why. */
static json_t *
check_verdict_read(const char *path, struct err *err)
{
	struct err reason;
	char *text;
	json_error_t error;
	json_t *o;
	size_t len;

	if (file_read(path, FILE_MAX, &text, &len, &reason) < 0) {
		err_say(err, "no verdict on this node: %s", reason.text);
		return NULL;
	}
	o = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	free(text);
	if (!json_is_object(o)) {
		err_say(err, "%s: not a verdict", path);
		json_decref(o);
		return NULL;
	}
	return o;
}

static int
check(struct ctl *c)
{
	static const int weight[] = { [EXIT_CODE_OK] = 0,
		[EXIT_CODE_UNKNOWN] = 1,
		[EXIT_CODE_WARN] = 2,
		[EXIT_CODE_BAD] = 3 };
	const char *path = opts_value(&c->opts, OPT_FILE);
	const char *word = opts_value(&c->opts, OPT_FAIL_ON);
	struct err text = { 0 };
	int code = EXIT_CODE_UNKNOWN, fail_on = EXIT_CODE_UNKNOWN;
	double age_s;
	json_t *o;

	if (!opts_given(&c->opts, OPT_LOCAL))
		return ctl_fail("check needs --local; coalctl diags lists "
				"problems of the collector");
	if (word != NULL)
		fail_on = STR_FIND(names_verdicts, word);
	o = check_verdict_read(path != NULL ? path : VERDICT_FILE, &text);
	age_s = (double)clk_unix_ns() / 1e9 -
	    member_number(o, "at_unix_ns") / 1e9;
	/* A verdict beyond its validity, or from the future, is unknown. */
	if (age_s <= member_number(o, "fresh_ms") / 1e3 && age_s >= -60) {
		code = STR_FIND(names_verdicts, print_member(o, "verdict", ""));
		code = code < 0 ? EXIT_CODE_UNKNOWN : code;
		err_say(&text, "%s", print_member(o, "text", ""));
	} else if (o != NULL) {
		err_say(&text,
		    "the last verdict is %.0f s old: is the agent connected?",
		    age_s);
	}
	json_decref(o);
	printf("%s%s%s\n", names_verdicts[code],
	    text.text[0] != '\0' ? ": " : "", text.text);
	/* --fail-on WORD: anything less is success. unknown is not bad. */
	return weight[code] >= weight[fail_on] ? code : EXIT_CODE_OK;
}

const struct verb verbs_check[] = {
	{ "check", NULL, "", 0, 0, "local file fail-on", "",
	    "With --local: check this node by the last verdict of its agent.",
	    "The check reads the verdict from a file that the agent writes, "
	    "and contacts no collector (--local, required). The check can be "
	    "used as Slurm's HealthCheckProgram, in a prolog or in NHC. The "
	    "exit code is 0 for ok, 1 for warn (outlier), 2 for bad and 3 for "
	    "unknown: the node was not measured recently, or the agent has no "
	    "contact with the collector. With --fail-on=bad every verdict "
	    "except bad has exit code 0, as a prolog needs it.",
	    check },
	{ 0 },
};
