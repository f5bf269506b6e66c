// Kernel for NVIDIA GPUs: definitions for the translated `game`, and the choice of the games that a thread plays.

typedef signed char i8; typedef short i16; typedef int i32; typedef long long i64; typedef float f32;
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned u32; typedef unsigned long long u64;
#define TABLE static __device__ const
#define FN static __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define POPCOUNT(x) (sizeof(x) == 8 ? __popcll(x) : __popc((u32)(x)))
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#endif

// The same element of all n games is contiguous, so that the threads of a warp read and write the same lines of memory.
#define PLACE const u32 n, const u32 g, const u32 price_stride, const u32 price
#define IN(k, type, size, i) ((const type *)in[k])[(u32)(i) * n + g]
#define PRICE(k, type, size, i) ((const type *)in[k])[(u32)(i) * price_stride + price]
#define OUT(k, type, size, i) ((type *)out[k])[(u32)(i) * n + g]
#define WANTED(k) 1

#include "arithmetic.h"
#include "game.h"

// KERNEL, RARE, THREADS, SHARE, PARAMETERS, READ and WRITTEN come from cuda.py. sizes: number of games, stride of prices,
// whether each game has its own prices.
#ifdef __cplusplus
extern "C"
#endif
__global__ void __launch_bounds__(THREADS) KERNEL(PARAMETERS) {
  const void *const in[] = {READ};
  void *const out[] = {WRITTEN};
  const u32 n = sizes[0];
#if RARE
  // Each block is one warp, which lists those of its games that need rare work, and plays them.
  __shared__ u32 list[SHARE];
  const u32 share = (n + gridDim.x - 1) / gridDim.x;
  const u32 first = blockIdx.x * share, last = first + share < n ? first + share : n;
  u32 found = 0;
  for (u32 start = first; start < last; start += THREADS) {
    const u32 g = start + threadIdx.x;
    const u32 votes = __ballot_sync(~0u, g < last && wanted[g]);
    if (votes >> threadIdx.x & 1) list[found + __popc(votes & ((1u << threadIdx.x) - 1))] = g;
    found += __popc(votes);
  }
  __syncwarp();
  for (u32 k = threadIdx.x; k < found; k += THREADS) game(in, out, n, list[k], n, list[k]);
#else
  const u32 g = blockIdx.x * THREADS + threadIdx.x;
  if (g < n) game(in, out, n, g, sizes[1], sizes[2] * g);
#endif
}
