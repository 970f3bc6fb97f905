/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hip_launch.c - functions that hipcc's code calls to register and launch
 * kernels. A kernel is identified by its mangled name, which has op and type;
 * the processor then computes the result. The arguments have the kernel's
 * layout.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/gpu_runtime.h"

#define KERNELS_MAX   64
#define PACKS_A_BLOCK 1024 /* THREADS * PER of gpu_kernels.cu */
#define PUBLIC        __attribute__((visibility("default")))

static struct {
	const void *function;
	const char *name;
} kernels[KERNELS_MAX];
static int kernels_count;

static const char *const types[PLAN_BYTE] = {
	[PLAN_INT32] = "5wholeIij",
	[PLAN_INT64] = "5wholeIlm",
	[PLAN_FLOAT] = "4realIf",
	[PLAN_DOUBLE] = "4realId",
	[PLAN_HALF] = "6half16",
	[PLAN_BFLOAT16] = "6bfloat",
};
static const char *const ops[PLAN_OP_MAX] = { "?", "6op_sum", "7op_prod",
	"6op_min", "6op_max", "7op_land", "6op_lor" };

PUBLIC void **__hipRegisterFatBinary(const void *data);
PUBLIC void __hipUnregisterFatBinary(void **modules);
PUBLIC void __hipRegisterFunction(void **modules, const void *function,
    char *device_function, const char *name, unsigned threads, void *tid,
    void *bid, dim3 *block, dim3 *grid, int *warp);
PUBLIC hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block,
    size_t shared, hipStream_t stream);
PUBLIC hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block,
    size_t *shared, hipStream_t *stream);

void **
__hipRegisterFatBinary(const void *data)
{
	static void *module;

	(void)data;
	return &module;
}

void
__hipUnregisterFatBinary(void **modules)
{
	(void)modules;
}

void
__hipRegisterFunction(void **modules, const void *function,
    char *device_function, const char *name, unsigned threads, void *tid,
    void *bid, dim3 *block, dim3 *grid, int *warp)
{
	(void)modules;
	(void)device_function;
	(void)threads;
	(void)tid;
	(void)bid;
	(void)block;
	(void)grid;
	(void)warp;
	assert(kernels_count < KERNELS_MAX);
	kernels[kernels_count].function = function;
	kernels[kernels_count++].name = name;
}

/* Only stubs call these, and the plugin launches without them. */
hipError_t
__hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
    hipStream_t stream)
{
	(void)grid;
	(void)block;
	(void)shared;
	(void)stream;
	return hipErrorUnknown;
}

hipError_t
__hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
    hipStream_t *stream)
{
	(void)grid;
	(void)block;
	(void)shared;
	(void)stream;
	return hipErrorUnknown;
}

static int
index_in(const char *const *words, int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (strstr(name, words[i]) != NULL)
			return i;
	return -1;
}

PUBLIC hipError_t
hipLaunchKernel(const void *function, dim3 grid, dim3 block, void **args,
    size_t shared, hipStream_t stream)
{
	void *to = *(void **)args[0];
	const void *const *inputs = args[1];
	uint32_t count = *(uint32_t *)args[2];
	uint64_t packs = *(uint64_t *)args[3];
	uint64_t elements = *(uint64_t *)args[4];
	int k = 0, type, op;

	(void)shared;
	while (k < kernels_count && kernels[k].function != function)
		k++;
	if (k == kernels_count)
		return hipErrorInvalidDeviceFunction;
	type = index_in(types, PLAN_BYTE, kernels[k].name);
	op = index_in(ops, PLAN_OP_MAX, kernels[k].name);
	if (type < 0 || op < 0 || block.x != 256 ||
	    (uint64_t)grid.x * PACKS_A_BLOCK < packs)
		return hipErrorInvalidValue;
	return (hipError_t)fake_reduce(stream, (enum plan_op)op,
	    (enum plan_type)type, to, inputs, count, elements);
}

PUBLIC hipError_t
hipDeviceGetName(char *name, int cap, hipDevice_t device)
{
	(void)device;
	strncpy(name, "stand-in GPU", (size_t)cap);
	return hipSuccess;
}
