/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backoff.c - the time waited so far decides how: spin, yield, then naps that
 * grow with it.
 */
#include "probes/transport/backoff.h"

#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/clk.h"

#define LOOKS      16 /* before the first one at the clock */
#define SPIN_NS    (10 * CLK_NS_PER_US)
#define YIELD_NS   CLK_NS_PER_MS
#define NAP_PART   64 /* of the wait so far */
#define NAP_MAX_NS (200 * CLK_NS_PER_US)

void
backoff_reset(struct backoff *p)
{
	p->since_ns = 0;
	p->looks = 0;
}

/* Open MPI exports this in a variable of one byte; other MPIs do not have
 * it. */
int
backoff_mpi_gives_way(void)
{
	static int known = -1;
	MPI_T_cvar_handle handle;
	int level, index, count;
	char value[16] = "";

	if (known >= 0)
		return known;
	known = 0;
	if (MPI_T_init_thread(MPI_THREAD_SINGLE, &level) != MPI_SUCCESS)
		return known;
	if (MPI_T_cvar_get_index("mpi_yield_when_idle", &index) ==
		MPI_SUCCESS &&
	    MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) ==
		MPI_SUCCESS) {
		MPI_T_cvar_read(handle, value);
		MPI_T_cvar_handle_free(&handle);
	}
	MPI_T_finalize();
	known = value[0] != 0;
	return known;
}

int
backoff_cores_are_shared(MPI_Comm node_comm)
{
	int ranks;

	MPI_Comm_size(node_comm, &ranks);
	return backoff_mpi_gives_way() || ranks > sysconf(_SC_NPROCESSORS_ONLN);
}

void
backoff_wait(struct backoff *p)
{
	static int exact;
	uint64_t now, nap_ns;

	if (p->looks < LOOKS) {
		p->looks++;
		return;
	}
	now = clk_ns();
	if (p->since_ns == 0) {
		p->since_ns = now;
		/* The kernel's slack of 50 us would make every nap that much
		 * longer. */
		if (!exact)
			prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
		exact = 1;
	}
	if (now - p->since_ns < YIELD_NS) {
		if (now - p->since_ns >= SPIN_NS &&
		    !(p->at_mpi && backoff_mpi_gives_way()))
			sched_yield();
		return;
	}
	if (p->awake) {
		sched_yield();
		return;
	}
	nap_ns = (now - p->since_ns) / NAP_PART;
	clk_sleep_ns(nap_ns < NAP_MAX_NS ? nap_ns : NAP_MAX_NS);
}

int
backoff_request(MPI_Request *req)
{
	struct backoff p = { .at_mpi = 1 };
	int done = 0, rc;

	for (;;) {
		rc = MPI_Test(req, &done, MPI_STATUS_IGNORE);
		if (rc != MPI_SUCCESS || done)
			return rc;
		backoff_wait(&p);
	}
}
