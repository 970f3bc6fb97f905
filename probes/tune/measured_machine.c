/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measured_machine.c - what remains of a long message's time when a short one's
 * is taken off gives rates; latency and cost of a step come from short ones.
 */

#include "probes/tune/measured_machine.h"

#include <math.h>

#include "common/str.h"

#define PS_PER_S  1e12
#define SHARE_MIN 0.001

double
measured_machine_per_s(double bytes, double s, double short_s)
{
	if (!(s > 0))
		return 0;
	/* subtract the time of a short message, at most half of the time */
	return bytes / fmax(s - short_s, s / 2);
}

double
measured_machine_step_s(double one_s, double many_s, uint32_t steps)
{
	double s = (many_s - one_s) / (steps - 1);

	return s > 0 ? s : 0; /* also where it was not timed */
}

static double
measured_machine_best(const struct measured_machine_way *ways, int many)
{
	double per_s = 0;

	for (int i = 0; i < MACHINES_VIA_MAX; i++)
		per_s = fmax(per_s,
		    many ? ways[i].many_per_s : ways[i].one_per_s);
	return per_s;
}

static uint64_t
measured_machine_span_ps(double s)
{
	return s > 0 ? (uint64_t)(s * PS_PER_S) : 0;
}

static double
measured_machine_share(double part, double whole)
{
	if (!(part > 0) || !(whole > part))
		return 1;
	return fmax(part / whole, SHARE_MIN);
}

void
measured_machine_set(const struct measured_machine *r, struct machine *m)
{
	const struct measured_machine_way *near = r->near, *far = r->far;
	double nearest_per_s = measured_machine_best(near, 0), widest = 0,
	       whole;

	m->out_per_s = m->in_per_s = measured_machine_best(far, 1);
	m->host_per_s = measured_machine_best(near, 1);
	m->memory_per_s = 2 * r->memory_per_s; /* it is read and written */
	m->step_ps = measured_machine_span_ps(r->step_s / 2);
	if (isfinite(near[MACHINES_MPI].s) && isfinite(far[MACHINES_MPI].s))
		m->network_ps = measured_machine_span_ps(
		    far[MACHINES_MPI].s - near[MACHINES_MPI].s);
	/* links keep how they compare */
	for (uint32_t i = 0; i < m->links_count; i++)
		widest = fmax(widest, m->links[i].rate_per_s);
	for (uint32_t i = 0; nearest_per_s > 0 && i < m->links_count; i++) {
		m->links[i].rate_per_s *= nearest_per_s / widest;
		m->links[i].back_per_s *= nearest_per_s / widest;
	}
	/* a short message takes its latency, the overhead of both ends, and a
	 * step */
	whole = m->links_count > 0 ? nearest_per_s : m->host_per_s;
	for (int i = 0; i < MACHINES_VIA_MAX; i++) {
		struct machine_via *v = &m->vias[i];
		double s = isfinite(near[i].s) ? near[i].s : far[i].s;

		v->usable = isfinite(s);
		v->overhead_ps = measured_machine_span_ps(r->step_s / 2);
		v->latency_ps = measured_machine_span_ps(s - r->step_s);
		v->within = measured_machine_share(near[i].one_per_s, whole);
		v->across = measured_machine_share(far[i].one_per_s,
		    m->out_per_s);
	}
	m->unrated = 0;
}

static void
measured_machine_text_add(struct strbuf *sb, const char *where,
    const struct measured_machine_way *ways)
{
	const struct measured_machine_way *mpi = &ways[MACHINES_MPI];
	char rate[32];

	if (!isfinite(mpi->s) || !(mpi->s > 0))
		return;
	str_bytes_format(measured_machine_best(ways, 1), rate, sizeof(rate));
	strbuf_addf(sb, ", %s/s and %.3g us %s", rate, mpi->s * 1e6, where);
}

char *
measured_machine_text(const struct measured_machine *r)
{
	struct strbuf sb = { 0 };
	char rate[32];

	str_bytes_format(r->memory_per_s, rate, sizeof(rate));
	strbuf_addf(&sb, "this machine as measured: %u ranks on %u node%s",
	    r->ranks, r->nodes, r->nodes == 1 ? "" : "s");
	measured_machine_text_add(&sb, "between nodes", r->far);
	measured_machine_text_add(&sb, "within one", r->near);
	strbuf_addf(&sb, ", %.3g us a step, each rank copies %s/s",
	    r->step_s * 1e6, rate);
	return sb.text; /* handed over */
}

static json_t *
measured_machine_number(double x)
{
	return isfinite(x) && x > 0 ? json_real(x) : json_null();
}

static void
measured_machine_ways_put(json_t *list, int between,
    const struct measured_machine_way *ways)
{
	for (int i = 0; i < MACHINES_VIA_MAX; i++)
		if (isfinite(ways[i].s) && ways[i].s > 0)
			json_array_append_new(list,
			    json_pack("{s:s, s:b, s:f, s:o, s:o}", "via",
				machines_vias[i], "between_nodes", between,
				"seconds", ways[i].s, "one_bytes_per_s",
				measured_machine_number(ways[i].one_per_s),
				"all_bytes_per_s",
				measured_machine_number(ways[i].many_per_s)));
}

json_t *
measured_machine_record(const struct measured_machine *r, const char *name)
{
	json_t *ways = json_array();

	measured_machine_ways_put(ways, 0, r->near);
	measured_machine_ways_put(ways, 1, r->far);
	return json_pack("{s:s, s:s, s:i, s:i, s:i, s:o, s:o, s:o}", "probe",
	    "machine", "machine", name, "ranks", (int)r->ranks, "nodes",
	    (int)r->nodes, "ranks_per_node", (int)r->per_node, "step_s",
	    measured_machine_number(r->step_s), "memory_bytes_per_s",
	    measured_machine_number(r->memory_per_s), "ways", ways);
}
