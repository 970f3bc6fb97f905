/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpus.c - sysfs names the threads of a core and the cores of a NUMA node.
 */
#include "agents/wireup/cpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

#define CPUS_MAX 4096

/* The first line of a file, without newline. */
static int
cpus_line(const char *root, const char *kind, int n, const char *file,
    char ret[256])
{
	char path[4400];
	FILE *fp;
	int ok;

	snprintf(path, sizeof(path), "%s/sys/devices/system/%s/%s%d/%s", root,
	    kind, kind, n, file);
	fp = fopen(path, "re");
	if (fp == NULL)
		return -1;
	ok = fgets(ret, 256, fp) != NULL;
	fclose(fp);
	ret[ok ? strcspn(ret, "\n") : 0] = '\0';
	return ret[0] == '\0' ? -1 : 0;
}

char *
cpus_of(const char *root, const char *bind, int local)
{
	char line[256];
	int count = 0;

	if (bind == NULL)
		return NULL;
	if (strcmp(bind, "numa") == 0) {
		while (count < CPUS_MAX &&
		    cpus_line(root, "node", count, "cpulist", line) == 0)
			count++;
		if (count == 0 ||
		    cpus_line(root, "node", local % count, "cpulist", line) < 0)
			return NULL;
		return xstrdup(line);
	}
	for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
		if (cpus_line(root, "cpu", cpu, "topology/thread_siblings_list",
			line) < 0)
			break;
		/* A core is counted at the first of its threads. */
		if (atoi(line) == cpu && count++ == local)
			return xstrdup(line);
	}
	return NULL;
}
