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
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/pattern/neighbor.h"
#include "probes/pattern/tune.h"
#include "probes/plan/check.h"
#include "probes/plan/predict.h"
#include "probes/plan/pack.h"
#include "probes/run/collective_run.h"
#include "probes/run/control.h"
#include "probes/run/curve_run.h"
#include "probes/run/neighbor_run.h"
#include "probes/run/plan_report.h"
#include "probes/run/sizes.h"
#include "probes/run/spmm.h"
#include "probes/run/team.h"
#include "probes/run/trial.h"
#include "probes/run/vary.h"

#define EXIT_BAD           2
#define EXIT_WRONG         3
#define WHY_BYTES          PLANS_WHY_BYTES
#define PIECE_BYTES        (1 << 30)
#define FIRST_DATA         1 /* "iterations" of fill: any two numbers */
#define SECOND_DATA        2
#define COLLECTIVE_SECTION "collective"

/* From rank 0 to all: what comes next. */
struct order {
	int more; /* 0: that was all */
	int status;
	int steps;    /* each alone as well */
	int keep;     /* the plan, for later */
	int together; /* no plan: run all that were kept */
	uint64_t plan_bytes;
	struct trial_ask ask;
	char device[16];
	char probe[16];
	uint32_t columns; /* of a product with a sparse matrix; 0: none */
};

/* A plan that stays, to be run with others. */
struct kept {
	struct plan *plan;
	struct exec *exec;
};

struct plans {
	struct world *world;
	struct transport_team *team;
	char device[16]; /* of team */
	struct kept *kept;
	size_t kept_count;
	/* rank 0: */
	struct emit *emit;
	struct table *table;
	int rows;              /* in it */
	struct strbuf remarks; /* lines below it */
	struct conf *conf;
	int steps;
	struct plans_result res;
	struct machine *machine; /* of predictions; NULL: none */
	/* of a neighbor plan with a matrix */
	struct neighbor neighbor;
	double plan_s; /* what it takes to plan it */
};

/* ---- rank 0 ---- */

static void
note_failure(struct plans *ps, int status, enum cause cause, const char *why)
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

static uint64_t
largest(const struct plan *p)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < p->transfers_count; i++)
		if (p->transfers[i].bytes > bytes)
			bytes = p->transfers[i].bytes;
	return bytes;
}

/* The volume that bandwidth is made of: what the pattern is for, not what it
 * takes on the way. */
static void
choose_volume(struct plan_report *r)
{
	static const char *const names[] = { "message", "per_group",
		"delivered" };

	r->of = "footprint";
	r->bytes = plan_volume(r->plan);
	for (size_t i = 0; i < r->plan->notes_count; i++)
		for (size_t k = 0; k < ARRAY_LEN(names); k++)
			if (strcmp(r->plan->notes[i].name, names[k]) == 0) {
				r->of = names[k];
				r->bytes = r->plan->notes[i].value;
			}
}

static void
report_trial(struct plans *ps, const struct plan_report *r,
    const struct trial *t, int step)
{
	if (ps->world->rank != 0)
		return;
	emit_put(ps->emit, plan_report_trial(r, t, step));
	plan_report_row(ps->table, r, t, step);
	ps->rows++;
}

/* 0, or -EBADMSG once it is reported. */
static int
report_fault(struct plans *ps, const struct plan_report *r, int rc,
    const struct exec_fault *f, const char *when)
{
	char text[WHY_BYTES];

	if (rc == 0 || ps->world->rank != 0)
		return rc;
	plan_report_fault_text(r, f, when, text, sizeof(text));
	emit_put(ps->emit, plan_report_fault(r, f, when));
	note_failure(ps, EXIT_BAD, CAUSE_WRONG_DATA, text);
	return rc;
}

/* Can what repetitions leave be compared? Not where a result is written over
 * its own source. */
static int
repeats(const struct plan *p)
{
	for (size_t i = 0; i < p->promises_count; i++)
		if (p->bufs[p->promises[i].to].role == PLAN_IN)
			return 0;
	return 1;
}

static void
measure_steps(struct plans *ps, struct exec *e, const struct plan_report *r,
    const struct order *o)
{
	for (uint32_t i = 0; i < r->plan->steps; i++) {
		struct trial t;

		trial_time(e, i, i + 1, &o->ask, &t);
		report_trial(ps, r, &t, (int)i);
		trial_clear(&t);
	}
}

static void
report_neighbor(struct plans *ps, const struct plan_report *r,
    const struct neighbor_run *n)
{
	char text[WHY_BYTES];

	if (ps->world->rank != 0)
		return;
	emit_put(ps->emit, neighbor_run_report(r, n));
	neighbor_run_text(n, text, sizeof(text));
	strbuf_addf(&ps->remarks, "%s\n", text);
}

static void
report_spmm(struct plans *ps, const struct plan_report *r, struct spmm *s,
    int rc, const char *why)
{
	char text[WHY_BYTES];

	if (ps->world->rank != 0)
		return;
	if (rc == 0) {
		emit_put(ps->emit, spmm_report(r, s, ps->plan_s));
		spmm_text(r, s, ps->plan_s, text, sizeof(text));
		strbuf_addf(&ps->remarks, "%s\n", text);
		return;
	}
	emit_put(ps->emit,
	    spmm_refusal(r,
		rc == -EBADMSG ? CAUSE_WRONG_DATA : CAUSE_UNSUPPORTED, why));
	if (rc == -EBADMSG)
		note_failure(ps, EXIT_BAD, CAUSE_WRONG_DATA, why);
}

static void
run_spmm(struct plans *ps, struct neighbor_run *n, const struct plan_report *r,
    const struct order *o)
{
	char why[WHY_BYTES] = "";
	struct spmm *s = NULL;
	int rc = spmm_open(n, &ps->neighbor.matrix, o->columns, &s, why,
	    sizeof(why));

	if (rc == 0)
		rc = spmm_time(s, &o->ask, why, sizeof(why));
	report_spmm(ps, r, s, rc, why);
	spmm_close(s);
}

/* Neighborhood collectives are timed beside MPI's own. */
static int
run_neighbor(struct plans *ps, struct exec *e, const struct plan_report *r,
    const struct order *o)
{
	struct neighbor_run n;
	struct exec_fault f;
	struct trial t;
	int rc;

	neighbor_run_open(e, r->plan, &n);
	rc = trial_prove(ps->team, e, FIRST_DATA, &f);
	if (report_fault(ps, r, rc, &f, "before timing") < 0)
		goto out;
	exec_blank(e);
	neighbor_run_time(ps->world, &n, &o->ask, &t);
	rc = trial_compare(ps->team, e, FIRST_DATA, &f);
	if (report_fault(ps, r, rc, &f, "in the timed part") < 0)
		goto out;
	rc = trial_prove(ps->team, e, SECOND_DATA, &f);
	if (report_fault(ps, r, rc, &f, "after timing") < 0)
		goto out;
	report_trial(ps, r, &t, -1);
	report_neighbor(ps, r, &n);
	if (o->columns > 0)
		run_spmm(ps, &n, r, o);
	if (o->steps && r->plan->steps > 1)
		measure_steps(ps, e, r, o);
out:
	neighbor_run_close(&n);
	return rc;
}

static void
report_collective(struct plans *ps, const struct plan_report *r,
    const struct collective_run *n)
{
	char text[WHY_BYTES];

	if (ps->world->rank != 0)
		return;
	emit_put(ps->emit, collective_run_report(r, n));
	collective_run_text(n, text, sizeof(text));
	strbuf_addf(&ps->remarks, "%s\n", text);
}

/* Collectives too, with the sources and results of the proof. */
static int
run_collective(struct plans *ps, struct exec *e, const struct plan_report *r,
    const struct order *o)
{
	struct collective_run n;
	struct exec_fault f;
	struct trial t;
	int rc;

	rc = trial_prove(ps->team, e, FIRST_DATA, &f);
	if (report_fault(ps, r, rc, &f, "before timing") < 0)
		return rc;
	collective_run_open(e, r->plan, &n);
	exec_blank(e);
	collective_run_time(&n, &o->ask, &t);
	rc = trial_compare(ps->team, e, FIRST_DATA, &f);
	if (report_fault(ps, r, rc, &f, "in the timed part") < 0)
		goto out;
	rc = trial_prove(ps->team, e, SECOND_DATA, &f);
	if (report_fault(ps, r, rc, &f, "after timing") < 0)
		goto out;
	report_trial(ps, r, &t, -1);
	report_collective(ps, r, &n);
	if (o->steps && r->plan->steps > 1)
		measure_steps(ps, e, r, o);
out:
	collective_run_close(&n);
	return rc;
}

static int
run_proven(struct plans *ps, struct exec *e, const struct plan_report *r,
    const struct order *o)
{
	struct exec_fault f;
	struct trial t;
	int rc;

	rc = trial_prove(ps->team, e, FIRST_DATA, &f);
	if (report_fault(ps, r, rc, &f, "before timing") < 0)
		return rc;
	if (repeats(r->plan))
		exec_blank(e);
	trial_time(e, 0, UINT32_MAX, &o->ask, &t);
	if (repeats(r->plan)) {
		rc = trial_compare(ps->team, e, FIRST_DATA, &f);
		rc = report_fault(ps, r, rc, &f, "in the timed part");
	}
	if (rc == 0) {
		rc = trial_prove(ps->team, e, SECOND_DATA, &f);
		rc = report_fault(ps, r, rc, &f, "after timing");
	}
	if (rc == 0) {
		report_trial(ps, r, &t, -1);
		if (o->steps && r->plan->steps > 1)
			measure_steps(ps, e, r, o);
	}
	trial_clear(&t);
	return rc;
}

static void
refuse(struct plans *ps, const char *probe, const struct plan *p, int rc,
    const char *why)
{
	enum cause cause = rc == -ENODEV ? CAUSE_NO_DEVICE : CAUSE_UNSUPPORTED;

	if (ps->world->rank != 0)
		return;
	emit_put(ps->emit, plan_report_refusal(probe, p->title, cause, why));
	note_failure(ps, EXIT_WRONG, cause, why);
}

static void
drop_kept(struct plans *ps)
{
	while (ps->kept_count > 0) {
		exec_free(ps->kept[--ps->kept_count].exec);
		plan_free(ps->kept[ps->kept_count].plan);
	}
	free(ps->kept);
	ps->kept = NULL;
}

/* The device of the campaign, opened once. */
static int
team_for(struct plans *ps, const char *device, char *why, size_t why_bytes)
{
	if (ps->team != NULL && strcmp(ps->device, device) == 0)
		return 0;
	drop_kept(ps);
	team_close(ps->team);
	ps->team = NULL;
	snprintf(ps->device, sizeof(ps->device), "%s", device);
	return team_open(ps->world, device, &ps->team, why, why_bytes);
}

/* Beside what is measured; a plan that the machine could not run has none. */
static void
predict(struct plans *ps, const struct plan *p, struct plan_report *r)
{
	char why[PREDICT_WHY_BYTES];
	struct predict pr;

	if (ps->machine == NULL)
		return;
	if (predict_plan(p, ps->machine, NULL, &pr, why, sizeof(why)) < 0) {
		log_warnx("no prediction: %s", why);
		return;
	}
	r->machine = ps->machine->name;
	r->predicted_s = (double)pr.total_ps / 1e12;
	predict_clear(&pr);
}

static void
run_plan(struct plans *ps, const char *probe, struct plan *p,
    const struct order *o)
{
	struct plan_report r = { .world = ps->world,
		.probe = probe,
		.plan = p };
	char why[WHY_BYTES] = "";
	struct exec *e = NULL;
	uint64_t start_ns;
	int rc;

	predict(ps, p, &r);
	rc = team_for(ps, o->device, why, sizeof(why));
	start_ns = clk_ns();
	if (rc == 0)
		rc = exec_new(ps->team, p, &e, why, sizeof(why));
	if (rc < 0) {
		refuse(ps, probe, p, rc, why);
		return;
	}
	r.setup_s = (double)(clk_ns() - start_ns) / (double)CLK_NS_PER_S;
	r.team = ps->team;
	r.staging = exec_staging(e);
	r.memory_bytes_per_s = trial_memory(ps->team, largest(p));
	choose_volume(&r);
	if (strcmp(probe, NEIGHBOR_SECTION) == 0)
		rc = run_neighbor(ps, e, &r, o);
	else if (strcmp(probe, COLLECTIVE_SECTION) == 0)
		rc = run_collective(ps, e, &r, o);
	else
		rc = run_proven(ps, e, &r, o);
	if (rc < 0 || !o->keep) {
		exec_free(e);
		return;
	}
	ps->kept = xreallocarray(ps->kept, ps->kept_count + 1,
	    sizeof(*ps->kept));
	ps->kept[ps->kept_count++] = (struct kept){ p, e };
}

/* ---- all that were kept, at once ---- */

static int
is_kept(const struct plans *ps, const struct plan *p)
{
	for (size_t i = 0; i < ps->kept_count; i++)
		if (ps->kept[i].plan == p)
			return 1;
	return 0;
}

/* What all of them are, as one: only the sums count. */
static struct plan *
join_kept(const struct plans *ps)
{
	struct strbuf sb = { 0 };
	struct plan *all;

	for (size_t i = 0; i < ps->kept_count; i++)
		strbuf_addf(&sb, "%s%s", i > 0 ? " + " : "",
		    ps->kept[i].plan->title);
	all = plan_new((uint32_t)ps->world->size, sb.text);
	strbuf_clear(&sb);
	for (size_t i = 0; i < ps->kept_count; i++)
		for (size_t k = 0; k < ps->kept[i].plan->transfers_count; k++)
			plan_transfer_add(all, &ps->kept[i].plan->transfers[k]);
	return all;
}

/* Each plan's data is proven as if it had been alone. */
static int
prove_together(struct plans *ps, struct exec *const *list, uint64_t data)
{
	struct exec_fault f;
	int rc = 0;

	for (size_t i = 0; i < ps->kept_count; i++)
		exec_fill(list[i], data);
	transport_agree(ps->team, 0);
	exec_run_all(list, ps->kept_count);
	transport_agree(ps->team, 0);
	for (size_t i = 0; i < ps->kept_count && rc == 0; i++) {
		struct plan_report r = { .world = ps->world,
			.team = ps->team,
			.probe = "concurrent",
			.plan = ps->kept[i].plan };

		rc = trial_compare(ps->team, list[i], data, &f);
		rc = report_fault(ps, &r, rc, &f, "among concurrent plans");
	}
	return rc;
}

static void
run_together(struct plans *ps, const struct order *o)
{
	struct exec **list = xcalloc(ps->kept_count + 1, sizeof(struct exec *));
	struct plan_report r = { .world = ps->world,
		.team = ps->team,
		.probe = "concurrent",
		.staging = "" };
	struct plan *all = join_kept(ps);
	struct trial t = { 0 };
	int rc;

	for (size_t i = 0; i < ps->kept_count; i++)
		list[i] = ps->kept[i].exec;
	r.plan = all;
	r.memory_bytes_per_s = trial_memory(ps->team, largest(all));
	choose_volume(&r);
	rc = prove_together(ps, list, FIRST_DATA);
	if (rc == 0) {
		trial_time_all(ps->team, list, ps->kept_count, &o->ask, &t);
		rc = prove_together(ps, list, SECOND_DATA);
	}
	if (rc == 0)
		report_trial(ps, &r, &t, PLAN_REPORT_CONCURRENT);
	trial_clear(&t);
	plan_free(all);
	free(list);
}

/* ---- one order after another ---- */

/* Rank 0: to all, and run it; takes p. */
static void
send_plan(struct plans *ps, const char *probe, struct plan *p)
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
	run_plan(ps, probe, p, &o);
	if (!is_kept(ps, p))
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
	run_together(ps, &o);
}

static int
prove_plan(struct plans *ps, const char *probe, const struct plan *p)
{
	struct check_fault fault;
	char why[WHY_BYTES];

	if (check_plan(p, &fault) == 0)
		return 0;
	snprintf(why, sizeof(why), "refused: %.100s: %s: %s", p->title,
	    check_kinds[fault.kind], fault.text);
	emit_put(ps->emit,
	    plan_report_refusal(probe, p->title, CAUSE_INTERNAL, why));
	note_failure(ps, EXIT_BAD, CAUSE_INTERNAL, why);
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
		note_failure(ps, EXIT_BAD, CAUSE_WRONG_DATA, why);
	else if (rc < 0)
		note_failure(ps, EXIT_WRONG, CAUSE_CONFIG, why);
	return 1;
}

/* The executor keeps all buffers on the device. What is meant to be staged in
 * the host's memory would be another measurement there. */
static int
refuse_staged(struct plans *ps, const char *probe, const struct plan *p)
{
	const char *device = conf_string(ps->conf, "measure", "device");
	char why[WHY_BYTES];
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
	refuse(ps, probe, p, -ENOTSUP, why);
	return -ENOTSUP;
}

static void
run_one(struct plans *ps, const struct pattern *pt)
{
	char why[PATTERN_WHY_BYTES];
	struct plan *p;

	if (run_emulated(ps, pt))
		return;
	tune_set_nodes((uint32_t)ps->world->nodes);
	if (pt->build(ps->conf, (uint32_t)ps->world->size, &p, why,
		sizeof(why)) < 0) {
		note_failure(ps, EXIT_WRONG, CAUSE_CONFIG, why);
		return;
	}
	if (prove_plan(ps, pt->name, p) < 0 ||
	    refuse_staged(ps, pt->name, p) < 0) {
		plan_free(p);
		return;
	}
	if (strcmp(pt->name, NEIGHBOR_SECTION) == 0)
		time_planning(ps);
	send_plan(ps, pt->name, p);
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
		note_failure(ps, EXIT_WRONG, CAUSE_CONFIG, why);
		return;
	}
	if (count == 0)
		run_one(ps, pt);
	for (int i = 0; i < count; i++) {
		if (sizes_set(ps->conf, pt->name, sizes[i], why, sizeof(why)) <
		    0) {
			note_failure(ps, EXIT_WRONG, CAUSE_CONFIG, why);
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

	if (rc == 0 && v.count == 0)
		run_pattern(ps, pt);
	for (size_t i = 0; rc == 0 && i < v.count; i++) {
		rc = conf_set(ps->conf, pt->name, v.key, v.values[i],
		    "measure.vary", why, sizeof(why));
		if (rc == 0)
			run_pattern(ps, pt);
	}
	if (rc < 0)
		note_failure(ps, EXIT_WRONG, CAUSE_CONFIG, why);
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
		note_failure(ps, EXIT_WRONG, CAUSE_CONFIG, why);
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
				 : patterns[i] == only)
			run_varied(ps, patterns[i]);
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
			run_together(ps, &o);
			continue;
		}
		p = share_plan(ps, NULL, o.plan_bytes, NULL);
		run_plan(ps, o.probe, p, &o);
		if (!is_kept(ps, p))
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
	drop_kept(ps);
	team_close(ps->team);
	tune_set_machine(NULL);
	machine_free(ps->machine);
	table_free(ps->table);
	strbuf_clear(&ps->remarks);
	free(ps);
}
