/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/daemon/diagnosis/diagnosis_fix.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/rng.h"
#include "daemon/store/store.h"
#include "schema/options.h"

struct told told;

void
store_put_verdict(struct store *st, const json_t *verdict,
    const struct store_event *event)
{
	const char *state = json_string_value(
	    json_object_get(verdict, "verdict"));
	const char *row,
	    *key = json_string_value(json_object_get(verdict, "subject"));
	json_t *v;

	(void)st;
	if (told.rows == NULL)
		told.rows = json_object();
	if (strcmp(state, "warn") == 0 || strcmp(state, "bad") == 0)
		json_object_set_new(told.rows, key, json_deep_copy(verdict));
	else
		json_object_del(told.rows, key);
	told.open = 0;
	json_object_foreach (told.rows, row, v)
		told.open++;
	told.verdicts++;
	assert_string_equal(event->kind, "verdict");
	assert_non_null(event->body);
	told.events++;
	snprintf(told.last, sizeof(told.last), "%s", event->text);
}

void
store_put_baseline(struct store *st, const char *name, const json_t *body)
{
	(void)st;
	assert_string_equal(name, DIAGNOSIS_RECENT);
	json_decref(told.recent);
	told.recent = json_deep_copy(body);
}

void
store_put_event(struct store *st, const char *kind, const char *subject,
    const char *text)
{
	(void)st;
	(void)subject;
	(void)text;
	told.alarms += strcmp(kind, "alarm") == 0;
}

static int
fix_order(void *ctx, const struct conf *campaign, char ret_run[64],
    struct err *err)
{
	struct fix *f = ctx;

	if (options_campaign_check(campaign, err) < 0)
		fail_msg("%s", err->text);
	conf_free(f->campaign);
	f->campaign = conf_dup(campaign);
	f->orders++;
	snprintf(ret_run, 64, "pass-%d", f->orders);
	return 0;
}

static int
fix_may_have(void *ctx, const char *class, const char *launcher,
    const json_t *slurm, const struct node *n)
{
	const struct fix *f = ctx;

	assert_string_equal(class, f->exclusive ? "exclusive" : "background");
	(void)launcher;
	(void)slurm;
	return f->asking ? -EAGAIN : !(f->not_had >> n->id & 1);
}

static void
fix_changed(void *ctx, const struct diagnosis_verdict *v)
{
	(void)ctx;
	told.changes++;
	told.state = v->state;
	told.what = v->is_open ? v->what : WHAT_MAX;
	snprintf(told.subject, sizeof(told.subject), "%s", v->subject);
}

static const struct diagnosis_ops fix_ops = { fix_order, fix_may_have,
	fix_changed };
static const struct diagnosis_options fix_options = { { 0.05, 0.01, 3, 5, 3 },
	3600 * CLK_NS_PER_S, 1, 100, 0, "commissioning", 1 };

static void
no_loss(struct node *n, void *arg)
{
	(void)n;
	(void)arg;
}

void
fix_hello(struct fix *f, int i, const char *boot)
{
	char name[16], addr[32];
	json_t *hello;
	struct node *n;

	snprintf(name, sizeof(name), "node%d", i + 1);
	snprintf(addr, sizeof(addr), "10.78.%d.%d", i / 4 + 1, i % 4 + 1);
	hello = json_pack("{s:s, s:s, s:s, s:{}}", "node", name, "boot", boot,
	    "software", "0", "inventory");
	n = roster_hello(f->roster, hello, addr,
	    (struct session *)(void *)&f->session, clk_ns());
	n->greeted = 1;
	json_decref(hello);
}

void
fix_roster(struct fix *f)
{
	struct roster_limits limits = { CLK_NS_PER_S, CLK_NS_PER_S, NULL, 0 };

	limits.topo = f->topo;
	f->roster = roster_new(&limits, NULL, no_loss, NULL);
}

int
fix_setup(void **state)
{
	struct fix *f = calloc(1, sizeof(*f));
	struct err err;

	memset(&told, 0, sizeof(told));
	assert_int_equal(topo_load("", 24, &f->topo, &err), 0);
	fix_roster(f);
	for (int i = 0; i < NODES; i++)
		fix_hello(f, i, "one");
	f->diagnosis = diagnosis_new(f->roster, NULL, &fix_options, &fix_ops,
	    f);
	*state = f;
	return 0;
}

int
fix_teardown(void **state)
{
	struct fix *f = *state;

	diagnosis_free(f->diagnosis);
	conf_free(f->campaign);
	json_decref(told.recent);
	told.recent = NULL;
	json_decref(told.rows);
	told.rows = NULL;
	roster_free(f->roster);
	topo_free(f->topo);
	free(f);
	return 0;
}

void
fix_again(struct fix *f)
{
	diagnosis_keep(f->diagnosis);
	diagnosis_free(f->diagnosis);
	f->diagnosis = diagnosis_new(f->roster, NULL, &fix_options, &fix_ops,
	    f);
}

enum verdict
verdict_of(struct fix *f, const char *node)
{
	return diagnosis_of_node(f->diagnosis, roster_find(f->roster, node));
}

void
expect_text(struct fix *f, const char *part)
{
	json_t *list = diagnosis_json(f->diagnosis, 0);
	const char *text = json_string_value(
	    json_object_get(json_array_get(list, 0), "text"));

	if (text == NULL || strstr(text, part) == NULL)
		fail_msg("\"%s\" lacks \"%s\"", text, part);
	json_decref(list);
}

const char *
ordered(const struct fix *f, const char *key)
{
	assert_non_null(f->campaign);
	return conf_string(f->campaign, "campaign", key);
}

size_t
open_cases(const struct fix *f)
{
	struct diagnosis_open list[8];

	return diagnosis_open_cases(f->diagnosis, list, 8);
}

void
hear_round_of(struct fix *f, unsigned slow, const struct diagnosis_source *from)
{
	json_t *nodes = json_array(), *record;
	char name[16];

	for (int i = 0; i < NODES; i++) {
		double x = 1e-5 * (1 + 0.002 * ((i * 5) % 7));

		snprintf(name, sizeof(name), "node%d", i + 1);
		x *= slow >> i & 1 ? 1.4 : 1;
		json_array_append_new(nodes,
		    json_pack("{s:s, s:f, s:i, s:i, s:f}", "node", name, "q25",
			x, "partners", 11, "slow_partners",
			slow >> i & 1 ? 11 : 1, "wait_ratio",
			f->waits >> i & 1 ? 0.9 : 0.02));
	}
	record = json_pack("{s:s, s:s, s:s, s:s, s:s*, s:f, s:o}", "run",
	    from->run, "probe", "canary", "test", "lat", "phase", "wild",
	    "device", f->device, "p50", 1e-5, "nodes", nodes);
	if (f->bytes > 0)
		json_object_set_new(record, "bytes", json_integer(f->bytes));
	evidence_record(f->diagnosis, f->roster, from, record);
	json_decref(record);
}

void
hear_round(struct fix *f, unsigned slow)
{
	static const struct diagnosis_source from = { "run-1", "watch",
		"background", "openmpi", "agents", NULL, NULL };

	hear_round_of(f, slow, &from);
}

void
hear_pass(struct fix *f, const char *slow, int uplink)
{
	struct confirm_run *p = &f->diagnosis->pass;
	struct diagnosis_source from = { p->run, NAMES_PASS_CAMPAIGN,
		"background", "openmpi", "agents", NULL, NULL };
	json_t *pairs = json_array(), *record;

	for (size_t a = 0; a < p->count; a++)
		for (size_t b = a + 1; b < p->count; b++) {
			uint32_t bad = diagnosis_leaf(f->diagnosis,
			    "10.78.2.0/24");
			uint32_t other = diagnosis_leaf(f->diagnosis,
			    "10.78.1.0/24");
			int crosses = (p->leaves[a] == bad) !=
			    (p->leaves[b] == bad);
			int is_slow = strcmp(p->names[a], slow) == 0 ||
			    strcmp(p->names[b], slow) == 0 ||
			    (crosses &&
				(uplink == PASS_UPLINK ||
				    (uplink == PASS_PATH &&
					(p->leaves[a] == other ||
					    p->leaves[b] == other))));

			json_array_append_new(pairs,
			    json_pack("{s:s, s:s, s:f}", "a", p->names[a], "b",
				p->names[b], "p50",
				!is_slow            ? 1e-5
				    : f->slower > 0 ? f->slower * 1e-5
						    : 1.4e-5));
		}
	record = json_pack("{s:s, s:s, s:s, s:o}", "probe", "canary", "test",
	    "lat", "phase", "isolated", "pairs", pairs);
	evidence_record(f->diagnosis, f->roster, &from, record);
	json_decref(record);
	diagnosis_run_over(f->diagnosis, f->diagnosis->pass.run);
}

json_t *
made_round(double factor)
{
	static uint64_t round;
	json_t *nodes = json_array();
	char name[16];

	round++;
	for (int i = 0; i < NODES; i++) {
		uint64_t mix = rng_mix(round * NODES + (uint64_t)i) % 1000;
		double x = 1e-5 * (1 + 2e-5 * (double)mix);

		snprintf(name, sizeof(name), "node%d", i + 1);
		json_array_append_new(nodes,
		    json_pack("{s:s, s:f}", "node", name, "q25",
			i == 4 ? x * factor : x));
	}
	return json_pack("{s:s, s:s, s:s, s:f, s:o}", "probe", "canary", "test",
	    "lat", "phase", "wild", "p50", 1e-5, "nodes", nodes);
}

void
hear_made(struct fix *f, double factor, int rounds)
{
	static const struct diagnosis_source from = { "run-1", "watch",
		"background", "openmpi", "agents", NULL, NULL };

	for (int i = 0; i < rounds; i++) {
		json_t *record = made_round(factor);

		evidence_record(f->diagnosis, f->roster, &from, record);
		json_decref(record);
	}
}
