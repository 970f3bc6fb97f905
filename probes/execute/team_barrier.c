/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/execute/team_barrier.h"

#include <sched.h>

#include "probes/job/world.h"
#include "probes/transport/backoff.h"

void
meet(const struct transport_team *team)
{
	MPI_Request req;

	MPI_DO(MPI_Ibarrier(team->comm, &req));
	MPI_DO(backoff_request(&req));
}

/* In the second one nobody naps: all are on their way to it. */
void
team_barrier_to_start(const struct transport_team *team)
{
	MPI_Request req;
	int done = 0;

	meet(team);
	MPI_DO(MPI_Ibarrier(team->comm, &req));
	for (;;) {
		MPI_DO(MPI_Test(&req, &done, MPI_STATUS_IGNORE));
		if (done)
			return;
		sched_yield();
	}
}
