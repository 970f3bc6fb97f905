/* SPDX-License-Identifier: Apache-2.0 */
/*
 * affinity.c - sets of cores as the kernel's lists, and the set that is near a
 * device.
 */
#include "probes/job/affinity.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "common/str.h"
#include "common/sysfs.h"
#include "common/xalloc.h"
#include "probes/job/rank_env.h"

#define CORES_MAX 8192
#define NUMA_MAX  256
#define SET_BYTES CPU_ALLOC_SIZE(CORES_MAX)

/* "0-3,8"; what does not fit ends with "...". */
static void
affinity_list_write(const cpu_set_t *set, char *ret, size_t cap_bytes)
{
	size_t len = 0;

	ret[0] = '\0';
	for (int i = 0, last; i < CORES_MAX; i = last + 1) {
		last = i;
		if (!CPU_ISSET_S((size_t)i, SET_BYTES, set))
			continue;
		while (last + 1 < CORES_MAX &&
		    CPU_ISSET_S((size_t)last + 1, SET_BYTES, set))
			last++;
		if (len + 20 > cap_bytes) {
			snprintf(ret + len, cap_bytes - len, ",...");
			return;
		}
		len += (size_t)snprintf(ret + len, cap_bytes - len,
		    last > i ? "%s%d-%d" : "%s%d", len > 0 ? "," : "", i, last);
	}
}

static void
affinity_list_read(const char *text, cpu_set_t *ret)
{
	long from, to;
	char *end;

	CPU_ZERO_S(SET_BYTES, ret);
	for (; *text >= '0' && *text <= '9'; text = end + (*end == ',')) {
		from = to = strtol(text, &end, 10);
		if (*end == '-')
			to = strtol(end + 1, &end, 10);
		for (; from <= to && from < CORES_MAX; from++)
			CPU_SET_S((size_t)from, SET_BYTES, ret);
	}
}

/* Read the cores of a NUMA node; none if the node does not exist. */
static void
affinity_numa_read(const char *root, int numa, cpu_set_t *ret)
{
	char dir[300], text[4096];

	snprintf(dir, sizeof(dir), "%s/sys/devices/system/node/node%d", root,
	    numa);
	sysfs_line(dir, "cpulist", text, sizeof(text));
	affinity_list_read(text, ret);
}

void
affinity_look(const char *root, struct affinity *ret)
{
	cpu_set_t *mine = CPU_ALLOC(CORES_MAX), *numa = CPU_ALLOC(CORES_MAX);
	cpu_set_t *near = CPU_ALLOC(CORES_MAX);

	memset(ret, 0, sizeof(*ret));
	ret->node = ret->local = -1;
	CPU_ZERO_S(SET_BYTES, near);
	if (sched_getaffinity(0, SET_BYTES, mine) < 0)
		CPU_ZERO_S(SET_BYTES, mine);
	affinity_list_write(mine, ret->cores, sizeof(ret->cores));
	for (int i = 0; i < NUMA_MAX; i++) {
		affinity_numa_read(root, i, numa);
		CPU_AND_S(SET_BYTES, numa, numa, mine);
		if (CPU_COUNT_S(SET_BYTES, numa) > 0)
			CPU_SET_S((size_t)i, SET_BYTES, near);
	}
	affinity_list_write(near, ret->numa, sizeof(ret->numa));
	CPU_FREE(mine);
	CPU_FREE(numa);
	CPU_FREE(near);
}

/* -1: not known. */
static int
affinity_numa_of(const char *root, const char *device)
{
	static const char *const classes[] = { "infiniband", "net", "cxi" };
	int name_bytes = (int)strcspn(device, ":");
	int64_t numa = -1;
	char dir[600];

	for (size_t i = 0; i < ARRAY_LEN(classes) && numa < 0; i++) {
		snprintf(dir, sizeof(dir), "%s/sys/class/%s/%.*s/device", root,
		    classes[i], name_bytes, device);
		if (strchr(device, '/') == NULL)
			(void)sysfs_int(dir, "numa_node", &numa);
	}
	return (int)numa;
}

int
affinity_near(const char *root, const char *device)
{
	cpu_set_t *mine = CPU_ALLOC(CORES_MAX), *near = CPU_ALLOC(CORES_MAX);
	int numa = affinity_numa_of(root, device), changed = 0, count;

	if (numa >= 0 && sched_getaffinity(0, SET_BYTES, mine) == 0) {
		affinity_numa_read(root, numa, near);
		CPU_AND_S(SET_BYTES, near, near, mine);
		count = CPU_COUNT_S(SET_BYTES, near);
		/* keep the cores that a launcher chose elsewhere */
		changed = count > 0 && count < CPU_COUNT_S(SET_BYTES, mine) &&
		    sched_setaffinity(0, SET_BYTES, near) == 0;
	}
	CPU_FREE(mine);
	CPU_FREE(near);
	return changed;
}

void
affinity_set(void)
{
	const char *how = getenv("COALMINE_BIND");
	const char *list = getenv("COALMINE_NICS");
	int64_t local = -1;
	size_t count = 0;
	char **names;

	if (list == NULL)
		list = getenv("COALMINE_DEVICES");
	if (list == NULL || (how != NULL && strcmp(how, "auto") != 0))
		return;
	for (size_t i = 0; local < 0 && i < ARRAY_LEN(rank_envs); i++) {
		const char *name = rank_envs[i].local;

		if (name != NULL && getenv(name) != NULL)
			(void)str_to_int(getenv(name), 0, 65535, &local);
	}
	names = str_list_parse(list, &count);
	if (names != NULL && count > 0 && local >= 0)
		affinity_near("", names[(size_t)local % count]);
	str_list_free(names);
}

static int
affinity_row_compare(const void *a, const void *b)
{
	const struct affinity *x = a, *y = b;
	int d = (x->local > y->local) - (x->local < y->local);

	d = d != 0 ? d : strcmp(x->cores, y->cores);
	d = d != 0 ? d : strcmp(x->numa, y->numa);
	return d != 0 ? d : (x->node > y->node) - (x->node < y->node);
}

json_t *
affinity_json(struct affinity *rows, size_t count, const char *const *names)
{
	const char **some = xcalloc(count + 1, sizeof(*some));
	json_t *list = json_array();
	size_t n;
	char *text;

	qsort(rows, count, sizeof(*rows), affinity_row_compare);
	for (size_t i = 0; i < count; i += n) {
		for (n = 0;
		     i + n < count && rows[i + n].local == rows[i].local &&
		     strcmp(rows[i + n].cores, rows[i].cores) == 0 &&
		     strcmp(rows[i + n].numa, rows[i].numa) == 0;
		     n++)
			some[n] = names[rows[i + n].node];
		text = hostlist_format(some, n);
		json_array_append_new(list,
		    json_pack("{s:s, s:i, s:s, s:s}", "nodes", text, "local",
			rows[i].local, "cores", rows[i].cores, "numa",
			rows[i].numa));
		free(text);
	}
	free(some);
	return list;
}
