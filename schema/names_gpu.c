/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_gpu.c - the rows: makers of GPUs.
 */
#include "schema/names_gpu.h"

#include <string.h>

const struct gpu_row names_gpus[NAMES_GPUS] = {
	{ "nvidia", "cuda", "0x10de", 4, { "cuda", NULL }, 0 },
	{ "amd", "hip", "0x1002", 4, { "hip", "rocm" }, 2 },
	{ "intel", NULL, "0x8086", 3, { NULL, NULL }, 1 },
};

int
names_gpu_is_device(const char *word)
{
	for (const struct gpu_row *g = names_gpus; g < names_gpus + NAMES_GPUS;
	     g++)
		if (g->device != NULL && strcmp(g->device, word) == 0)
			return 1;
	return 0;
}

const char *
names_gpu_vendor(const char *pci_class, const char *pci_vendor)
{
	/* 3D and other display controllers, accelerators, and VGA: the latter
	 * not of a vendor whose VGA is part of the processor. */
	static const char *const classes[] = { "0x0302", "0x0380", "0x1200",
		"0x0300" };

	for (const struct gpu_row *g = names_gpus; g < names_gpus + NAMES_GPUS;
	     g++)
		for (size_t c = 0; c < g->pci_classes; c++)
			if (strcmp(pci_vendor, g->pci_vendor) == 0 &&
			    strncmp(pci_class, classes[c], 6) == 0)
				return g->maker;
	return NULL;
}
