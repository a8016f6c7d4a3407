// The C face of the Verilator runtime that the Rust side binds. Plain C: bindgen needs no C++ headers.
#pragma once
#include <stdint.h>

typedef struct rt_context rt_context;
typedef struct rt_wave rt_wave;

// The first stop of the simulation; one per thread, written by the runtime's hooks, cleared by the reader.
typedef struct rt_status {
    uint32_t kind;  // 0 nothing, 1 $finish, 2 $stop or a failed assertion, 3 an error inside the model
    uint32_t line;
    char file[256];
    char message[512];
} rt_status;

rt_status* rt_thread_status(void);

// reset: 0 zeros, 1 ones, 2 random from the seed (1 .. 2^31-1).
rt_context* rt_context_new(int32_t seed, int32_t reset);
void rt_context_free(rt_context* context);
void rt_context_set_time(rt_context* context, uint64_t picoseconds);

// A wave file of either format; models and lanes are added before it is opened.
rt_wave* rt_wave_new(int fst);
void* rt_wave_tracer(rt_wave* wave);
// A lane shows a text at each time: a vector of so many bytes that viewers show as ASCII, the last sign in byte 0. Its
// path is its scopes and its name, with dots. Lanes are numbered from 0.
#define rt_lane_bytes 32
void rt_wave_lane(rt_wave* wave, const char* path);
void rt_wave_text(rt_wave* wave, uint32_t lane, const uint8_t* text, uint32_t size);
int rt_wave_open(rt_wave* wave, const char* path);
void rt_wave_dump(rt_wave* wave, uint64_t picoseconds);
void rt_wave_flush(rt_wave* wave);
// Frees it, too. Returns the first error of a VCD's writes, as errno, or 0; for an FST always 0.
int rt_wave_close(rt_wave* wave);

// Checkpoints in memory. The saver's bytes are valid until its next use in the same thread.
void* rt_saver_begin(void);
const uint8_t* rt_saver_end(uint64_t* size);
void* rt_loader_begin(const uint8_t* bytes, uint64_t size);
// The state of the thread's random numbers ($urandom), 16 bytes.
void rt_random_save(uint8_t* state);
void rt_random_restore(const uint8_t* state);
