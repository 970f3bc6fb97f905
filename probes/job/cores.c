/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cores.c - what /proc says of the time this thread was kept from a core.
 */
#include "probes/job/cores.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Less is a few wake-ups. */
#define WANTED_MIN_S 0.01

/* Parse the text of /proc/thread-self/schedstat; -EPROTO if it is malformed. */
static int
cores_parse(const char *text, struct cores *ret)
{
	struct cores c;

	if (sscanf(text, "%" SCNu64 " %" SCNu64, &c.run_ns, &c.wait_ns) != 2)
		return -EPROTO;
	*ret = c;
	return 0;
}

void
cores_look(struct cores *ret)
{
	char text[96];
	ssize_t n = -1;
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);

	memset(ret, 0, sizeof(*ret));
	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return;
	text[n] = '\0';
	cores_parse(text, ret);
}

void
cores_add_since(struct cores *sum, const struct cores *since)
{
	struct cores now;

	cores_look(&now);
	if (now.run_ns < since->run_ns || now.wait_ns < since->wait_ns)
		return; /* available once, but not now */
	sum->run_ns += now.run_ns - since->run_ns;
	sum->wait_ns += now.wait_ns - since->wait_ns;
}

double
cores_wait_ratio(double run_s, double wait_s)
{
	return run_s + wait_s < WANTED_MIN_S ? NAN : wait_s / (run_s + wait_s);
}
