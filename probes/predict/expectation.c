/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expectation.c - the closed models that apply to a probe, with its simulation
 * and its busiest links.
 */
#include "probes/predict/expectation.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/xalloc.h"
#include "probes/predict/model.h"
#include "probes/topology/machine_path.h"

#define PS_PER_S 1e12

/* The inputs of the models. */
struct frame {
	const struct conf *c;
	const struct machine *m;
	struct expectation *ol;
	uint32_t channels;
};

/* Add a model's value next to the simulated one; a value of 0 means that the
 * model does not apply. */
static void __attribute__((format(printf, 3, 4)))
expectation_model_add(struct expectation *ol, struct expectation_model om,
    const char *fmt, ...)
{
	va_list ap;

	if (om.value <= 0 || ol->models_count == EXPECTATION_MODELS_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(om.text, sizeof(om.text), fmt, ap);
	va_end(ap);
	ol->models[ol->models_count++] = om;
}

static void
expectation_collective_models(const struct frame *f)
{
	struct expectation *ol = f->ol;
	const struct machine *m = f->m;
	const char *name = conf_string(f->c, "collective", "name");
	struct model_cast mc = { .bytes = ol->data_bytes,
		.node_per_s = m->out_per_s * m->nics,
		.nodes = ol->nodes,
		.depth = f->channels };
	struct machine_ends ends = { .nodes = ol->nodes, .dst = m->ranks };
	struct expectation_model om = { .predicted = ol->time_s, .is_time = 1 };
	struct machine_path path;

	if (ol->nodes < 2 || mc.node_per_s <= 0)
		return;
	/* from the first rank of a node to the first rank of the next, with all
	 * overheads */
	if (machine_path(m, &ends, MACHINES_MPI, &path) == 0)
		mc.alpha_s = (double)(path.latency_ps + path.overhead_ps +
				 m->step_ps) /
		    PS_PER_S;
	if (strcmp(name, "broadcast") == 0 || strcmp(name, "reduce") == 0) {
		om.name = "hiccl-ring";
		om.value = model_ring_s(&mc);
		expectation_model_add(ol, om,
		    "HiCCL eq. 1: ring, %u nodes, depth %u", mc.nodes,
		    mc.depth);
		om.name = "hiccl-tree";
		om.value = model_tree_s(&mc);
		expectation_model_add(ol, om,
		    "HiCCL eq. 2: tree, %u nodes, depth %u", mc.nodes,
		    mc.depth);
	}
	om = (struct expectation_model){ .name = "hiccl-bound",
		.value = model_bound_per_s(name, ol->ranks, m->ranks,
		    mc.node_per_s),
		.predicted = ol->data_bytes / ol->time_s };
	expectation_model_add(ol, om, "HiCCL Table III: bound of %s", name);
}

/* The bandwidth of one direction, where groups are nodes. */
static void
expectation_group_models(const struct frame *f)
{
	const struct machine *m = f->m;
	const char *direction = conf_string(f->c, "group", "direction");
	struct expectation_model om = { .predicted = f->ol->data_bytes /
		    f->ol->time_s };
	uint32_t k = (uint32_t)conf_int(f->c, "group", "k");
	int64_t g = conf_int(f->c, "group", "g");
	uint32_t per_nic;

	if (g != m->ranks)
		snprintf(f->ol->note, sizeof(f->ol->note),
		    g < m->ranks
			? "groups of %" PRId64 " ranks share nodes of %u"
			: "groups of %" PRId64 " ranks lie across nodes of %u",
		    g, m->ranks);
	if (g != m->ranks || m->ranks != m->devices || m->nics == 0 ||
	    strcmp(direction, "omni") == 0)
		return;
	if (strcmp(direction, "bi") == 0)
		om.predicted /= 2;
	per_nic = (m->devices + m->nics - 1) / m->nics;
	if (m->binding == BINDING_PACKED) {
		om.name = "commbench-packed";
		om.value = model_packed_per_s(m->out_per_s, per_nic, k);
		expectation_model_add(f->ol, om,
		    "CommBench eq. 1: packed, p = %u, k = %u", per_nic, k);
		return;
	}
	om.name = "commbench-round-robin";
	om.value = model_round_robin_per_s(m->out_per_s, m->nics, k);
	expectation_model_add(f->ol, om,
	    "CommBench eq. 2: round-robin, r = %u, k = %u", m->nics, k);
}

double
expectation_data(const struct plan *p, const char **ret_name)
{
	static const char *const names[] = { "data", "per_group", "message",
		"footprint" };

	for (size_t k = 0; k < ARRAY_LEN(names); k++)
		for (size_t i = 0; i < p->notes_count; i++)
			if (strcmp(p->notes[i].name, names[k]) == 0) {
				*ret_name = names[k];
				return (double)p->notes[i].value;
			}
	*ret_name = "footprint";
	return (double)plan_volume(p);
}

static int
expectation_link_compare_cb(const void *va, const void *vb, void *arg)
{
	const uint32_t *a = va, *b = vb;
	const double *busy = arg;

	if (busy[*a] != busy[*b])
		return busy[*a] > busy[*b] ? -1 : 1;
	return (*a > *b) - (*a < *b);
}

static void
expectation_links_make(const struct machine *m, const struct predict *pr,
    uint32_t max, struct expectation *ol)
{
	uint32_t *order = xcalloc(pr->resources + (size_t)1, sizeof(*order));
	double *busy = xcalloc(pr->resources + (size_t)1, sizeof(*busy));
	uint32_t n = 0;

	for (uint32_t i = 0; i < pr->resources; i++) {
		if (pr->bytes[i] <= 0)
			continue;
		busy[i] = pr->bytes[i] / pr->capacity_per_s[i] / ol->time_s;
		order[n++] = i;
	}
	qsort_r(order, n, sizeof(*order), expectation_link_compare_cb, busy);
	if (max > 0 && n > max)
		n = max;
	ol->links = xcalloc(n + (size_t)1, sizeof(*ol->links));
	for (; ol->links_count < n; ol->links_count++) {
		uint32_t at = order[ol->links_count];
		struct expectation_link *l = &ol->links[ol->links_count];

		machine_resource_name(m, pr->nodes, at, l->name,
		    sizeof(l->name));
		l->bytes = pr->bytes[at];
		l->capacity_per_s = pr->capacity_per_s[at];
		l->busy = busy[at];
	}
	free(order);
	free(busy);
}

int
expectation_make(const struct expectation_ask *ask, struct expectation *ret,
    struct err *err)
{
	const struct plan *p = ask->p;
	struct machine fit = machine_fit(ask->m, p->ranks);
	struct frame f = { ask->c, &fit, ret, 1 };
	struct predict pr;
	int rc = predict_plan(p, ask->m, &ask->options, &pr, err);

	if (rc < 0)
		return rc;
	memset(ret, 0, sizeof(*ret));
	ret->title = xstrdup(p->title);
	ret->machine = xstrdup(ask->m->name);
	ret->ranks = p->ranks;
	ret->nodes = pr.nodes;
	ret->transfers = p->transfers_count;
	ret->flows = pr.flows;
	ret->time_s = (double)pr.total_ps / PS_PER_S;
	ret->data_bytes = expectation_data(p, &ret->data_name);
	for (size_t i = 0; i < p->transfers_count; i++)
		if (p->transfers[i].channel >= f.channels)
			f.channels = p->transfers[i].channel + 1u;
	expectation_links_make(&fit, &pr, ask->links_max, ret);
	if (strcmp(ask->pt->name, "collective") == 0)
		expectation_collective_models(&f);
	else if (strcmp(ask->pt->name, "group") == 0)
		expectation_group_models(&f);
	predict_clear(&pr);
	return 0;
}

void
expectation_clear(struct expectation *ol)
{
	free(ol->title);
	free(ol->machine);
	free(ol->links);
	memset(ol, 0, sizeof(*ol));
}
