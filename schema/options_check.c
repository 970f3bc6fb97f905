/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options_check.c - checks over several rows of a campaign.
 */
#include "schema/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "schema/mpi_settings.h"
#include "schema/names_probe.h"

/* Of a word that slurmctld gets. */
#define SLURM_WORD                                                             \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"                 \
	"0123456789-_.,:+@"

/* A rule over several values; the value that it names says where. */
struct rule {
	const char *section, *key;
	int (*broken)(const struct conf *c);
	/* In place of broken: of that value, whichever it is. */
	int (*bad)(const struct conf *c, const char *section, const char *key);
	const char *text;
};

/* Return 1 if a CONF_CHOICES value contains an item twice. */
static int
options_check_has_twice(const struct conf *c, const char *section,
    const char *key)
{
	size_t count;
	char **list = str_list_parse(conf_string(c, section, key), &count);
	int twice = 0;

	for (size_t i = 0; i < count && !twice; i++)
		for (size_t j = 0; j < i && !twice; j++)
			twice = strcmp(list[i], list[j]) == 0;
	str_list_free(list);
	return twice;
}

static int
options_check_mix_is(const struct conf *c, const char *word)
{
	return strcmp(conf_string(c, "congestor", "mix"), word) == 0;
}

static int
options_check_mix_none_and_more(const struct conf *c)
{
	size_t count;
	char **list = str_list_parse(conf_string(c, "congestor", "mix"),
	    &count);
	int none = 0;

	for (size_t i = 0; i < count; i++)
		none |= strcmp(list[i], "none") == 0;
	str_list_free(list);
	return none && count > 1;
}

static int
options_check_mix_without_share(const struct conf *c)
{
	return !options_check_mix_is(c, "none") &&
	    conf_real(c, "canary", "share") >= 1;
}

/* A file with [congestor] is meant to congest: the kinds have to be given. */
static int
options_check_mix_missing(const struct conf *c)
{
	return conf_has_section(c, "congestor") &&
	    !conf_given(c, "congestor", "mix");
}

static int
options_check_background_congestors(const struct conf *c)
{
	return conf_is(c, "campaign", "class", "background") &&
	    options_runs_canaries(c) && !options_check_mix_is(c, "none");
}

static int
options_check_nodes_crossed(const struct conf *c)
{
	return conf_int(c, "campaign", "nodes_min") >
	    conf_int(c, "campaign", "nodes_max");
}

/* No node has the name all. */
static int
options_check_nodes_all(const struct conf *c)
{
	const char *text = conf_string(c, "campaign", "nodes");
	struct hostlist hl;
	int has;

	if (strcmp(text, "all") == 0 || hostlist_parse(text, &hl, NULL) < 0)
		return 0;
	has = hostlist_has(&hl, "all");
	hostlist_clear(&hl);
	return has;
}

static int
options_check_nodes_too_few(const struct conf *c)
{
	const char *text = conf_string(c, "campaign", "nodes");
	struct hostlist hl;
	int few;

	if (strcmp(text, "all") == 0 || hostlist_parse(text, &hl, NULL) < 0)
		return 0;
	few = conf_int(c, "campaign", "nodes_min") > (int64_t)hl.count;
	hostlist_clear(&hl);
	return few;
}

static int
options_check_has_every(const struct conf *c)
{
	return conf_span_ns(c, "schedule", "every") > 0;
}

/* "every = 5" is meant as minutes more often than as seconds. */
static int
options_check_every_without_unit(const struct conf *c)
{
	const char *raw = conf_string(c, "schedule", "every");

	return options_check_has_every(c) &&
	    raw[strspn(raw, "0123456789.")] == '\0';
}

static int
options_check_has_text(const struct conf *c, const char *section,
    const char *key)
{
	return conf_string(c, section, key)[0] != '\0';
}

static int
options_check_every_and_at(const struct conf *c)
{
	return options_check_has_every(c) &&
	    options_check_has_text(c, "schedule", "at");
}

static int
options_check_window_alone(const struct conf *c)
{
	return options_check_has_text(c, "schedule", "window") &&
	    !options_check_has_every(c) &&
	    !options_check_has_text(c, "schedule", "at");
}

static int
options_check_past_every(const struct conf *c, const char *section,
    const char *key)
{
	return options_check_has_every(c) &&
	    conf_span_ns(c, section, key) >=
	    conf_span_ns(c, "schedule", "every");
}

/* "HH:MM" at text: how many characters it took, or 0. */
static size_t
options_check_clock_time(const char *text)
{
	static const char shape[] = "dd:dd";

	for (size_t i = 0; i < sizeof(shape) - 1; i++)
		if (shape[i] == ':' ? text[i] != ':'
				    : text[i] < '0' || text[i] > '9')
			return 0;
	if (atoi(text) > 23 || atoi(text + 3) > 59)
		return 0;
	return sizeof(shape) - 1;
}

/* "HH:MM", or "HH:MM-HH:MM" where span is 1, and nothing behind it. */
static int
options_check_time_good(const char *text, int span)
{
	size_t n = options_check_clock_time(text);

	if (n == 0)
		return 0;
	if (!span)
		return text[n] == '\0';
	return text[n] == '-' && options_check_time_good(text + n + 1, 0);
}

/* A list of times, or of spans of time for a window. */
static int
options_check_times_bad(const struct conf *c, const char *section,
    const char *key)
{
	const char *text = conf_string(c, section, key);
	int spans = strcmp(key, "window") == 0;
	size_t count = 0;
	char **list;
	int bad = 0;

	if (text[0] == '\0')
		return 0;
	list = str_list_parse(text, &count);
	if (list == NULL)
		return 1;
	for (size_t i = 0; i < count; i++)
		bad |= !options_check_time_good(list[i], spans);
	str_list_free(list);
	return bad;
}

static int
options_check_past_deadline(const struct conf *c, const char *section,
    const char *key)
{
	return conf_given(c, section, key) &&
	    conf_span_ns(c, section, key) >
	    conf_span_ns(c, "campaign", "deadline");
}

int
options_has_test(const struct conf *c, enum canary_test test)
{
	size_t count;
	char **list = str_list_parse(conf_string(c, "canary", "tests"), &count);
	int found = 0;

	for (size_t i = 0; i < count; i++)
		found |= strcmp(list[i], names_tests[test].name) == 0;
	str_list_free(list);
	return found;
}

static int
options_check_command_missing(const struct conf *c)
{
	return options_has_test(c, CANARY_COMMAND) &&
	    conf_string(c, "command", "run")[0] == '\0';
}

static int
options_check_command_unused(const struct conf *c)
{
	return conf_string(c, "command", "run")[0] != '\0' &&
	    !options_has_test(c, CANARY_COMMAND);
}

static int
options_check_command_exact(const struct conf *c)
{
	return options_has_test(c, CANARY_COMMAND) &&
	    conf_is(c, "canary", "exact", "gpcnet");
}

static int
options_check_bytes_exact(const struct conf *c)
{
	return conf_bytes(c, "canary", "bytes") > 0 &&
	    conf_is(c, "canary", "exact", "gpcnet");
}

static int
options_check_bytes_cut(const struct conf *c)
{
	return options_has_test(c, CANARY_ALLREDUCE) &&
	    conf_bytes(c, "canary", "bytes") % sizeof(double) != 0;
}

static int
options_check_slurm_in_background(const struct conf *c)
{
	return conf_is(c, "campaign", "class", "background") &&
	    strcmp(conf_string(c, "campaign", "launcher"), "slurm") == 0;
}

static int
options_check_devices_bad(const struct conf *c)
{
	const char *text = conf_string(c, "mpi", "devices");
	size_t count = 0;
	char **list = str_list_parse(text, &count);

	str_list_free(list);
	return list == NULL ||
	    text[strspn(text,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789_.-:, ")] != '\0';
}

static int
options_check_mpi_bad(const struct conf *c)
{
	const char *name = conf_string(c, "campaign", "mpi");

	return name[0] == '.' ||
	    name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_.-")] !=
	    '\0';
}

static int
options_check_has_device(const struct conf *c)
{
	return !conf_is(c, "measure", "device", "host");
}

/* Return 1 if an item of the value is one-sided and memory is a device's. */
static int
options_check_onesided(const struct conf *c, const char *section,
    const char *key)
{
	size_t count;
	char **list = str_list_parse(conf_string(c, section, key), &count);
	int found = 0;

	for (size_t i = 0; i < count; i++) {
		int test = STR_FIND(names_tests, list[i]);
		int kind = STR_FIND(names_congestors, list[i]);

		found |= strcmp(section, "canary") == 0
		    ? names_tests[test].onesided
		    : names_congestors[kind].onesided;
	}
	str_list_free(list);
	return found && options_check_has_device(c) && options_runs_canaries(c);
}

static int
options_check_via_of_host(const struct conf *c)
{
	return conf_is(c, "measure", "via", "xccl") &&
	    !options_check_has_device(c);
}

/* Return 1 if a number is missing, not positive, or one too many. */
static int
options_check_shares_bad(const struct conf *c)
{
	const char *text = conf_string(c, "congestor", "shares");
	size_t count, kinds, bad = 0;
	int64_t share;
	char **list;

	if (text[0] == '\0')
		return 0;
	list = str_list_parse(conf_string(c, "congestor", "mix"), &kinds);
	str_list_free(list);
	list = str_list_parse(text, &count);
	for (size_t i = 0; list != NULL && i < count; i++)
		bad += str_to_int(list[i], 1, 1000, &share) < 0;
	bad += list == NULL || count != kinds;
	str_list_free(list);
	return bad > 0;
}

static int
options_check_leaves_bad(const struct conf *c)
{
	char *words = xstrdup(conf_string(c, "congestor", "leaves"));
	char *rest = words, *word;
	struct hostlist hosts = { NULL, 0 };
	int bad = 0;

	while (!bad && (word = strsep(&rest, " \t")) != NULL)
		if (word[0] != '\0') {
			bad = hostlist_parse(word, &hosts, NULL) < 0;
			hostlist_clear(&hosts);
		}
	free(words);
	return bad;
}

static const struct rule rules[] = {
	{ "campaign", "mpi", options_check_mpi_bad, NULL,
	    "expected openmpi, mpich or a name of lower-case letters, digits, "
	    ". _ and -" },
	{ "mpi", "devices", options_check_devices_bad, NULL,
	    "expected names such as mlx5_0, mlx5_0:1 or eth1, separated by "
	    "commas" },
	{ "campaign", "launcher", options_check_slurm_in_background, NULL,
	    "a batch job takes whole nodes: set campaign.class = exclusive" },
	{ "canary", "tests", NULL, options_check_has_twice,
	    "a test is listed twice: expected each once" },
	{ "canary", "tests", options_check_command_missing, NULL,
	    "the test command requires command.run, a program" },
	{ "command", "run", options_check_command_unused, NULL,
	    "[command] is not used: add command to canary.tests" },
	{ "canary", "exact", options_check_command_exact, NULL,
	    "the GPCNeT paper has no counts for the test command: "
	    "expected no" },
	{ "canary", "bytes", options_check_bytes_exact, NULL,
	    "canary.exact = gpcnet uses the sizes of the GPCNeT paper: "
	    "expected 0" },
	{ "canary", "bytes", options_check_bytes_cut, NULL,
	    "allreduce adds numbers of 8 bytes: expected a multiple of 8" },
	{ "congestor", "mix", options_check_mix_none_and_more, NULL,
	    "none cannot be combined with other kinds" },
	{ "congestor", "mix", NULL, options_check_has_twice,
	    "a kind is listed twice: expected each once" },
	{ "congestor", "shares", options_check_shares_bad, NULL,
	    "expected a number from 1 to 1000 for each kind in congestor.mix, "
	    "for example 3,1" },
	{ "congestor", "leaves", options_check_leaves_bad, NULL,
	    "expected a list of hosts for each leaf, for example n[1-40] "
	    "n[41-80]" },
	{ "canary", "tests", NULL, options_check_onesided,
	    "get-lat and put-bw support host memory only: with measure.device, "
	    "expected other tests" },
	{ "congestor", "mix", NULL, options_check_onesided,
	    "put-incast and get-bcast support host memory only: with "
	    "measure.device, expected alltoall, incast, bcast, allreduce, idle "
	    "or none" },
	{ "measure", "via", options_check_via_of_host, NULL,
	    "moves GPU memory only: set measure.device = cuda or hip" },
	{ "congestor", "mix", options_check_background_congestors, NULL,
	    "a background campaign may not congest the network: expected "
	    "none, or campaign.class = exclusive" },
	{ "canary", "share", options_check_mix_without_share, NULL,
	    "leaves no nodes for the congestors: expected less than 1, or "
	    "congestor.mix = none" },
	{ "campaign", "nodes", options_check_nodes_all, NULL,
	    "all cannot be combined with names: expected all, or a host list" },
	{ "campaign", "nodes_min", options_check_nodes_crossed, NULL,
	    "is more than campaign.nodes_max" },
	{ "campaign", "nodes_min", options_check_nodes_too_few, NULL,
	    "is more than the hosts in campaign.nodes" },
	{ "schedule", "at", NULL, options_check_times_bad,
	    "expected a list of times of day such as 02:00,14:30" },
	{ "schedule", "window", NULL, options_check_times_bad,
	    "expected a list of spans such as 22:00-06:00" },
	{ "schedule", "every", options_check_every_without_unit, NULL,
	    "has no unit: expected for example 5m or 1h30m" },
	{ "schedule", "at", options_check_every_and_at, NULL,
	    "cannot be combined with schedule.every: expected one of them" },
	{ "schedule", "window", options_check_window_alone, NULL,
	    "requires a schedule: set schedule.every or schedule.at" },
	{ "schedule", "jitter", NULL, options_check_past_every,
	    "must be shorter than schedule.every" },
	{ "schedule", "offset", NULL, options_check_past_every,
	    "must be shorter than schedule.every" },
	{ "campaign", "start_limit", NULL, options_check_past_deadline,
	    "is longer than campaign.deadline" },
	{ "canary", "timeout", NULL, options_check_past_deadline,
	    "is longer than campaign.deadline" },
};

static int
options_check_refuse(const struct conf *c, const char *section, const char *key,
    const char *text, struct err *err)
{
	return err_set(err, -EINVAL, "%s: %s.%s = %.80s: %s",
	    conf_where(c, section, key), section, key,
	    conf_string(c, section, key), text);
}

static int
options_check_partners_check(const struct conf *c, struct err *err)
{
	size_t count, fit = 0;
	struct strbuf sb = { 0 };
	char **list;
	int want = CONF_CHOICE_OF(c, "canary", "partners", names_partners);
	int least = want == PARTNERS_ONE_WAY ? 2 : 1;
	int rc;

	if (want == PARTNERS_RING)
		return 0;
	list = str_list_parse(conf_string(c, "canary", "tests"), &count);
	for (size_t i = 0; i < count; i++)
		fit += names_tests[STR_FIND(names_tests, list[i])]
			   .may_stand_aside >= least;
	str_list_free(list);
	if (fit == count && !conf_is(c, "canary", "exact", "gpcnet"))
		return 0;
	for (int i = 0; i < CANARY_MAX; i++)
		if (names_tests[i].may_stand_aside >= least)
			strbuf_addf(&sb, "%s%s",
			    sb.text != NULL ? ", "
				: least > 1
				? "one-way is valid with test "
				: "match and pair are valid with the tests ",
			    names_tests[i].name);
	strbuf_addf(&sb, " only, and without exact = gpcnet");
	rc = options_check_refuse(c, "canary", "partners", sb.text, err);
	strbuf_clear(&sb);
	return rc;
}

static int
options_check_is_empty(const struct conf *c)
{
	const struct conf_row *row = options_campaign;

	while (row->key != NULL && !conf_has_section(c, row->section))
		row++;
	return row->key == NULL;
}

static int
options_check_empty(const struct conf *c, struct err *err)
{
	return !options_check_is_empty(c)
	    ? 0
	    : err_set(err, -EINVAL,
		  "%s: the campaign is empty: expected a section that "
		  "measures, for example [canary], [congestor] or [stripe]",
		  conf_path(c));
}

static int
options_check_mix(const struct conf *c, struct err *err)
{
	return !options_check_mix_missing(c)
	    ? 0
	    : err_set(err, -EINVAL,
		  "%s: [congestor] has no mix: expected kinds of congestors, "
		  "for example mix = alltoall,incast,put-incast,get-bcast, "
		  "or mix = none",
		  conf_section_where(c, "congestor"));
}

/* Words that another program gets: nothing in them is a mark of it. */
static int
options_check_slurm(const struct conf *c, struct err *err)
{
	const struct conf_row *row;

	for (row = options_slurm(NULL); row != NULL; row = options_slurm(row)) {
		const char *word = conf_string(c, row->section, row->key);

		if (word[strspn(word, SLURM_WORD)] != '\0')
			return options_check_refuse(c, row->section, row->key,
			    "expected letters, digits and -_.,:+@", err);
	}
	return 0;
}

int
options_campaign_next(const struct conf *c, size_t *at, struct err *err)
{
	static int (*const others[])(const struct conf *c,
	    struct err *err) = { options_check_empty, options_check_mix,
		mpi_settings_conf_check, options_check_slurm,
		options_check_partners_check };

	while (*at < ARRAY_LEN(rules) + ARRAY_LEN(others)) {
		size_t i = (*at)++;
		const struct rule *r = i < ARRAY_LEN(rules) ? &rules[i] : NULL;

		if (r == NULL) {
			if (others[i - ARRAY_LEN(rules)](c, err) < 0)
				return -EINVAL;
		} else if (r->broken != NULL ? r->broken(c)
					     : r->bad(c, r->section, r->key)) {
			return options_check_refuse(c, r->section, r->key,
			    r->text, err);
		}
	}
	return 0;
}

int
options_campaign_check(const struct conf *c, struct err *err)
{
	size_t at = 0;

	return options_campaign_next(c, &at, err);
}
