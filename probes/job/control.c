/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.c - waits of a rank that others measure beside: poll, idle hook,
 * sleep.
 */

#include "common/clk.h"
#include "probes/job/world.h"

#define NAP_FIRST_NS CLK_NS_PER_MS
#define NAP_LAST_NS  (5 * CLK_NS_PER_MS)

static void (*idle_hook)(void *arg);
static void *idle_arg;

void
control_set_idle(void (*hook)(void *arg), void *arg)
{
	idle_hook = hook;
	idle_arg = arg;
}

int
control_done(MPI_Request *req)
{
	int done;

	MPI_DO(MPI_Test(req, &done, MPI_STATUS_IGNORE));
	return done;
}

void
control_wait(MPI_Request *req)
{
	uint64_t nap_ns = NAP_FIRST_NS;

	while (!control_done(req)) {
		if (idle_hook != NULL)
			idle_hook(idle_arg);
		clk_sleep_ns(nap_ns);
		if (nap_ns < NAP_LAST_NS)
			nap_ns += NAP_FIRST_NS / 2;
	}
}

void
control_barrier(MPI_Comm comm)
{
	MPI_Request req;

	MPI_DO(MPI_Ibarrier(comm, &req));
	control_wait(&req);
}

double
control_max(MPI_Comm comm, double mine)
{
	MPI_Request req;

	MPI_DO(MPI_Iallreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MAX, comm,
	    &req));
	control_wait(&req);
	return mine;
}
