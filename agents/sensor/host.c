/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.c - how this host does, from the kernel: pressure stall information,
 * stolen ticks, our own wait for a core.
 */
#include "agents/sensor/host.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/str.h"

/* A step for each doubling: at 60 % waiting, a fifth of a second is late. */
static const struct {
	double some, load_per_core, stretch;
} steps[] = {
	{ 0.60, 4, 8 },
	{ 0.30, 2, 4 },
	{ 0.10, 1, 2 },
};

double
psi_cpu_some(const char *root)
{
	char path[256], text[200];
	const char *at;
	ssize_t n;
	int fd;

	if (str_format(path, sizeof(path), "%s/proc/pressure/cpu", root) < 0)
		return NAN;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NAN;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return NAN;
	text[n] = '\0';
	at = strstr(text, "some avg10=");
	return at == NULL ? NAN
			  : strtod(at + strlen("some avg10="), NULL) / 100;
}

double
psi_stretch(const char *root, double load_per_core)
{
	double some = psi_cpu_some(root);

	for (size_t i = 0; i < ARRAY_LEN(steps); i++)
		if (isnan(some) ? load_per_core > steps[i].load_per_core
				: some > steps[i].some)
			return steps[i].stretch;
	return 1;
}

/* cpu user nice system idle iowait irq softirq steal ... */
#define STAT_FIELDS 8

/* One line of a file; 0 where there is none. */
static int
line_read(const char *root, const char *name, char *ret, int bytes)
{
	char path[300];
	FILE *fp;
	int ok;

	if (str_format(path, sizeof(path), "%s%s", root, name) < 0)
		return 0;
	fp = fopen(path, "re");
	if (fp == NULL)
		return 0;
	ok = fgets(ret, bytes, fp) != NULL;
	fclose(fp);
	return ok;
}

/* What the hypervisor took of the ticks since the last look. */
static void
put_steal(const char *root, struct host_look *last, json_t *to)
{
	uint64_t v[STAT_FIELDS] = { 0 }, sum = 0;
	char line[256];

	if (!line_read(root, "/proc/stat", line, sizeof(line)) ||
	    sscanf(line,
		"cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		" %" SCNu64 " %" SCNu64 " %" SCNu64,
		&v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6],
		&v[7]) != STAT_FIELDS)
		return;
	for (int i = 0; i < STAT_FIELDS; i++)
		sum += v[i];
	if (last->ticks > 0 && sum > last->ticks && v[7] >= last->steal_ticks)
		json_object_set_new(to, "steal",
		    json_real((double)(v[7] - last->steal_ticks) /
			(double)(sum - last->ticks)));
	last->ticks = sum;
	last->steal_ticks = v[7];
}

json_t *
host_read(const char *root, struct host_look *last)
{
	uint64_t run_ns, wait_ns, slices;
	double cpu = psi_cpu_some(root);
	json_t *o = json_object();
	char line[128];

	if (!isnan(cpu))
		json_object_set_new(o, "cpu", json_real(cpu));
	put_steal(root, last, o);
	/* Of this process: time on a core, time waiting for one, turns. */
	if (!line_read(root, "/proc/self/schedstat", line, sizeof(line)) ||
	    sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64, &run_ns, &wait_ns,
		&slices) != 3)
		return o;
	if (last->slices > 0 && slices > last->slices &&
	    wait_ns >= last->wait_ns)
		json_object_set_new(o, "wait_s",
		    json_real((double)(wait_ns - last->wait_ns) / 1e9 /
			(double)(slices - last->slices)));
	last->wait_ns = wait_ns;
	last->slices = slices;
	return o;
}
