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
 * Where bins are while a tensor is looked at: rows one after the other from exponent 0 on; after
 * them bins for zeros, several so that many zeros do not wait for each other; negative values
 * BY_SKETCH_SIDE above positive ones.
 */
#define BY_SKETCH_STRAYS 16u
#define BY_SKETCH_SIDE   (BY_SKETCH_BINS + BY_SKETCH_STRAYS)
#define BY_SKETCH_TABLE  (2 * BY_SKETCH_SIDE)
/* Neighbouring values count in different tables, so that equal ones do not wait for each other. */
#define BY_SKETCH_TABLES 2u

/*
 * Bins without tables. With c the least magnitude whose rows are of equal width (d < 4), the bin of
 * a magnitude m, both as bits and with c16 = c >> 16, is
 *     max(l + log_offset, l >> 3)   with l = min(m >> 16, c16): 128 bins a row, then 16
 *   + (int)(max(m, c) * scale) - even_offset
 * Only for tops that keep the numbers in the range of floats.
 */
struct by_sketch_steps {
    bool possible;
    uint32_t least_even; /* c */
    int16_t log_offset, even_offset;
    float scale;
};

struct by_sketch_plan {
    int top;
    uint16_t base[BY_SKETCH_EXPONENTS];
    uint8_t shift[BY_SKETCH_EXPONENTS]; /* of the fraction's 23 bits */
    struct by_sketch_steps steps;
};

/* Counts of one worker. */
struct by_sketch_tables {
    uint32_t *at[BY_SKETCH_TABLES]; /* [BY_SKETCH_TABLE] each */
    unsigned lowest; /* bin of a value but zero, of either sign; BY_SKETCH_BINS or more: none */
};

/* Sums of a piece on their way: what vector paths leave for by_sketch_sums_end(). */
struct by_sketch_lanes {
    double sum[BY_SKETCH_LANES], squares[BY_SKETCH_LANES];
    float run_sum[BY_SKETCH_LANES], run_squares[BY_SKETCH_LANES]; /* of the last run, if it is
                                                                     not whole; else zeros */
};

struct by_sketch_path {
    const char *name;
    bool (*supported)(void); /* by the processor that runs */
    /* What the values are between. False: some are not finite, and the range is of no use. */
    bool (*survey)(const float *values, size_t count, struct by_sketch_range *range);
    /*
     * Counts and sums a piece's values, a multiple of BY_SKETCH_LANES. They are finite, none is
     * above the plan's top, its steps are possible, and the sums are those in singles.
     */
    void (*tally)(const struct by_sketch_plan *plan, const float *values, size_t count,
                  struct by_sketch_tables *tables, struct by_sketch_lanes *lanes);
    /* Adds counts of two tables, a multiple of 16, to a row, and clears them. */
    void (*flush)(uint32_t *even, uint32_t *odd, size_t count, uint32_t *row);
    /* Least and greatest finite value of both what is there and values. */
    void (*range)(const float *values, size_t count, float *min, float *max);
    /* The same for each place by itself. */
    void (*ranges)(const float *values, size_t count, float *min, float *max);
};

/* Best first; the last one is plain, which every processor supports. */
const struct by_sketch_path *const *by_sketch_paths(size_t *count);
const struct by_sketch_path *by_sketch_path_chosen(void);

void by_sketch_steps(struct by_sketch_plan *plan);
/* A whole piece, anyhow: survey() and tally() with what is left over. */
bool by_sketch_survey(const struct by_sketch_path *path, const float *values, size_t count,
                      struct by_sketch_range *range);
void by_sketch_tally(const struct by_sketch_path *path, const struct by_sketch_plan *plan, int top,
                     const float *values, size_t count, struct by_sketch_tables *tables,
                     struct by_sketch_sums *sums);
/* Sums of so many equal values. */
void by_sketch_sums_equal(float value, size_t count, int top, struct by_sketch_sums *sums);
/* Value i of a piece, in single precision. */
void by_sketch_lanes_add(struct by_sketch_lanes *lanes, size_t i, float value);
/* The run's sums go to those in double. */
void by_sketch_run_end(struct by_sketch_lanes *lanes);
/* Adds the last values of a piece, from lane 0 on, and joins the lanes. */
void by_sketch_sums_end(struct by_sketch_lanes *lanes, const float *rest, size_t count,
                        struct by_sketch_sums *sums);

bool by_sketch_survey_plain(const float *values, size_t count, struct by_sketch_range *range);
void by_sketch_count_plain(const struct by_sketch_plan *plan, const float *values, size_t count,
                           struct by_sketch_tables *tables);
void by_sketch_range_plain(const float *values, size_t count, float *min, float *max);
void by_sketch_ranges_plain(const float *values, size_t count, float *min, float *max);

#if defined(__x86_64__)
extern const struct by_sketch_path by_sketch_avx512, by_sketch_avx2;
#endif
extern const struct by_sketch_path by_sketch_vector;

#endif
