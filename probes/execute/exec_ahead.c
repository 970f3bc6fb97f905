/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_ahead.c - how far this host's own work may go ahead of the network.
 *
 * Copies between processes of a host and what ranks reduce by themselves take
 * cores from those who serve the network, and can all start early: at the start
 * of a pipeline they would hold up its first pieces at every hop. So they wait
 * until the oldest receive through MPI that is open is near. What needs none of
 * this host's cores, a GPU's own work, never waits.
 *
 * Nothing waits in a circle: of all ranks' events that are not complete, none
 * of the lowest step is beyond any open receive.
 */
#include "probes/execute/exec_part.h"

/* In between, what is ahead covers the time that a mate takes to wake up. */
#define AHEAD_STEPS 8

int
exec_is_copy(const struct exec *e, uint32_t event)
{
	const struct exec_lane *lane = &e->lanes[e->events[event].lane];

	return e->team->ops->host_access && lane->ops->copies_here;
}

static int
is_open_receive(const struct exec *e, uint32_t event)
{
	const struct exec_event *ev = &e->events[event];

	return e->view.events[event].kind == RANK_GRAPH_RECV && ev->parts > 0 &&
	    e->lanes[ev->lane].ops->at_mpi;
}

int
exec_is_due(struct exec *e, uint32_t event)
{
	const struct rank_graph_event *v = e->view.events;

	if (!e->team->ops->host_access)
		return 1;
	while (e->awaited < e->hi && !is_open_receive(e, e->awaited))
		e->awaited++;
	return e->awaited == e->hi ||
	    v[event].step <= v[e->awaited].step + AHEAD_STEPS;
}
