/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_kernels.cu - reductions at the speed of the card's memory.
 *
 * A thread holds PER packs of 16 bytes, so that enough loads are under way to
 * hide the memory's latency, and walks through the inputs in their order: the
 * brackets are always the same. What does not fill a pack, or everything when
 * a pointer is not aligned to 16, goes element by element in the same launch.
 *
 * No warp intrinsics, so 32 or 64 lanes do not matter. The results are the
 * host's bit for bit: no fused operation can arise, half and bfloat16 are
 * rounded after each op, min and max give one of their arguments as it was, and
 * a NaN that arithmetic gives has the bits that host_reduce.c gives it.
 */
#include "probes/device/gpu/gpu_port.h"

#define THREADS 256
#define PER     4

struct inputs {
	const void *at[GPU_INPUTS_MAX];
};

/* ---- types: format in memory, and type of the computation ---- */

#define ON_GPU static __device__ __forceinline__

template <typename T, typename Wrap> struct whole {
	typedef T store;
	ON_GPU T
	value(T x)
	{
		return x;
	}
	ON_GPU T
	add(T a, T b)
	{
		return (T)((Wrap)a + (Wrap)b);
	}
	ON_GPU T
	times(T a, T b)
	{
		return (T)((Wrap)a * (Wrap)b);
	}
	ON_GPU T
	truth(bool x)
	{
		return (T)x;
	}
};

ON_GPU float
quiet(float x)
{
	return x == x ? x : __uint_as_float(0x7fc00000);
}
ON_GPU double
quiet(double x)
{
	return x == x ? x : __longlong_as_double(0x7ff8000000000000LL);
}

template <typename T> struct real {
	typedef T store;
	ON_GPU T
	value(T x)
	{
		return x;
	}
	ON_GPU T
	add(T a, T b)
	{
		return quiet(a + b);
	}
	ON_GPU T
	times(T a, T b)
	{
		return quiet(a * b);
	}
	ON_GPU T
	truth(bool x)
	{
		return (T)x;
	}
};

struct half16 {
	typedef uint16_t store;
	ON_GPU float
	value(uint16_t x)
	{
		return __half2float(__ushort_as_half(x));
	}
	ON_GPU uint16_t
	round(float x)
	{
		return x == x ? __half_as_ushort(__float2half_rn(x)) : 0x7e00;
	}
	ON_GPU uint16_t
	add(uint16_t a, uint16_t b)
	{
		return round(value(a) + value(b));
	}
	ON_GPU uint16_t
	times(uint16_t a, uint16_t b)
	{
		return round(value(a) * value(b));
	}
	ON_GPU uint16_t
	truth(bool x)
	{
		return x ? 0x3c00 : 0;
	}
};

struct bfloat {
	typedef uint16_t store;
	ON_GPU float
	value(uint16_t x)
	{
		return __uint_as_float((uint32_t)x << 16);
	}
	ON_GPU uint16_t
	round(float x)
	{
		uint32_t bits = __float_as_uint(x);

		if (x != x)
			return 0x7fc0;
		return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
	}
	ON_GPU uint16_t
	add(uint16_t a, uint16_t b)
	{
		return round(value(a) + value(b));
	}
	ON_GPU uint16_t
	times(uint16_t a, uint16_t b)
	{
		return round(value(a) * value(b));
	}
	ON_GPU uint16_t
	truth(bool x)
	{
		return x ? 0x3f80 : 0;
	}
};

/* ---- ops ---- */

#define OP(name, expression)                                                   \
	template <typename T> struct name {                                    \
		typedef typename T::store S;                                   \
		ON_GPU S                                                       \
		of(S a, S b)                                                   \
		{                                                              \
			return expression;                                     \
		}                                                              \
	};

OP(op_sum, T::add(a, b))
OP(op_prod, T::times(a, b))
OP(op_min, T::value(b) < T::value(a) ? b : a)
OP(op_max, T::value(a) < T::value(b) ? b : a)
OP(op_land, T::truth(T::value(a) != 0 && T::value(b) != 0))
OP(op_lor, T::truth(T::value(a) != 0 || T::value(b) != 0))

/* ---- the kernel ---- */

template <typename S> struct alignas(16) pack {
	S v[16 / sizeof(S)];
};

template <typename S, typename Op>
ON_GPU void
fold(pack<S> *into, const pack<S> *with)
{
#pragma unroll
	for (unsigned e = 0; e < 16 / sizeof(S); e++)
		into->v[e] = Op::of(into->v[e], with->v[e]);
}

template <typename S>
ON_GPU void
fetch(pack<S> *ret, const void *from, uint64_t first, uint64_t end)
{
#pragma unroll
	for (int p = 0; p < PER; p++)
		if (first + p * THREADS < end)
			ret[p] = ((const pack<S> *)from)[first + p * THREADS];
}

template <typename T, template <typename> class Op>
__global__ void
__launch_bounds__(THREADS) reduce(void *to, const inputs in, uint32_t count,
    uint64_t packs, uint64_t elements)
{
	typedef typename T::store S;
	uint64_t first = (uint64_t)blockIdx.x * (THREADS * PER) + threadIdx.x;
	uint64_t stride = (uint64_t)gridDim.x * THREADS;
	uint64_t i = packs * (16 / sizeof(S)) + (uint64_t)blockIdx.x * THREADS +
	    threadIdx.x;
	pack<S> sum[PER], next[PER];

	if (first < packs) {
		fetch(sum, in.at[0], first, packs);
		for (uint32_t k = 1; k < count; k++) {
			fetch(next, in.at[k], first, packs);
#pragma unroll
			for (int p = 0; p < PER; p++)
				fold<S, Op<T>>(&sum[p], &next[p]);
		}
#pragma unroll
		for (int p = 0; p < PER; p++)
			if (first + p * THREADS < packs)
				((pack<S> *)to)[first + p * THREADS] = sum[p];
	}
	for (; i < elements; i += stride) {
		S one = ((const S *)in.at[0])[i];

		for (uint32_t k = 1; k < count; k++)
			one = Op<T>::of(one, ((const S *)in.at[k])[i]);
		((S *)to)[i] = one;
	}
}

typedef void kernel_fn(void *, const inputs, uint32_t, uint64_t, uint64_t);

/* In the order of enum plan_op. */
#define ROW(type)                                                              \
	{                                                                      \
		NULL, reduce<type, op_sum>, reduce<type, op_prod>,             \
		    reduce<type, op_min>, reduce<type, op_max>,                \
		    reduce<type, op_land>, reduce<type, op_lor>                \
	}

typedef whole<int32_t, uint32_t> int32;
typedef whole<int64_t, uint64_t> int64;

/* In the order of enum plan_type. */
static kernel_fn *const kernels[PLAN_BYTE][PLAN_OP_MAX] = { ROW(int32),
	ROW(int64), ROW(real<float>), ROW(real<double>), ROW(half16),
	ROW(bfloat) };

static uint64_t
up(uint64_t n, uint64_t per)
{
	return (n + per - 1) / per;
}

extern "C" int
gpu_kernels_reduce(void *stream, enum plan_op op, enum plan_type type, void *to,
    const void *const *from, uint32_t count, uint64_t elements)
{
	uint64_t packs = elements * gpu_kernels_bytes[type] / 16, blocks, bits;
	kernel_fn *kernel = kernels[type][op];
	inputs in = {};
	void *args[] = { &to, &in, &count, &packs, &elements };

	bits = (uintptr_t)to;
	for (uint32_t k = 0; k < count; k++) {
		in.at[k] = from[k];
		bits |= (uintptr_t)from[k];
	}
	if ((bits & 15) != 0)
		packs = 0;
	blocks = packs != 0 ? up(packs, THREADS * PER)
			    : up(elements, THREADS * PER);
	return (int)GPU(LaunchKernel)((const void *)kernel,
	    dim3((unsigned)blocks), dim3(THREADS), args, 0, (GPU_STREAM)stream);
}
