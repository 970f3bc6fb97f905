/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_gpu.c - preloaded, it makes any MPI say that it takes a GPU's pointers;
 * with those of the stand-in, which are the host's, it does.
 */
int MPIX_Query_cuda_support(void);

__attribute__((visibility("default"))) int
MPIX_Query_cuda_support(void)
{
	return 1;
}
