/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix.c - impact of congestors on canaries: a table of the newest finished
 * run of a campaign for each congestor.mix and its bursts, with the counters
 * of network devices.
 *
 * Congestion at an endpoint is visible at the devices: drops and stalls on the
 * few receivers. Congestion between switches is not; only the switches could
 * report it.
 */
#include <math.h>
#include <string.h>

#include "common/table.h"
#include "common/utf8.h"
#include "ctl/lib/print.h"
#include "ctl/lib/ratio.h"
#include "ctl/lib/records.h"
#include "ctl/lib/runs.h"
#include "ctl/verbs/verbs.h"
#include "schema/names_probe.h"

#define MIXES_MAX 12
#define RUNS_MAX  100
#define MIX_BYTES 120

struct column {
	char mix[MIX_BYTES];
	char run[64];
	json_t *records, *counters;
};

struct matrix {
	struct column of[MIXES_MAX];
	size_t count;
};

static void
matrix_clear(struct matrix *m)
{
	for (size_t i = 0; i < m->count; i++) {
		json_decref(m->of[i].records);
		json_decref(m->of[i].counters);
	}
}

/* Write the mix of the campaign, then its bursts and strength, each if given:
 * "incast 10ms/90ms of 50 %". */
static void
matrix_mix_of(const json_t *records, char ret[MIX_BYTES])
{
	const json_t *options = json_object_get(records_find(records, "begin",
						    NULL, NULL),
	    "options");
	const char *burst = member_text(options, "congestor.burst");
	const char *strength = member_text(options, "congestor.strength");

	utf8_format(ret, MIX_BYTES, "%.60s%s%.12s%s%.12s%s%.8s",
	    print_member(options, "congestor.mix", "default"),
	    burst[0] != '\0' ? " " : "", burst, burst[0] != '\0' ? "/" : "",
	    burst[0] != '\0'
		? member_text_or(options, "congestor.pause", "100ms")
		: "",
	    strength[0] != '\0' ? " of " : "", strength);
	/* The text is a heading of a table, and comes unchecked from a record.
	 */
	for (char *bar; (bar = strchr(ret, '|')) != NULL;)
		*bar = ' ';
}

/* Older runs of a mix are skipped, and those without an impact. */
static int
matrix_column_add(struct ctl *c, struct matrix *m, const char *run)
{
	struct column *col = &m->of[m->count];
	json_t *records;
	char mix[MIX_BYTES];
	size_t known = 0;
	int rc = records_get(c, run, &records);

	if (rc != 0)
		return rc;
	matrix_mix_of(records, mix);
	while (known < m->count && strcmp(m->of[known].mix, mix) != 0)
		known++;
	if (known < m->count ||
	    records_find(records, "impact", NULL, NULL) == NULL) {
		json_decref(records);
		return 0;
	}
	snprintf(col->mix, sizeof(col->mix), "%s", mix);
	snprintf(col->run, sizeof(col->run), "%s", run);
	col->records = records;
	m->count++;
	return ctl_get(c, "runs/*/counters", run, &col->counters);
}

static int
matrix_find(struct ctl *c, const char *campaign, struct matrix *ret)
{
	json_t *runs, *run, *known;
	size_t i;
	int rc = runs_list(c,
	    &(struct runs_filter){ .campaign = campaign,
		.state = "finished",
		.is_brief = 1 },
	    RUNS_MAX, &runs);

	if (rc != 0)
		return rc;
	json_array_foreach (runs, i, run)
		if (rc == 0 && ret->count < MIXES_MAX &&
		    strcmp(print_member(run, "campaign", ""), campaign) == 0 &&
		    strcmp(print_member(run, "state", ""), "finished") == 0)
			rc = matrix_column_add(c, ret,
			    print_member(run, "run", ""));
	if (rc == 0 && json_array_size(runs) == 0) {
		rc = ctl_get(c, "campaigns/*", campaign, &known);
		if (rc == 0)
			json_decref(known);
	}
	json_decref(runs);
	if (rc == 0 && ret->count == 0)
		rc = ctl_fail("no finished run of campaign %.64s has "
			      "measured an impact",
		    campaign);
	return rc;
}

static void
matrix_impact_cell(struct table *t, const json_t *impact)
{
	struct estimate e = records_estimate(impact);

	if (impact == NULL || !isfinite(e.value))
		table_cell(t, "-");
	else if (isfinite(e.lo) && isfinite(e.hi))
		table_cell(t, "%.2f (%.2f .. %.2f)", e.value, e.lo, e.hi);
	else
		table_cell(t, "%.2f", e.value);
}

static void
matrix_print_impacts(const struct matrix *m)
{
	static const char *const ofs[] = { "mean", "p99" };
	struct strbuf heads = { 0 };
	struct table *t;

	strbuf_addf(&heads, "canary|of");
	for (size_t k = 0; k < m->count; k++)
		strbuf_addf(&heads, "|>%s", m->of[k].mix);
	t = table_new(heads.text);
	for (int i = 0; i < 2 * CANARY_MAX; i++) {
		const char *test = names_tests[i / 2].name;
		int known = 0;

		for (size_t k = 0; k < m->count; k++)
			known += records_impact(m->of[k].records, test,
				     ofs[i % 2]) != NULL;
		if (known == 0)
			continue;
		table_cell(t, "%s", test);
		table_cell(t, "%s", ofs[i % 2]);
		for (size_t k = 0; k < m->count; k++)
			matrix_impact_cell(t,
			    records_impact(m->of[k].records, test, ofs[i % 2]));
	}
	puts("Impact: how many times worse than without congestors "
	     "(isolated), with its interval");
	table_print(t, stdout);
	table_free(t);
	strbuf_clear(&heads);
}

/* ---- counters ---- */

struct count {
	const char *name;
	const char *words[4]; /* a counter with one of them in its name */
};

/* The increase of a count in a phase, over all of its visits. */
struct increase {
	double all, most;
	char at[80]; /* node and device with the most */
};

static int
matrix_counts_as(const struct count *n, const char *counter)
{
	for (size_t i = 0; i < ARRAY_LEN(n->words); i++)
		if (n->words[i] != NULL && strstr(counter, n->words[i]) != NULL)
			return 1;
	return 0;
}

static double
matrix_sum_of(const struct count *n, const json_t *nic)
{
	const char *key;
	double sum = 0;
	json_t *v;

	json_object_foreach (json_object_get(nic, "counters"), key, v)
		if (matrix_counts_as(n, key))
			sum += json_number_value(v);
	return sum;
}

/* The devices at a border, by "node device". */
static json_t *
matrix_border_index(const json_t *counters, json_int_t border)
{
	json_t *ret = json_object(), *row, *nic;
	char key[200];
	size_t i, k;

	json_array_foreach (counters, i, row)
		if (member_int(row, "border") == border)
			member_foreach (row, "nics", k, nic) {
				utf8_format(key, sizeof(key), "%s %s",
				    print_member(row, "node", ""),
				    print_member(nic, "nic", ""));
				json_object_set(ret, key, nic);
			}
	return ret;
}

/* Add the increase of each device from the border at which a visit began to the
 * one at which it ended. */
static void
matrix_count_visit(const json_t *counters, json_int_t from, json_int_t to,
    const struct count *n, json_t *devices)
{
	json_t *was = matrix_border_index(counters, from);
	json_t *is = matrix_border_index(counters, to), *nic;
	const char *key;

	json_object_foreach (is, key, nic) {
		const json_t *before = json_object_get(was, key);
		double more = before == NULL
		    ? 0
		    : matrix_sum_of(n, nic) - matrix_sum_of(n, before);

		if (more > 0)
			json_object_set_new(devices, key,
			    json_real(more +
				json_real_value(
				    json_object_get(devices, key))));
	}
	json_decref(was);
	json_decref(is);
}

static struct increase
matrix_count_phase(const struct column *col, const char *phase,
    const struct count *n)
{
	struct increase sum = { .all = 0 };
	json_t *devices = json_object(), *v;
	json_int_t from = 0;
	const json_t *r;
	const char *key;
	size_t i;

	json_array_foreach (col->records, i, r) {
		json_int_t seq = member_int(r, "seq");

		if (strcmp(print_member(r, "probe", ""), "phase") != 0 ||
		    strcmp(print_member(r, "phase", ""), phase) != 0)
			continue;
		if (strcmp(print_member(r, "event", ""), "begin") == 0)
			from = seq;
		else if (from > 0)
			matrix_count_visit(col->counters, from, seq, n,
			    devices);
	}
	json_object_foreach (devices, key, v) {
		sum.all += json_real_value(v);
		if (json_real_value(v) > sum.most) {
			sum.most = json_real_value(v);
			snprintf(sum.at, sizeof(sum.at), "%.79s", key);
		}
	}
	json_decref(devices);
	return sum;
}

static const struct count counts[] = {
	{ "bytes sent", { "tx_bytes" } },
	{ "drops", { "drop", "discard", "_errors" } },
	{ "stalls", { "wait", "pause", "stall" } },
};

/* Add a row for each count that grew in the phase; return their number. */
static int
matrix_counts_add(struct table *t, const struct column *col, const char *phase)
{
	int rows = 0;

	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		struct increase n = matrix_count_phase(col, phase, &counts[i]);

		if (!(n.all > 0))
			continue;
		table_cell(t, "%s", col->mix);
		table_cell(t, "%s", phase);
		table_cell(t, "%s", counts[i].name);
		table_cell(t, "%.0f", n.all);
		table_cell(t, "%.0f %%", 100 * n.most / n.all);
		table_cell(t, "%s", n.at);
		rows++;
	}
	return rows;
}

static void
matrix_print_counters(const struct matrix *m)
{
	struct table *t = table_new(
	    "congestor|phase|counter|>all devices|>largest share|device");
	int rows = 0;

	for (size_t k = 0; k < m->count; k++)
		for (int p = 0; p < PHASE_MAX; p++)
			rows += matrix_counts_add(t, &m->of[k],
			    names_phases[p]);
	if (rows > 0) {
		puts("\nCounters of network devices during each phase");
		table_print(t, stdout);
	}
	table_free(t);
}

static json_t *
matrix_json(const struct matrix *m)
{
	json_t *list = json_array(), *r;
	size_t i;

	for (size_t k = 0; k < m->count; k++)
		json_array_foreach (m->of[k].records, i, r)
			if (strcmp(print_member(r, "probe", ""), "impact") == 0)
				json_array_append_new(list,
				    json_pack("{s:s, s:s, s:O, s:O, s:O, s:O}",
					"mix", m->of[k].mix, "run",
					m->of[k].run, "test",
					json_object_get(r, "test"), "of",
					json_object_get(r, "of"), "value",
					json_object_get(r, "value"), "interval",
					json_object_get(r, "interval")));
	return list;
}

static int
matrix(struct ctl *c)
{
	struct matrix m = { 0 };
	int rc = matrix_find(c, c->args[0], &m);

	if (rc == 0 && opts_given(&c->opts, OPT_JSON)) {
		json_t *list = matrix_json(&m);

		print_json(list);
		json_decref(list);
	} else if (rc == 0) {
		matrix_print_impacts(&m);
		matrix_print_counters(&m);
	}
	matrix_clear(&m);
	return rc;
}

const struct verb verbs_matrix[] = {
	{ "matrix", NULL, "CAMPAIGN", 1, 1, "json", "campaigns",
	    "Show which congestor affects which canary.",
	    "Each congestor, and each length of its bursts, is a "
	    "column, from the newest finished run of the campaign with "
	    "that congestor.mix. Start such runs by campaign run -o "
	    "congestor.mix=incast and so on. The first table has the "
	    "impact on every canary with its interval. The second one "
	    "has counters of network devices in each phase: bytes "
	    "sent, drops, and stalls (waiting, pause frames), in "
	    "total, and the share of the device with the most. Drops "
	    "and stalls on few devices mean congestion at endpoints. "
	    "An impact without drops and stalls means congestion "
	    "between switches, which only counters of switches show.",
	    matrix },
	{ 0 },
};
