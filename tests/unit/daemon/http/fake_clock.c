/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_clock.c - a clock_gettime in place of the C library's.
 */
#include "tests/unit/daemon/http/fake_clock.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/clk.h"
#include "tests/unit/daemon/http/fake_api.h"

static _Thread_local uint64_t stopped_ns; /* 0: the clock runs */

uint64_t
fake_clock_real_ns(void)
{
	struct timespec ts;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * CLK_NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* libevent reads the coarse clock. */
int
clock_gettime(clockid_t id, struct timespec *ret)
{
	uint64_t now_ns;

	if (stopped_ns == 0 ||
	    (id != CLOCK_MONOTONIC && id != CLOCK_MONOTONIC_COARSE))
		return (int)syscall(SYS_clock_gettime, id, ret);
	now_ns = stopped_ns + fake.made_ns;
	ret->tv_sec = (time_t)(now_ns / CLK_NS_PER_S);
	ret->tv_nsec = (long)(now_ns % CLK_NS_PER_S);
	return 0;
}

void
fake_clock_stop(void)
{
	stopped_ns = fake_clock_real_ns() - fake.made_ns;
}

void
fake_clock_start(void)
{
	stopped_ns = 0;
}
