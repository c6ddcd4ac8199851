/*
 * What is known of a tensor after many samples, in memory that does not grow with them.
 *
 * Exact: counts, least and greatest value. The histogram is keyed by the bits of
 * the float itself: a row a sign and exponent, cut into 2^b equal bins. With d the distance
 * of a row's exponent from that of the greatest magnitude seen,
 *     b(d) = 11 - d for d < 4, 7 for d < 16, 4 beyond,
 * so that bins near the top are as narrow as those of a histogram of 4096 bins, and no
 * value is misplaced by more than 2^-7 (2^-4 from 2^-16 of the top on) of itself. When a
 * greater magnitude comes, rows are made coarser by adding neighbours; as all bins nest, the result
 * is that of having known the top from the beginning. So neither the order of values nor
 * that of merging matters, and two sketches add.
 *
 * Values are float32: float16 and bfloat16 are widened, double is rounded (to infinity
 * beyond the range of floats). NaN and infinities are counted and kept out of everything else.
 * Zeros (of both signs) are only counted: they are in no row, but they count for min and max, which
 * are never -0. Sums of pieces of 4,096 values are right to
 * seven digits (sketch_part.h), those of pieces are added exactly.
 */
#ifndef BY_SKETCH_H
#define BY_SKETCH_H

#include "base/blocks.h"
#include "base/exact.h"
#include "base/team.h"
#include "moments/fold.h"
#include "stats/votes.h"

#include <pthread.h>

#define BY_SKETCH_EXPONENTS 255 /* biased; 0 are the subnormals */
#define BY_SKETCH_NO_SAMPLE UINT64_MAX

struct by_sketch {
    uint64_t count; /* values, all kinds */
    uint64_t zeros, nans, infinities;
    uint64_t samples;          /* looks that had at least one value */
    uint64_t finite_samples;   /* of them, those with at least one finite value */
    uint64_t nonfinite_sample; /* the lowest index with NaN or infinity, or BY_SKETCH_NO_SAMPLE */
    float min, max;            /* of finite values; both 0 when there are none */
    struct by_exact sum, squares;           /* of finite values */
    struct by_exact sample_min, sample_max; /* sums over samples of their min and max */
    int top; /* greatest biased exponent of a non-zero value, -1: none */
    /* [sign][exponent], NULL: nothing there; 1 << by_sketch_bits(top - exponent) counts of 32 bits,
     * of 64 where `wide`: more values are there than 32 bits can count. by_sketch_row() reads. */
    void *rows[2][BY_SKETCH_EXPONENTS];
    bool wide;
    struct by_votes votes; /* of samples that were asked: calib/votes.h */
};

/* Working memory for looks, for any number of sketches one after the other. */
struct by_sketch_scratch;

void by_sketch_init(struct by_sketch *sketch);
void by_sketch_release(struct by_sketch *sketch);
/* Bits of a row at that distance from the top. */
unsigned by_sketch_bits(int distance);
#define BY_SKETCH_ROW 2048 /* of a row, at most */
/* The counts of a row: where they lie, or in the buffer; NULL: nothing there. */
const uint64_t *by_sketch_row(const struct by_sketch *sketch, int sign, int exponent,
                              uint64_t buffer[BY_SKETCH_ROW]);
size_t by_sketch_bytes(const struct by_sketch *sketch); /* memory it takes */

int by_sketch_scratch_open(struct by_sketch_scratch **scratch, unsigned workers,
                           struct baryon_error *err);
void by_sketch_scratch_close(struct by_sketch_scratch *scratch);

/*
 * One sample's tensor: values of type elem (float, float16, bfloat16, double). The same
 * bytes result for any team of at most the scratch's workers. by_sketch_look_ref() is the
 * plain definition. A look that fails leaves the sketch as it was (but for tensors of 2^31 values
 * and more), and so does a merge.
 */
int by_sketch_look(struct by_sketch *sketch, struct by_sketch_scratch *scratch, const void *values,
                   int64_t elem, size_t count, uint64_t sample, const struct by_team *team,
                   struct baryon_error *err);
/* The same of values in another layout, and for several threads, each with a scratch of its own,
 * that look for the same sketch. */
struct by_sketch_values {
    const void *at;
    int64_t elem;
    size_t count;                   /* without padding */
    const struct by_blocks *blocks; /* of float values; NULL: one after the other */
    pthread_mutex_t *lock;          /* held while the sketch changes; NULL: nobody else does */
};
int by_sketch_look_at(struct by_sketch *sketch, struct by_sketch_scratch *scratch,
                      const struct by_sketch_values *values, uint64_t sample,
                      const struct by_team *team, struct baryon_error *err);
int by_sketch_look_ref(struct by_sketch *sketch, const void *values, int64_t elem, size_t count,
                       uint64_t sample, struct baryon_error *err);
int by_sketch_merge(struct by_sketch *sketch, const struct by_sketch *other,
                    struct baryon_error *err);
/* Name of the vector path in use: "avx512", "avx2", "neon", "vector" (of the compiler's own). */
const char *by_sketch_path(void);

/* --- Reading --- */

uint64_t by_sketch_finite(const struct by_sketch *sketch); /* zeros too */
double by_sketch_mean(const struct by_sketch *sketch);     /* 0 when there is nothing */
double by_sketch_rms(const struct by_sketch *sketch);

/*
 * Bins with something in them from the least value to the greatest, zeros as a bin of
 * their own with low == high == 0. [low, high) in the direction of the value's magnitude; of
 * negative ones low is the lower one too.
 */
struct by_sketch_bin {
    double low, high;
    uint64_t count;
};

/* by_free() *bins. */
int by_sketch_bins(const struct by_sketch *sketch, struct by_sketch_bin **bins, size_t *count,
                   struct baryon_error *err);
/* The same of magnitudes. */
int by_sketch_magnitudes(const struct by_sketch *sketch, struct by_sketch_bin **bins, size_t *count,
                         struct baryon_error *err);

/* Share of the finite values below `low` or above `high`: values of a bin are spread evenly. */
int by_sketch_outside(const struct by_sketch *sketch, double low, double high, double *share,
                      struct baryon_error *err);

/* --- Least and greatest value a channel, exact --- */

struct by_channels {
    size_t count;     /* 0: not asked for, or the size varies */
    float *min, *max; /* finite values; both 0 where there are none */
    bool *seen;
    /* Of values, where channels lie side by side; count 0: elsewhere. Not in files. */
    struct by_fold squares;
};

int by_channels_init(struct by_channels *channels, size_t count, struct baryon_error *err);
void by_channels_release(struct by_channels *channels);
/* One sample's values, [outer][channels][inner]; or in blocks. */
struct by_channel_values {
    const void *at;
    int64_t elem;
    size_t outer, channels, inner;
    const struct by_blocks *blocks; /* of float values; NULL: one after the other */
};

/* As many channels as there are. */
int by_channels_look(struct by_channels *channels, const struct by_channel_values *values,
                     const struct by_team *team, struct baryon_error *err);
/* Of another size: channels becomes empty (count 0). */
void by_channels_merge(struct by_channels *channels, const struct by_channels *other);

#endif
