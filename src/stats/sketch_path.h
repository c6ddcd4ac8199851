/*
 * The ways to look at a piece, for the chooser and for the test that compares them. To
 * add one: a row here and in sketch_path.c, and a file of its own that compiles to nothing where
 * the processor has another architecture.
 */
#ifndef BY_SKETCH_PATH_H
#define BY_SKETCH_PATH_H

#include "stats/sketch_part.h"

/* Bins of one sign at most: 239 rows of 16, 12 of 128, 2048 + 1024 + 512 + 256. */
#define BY_SKETCH_BINS 9216u

/*
 * Where bins are while a tensor is looked at: rows one behind the other from exponent 0 on,
 * negative values BY_SKETCH_BINS above positive ones; then bins for what does not count, several so
 * that many zeros do not wait for each other.
 */
#define BY_SKETCH_STRAYS 16u
#define BY_SKETCH_TABLE  (2 * BY_SKETCH_BINS + BY_SKETCH_STRAYS)

struct by_sketch_plan {
    int top;
    uint16_t base[BY_SKETCH_EXPONENTS];
    uint8_t shift[BY_SKETCH_EXPONENTS]; /* of the fraction's 23 bits */
};

struct by_sketch_path {
    const char *name;
    bool (*supported)(void); /* by the processor that runs */
    void (*measure)(const float *values, size_t count, struct by_sketch_piece *piece);
    /*
     * The bin of each value, of those that are zero or not finite one of the strays'. No
     * finite value is above the plan's top.
     */
    void (*place)(const struct by_sketch_plan *plan, const float *values, size_t count,
                  uint16_t *bins);
    /* Least and greatest finite value of both what is there and values. */
    void (*range)(const float *values, size_t count, float *min, float *max);
    /* The same for each place by itself. */
    void (*ranges)(const float *values, size_t count, float *min, float *max);
};

/* Best first; the last one is plain, which every processor supports. */
const struct by_sketch_path *const *by_sketch_paths(size_t *count);
const struct by_sketch_path *by_sketch_path_chosen(void);

/* Adds the last values of a piece, from lane 0 on, and joins the lanes. */
void by_sketch_measure_rest(const float *values, size_t count, double sum[BY_SKETCH_LANES],
                            double squares[BY_SKETCH_LANES], struct by_sketch_piece *piece);

/*
 * Bins without tables. With 5 and more rows below the top, the bin of a magnitude m (as bits) is
 *     m > near:  (int)(m * scale) + even_offset   rows of equal width: d < 4
 *     else       max((m >> 16) + log_offset, m >> 19)   128 and 16 bins a row
 * False where the numbers would leave the range of floats: the plan's tables say it then.
 */
struct by_sketch_steps {
    int32_t near, log_offset, even_offset;
    float scale;
};
bool by_sketch_steps(const struct by_sketch_plan *plan, struct by_sketch_steps *steps);

void by_sketch_place_plain(const struct by_sketch_plan *plan, const float *values, size_t count,
                           uint16_t *bins);
void by_sketch_range_plain(const float *values, size_t count, float *min, float *max);
void by_sketch_ranges_plain(const float *values, size_t count, float *min, float *max);

#if defined(__x86_64__)
extern const struct by_sketch_path by_sketch_avx512, by_sketch_avx2;
#endif
extern const struct by_sketch_path by_sketch_vector;

#endif
