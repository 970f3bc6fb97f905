/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plans.c - rank 0 reads what is asked for, builds one plan after another,
 * proves each (check.h) and hands it to all ranks; then they run it together:
 * data is proven before the timed part, what that part left behind after it,
 * and once more with other data at the end.
 */
#include "probes/run/plans.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "probes/pattern/tune.h"
#include "probes/plan/check.h"
#include "probes/plan/pack.h"
#include "probes/run/control.h"
#include "probes/run/curve_run.h"
#include "probes/run/plans_part.h"
#include "probes/run/sizes.h"
#include "probes/run/team.h"
#include "probes/run/vary.h"

#define PIECE_BYTES      (1 << 30)
#define TRIAL_ITERATIONS 3 /* of a shape that may be chosen */

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
	o->ask.iterations = (int)conf_int(c, "measure", "iterations");
	o->ask.time_ns = conf_span_ns(c, "measure", "time");
	o->ask.precision = conf_real(c, "measure", "precision");
	if (ps->trying) {
		o->steps = o->keep = 0;
		o->ask.warmup = 1;
		o->ask.iterations = TRIAL_ITERATIONS;
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
	char why[PLANS_WHY_BYTES];

	if (check_plan(p, &fault) == 0)
		return 0;
	snprintf(why, sizeof(why), "refused: %.100s: %s: %s", p->title,
	    check_kinds[fault.kind], fault.text);
	emit_put(ps->emit,
	    plan_report_refusal(probe, p->title, CAUSE_INTERNAL, why));
	plans_note(ps, PLANS_EXIT_BAD, CAUSE_INTERNAL, why);
	return -EPROTO;
}

/* Planning is a part of a product's set-up; reading files and making matrices
 * is not, so it is done once more. */
static void
time_planning(struct plans *ps)
{
	char why[PATTERN_WHY_BYTES];
	uint64_t start_ns;

	if (neighbor_read(ps->conf, (uint32_t)ps->world->size, &ps->neighbor,
		why, sizeof(why)) < 0)
		fatalx("%s", why); /* it was read a moment ago */
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

/* Emulated links are all within this rank; the others wait asleep. */
static int
run_emulated(struct plans *ps, const struct pattern *pt)
{
	struct curve_out out = { curve_record_cb, curve_line_cb, ps };
	char why[PATTERN_WHY_BYTES] = "";
	int rc;

	if (strcmp(pt->name, "multipath") != 0 ||
	    !conf_bool(ps->conf, pt->name, "emulate"))
		return 0;
	rc = curve_run(ps->conf, &out, why, sizeof(why));
	if (rc == -EBADMSG)
		plans_note(ps, PLANS_EXIT_BAD, CAUSE_WRONG_DATA, why);
	else if (rc < 0)
		plans_note(ps, PLANS_EXIT_WRONG, CAUSE_CONFIG, why);
	return 1;
}

/* The executor keeps all buffers on the device. What is meant to be staged in
 * the host's memory would be another measurement there. */
static int
refuse_staged(struct plans *ps, const char *probe, const struct plan *p)
{
	const char *device = conf_string(ps->conf, "measure", "device");
	char why[PLANS_WHY_BYTES];
	uint64_t staged = 0;

	for (uint32_t b = 0; b < p->bufs_count; b++)
		for (uint32_t r = 0; p->bufs[b].on_host && r < p->ranks; r++)
			staged += p->bufs[b].bytes[r];
	if (staged == 0 || strcmp(device, "host") == 0)
		return 0;
	snprintf(why, sizeof(why),
	    "measure.device = %s: a plan that stages in memory of the host "
	    "runs on device host only: write host=no, or multipath=none",
	    device);
	plans_refuse(ps, probe, p, -ENOTSUP, why);
	return -ENOTSUP;
}

static int
build(struct plans *ps, const struct pattern *pt, struct plan **ret, char *why,
    size_t why_bytes)
{
	if (strcmp(pt->name, PLANS_COLLECTIVE) == 0 &&
	    strcmp(conf_string(ps->conf, pt->name, "tune"), "auto") == 0)
		return plans_tune(ps, ret, why, why_bytes);
	return pattern_build(pt, ps->conf, (uint32_t)ps->world->size, ret, why,
	    why_bytes);
}

static void
run_one(struct plans *ps, const struct pattern *pt)
{
	char why[PATTERN_WHY_BYTES];
	struct plan *p;

	if (run_emulated(ps, pt))
		return;
	tune_set_nodes((uint32_t)ps->world->nodes);
	if (build(ps, pt, &p, why, sizeof(why)) < 0) {
		plans_note(ps, PLANS_EXIT_WRONG, CAUSE_CONFIG, why);
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

/* In its own size, or in each of a sweep. */
static void
run_pattern(struct plans *ps, const struct pattern *pt)
{
	uint64_t sizes[SIZES_MAX];
	char why[PATTERN_WHY_BYTES];
	int count;

	if (sizes_parse(conf_string(ps->conf, "measure", "sizes"), sizes,
		&count, why, sizeof(why)) < 0) {
		plans_note(ps, PLANS_EXIT_WRONG, CAUSE_CONFIG, why);
		return;
	}
	if (count == 0)
		run_one(ps, pt);
	for (int i = 0; i < count; i++) {
		if (sizes_set(ps->conf, pt->name, sizes[i], why, sizeof(why)) <
		    0) {
			plans_note(ps, PLANS_EXIT_WRONG, CAUSE_CONFIG, why);
			return;
		}
		run_one(ps, pt);
	}
}

/* One of the probe's own options in all its values. */
static void
run_varied(struct plans *ps, const struct pattern *pt)
{
	char why[PATTERN_WHY_BYTES];
	struct vary v;
	int rc = vary_parse(conf_string(ps->conf, "measure", "vary"), &v, why,
	    sizeof(why));

	if (rc == 0 && v.section != NULL && pattern_find(v.section) == NULL) {
		snprintf(why, sizeof(why),
		    "measure.vary = %.80s: there is no probe %.40s",
		    conf_string(ps->conf, "measure", "vary"), v.section);
		rc = -EINVAL;
	}
	if (rc == 0 && !vary_is_of(&v, pt->name))
		run_pattern(ps, pt);
	for (size_t i = 0; rc == 0 && vary_is_of(&v, pt->name) && i < v.count;
	     i++) {
		rc = conf_set(ps->conf, pt->name, v.key, v.values[i],
		    "measure.vary", why, sizeof(why));
		if (rc == 0)
			run_pattern(ps, pt);
	}
	if (rc < 0)
		plans_note(ps, PLANS_EXIT_WRONG, CAUSE_CONFIG, why);
	vary_clear(&v);
}

/* That of the campaign, once. */
static int
load_machine(struct plans *ps)
{
	const char *name = conf_string(ps->conf, "measure", "machine");
	char why[MACHINE_WHY_BYTES];

	if (name[0] == '\0' || ps->machine != NULL)
		return 0;
	if (machine_load(name, NULL, 0, &ps->machine, why, sizeof(why)) < 0) {
		plans_note(ps, PLANS_EXIT_WRONG, CAUSE_CONFIG, why);
		return -EINVAL;
	}
	tune_set_machine(ps->machine);
	return 0;
}

void
plans_lead(struct plans *ps, struct conf *c, const struct pattern *only,
    int steps, int table, struct plans_result *ret)
{
	struct order end = { 0 };
	int loaded;

	ps->conf = c;
	loaded = load_machine(ps) == 0;
	ps->steps = steps || conf_bool(c, "measure", "steps");
	ps->table = plan_report_table();
	for (size_t i = 0; loaded && patterns[i] != NULL; i++)
		if (only == NULL ? conf_has_section(c, patterns[i]->name)
				 : patterns[i] == only) {
			if (strcmp(patterns[i]->name, PLANS_COLLECTIVE) == 0)
				plans_bounds(ps);
			run_varied(ps, patterns[i]);
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
	table_free(ps->table);
	strbuf_clear(&ps->remarks);
	free(ps);
}
