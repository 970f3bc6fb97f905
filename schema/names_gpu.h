/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_gpu.h - the makers of GPUs, and the names of devices in whose memory
 * buffers can be.
 *
 * STR_FIND (common/str.h) finds a word in each table. A new word is a row at
 * the place of its enum value; words that records or the store contain must not
 * change.
 */
#ifndef SCHEMA_NAMES_GPU_H
#define SCHEMA_NAMES_GPU_H

#include <stddef.h>

/* Devices in whose memory the buffers of a probe can be: "host" is main memory,
 * the others are the GPUs of one maker. */
#define NAMES_DEVICES "host|cuda|hip"
#define NAMES_GPUS    3
/* A maker of GPUs. */
struct gpu_row {
	const char *maker; /* "nvidia" */
	/* Name of the device in NAMES_DEVICES; NULL: Coalmine has no plugin for
	 * this maker. */
	const char *device;
	const char *pci_vendor; /* "0x10de" */
	/* How many of the PCI classes in names_gpu.c, from the first on, are
	 * compute GPUs of this maker. */
	size_t pci_classes;
	/* The functions MPIX_Query_WORD_support of an MPI library return
	 * whether MPI accepts pointers to memory of this maker's GPUs. NULL: no
	 * such word. */
	const char *mpi_words[2];
	/* This maker's kind for MPICH's MPIX_GPU_query_support. */
	int mpich_kind;
};
extern const struct gpu_row names_gpus[NAMES_GPUS];

/* Return 1 if word is a device of NAMES_DEVICES other than "host", 0 if not. */
int names_gpu_is_device(const char *word);
/* Return the maker of a PCI device, or NULL if the device is not a compute GPU.
 * The arguments are the contents of the files class and vendor of the device in
 * sysfs ("0x030200", "0x10de"). */
const char *names_gpu_vendor(const char *pci_class, const char *pci_vendor);

#endif
