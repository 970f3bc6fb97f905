/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_gpu.c - preloaded, it makes any MPI report that it accepts pointers of a
 * GPU. With pointers of the stand-in, which are in the host's memory, this is
 * true (COALMINE_FAKE_OPEN). COALMINE_FAKE_QUERY: "kind" by the call of MPICH,
 * "first" only on rank 0.
 */
#include <stdlib.h>
#include <string.h>

int MPIX_GPU_query_support(int kind, int *ret);
int MPIX_Query_cuda_support(void);

static int
told_to(const char *what)
{
	const char *text = getenv("COALMINE_FAKE_QUERY");

	return text != NULL && strcmp(text, what) == 0;
}

__attribute__((visibility("default"))) int
MPIX_GPU_query_support(int kind, int *ret)
{
	*ret = kind == 0 && told_to("kind");
	return 0;
}

__attribute__((visibility("default"))) int
MPIX_Query_cuda_support(void)
{
	const char *rank = getenv("OMPI_COMM_WORLD_RANK");

	if (rank == NULL)
		rank = getenv("PMI_RANK");
	return told_to("first") ? rank != NULL && strcmp(rank, "0") == 0
				: !told_to("kind");
}
