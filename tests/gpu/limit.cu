/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limit.cu - the rate of the card's memory with plain code: the best of the
 * runtime's own copy and of a kernel that copies, and of a kernel that reads
 * two arrays and writes one. It uses no code of Coalmine, so that the reference
 * cannot have the same errors. Bytes read and written count. Prints
 * "copy BYTES_PER_S" and "add BYTES_PER_S".
 */
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS  30
#define THREADS 512

__global__ void
copy_kernel(uint4 *to, const uint4 *from, size_t n)
{
	size_t stride = (size_t)gridDim.x * THREADS;

	for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < n;
	     i += stride)
		to[i] = from[i];
}

__global__ void
add_kernel(float4 *to, const float4 *a, const float4 *b, size_t n)
{
	size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;

	if (i < n) {
		float4 x = a[i], y = b[i];

		to[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
	}
}

static void
check(cudaError_t code)
{
	if (code != cudaSuccess) {
		fprintf(stderr, "limit: %s\n", cudaGetErrorString(code));
		exit(1);
	}
}

static char *a, *b, *c;
static size_t bytes;
static int processors;

static void
by_runtime(void)
{
	check(cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice));
}

static void
by_kernel(void)
{
	copy_kernel<<<processors * 16, THREADS>>>((uint4 *)b, (uint4 *)a,
	    bytes / 16);
}

static void
by_add(void)
{
	add_kernel<<<(unsigned)((bytes / 16 + THREADS - 1) / THREADS),
	    THREADS>>>((float4 *)c, (float4 *)a, (float4 *)b, bytes / 16);
}

/* The median of some rounds, each timed by the card. */
static int
compare(const void *x, const void *y)
{
	return *(const float *)x < *(const float *)y ? -1 : 1;
}

static double
measure(void (*once)(void), double moved)
{
	cudaEvent_t start, stop;
	float ms[ROUNDS];

	check(cudaEventCreate(&start));
	check(cudaEventCreate(&stop));
	for (int i = -3; i < ROUNDS; i++) {
		check(cudaEventRecord(start));
		once();
		check(cudaEventRecord(stop));
		check(cudaEventSynchronize(stop));
		if (i >= 0)
			check(cudaEventElapsedTime(&ms[i], start, stop));
	}
	check(cudaGetLastError());
	qsort(ms, ROUNDS, sizeof(*ms), compare);
	return moved / (ms[ROUNDS / 2] * 1e-3);
}

int
main(int argc, char **argv)
{
	double runtime, kernel;

	bytes = argc > 1 ? strtoull(argv[1], NULL, 10) : (size_t)2 << 30;
	check(cudaDeviceGetAttribute(&processors,
	    cudaDevAttrMultiProcessorCount, 0));
	check(cudaMalloc(&a, bytes));
	check(cudaMalloc(&b, bytes));
	check(cudaMalloc(&c, bytes));
	check(cudaMemset(a, 1, bytes));
	check(cudaMemset(b, 2, bytes));
	runtime = measure(by_runtime, 2.0 * bytes);
	kernel = measure(by_kernel, 2.0 * bytes);
	printf("copy %.4e\n", runtime > kernel ? runtime : kernel);
	printf("add %.4e\n", measure(by_add, 3.0 * bytes));
	return 0;
}
