/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_name_hip.c - what AMD's driver says of its cards: names, and before the
 * runtime's first call whether the plugin has kernels for them, since many
 * runtimes end the process where it has none.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/device/gpu/gpu.h"

#define NODES     "/sys/class/kfd/kfd/topology/nodes"
#define NODES_MAX 256

void
gpu_name(int index, const char *pci, char *ret, size_t cap_bytes)
{
	(void)pci;
	ret[0] = '\0';
	if (hipDeviceGetName(ret, (int)cap_bytes, index) != hipSuccess) {
		(void)hipGetLastError();
		ret[0] = '\0';
	}
}

/* Parts of a card have PCI addresses of their own. */
void
gpu_part(int index, char ret[33])
{
	(void)index;
	ret[0] = '\0';
}

/* The version of a node's instructions, as 90010 for gfx90a; 0: a processor,
 * -1: no such node. */
static int
gpu_name_hip_version_of(const char *folder, int node)
{
	char path[512], line[200];
	int version = 0;
	FILE *fp;

	snprintf(path, sizeof(path), "%.400s/%d/properties", folder, node);
	fp = fopen(path, "re");
	if (fp == NULL)
		return -1;
	while (fgets(line, sizeof(line), fp) != NULL)
		(void)sscanf(line, "gfx_target_version %d", &version);
	fclose(fp);
	return version;
}

int
gpu_covered(struct err *err)
{
	const char *folder = getenv("COALMINE_KFD"); /* for tests */
	const char *chosen = getenv("ROCR_VISIBLE_DEVICES");
	char name[32], lacks[32] = "";
	int has_some = 0;

	if (folder == NULL)
		folder = NODES;
	for (int node = 0; node < NODES_MAX; node++) {
		int v = gpu_name_hip_version_of(folder, node);

		if (v < 0)
			break;
		if (v == 0)
			continue;
		snprintf(name, sizeof(name), "gfx%d%x%x ", v / 10000,
		    v / 100 % 100, v % 100);
		if (strstr(GPU_ARCHS " ", name) != NULL)
			has_some = 1;
		else
			memcpy(lacks, name, sizeof(lacks));
	}
	/* Which ones are left is the runtime's to know. */
	if (chosen == NULL)
		chosen = getenv("HIP_VISIBLE_DEVICES");
	if (lacks[0] == '\0' || (has_some && chosen != NULL))
		return 0;
	return err_set(err, -ENODEV,
	    "no kernels for %.*s: this plugin has them for " GPU_ARCHS
	    "; build it with COALMINE_HIP_ARCHS, or hide the card by "
	    "ROCR_VISIBLE_DEVICES",
	    (int)strlen(lacks) - 1, lacks);
}
