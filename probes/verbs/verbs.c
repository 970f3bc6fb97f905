/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs.c - which plans a request names, a probe's or all of a campaign, and
 * the verbs plan and check, which use each.
 */
#include "probes/verbs/verbs.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/str.h"
#include "common/table.h"
#include "common/xalloc.h"
#include "probes/job/rank_env.h"
#include "probes/catalog/patterns.h"
#include "probes/catalog/sweep.h"
#include "probes/plan/check.h"
#include "probes/plan/print.h"
#include "schema/options.h"

int
verbs_complain(const char *why)
{
	fprintf(stderr, "coalmine-probe: %s\n", why);
	return VERBS_USAGE;
}

static void
verbs_usage_print(const char *verb, FILE *to)
{
	int plan = strcmp(verb, "plan") == 0;

	fprintf(to,
	    "usage: coalmine-probe %s PROBE [option=value ...] [--ranks N]%s\n"
	    "       coalmine-probe %s CAMPAIGN.conf [--ranks N]%s\n"
	    "probes:\n",
	    verb, plan ? " [--format F]" : "", verb,
	    plan ? " [--format list|matrix|json|svg]" : "");
	for (size_t i = 0; patterns[i] != NULL; i++)
		fprintf(to, "  %-11s %s\n", patterns[i]->name,
		    patterns[i]->text);
}

static int
verbs_usage(const char *verb)
{
	verbs_usage_print(verb, stderr);
	return VERBS_USAGE;
}

int
verbs_ranks(const char *text, struct request *rq)
{
	struct err err;
	int64_t ranks;

	rq->any_ranks = strcmp(text, "any") == 0;
	if (rq->any_ranks)
		return 0;
	if (str_to_int(text, 1, PLAN_RANKS_MAX, &ranks) < 0) {
		err_say(&err, "--ranks = %.40s: expected 1 to %d, or any", text,
		    PLAN_RANKS_MAX);
		return verbs_complain(err.text);
	}
	rq->site.ranks = (uint32_t)ranks;
	return 0;
}

/* Return -1 to continue, else an exit code. */
static int
verbs_arguments(int argc, char **argv, int formats, struct request *rq)
{
	static const struct option longs[] = {
		{ "ranks", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ "format", required_argument, NULL, 'f' },
		{ NULL, 0, NULL, 0 },
	};
	const struct conf_row *row;
	struct table *table;
	int o;

	memset(rq, 0, sizeof(*rq));
	rq->format = &print_formats[0];
	optind = 0; /* glibc: start over */
	while ((o = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (o == 'h') { /* usage and every option */
			table = table_new("option|default|unit|what");
			verbs_usage_print(argv[0], stdout);
			putchar('\n');
			for (row = options_patterns; row->key != NULL; row++) {
				table_cell(table, "%s.%s", row->section,
				    row->key);
				table_cell(table, "%s", row->fallback);
				table_cell(table, "%s", row->unit);
				table_cell(table, "%s", row->text);
			}
			table_print(table, stdout);
			table_free(table);
			return fflush(stdout) == 0 ? 0 : EXIT_FAILURE;
		}
		if (o == 'r' && verbs_ranks(optarg, rq) != 0)
			return VERBS_USAGE;
		if (o == 'f' && formats) {
			rq->format = print_find(optarg);
			if (rq->format == NULL)
				return verbs_complain(
				    "--format: expected list, "
				    "matrix, json or svg");
		} else if (o == 'f' || o == '?') {
			return verbs_usage(argv[0]);
		}
	}
	rq->words = argv + optind;
	rq->count = argc - optind;
	return rq->count > 0 ? -1 : verbs_usage(argv[0]);
}

static int
verbs_use_probe(const struct request *rq, const struct pattern *pt,
    const struct conf *c, verbs_use_cb use)
{
	struct err err;
	struct plan *p;
	int rc;

	rc = pattern_build(pt, c, &rq->site, &p, &err);
	/* Files are on the nodes and may be missing here. */
	if (rq->any_ranks && (rc == -ENODATA || rc == -ENOENT))
		return 0;
	if (rc < 0)
		return verbs_complain(err.text);
	rc = use(rq, &(struct verbs_subject){ pt, c, p });
	plan_free(p);
	return rc;
}

struct each {
	const struct request *rq;
	const struct conf *c;
	verbs_use_cb use;
	int worst;
};

static void
verbs_each_cb(const struct pattern *pt, void *arg)
{
	struct each *e = arg;
	int rc = verbs_use_probe(e->rq, pt, e->c, e->use);

	e->worst = rc > e->worst ? rc : e->worst;
}

/* All that c asks of a probe, or what its own options say. */
static int
verbs_use_all(const struct request *rq, const struct pattern *pt,
    struct conf *c, verbs_use_cb use)
{
	struct each e = { rq, c, use, 0 };
	struct err err;

	if (!rq->sweeps)
		return verbs_use_probe(rq, pt, c, use);
	if (sweep_each(c, pt, verbs_each_cb, &e, &err) < 0)
		return verbs_complain(err.text);
	return e.worst;
}

int
verbs_use(const struct request *rq, verbs_use_cb use)
{
	const struct pattern *pt = patterns_find(rq->words[0]);
	int rc, worst = 0, found = 0;
	struct conf *c = NULL;
	struct err err;

	if (pt != NULL) {
		if (pattern_options(pt, rq->words + 1, rq->count - 1, &c,
			&err) < 0)
			return verbs_complain(err.text);
		worst = verbs_use_all(rq, pt, c, use);
		conf_free(c);
		return worst;
	}
	if (rq->count != 1 || access(rq->words[0], F_OK) != 0) {
		err_say(&err,
		    "%.300s: neither a campaign file nor a probe (see --help)",
		    rq->words[0]);
		return verbs_complain(err.text);
	}
	/* A campaign file may hold everything campaigns hold; each section that
	 * is a plan is used. */
	if (conf_load(options_campaign, rq->words[0], &c, &err) < 0)
		return verbs_complain(err.text);
	for (size_t i = 0; patterns[i] != NULL; i++) {
		if (!conf_has_section(c, patterns[i]->name))
			continue;
		found = 1;
		rc = verbs_use_all(rq, patterns[i], c, use);
		worst = rc > worst ? rc : worst;
	}
	conf_free(c);
	if (found || rq->any_ranks)
		return worst;
	err_say(&err,
	    "%.300s: no section names a probe with a plan (see coalmine-probe "
	    "plan --help)",
	    rq->words[0]);
	return verbs_complain(err.text);
}

static int
verbs_print_cb(const struct request *rq, const struct verbs_subject *of)
{
	if (rq->format->print(of->p, stdout) < 0)
		return verbs_complain(
		    "--format = svg: expected plans of at most "
		    "20000 transfers");
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "coalmine-probe: stdout: %s\n",
		    strerror(errno));
		return EXIT_FAILURE;
	}
	return 0;
}

static int
verbs_check_cb(const struct request *rq, const struct verbs_subject *of)
{
	const struct plan *p = of->p;
	uint64_t start_ns = clk_ns();
	struct check_fault fault;
	char span[32];
	int rc = check_plan(p, &fault);

	(void)rq;
	clk_span_format(clk_ns() - start_ns, span, sizeof(span));
	if (rc < 0) {
		printf("refused: %s: %s: %s\n", p->title,
		    check_kinds[fault.kind], fault.text);
		return VERBS_BAD;
	}
	printf("proven: %s: %u ranks, %u steps, %zu transfers of %" PRIu64
	       " bytes, %zu local operations, %zu expected results, in %s\n",
	    p->title, p->ranks, p->steps, p->transfers_count, plan_volume(p),
	    p->locals_count, p->promises_count, span);
	return 0;
}

int
verbs_first_rank(void)
{
	for (size_t i = 0; i < ARRAY_LEN(rank_envs); i++) {
		const char *name = rank_envs[i].rank;

		if (name != NULL && getenv(name) != NULL)
			return strcmp(getenv(name), "0") == 0;
	}
	return 1;
}

int
plan_main(int argc, char **argv)
{
	struct request rq;
	int rc;

	if (!verbs_first_rank())
		return 0;
	rc = verbs_arguments(argc, argv, 1, &rq);

	return rc >= 0 ? rc : verbs_use(&rq, verbs_print_cb);
}

int
check_main(int argc, char **argv)
{
	struct request rq;
	int rc;

	if (!verbs_first_rank())
		return 0;
	rc = verbs_arguments(argc, argv, 0, &rq);
	rq.sweeps = 1;
	return rc >= 0 ? rc : verbs_use(&rq, verbs_check_cb);
}
