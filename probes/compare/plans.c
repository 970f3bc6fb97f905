/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plans.c - rank 0 reads what is asked for, builds one plan after another,
 * proves each (check.h) and hands it to all ranks; then they run it together:
 * data is proven before the timed part, what that part left behind after it,
 * and once more with other data at the end.
 */
#include "probes/compare/plans.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "probes/pattern/sweep.h"
#include "probes/collective/tune.h"
#include "probes/plan/check.h"
#include "probes/job/control.h"
#include "probes/multipath/curve_run.h"
#include "probes/compare/plans_part.h"
#include "probes/job/team.h"

#define PIECE_BYTES (1 << 30)

void
plans_note(struct plans *ps, int status, enum cause cause, const char *why)
{
	struct plans_result *res = &ps->res;

	log_warnx("%s", why);
	if (status > res->status)
		res->status = status;
	if (res->cause != CAUSE_NONE)
		return;
	res->cause = cause;
	snprintf(res->why, sizeof(res->why), "%s", why);
}

static void
order_fill(const struct plans *ps, struct order *o)
{
	const struct conf *c = ps->conf;

	o->more = 1;
	o->steps = ps->steps;
	o->keep = conf_bool(c, "measure", "concurrent");
	o->ask.warmup = (int)conf_int(c, "measure", "warmup");
	o->ask.iterations = conf_given(c, "measure", "iterations")
	    ? (int)conf_int(c, "measure", "iterations")
	    : 0;
	o->ask.time_ns = conf_span_ns(c, "measure", "time");
	o->ask.precision = conf_real(c, "measure", "precision");
	if (ps->trying) {
		o->steps = o->keep = 0;
		o->ask.warmup = 0; /* the proof was one */
		o->ask.iterations = ps->trying;
	}
	snprintf(o->device, sizeof(o->device), "%s",
	    conf_string(c, "measure", "device"));
}

/* ---- all ranks ---- */

static void
share(const struct plans *ps, void *data, size_t bytes)
{
	MPI_Request req;

	for (size_t at = 0; at < bytes; at += PIECE_BYTES) {
		size_t n = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;

		MPI_DO(MPI_Ibcast((char *)data + at, (int)n, MPI_CHAR, 0,
		    ps->world->control, &req));
		control_wait(&req);
	}
}

/* Notes stay with rank 0, which reports them. */
static struct plan *
share_plan(const struct plans *ps, struct plan *mine, uint64_t bytes,
    void *packed)
{
	struct plan *p;

	if (ps->world->rank == 0) {
		share(ps, packed, bytes);
		return mine;
	}
	packed = xcalloc(bytes, 1);
	share(ps, packed, bytes);
	p = plan_unpack(packed, bytes);
	free(packed);
	return p;
}

/* ---- one order after another ---- */

/* Rank 0: to all, and run it; takes p. */
void
plans_send(struct plans *ps, const char *probe, struct plan *p)
{
	struct order o = { 0 };
	size_t bytes;
	void *packed = plan_pack(p, &bytes);

	order_fill(ps, &o);
	o.plan_bytes = bytes;
	snprintf(o.probe, sizeof(o.probe), "%s", probe);
	o.columns = ps->neighbor.matrix.rows > 0 ? ps->neighbor.columns : 0;
	share(ps, &o, sizeof(o));
	share_plan(ps, p, bytes, packed);
	free(packed);
	plans_run(ps, probe, p, &o);
	if (!plans_is_kept(ps, p))
		plan_free(p);
}

static void
send_together(struct plans *ps)
{
	struct order o = { 0 };

	if (ps->kept_count < 2)
		return;
	order_fill(ps, &o);
	o.together = 1;
	share(ps, &o, sizeof(o));
	plans_run_together(ps, &o);
}

int
plans_prove(struct plans *ps, const char *probe, const struct plan *p)
{
	struct check_fault fault;
	struct err err;

	if (check_plan(p, &fault) == 0)
		return 0;
	err_say(&err, "refused: %.100s: %s: %s", p->title,
	    check_kinds[fault.kind], fault.text);
	emit_put(ps->emit,
	    plan_report_refusal(probe, p->title, CAUSE_INTERNAL, err.text));
	plans_note(ps, PLANS_EXIT_BAD, CAUSE_INTERNAL, err.text);
	return -EPROTO;
}

/* Planning is a part of a product's set-up; reading files and making matrices
 * is not, so it is done once more. */
static void
time_planning(struct plans *ps)
{
	struct err err;
	uint64_t start_ns;

	if (neighbor_read(ps->conf, (uint32_t)ps->world->size, &ps->neighbor,
		&err) < 0)
		fatalx("%s", err.text); /* it was read a moment ago */
	start_ns = clk_ns();
	plan_free(neighbor_plan(&ps->neighbor, (uint32_t)ps->world->size, ""));
	ps->plan_s = (double)(clk_ns() - start_ns) / (double)CLK_NS_PER_S;
}

static void
curve_record_cb(void *arg, json_t *record)
{
	emit_put(((struct plans *)arg)->emit, record);
}

static void
curve_line_cb(void *arg, const char *text)
{
	struct plans *ps = arg;

	strbuf_addf(&ps->remarks, "%s\n", text);
}

static int
is_emulated(const struct plans *ps, const struct pattern *pt)
{
	return strcmp(pt->name, "multipath") == 0 &&
	    conf_bool(ps->conf, pt->name, "emulate");
}

/* Emulated links are all within this rank; the others wait asleep. */
static int
run_emulated(struct plans *ps, const struct pattern *pt)
{
	struct curve_out out = { curve_record_cb, curve_line_cb, ps };
	struct err err = { 0 };
	int rc;

	if (!is_emulated(ps, pt))
		return 0;
	rc = curve_run(ps->conf, &out, &err);
	if (rc == -EBADMSG)
		plans_note(ps, PLANS_EXIT_BAD, CAUSE_WRONG_DATA, err.text);
	else if (rc < 0)
		plans_note(ps, PLANS_EXIT_WRONG, CAUSE_CONFIG, err.text);
	return 1;
}

/* The executor keeps all buffers on the device. What is meant to be staged in
 * the host's memory would be another measurement there. */
static int
refuse_staged(struct plans *ps, const char *probe, const struct plan *p)
{
	const char *device = conf_string(ps->conf, "measure", "device");
	struct err err;
	uint64_t staged = 0;

	for (uint32_t b = 0; b < p->bufs_count; b++)
		for (uint32_t r = 0; p->bufs[b].on_host && r < p->ranks; r++)
			staged += p->bufs[b].bytes[r];
	if (staged == 0 || strcmp(device, "host") == 0)
		return 0;
	err_say(&err,
	    "measure.device = %s: a plan that stages in memory of the host "
	    "runs on device host only: write host=no, or multipath=none",
	    device);
	plans_refuse(ps, probe, p, -ENOTSUP, err.text);
	return -ENOTSUP;
}

static int
is_tuned(const struct plans *ps, const struct pattern *pt)
{
	return strcmp(pt->name, PLANS_COLLECTIVE) == 0 &&
	    strcmp(conf_string(ps->conf, pt->name, "tune"), "auto") == 0;
}

static int
build(struct plans *ps, const struct pattern *pt, struct plan **ret,
    struct err *err)
{
	if (is_tuned(ps, pt)) {
		plans_rates(ps);
		return plans_tune(ps, ret, err);
	}
	return pattern_build(pt, ps->conf, (uint32_t)ps->world->size, ret, err);
}

static void
run_one(struct plans *ps, const struct pattern *pt)
{
	struct err err;
	struct plan *p;

	if (run_emulated(ps, pt))
		return;
	tune_set_nodes((uint32_t)ps->world->nodes);
	if (build(ps, pt, &p, &err) < 0) {
		plans_note(ps, PLANS_EXIT_WRONG, CAUSE_CONFIG, err.text);
		return;
	}
	if (plans_prove(ps, pt->name, p) < 0 ||
	    refuse_staged(ps, pt->name, p) < 0) {
		plan_free(p);
		return;
	}
	if (strcmp(pt->name, NEIGHBOR_SECTION) == 0)
		time_planning(ps);
	plans_send(ps, pt->name, p);
	neighbor_clear(&ps->neighbor);
}

static void
run_one_cb(const struct pattern *pt, void *arg)
{
	run_one(arg, pt);
}

/* Whether it can be built: what is wrong with the last of a campaign's plans
 * is said before the first is measured. */
static void
try_one_cb(const struct pattern *pt, void *arg)
{
	struct plans *ps = arg;
	struct err err;
	struct plan *p;

	if (is_emulated(ps, pt) || is_tuned(ps, pt))
		return; /* each has its own way to a plan */
	if (pattern_build(pt, ps->conf, (uint32_t)ps->world->size, &p, &err) <
	    0)
		plans_note(ps, PLANS_EXIT_WRONG, CAUSE_CONFIG, err.text);
	else
		plan_free(p);
}

static void
each_variant(struct plans *ps, const struct pattern *pt, sweep_cb use)
{
	struct err err;

	if (sweep_each(ps->conf, pt, use, ps, &err) < 0)
		plans_note(ps, PLANS_EXIT_WRONG, CAUSE_CONFIG, err.text);
}

/* That of the campaign, once. */
static int
load_machine(struct plans *ps)
{
	const char *name = conf_string(ps->conf, "measure", "machine");
	struct err err;

	if (name[0] == '\0' || ps->machine != NULL)
		return 0;
	if (machine_load(name, NULL, 0, &ps->machine, &err) < 0) {
		plans_note(ps, PLANS_EXIT_WRONG, CAUSE_CONFIG, err.text);
		return -EINVAL;
	}
	tune_set_machine(ps->machine);
	return 0;
}

static int
is_wanted(const struct plans *ps, const struct pattern *pt,
    const struct pattern *only)
{
	return only == NULL ? conf_has_section(ps->conf, pt->name) : pt == only;
}

/* One plan alone is tried by being run. */
static int
try_all(struct plans *ps, const struct pattern *only)
{
	if (only != NULL &&
	    conf_string(ps->conf, "measure", "vary")[0] == '\0' &&
	    conf_string(ps->conf, "measure", "sizes")[0] == '\0')
		return 1;
	tune_set_nodes((uint32_t)ps->world->nodes);
	for (size_t i = 0; patterns[i] != NULL; i++)
		if (is_wanted(ps, patterns[i], only))
			each_variant(ps, patterns[i], try_one_cb);
	return ps->res.status == 0;
}

void
plans_lead(struct plans *ps, struct conf *c, const struct pattern *only,
    int steps, int table, struct plans_result *ret)
{
	struct order end = { 0 };
	int loaded;

	ps->conf = c;
	loaded = load_machine(ps) == 0 && try_all(ps, only);
	ps->steps = steps || conf_bool(c, "measure", "steps");
	ps->table = plan_report_table();
	for (size_t i = 0; loaded && patterns[i] != NULL; i++)
		if (is_wanted(ps, patterns[i], only)) {
			if (strcmp(patterns[i]->name, PLANS_COLLECTIVE) == 0)
				plans_bounds(ps);
			each_variant(ps, patterns[i], run_one_cb);
		}
	send_together(ps);
	if (table && ps->rows > 0)
		table_print(ps->table, stdout);
	if (table && ps->remarks.text != NULL)
		fputs(ps->remarks.text, stdout);
	end.status = ps->res.status;
	share(ps, &end, sizeof(end));
	*ret = ps->res;
}

void
plans_follow(struct plans *ps, struct plans_result *ret)
{
	struct order o;

	for (;;) {
		struct plan *p;

		share(ps, &o, sizeof(o));
		if (!o.more)
			break;
		if (o.together) {
			plans_run_together(ps, &o);
			continue;
		}
		p = share_plan(ps, NULL, o.plan_bytes, NULL);
		plans_run(ps, o.probe, p, &o);
		if (!plans_is_kept(ps, p))
			plan_free(p);
	}
	ps->res.status = o.status;
	*ret = ps->res;
}

struct plans *
plans_new(struct world *w, struct emit *emit)
{
	struct plans *ps = xcalloc(1, sizeof(*ps));

	ps->world = w;
	ps->emit = emit;
	return ps;
}

void
plans_free(struct plans *ps)
{
	plans_drop_kept(ps);
	team_close(ps->team);
	tune_set_machine(NULL);
	machine_free(ps->machine);
	machine_free(ps->seen);
	table_free(ps->table);
	strbuf_clear(&ps->remarks);
	free(ps);
}
