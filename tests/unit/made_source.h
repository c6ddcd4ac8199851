/* Random pictures [1, 3, 8, 8] as samples, for tests that quantize. On top of engine_build.h. */
#ifndef MADE_SOURCE_H
#define MADE_SOURCE_H

#include "engine_build.h"

#include "base/rng.h"
#include "input/input.h"

#define PLACES  (3 * 8 * 8)
#define SAMPLES 40

struct source {
    size_t next;
    float values[PLACES];
    struct by_array array;
};

static struct source source;
static struct by_input_callback samples;

static int next_sample(void *context, const struct by_array **arrays, size_t *count,
                       const char **name, struct baryon_error *error)
{
    struct source *from = context;
    (void)error;
    if (from->next == SAMPLES)
        return 0;
    for (size_t i = 0; i < PLACES; i++)
        from->values[i] = (float)by_rng_normal(3, from->next, i);
    from->array = FLOATS("x", 4, ((const int64_t[]){1, 3, 8, 8}), from->values);
    from->next++;
    *arrays = &from->array;
    *count = 1;
    *name = "made";
    return 1;
}

static int begin_again(void *context, struct baryon_error *error)
{
    (void)error;
    ((struct source *)context)->next = 0;
    return 0;
}

static inline void begin_source(void)
{
    source = (struct source){.next = 0};
    samples = (struct by_input_callback){
        .next = next_sample, .rewind = begin_again, .context = &source, .count = SAMPLES};
}

#endif
