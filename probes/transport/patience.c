/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/transport/patience.h"

#include <sched.h>
#include <sys/prctl.h>

#include "common/clk.h"

#define SPIN_NS      (10 * CLK_NS_PER_US)
#define YIELD_NS     CLK_NS_PER_MS
#define NAP_FIRST_NS (10 * CLK_NS_PER_US)
#define NAP_LAST_NS  (100 * CLK_NS_PER_US)

void
patience_reset(struct patience *p)
{
	p->since_ns = 0;
}

/* The kernel's slack of 50 us would make every nap that much longer. */
static void
exact_naps(void)
{
	static int done;

	if (!done)
		prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
	done = 1;
}

void
patience_wait(struct patience *p)
{
	uint64_t now = clk_ns();

	if (p->since_ns == 0) {
		p->since_ns = now;
		p->nap_ns = NAP_FIRST_NS;
		exact_naps();
	}
	if (now - p->since_ns < YIELD_NS) {
		if (now - p->since_ns >= SPIN_NS)
			sched_yield();
		return;
	}
	clk_sleep_ns(p->nap_ns);
	if (p->nap_ns < NAP_LAST_NS)
		p->nap_ns += p->nap_ns / 2;
}

int
patience_request(MPI_Request *req)
{
	struct patience p = { 0 };
	int done = 0, rc;

	for (;;) {
		rc = MPI_Test(req, &done, MPI_STATUS_IGNORE);
		if (rc != MPI_SUCCESS || done)
			return rc;
		patience_wait(&p);
	}
}
