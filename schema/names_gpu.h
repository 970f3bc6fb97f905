/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_gpu.h - makers of GPUs, and the devices of their memory.
 *
 * STR_FIND (common/str.h) finds a word in each table. A new word is a row at
 * the place of its enum; stored words do not change.
 */
#ifndef SCHEMA_NAMES_GPU_H
#define SCHEMA_NAMES_GPU_H

#include <stddef.h>

/* Makers of GPUs, and the devices that are the memory of theirs. */
#define NAMES_DEVICES "host|cuda|hip"
#define NAMES_GPUS    3
struct gpu_row {
	const char *maker;      /* "nvidia" */
	const char *device;     /* "cuda"; NULL: no plugin exists */
	const char *pci_vendor; /* "0x10de" */
	size_t pci_classes;     /* of those in names_gpu.c, from the first on */
	const char *mpi_words[2]; /* MPIX_Query_WORD_support says whether MPI
				     takes pointers to it */
	int mpich_kind;           /* of MPIX_GPU_query_support */
};
extern const struct gpu_row names_gpus[NAMES_GPUS];

/* 1 for a word of NAMES_DEVICES that is memory of GPUs. */
int names_gpu_is_device(const char *word);
/* Return the maker of a compute GPU by the contents of PCI's files class and
 * vendor ("0x030200", "0x10de"); NULL: not a compute GPU. */
const char *names_gpu_vendor(const char *pci_class, const char *pci_vendor);

#endif
