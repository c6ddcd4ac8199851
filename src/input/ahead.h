/*
 * Samples read ahead: while the caller works on one, the next is read on a thread of its own.
 * Two samples are in memory, besides those that were taken. What comes out is what by_input_get()
 * gives, in the same order: samples, errors, notices, the number of skipped ones.
 */
#ifndef BY_AHEAD_H
#define BY_AHEAD_H

#include "input/input.h"

struct by_ahead;

#define BY_AHEAD_NONE SIZE_MAX

/* Until it is closed, the input is only used through it. */
int by_ahead_open(struct by_ahead **ahead, struct by_input *input, struct baryon_error *err);
/* Waits for the sample that is being read, if there is one. */
void by_ahead_close(struct by_ahead *ahead);
/*
 * Sample `index`, valid until the next call; reading `next` begins (BY_AHEAD_NONE, or after the
 * end: nothing does). Any index may be asked for; `next` is only a promise that makes it quick.
 */
int by_ahead_get(struct by_ahead *ahead, size_t index, size_t next, const struct by_array **arrays,
                 const char **name, struct baryon_error *err);
/* The last sample that was got becomes the caller's, who releases it; where it was skipped, too. */
void by_ahead_take(struct by_ahead *ahead, struct by_sample *sample);
/* Why the last sample that was got was skipped, "" when it was not. */
const char *by_ahead_reason(const struct by_ahead *ahead);
/* by_input_count() and by_input_skipped() as they were after the last sample that was got. */
size_t by_ahead_count(const struct by_ahead *ahead);
size_t by_ahead_skipped(const struct by_ahead *ahead);

#endif
