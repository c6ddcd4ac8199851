/*
 * Between the files of the sketch: what a look gathers before the sketch takes it.
 *
 * A tensor is cut into pieces of BY_SKETCH_PIECE values. Value i of a piece goes to lane
 * i % BY_SKETCH_LANES. A lane adds up runs of BY_SKETCH_RUN values of the piece (BY_SKETCH_RUN /
 * BY_SKETCH_LANES of its own) in single precision, squares rounded before they are added, and the
 * sums of runs in double; lanes are joined as a tree (the upper half to the lower half until one
 * is left). Where squares could leave the range of floats (by_sketch_in_singles()), everything is
 * double. Values that are not finite count as 0. Sums of pieces are joined exactly. So vector
 * paths give the bits of the plain one, and the order of pieces does not matter.
 */
#ifndef BY_SKETCH_PART_H
#define BY_SKETCH_PART_H

#include "stats/sketch.h"

#define BY_SKETCH_SPAN  16384u /* values that a worker takes at a time: whole pieces */
#define BY_SKETCH_PIECE 4096u
#define BY_SKETCH_RUN   512u
#define BY_SKETCH_LANES 16u
#define BY_SKETCH_INF   0x7f800000u /* bits of infinity; magnitudes above are NaN */

/* So many of what has that many values that a piece is worth a thread's while. */
static inline size_t by_sketch_grain(size_t values)
{
    return values && values < BY_SKETCH_PIECE ? BY_SKETCH_PIECE / values : 1;
}

/* What finite values are between: +inf and -inf, there are none. */
struct by_sketch_range {
    float min, max;
};

/* Of one piece; the rest is counted where bins are. */
struct by_sketch_sums {
    double sum, squares; /* of finite values */
};

/* Of many, in any order. */
struct by_sketch_part {
    uint64_t zeros, nans, infinities;
    struct by_sketch_range range;
    struct by_exact sum, squares;
};

/* Rows with something in them. */
typedef bool by_sketch_touched[2][BY_SKETCH_EXPONENTS];

/* Exponent of the greatest magnitude of finite values, -1: nothing but zeros. */
int by_sketch_range_top(const struct by_sketch_range *range);
/* Of a piece that reaches to that exponent. */
bool by_sketch_in_singles(int top);
/* Sums of a piece by definition. */
void by_sketch_sums_ref(const float *values, size_t count, int top, struct by_sketch_sums *sums);

void by_sketch_part_init(struct by_sketch_part *part);
void by_sketch_part_add(struct by_sketch_part *part, const struct by_sketch_range *range,
                        const struct by_sketch_sums *sums);
void by_sketch_part_merge(struct by_sketch_part *part, const struct by_sketch_part *other);

/* Refuses types that have no sketch. */
int by_sketch_check(int64_t elem, struct baryon_error *err);
/* Values [begin, begin + count) as floats: in place where that is possible, or in buffer. */
const float *by_sketch_floats(const void *values, int64_t elem, size_t begin, size_t count,
                              float *buffer);
/* The look by its definition, with room for one piece. */
int by_sketch_look_plain(struct by_sketch *sketch, float *buffer, const void *values, int64_t elem,
                         size_t count, uint64_t sample, struct baryon_error *err);

/* Makes rows where touched says, all rows as coarse as this top asks, and counts of 64 bits where
 * so many more values require them. A failure leaves what the sketch says. */
int by_sketch_prepare(struct by_sketch *sketch, int top, by_sketch_touched touched, uint64_t more,
                      struct baryon_error *err);
/* Bytes of a count. */
static inline size_t by_sketch_count_size(const struct by_sketch *sketch)
{
    return sketch->wide ? sizeof(uint64_t) : sizeof(uint32_t);
}
/* Adds to a bin of a row that is there. */
static inline void by_sketch_count(const struct by_sketch *sketch, void *row, size_t bin,
                                   uint64_t more)
{
    if (sketch->wide)
        ((uint64_t *)row)[bin] += more;
    else
        ((uint32_t *)row)[bin] += (uint32_t)more;
}
/* After by_sketch_prepare(): all but the rows, of a sample with count values. */
void by_sketch_take(struct by_sketch *sketch, const struct by_sketch_part *part, size_t count,
                    uint64_t sample);

#endif
