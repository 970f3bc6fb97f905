/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/sensor/host.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "agents/sensor/psi.h"
#include "common/str.h"

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
