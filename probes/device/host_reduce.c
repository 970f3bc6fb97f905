/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_reduce.c - one loop for each op and type, over blocks that fit into the
 * L1 cache: any number of inputs costs one read of each and one write.
 *
 * Integers wrap. Results equal the GPU kernels' bit for bit: min and max
 * return one of their arguments unchanged, and sum and prod return one fixed
 * NaN, as processors and GPUs differ in its bits.
 */
#include "probes/device/host_reduce.h"

#include <assert.h>
#include <string.h>

#define BLOCK_BYTES 8192

typedef void kernel_fn(void *to, const void *a, const void *b, uint64_t n);

static float
host_reduce_float_of_bits(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static uint32_t
host_reduce_bits_of_float(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

static float
host_reduce_from_bfloat16(uint16_t h)
{
	return host_reduce_float_of_bits((uint32_t)h << 16);
}

static uint16_t
host_reduce_to_bfloat16(float f)
{
	uint32_t bits = host_reduce_bits_of_float(f);

	if ((bits & 0x7fffffff) > 0x7f800000) /* NaN stays one, and quiet */
		return (uint16_t)(bits >> 16 | 0x40);
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float
host_reduce_from_half(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, exp = h >> 10 & 0x1f;
	uint32_t frac = h & 0x3ff;
	float f;

	if (exp == 0x1f)
		return host_reduce_float_of_bits(
		    sign | 0x7f800000 | frac << 13);
	if (exp != 0)
		return host_reduce_float_of_bits(
		    sign | (exp + 112) << 23 | frac << 13);
	f = (float)frac * 0x1p-24f; /* exact */
	return sign != 0 ? -f : f;
}

/* Below the smallest normal number the last place is worth 2^-24: adding 0.5
 * to a float makes the hardware round to just that. */
static uint16_t
host_reduce_to_half(float f)
{
	uint32_t bits = host_reduce_bits_of_float(f),
		 sign = bits >> 16 & 0x8000;
	uint32_t size = bits & 0x7fffffff;

	if (size > 0x7f800000)
		return (uint16_t)(sign | 0x7e00 | (size >> 13 & 0x3ff));
	if (size >= 0x477ff000) /* rounds to 65536 or more */
		return (uint16_t)(sign | 0x7c00);
	if (size < 0x38800000)
		return (uint16_t)(sign |
		    (host_reduce_bits_of_float(
			 host_reduce_float_of_bits(size) + 0.5f) -
			0x3f000000));
	size += 0xfff + (size >> 13 & 1);
	return (uint16_t)(sign | (size - 0x38000000) >> 13);
}

static float
host_reduce_quiet_float(float f)
{
	return f == f ? f : host_reduce_float_of_bits(0x7fc00000);
}

static double
host_reduce_quiet_double(double d)
{
	static const uint64_t bits = 0x7ff8000000000000;
	double nan;

	memcpy(&nan, &bits, sizeof(nan));
	return d == d ? d : nan;
}

#ifdef __clang__ /* it decides alone, and warns of a loop that it must not */
#define HOST_REDUCE_LOOP
#else
#define HOST_REDUCE_LOOP _Pragma("GCC ivdep")
#endif

/* to may be a or b, element on element: no reason not to use vectors. */
#define KERNEL(name, store, load, save, expression)                            \
	static void name(void *to, const void *from_a, const void *from_b,     \
	    uint64_t n)                                                        \
	{                                                                      \
		store *z = to;                                                 \
		const store *x = from_a, *y = from_b;                          \
                                                                               \
		HOST_REDUCE_LOOP for (uint64_t i = 0; i < n; i++)              \
		{                                                              \
			__typeof__(load(x[0])) a = load(x[i]), b = load(y[i]); \
                                                                               \
			z[i] = save(expression);                               \
		}                                                              \
	}

#define KERNELS(type, store, load, save, add, times)                           \
	KERNEL(type##_sum, store, load, save, add)                             \
	KERNEL(type##_prod, store, load, save, times)                          \
	KERNEL(type##_min, store, SAME, SAME, load(b) < load(a) ? b : a)       \
	KERNEL(type##_max, store, SAME, SAME, load(a) < load(b) ? b : a)       \
	KERNEL(type##_land, store, load, save, a != 0 && b != 0)               \
	KERNEL(type##_lor, store, load, save, a != 0 || b != 0)

#define SAME(x) (x)
#define I32(x)  ((int32_t)(x))
#define I64(x)  ((int64_t)(x))
#define F32(x)  ((float)(x))
#define F64(x)  ((double)(x))

KERNELS(int32, int32_t, SAME, I32, (uint32_t)a + (uint32_t)b,
    (uint32_t)a *(uint32_t)b)
KERNELS(int64, int64_t, SAME, I64, (uint64_t)a + (uint64_t)b,
    (uint64_t)a *(uint64_t)b)
KERNELS(float, float, SAME, F32, host_reduce_quiet_float(a + b),
    host_reduce_quiet_float(a *b))
KERNELS(double, double, SAME, F64, host_reduce_quiet_double(a + b),
    host_reduce_quiet_double(a *b))
KERNELS(half, uint16_t, host_reduce_from_half, host_reduce_to_half,
    host_reduce_quiet_float(a + b), host_reduce_quiet_float(a *b))
KERNELS(bfloat16, uint16_t, host_reduce_from_bfloat16, host_reduce_to_bfloat16,
    host_reduce_quiet_float(a + b), host_reduce_quiet_float(a *b))

#define ROW(type)                                                              \
	{                                                                      \
		[PLAN_SUM] = type##_sum, [PLAN_PROD] = type##_prod,            \
		[PLAN_MIN] = type##_min, [PLAN_MAX] = type##_max,              \
		[PLAN_LAND] = type##_land, [PLAN_LOR] = type##_lor,            \
	}

static kernel_fn *const kernels[PLAN_TYPE_MAX][PLAN_OP_MAX] = {
	[PLAN_INT32] = ROW(int32),
	[PLAN_INT64] = ROW(int64),
	[PLAN_FLOAT] = ROW(float),
	[PLAN_DOUBLE] = ROW(double),
	[PLAN_HALF] = ROW(half),
	[PLAN_BFLOAT16] = ROW(bfloat16),
};

void
host_reduce(enum plan_op op, enum plan_type type, void *to,
    const void *const *inputs, uint32_t inputs_count, uint64_t elements)
{
	unsigned size = plan_types[type].bytes;
	kernel_fn *kernel = kernels[type][op];
	uint64_t aside[BLOCK_BYTES / sizeof(uint64_t)];
	uint64_t step = BLOCK_BYTES / size;

	assert(kernel != NULL && inputs_count >= 1);
	if (inputs_count == 1 && to != inputs[0])
		memcpy(to, inputs[0], elements * size);
	if (inputs_count == 2)
		kernel(to, inputs[0], inputs[1], elements);
	if (inputs_count <= 2)
		return;
	/* A block is summed aside, since to may be the third input. */
	for (uint64_t i = 0; i < elements; i += step) {
		uint64_t n = elements - i < step ? elements - i : step;

		kernel(aside, (const char *)inputs[0] + i * size,
		    (const char *)inputs[1] + i * size, n);
		for (uint32_t k = 2; k < inputs_count; k++)
			kernel(aside, aside, (const char *)inputs[k] + i * size,
			    n);
		memcpy((char *)to + i * size, aside, n * size);
	}
}
