// Program for the CPU: definitions for the translated `game`, and the function by which ffi.c plays games. PROGRAM: its name.

#include <math.h>
#include <stdint.h>

typedef int8_t i8; typedef int16_t i16; typedef int32_t i32; typedef int64_t i64;
typedef uint8_t u8; typedef uint16_t u16; typedef uint32_t u32; typedef uint64_t u64; typedef float f32;
#define TABLE static const
#define FN static inline
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define POPCOUNT(x) __builtin_popcountll(x)
#define PLACE i64 g, i64 price
#define IN(k, type, size, i) ((const type *)in[k])[g * (size) + (i)]
#define PRICE(k, type, size, i) ((const type *)in[k])[price * (size) + (i)]
#define OUT(k, type, size, i) ((type *)out[k])[g * (size) + (i)]
#define WANTED(k) out[k]

#include "arithmetic.h"
#include "game.h"

__attribute__((visibility("default"))) void PROGRAM(const void *const *in, void *const *out, i64 first, i64 last, int share_prices) {
  for (i64 g = first; g < last; g++) game(in, out, g, share_prices ? 0 : g);
}
