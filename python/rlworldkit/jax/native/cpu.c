// A program of many games on the processor: what the translated `game` needs before it, and how XLA calls it.

#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

#include "xla/ffi/api/c_api.h"

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

// SHARE: games that a thread takes at a time.
enum { SHARE = 128 };

typedef struct {
  const void *in[INPUTS];
  void *out[OUTPUTS]; // null: nobody wants it
  int share_prices; // prices are those of all games
  i64 games, next, left, holders;
} Batch;

static void play_shares(void *data) {
  Batch *batch = data;
  for (;;) {
    const i64 first = __atomic_fetch_add(&batch->next, SHARE, __ATOMIC_RELAXED);
    if (first >= batch->games) break;
    const i64 last = batch->games < first + SHARE ? batch->games : first + SHARE;
    for (i64 g = first; g < last; g++) game(batch->in, batch->out, g, batch->share_prices ? 0 : g);
    __atomic_fetch_sub(&batch->left, last - first, __ATOMIC_RELEASE);
  }
}

static void release(Batch *batch) {
  if (__atomic_sub_fetch(&batch->holders, 1, __ATOMIC_ACQ_REL) == 0) free(batch);
}

// A thread that comes late finds no games left, and nobody waits for it: it may stand in a queue behind who waits.
static void help(void *data) { play_shares(data), release(data); }

static void play_batch(XLA_FFI_CallFrame *frame, Batch *batch) {
  int64_t threads = 1;
  XLA_FFI_ThreadPool_NumThreads_Args asked = {XLA_FFI_ThreadPool_NumThreads_Args_STRUCT_SIZE, NULL, frame->ctx, &threads};
  XLA_FFI_Error *fault = frame->api->XLA_FFI_ThreadPool_NumThreads(&asked);
  const i64 shares = (batch->games + SHARE - 1) / SHARE;
  for (i64 number = 1; !fault && number < threads && number < shares; number++) {
    __atomic_add_fetch(&batch->holders, 1, __ATOMIC_RELAXED);
    XLA_FFI_ThreadPool_Schedule_Args task = {XLA_FFI_ThreadPool_Schedule_Args_STRUCT_SIZE, NULL, frame->ctx, help, batch};
    if ((fault = frame->api->XLA_FFI_ThreadPool_Schedule(&task))) release(batch);
  }
  if (fault) {
    XLA_FFI_Error_Destroy_Args done = {XLA_FFI_Error_Destroy_Args_STRUCT_SIZE, NULL, fault};
    frame->api->XLA_FFI_Error_Destroy(&done);
  }
  play_shares(batch);
  while (__atomic_load_n(&batch->left, __ATOMIC_ACQUIRE)) sched_yield();
  release(batch);
}

// Attribute "outputs": which outputs the results of the call are.
__attribute__((visibility("default"))) XLA_FFI_Error *play(XLA_FFI_CallFrame *frame) {
  if (frame->extension_start && frame->extension_start->type == XLA_FFI_Extension_Metadata) {
    XLA_FFI_Metadata *metadata = ((XLA_FFI_Metadata_Extension *)frame->extension_start)->metadata;
    metadata->api_version.major_version = XLA_FFI_API_MAJOR;
    metadata->api_version.minor_version = XLA_FFI_API_MINOR;
    metadata->traits = 0;
    return NULL;
  }
  Batch *batch = calloc(1, sizeof(Batch));
  const XLA_FFI_Buffer *const *args = (const XLA_FFI_Buffer *const *)frame->args.args, *last = args[INPUTS - 1];
  batch->games = batch->left = last->dims[0];
  batch->holders = 1;
  for (int k = 0; k < INPUTS; k++) batch->in[k] = args[k]->data;
  batch->share_prices = args[0]->rank == 1;
  const XLA_FFI_Array *wanted = frame->attrs.attrs[0];
  for (i64 k = 0; k < frame->rets.size; k++) {
    const XLA_FFI_Buffer *result = frame->rets.rets[k];
    batch->out[((const i64 *)wanted->data)[k]] = result->data;
  }
  play_batch(frame, batch);
  return NULL;
}
