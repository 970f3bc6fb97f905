/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.c - how this host does, from the kernel: pressure stall information,
 * stolen ticks, quotas and heat, our own wait for a core, and how busy its
 * network devices are.
 */
#include "agents/sensor/host.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/sensor/device.h"
#include "agents/sensor/sensor.h"
#include "common/clk.h"
#include "common/str.h"
#include "common/sysfs.h"

/* One step for each doubling of the pressure. */
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
	char text[200];
	const char *at;

	if (sysfs_text(root, "proc/pressure/cpu", text, sizeof(text)) < 0)
		return NAN;
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

/* The share of ticks that the hypervisor took since the last look. */
static void
host_put_steal(const char *root, struct host_look *last, json_t *to)
{
	uint64_t v[STAT_FIELDS] = { 0 }, sum = 0;
	char line[256];

	if (sysfs_line(root, "proc/stat", line, sizeof(line)) < 0 ||
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

/* ---- cores that a quota or heat takes ---- */

/* Nanoseconds in which a quota has kept our tasks from a core: that of our
 * control group, of version 1 or 2, or of one above it. */
static uint64_t
host_throttled_ns(const char *root)
{
	char path[4600], line[4200], stat[128], *group;
	uint64_t sum = 0, value;
	FILE *fp, *of;
	int is_v2;

	if (str_format(path, sizeof(path), "%s/proc/self/cgroup", root) < 0 ||
	    (fp = fopen(path, "re")) == NULL)
		return 0;
	while (fgets(line, sizeof(line), fp) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		is_v2 = strncmp(line, "0::", 3) == 0; /* or 4:cpu,cpuacct:/ */
		group = strchr(line, '/');
		if (group != NULL && group[1] == '\0')
			group[0] = '\0';
		if (group == NULL || (!is_v2 && strstr(line, ":cpu") == NULL) ||
		    strstr(line, ":cpuset:") != NULL ||
		    strstr(line, ":cpuacct:") != NULL)
			continue;
		for (;;) {
			of = str_format(path, sizeof(path),
				 "%s/sys/fs/cgroup%s%s/cpu.stat", root,
				 is_v2 ? "" : "/cpu", group) < 0
			    ? NULL
			    : fopen(path, "re");
			while (of != NULL && fgets(stat, sizeof(stat), of))
				if (sscanf(stat, "throttled_time %" SCNu64,
					&value) == 1)
					sum += value;
				else if (sscanf(stat, "throttled_usec %" SCNu64,
					     &value) == 1)
					sum += 1000 * value;
			if (of != NULL)
				fclose(of);
			if (group[0] == '\0')
				break;
			*strrchr(group, '/') = '\0';
		}
	}
	fclose(fp);
	return sum;
}

/* Of the packages of the first core and of the last, which are all on most
 * machines; 0 where the processor does not tell. */
static int64_t
host_hot_ms(const char *root)
{
	const long cpus[] = { 0, sysconf(_SC_NPROCESSORS_CONF) - 1 };
	int64_t most = 0, ms;
	char dir[300];

	for (size_t i = 0; i < ARRAY_LEN(cpus); i++)
		if (str_format(dir, sizeof(dir),
			"%s/sys/devices/system/cpu/cpu%ld/thermal_throttle",
			root, cpus[i]) >= 0 &&
		    sensor_file(dir, "package_throttle_total_time_ms", &ms) ==
			0 &&
		    ms > most)
			most = ms;
	return most;
}

static void
host_put_taken(const char *root, struct host_look *last, json_t *to)
{
	uint64_t now_ns = clk_ns(), quota_ns = host_throttled_ns(root);
	int64_t hot = host_hot_ms(root);
	double seconds = fmax((double)(now_ns - last->taken_ns) / 1e9, 1e-3);

	if (last->taken_ns > 0 && quota_ns > last->quota_ns)
		json_object_set_new(to, "throttled",
		    json_real(fmin(1,
			(double)(quota_ns - last->quota_ns) / 1e9 / seconds)));
	if (last->taken_ns > 0 && hot > last->hot_ms)
		json_object_set_new(to, "hot",
		    json_real(
			fmin(1, (double)(hot - last->hot_ms) / 1e3 / seconds)));
	last->taken_ns = now_ns;
	last->quota_ns = quota_ns;
	last->hot_ms = hot;
}

/* ---- how busy its links are ---- */

struct traffic {
	struct host_look *last, now;
	double seconds;
	double bps, share; /* of the busiest, so far */
	int is_hardware;   /* only devices that are count */
};

static void
host_device_cb(const struct device *d, void *arg)
{
	struct traffic *t = arg;
	struct host_link *mine = &t->now.links[t->now.link_count];
	double bps, rate_bps = device_rate_bps(d);

	if (d->is_hardware != t->is_hardware ||
	    t->now.link_count == HOST_LINKS_MAX ||
	    device_bytes(d, &mine->rx_bytes, &mine->tx_bytes) < 0)
		return;
	t->now.link_count++;
	strcpy(mine->name, d->label);
	for (size_t i = 0; i < t->last->link_count; i++) {
		const struct host_link *old = &t->last->links[i];
		int64_t rx = mine->rx_bytes - old->rx_bytes;
		int64_t tx = mine->tx_bytes - old->tx_bytes;

		if (strcmp(old->name, mine->name) != 0)
			continue;
		bps = 8 / t->seconds * (double)(rx > tx ? rx : tx);
		t->bps = fmax(t->bps, bps);
		if (rate_bps > 0)
			t->share = fmax(t->share, fmin(1, bps / rate_bps));
	}
}

/* Without hardware, as in a container, virtual devices are counted instead. */
static void
host_put_traffic(const char *root, struct host_look *last, json_t *to)
{
	uint64_t now_ns = clk_ns();
	struct traffic t = { .last = last, .is_hardware = 1 };

	t.seconds = fmax((double)(now_ns - last->at_ns) / 1e9, 1e-3);
	device_walk(root, host_device_cb, &t);
	if (t.now.link_count == 0) {
		t.is_hardware = 0;
		device_walk(root, host_device_cb, &t);
	}
	if (last->link_count > 0 && t.now.link_count > 0) {
		json_object_set_new(to, "net_bps", json_real(t.bps));
		if (t.is_hardware)
			json_object_set_new(to, "net", json_real(t.share));
	}
	last->at_ns = now_ns;
	last->link_count = t.now.link_count;
	memcpy(last->links, t.now.links, sizeof(last->links));
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
	host_put_steal(root, last, o);
	host_put_taken(root, last, o);
	host_put_traffic(root, last, o);
	/* This process's time on a core, time waiting for one, and turns. */
	if (sysfs_line(root, "proc/self/schedstat", line, sizeof(line)) < 0 ||
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
