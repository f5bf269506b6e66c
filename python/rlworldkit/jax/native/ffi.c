// XLA's custom call that plays a batch of games with a program: a function of any library that Python has loaded.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "xla/ffi/api/c_api.h"

#define EXPORTED __attribute__((visibility("default")))
// SHARE: games that a thread takes at a time.
enum { SHARE = 128 };

typedef void Play(const void *const *in, void *const *out, int64_t first, int64_t last, int share_prices);

typedef struct {
  Play *play;
  const void **in;
  void **out; // null: the output is not needed
  int share_prices; // all games have the same prices
  int64_t games, next, left, holders;
  void *arrays[];
} Batch;

static void release(Batch *batch) {
  if (__atomic_sub_fetch(&batch->holders, 1, __ATOMIC_ACQ_REL) == 0) free(batch);
}

// A thread that starts late finds no games left. play_batch does not wait for it: it may be queued behind play_batch.
static void play_shares(void *data) {
  Batch *batch = data;
  for (;;) {
    const int64_t first = __atomic_fetch_add(&batch->next, SHARE, __ATOMIC_RELAXED);
    if (first >= batch->games) break;
    const int64_t last = batch->games < first + SHARE ? batch->games : first + SHARE;
    batch->play(batch->in, batch->out, first, last, batch->share_prices);
    __atomic_fetch_sub(&batch->left, last - first, __ATOMIC_RELEASE);
  }
  release(batch);
}

static void play_batch(XLA_FFI_CallFrame *frame, Batch *batch) {
  int64_t threads = 1;
  XLA_FFI_ThreadPool_NumThreads_Args asked = {XLA_FFI_ThreadPool_NumThreads_Args_STRUCT_SIZE, NULL, frame->ctx, &threads};
  XLA_FFI_Error *fault = frame->api->XLA_FFI_ThreadPool_NumThreads(&asked);
  const int64_t shares = (batch->games + SHARE - 1) / SHARE;
  for (int64_t number = 1; !fault && number < threads && number < shares; number++) {
    __atomic_add_fetch(&batch->holders, 1, __ATOMIC_RELAXED);
    XLA_FFI_ThreadPool_Schedule_Args task = {XLA_FFI_ThreadPool_Schedule_Args_STRUCT_SIZE, NULL, frame->ctx, play_shares, batch};
    if ((fault = frame->api->XLA_FFI_ThreadPool_Schedule(&task))) release(batch);
  }
  if (fault) {
    XLA_FFI_Error_Destroy_Args done = {XLA_FFI_Error_Destroy_Args_STRUCT_SIZE, NULL, fault};
    frame->api->XLA_FFI_Error_Destroy(&done);
  }
  __atomic_add_fetch(&batch->holders, 1, __ATOMIC_RELAXED);
  play_shares(batch);
  while (__atomic_load_n(&batch->left, __ATOMIC_ACQUIRE)) sched_yield();
  release(batch);
}

// Attributes in this order: "program", the program's name, and "results", for each output of the program the number of
// the call's result that it is, -1 if it is not needed.
EXPORTED XLA_FFI_Error *rlworldkit_native(XLA_FFI_CallFrame *frame) {
  if (frame->extension_start && frame->extension_start->type == XLA_FFI_Extension_Metadata) {
    XLA_FFI_Metadata *metadata = ((XLA_FFI_Metadata_Extension *)frame->extension_start)->metadata;
    metadata->api_version.major_version = XLA_FFI_API_MAJOR;
    metadata->api_version.minor_version = XLA_FFI_API_MINOR;
    metadata->traits = 0;
    return NULL;
  }
  const XLA_FFI_ByteSpan *program = frame->attrs.attrs[0];
  const XLA_FFI_Array *wanted = frame->attrs.attrs[1];
  const int64_t *results = wanted->data, inputs = frame->args.size, outputs = wanted->size;
  char name[64] = {0};
  memcpy(name, program->ptr, program->len < sizeof(name) ? program->len : sizeof(name) - 1);
  Play *play = (Play *)dlsym(RTLD_DEFAULT, name);
  if (!play) {
    XLA_FFI_Error_Create_Args fault = {XLA_FFI_Error_Create_Args_STRUCT_SIZE, NULL, "the program of the games is not loaded",
                                       XLA_FFI_Error_Code_INTERNAL};
    return frame->api->XLA_FFI_Error_Create(&fault);
  }
  const XLA_FFI_Buffer *const *args = (const XLA_FFI_Buffer *const *)frame->args.args, *last = args[inputs - 1];
  Batch *batch = calloc(1, sizeof(Batch) + (inputs + outputs) * sizeof(void *));
  batch->play = play;
  batch->in = (const void **)batch->arrays;
  batch->out = batch->arrays + inputs;
  batch->games = batch->left = last->dims[0];
  batch->holders = 1;
  batch->share_prices = args[0]->rank == 1;
  for (int64_t k = 0; k < inputs; k++) batch->in[k] = args[k]->data;
  for (int64_t k = 0; k < outputs; k++)
    if (results[k] >= 0) batch->out[k] = ((XLA_FFI_Buffer *)frame->rets.rets[results[k]])->data;
  play_batch(frame, batch);
  return NULL;
}
