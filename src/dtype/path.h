/*
 * The ways to round runs of values, for the chooser and for the test that compares them with the
 * plain definition. To add one: a row here and in path.c, and a file of its own that compiles to
 * nothing where the processor has another architecture.
 *
 * All is done on the bits of floats, as whole numbers: the mantissa of a value is shifted until its
 * last bit is a step of the format, and what is shifted out decides about rounding. Only ties that
 * do not depend on chance.
 */
#ifndef BY_DTYPE_PATH_H
#define BY_DTYPE_PATH_H

#include "dtype/block.h"
#include "dtype/linear.h"

#define BY_LANES_MAX 16

/* Exponents are those of float's bits, with bias 127. */
struct by_float_grid {
    int32_t mantissa;              /* bits */
    int32_t base;                  /* exponent below which steps are not smaller; at least 1 */
    int32_t tie, tie_even, tie_up; /* added to half a step; the same where odd, where negative */
    int32_t limit;                 /* bits of the greatest magnitude */
    uint32_t past, past_sign;      /* bits of what is beyond, and those of the sign it keeps */
    uint32_t nan, nan_sign;        /* the sign is added by exclusive or */
    uint32_t zero_sign;            /* 0: there is no negative zero */
    int32_t sign, max_code, past_code, nan_code; /* the same as codes */
};

struct by_int_grid {
    float scale;
    double low, high; /* levels less the zero point */
    enum by_ties ties;
};

/* Groups of as many columns as there are lanes, `rows` vectors each, `stride` floats apart. */
struct by_block_grid {
    struct by_float_grid element; /* base and limit count for formats with a scale alone */
    size_t rows, stride, advance; /* from group to group */
    size_t width;                 /* neighbouring lanes that are a block */
    size_t sub_rows, sub_width;   /* that are a sub-block */
    int32_t most_shift;           /* of a sub-block's exponent */
    int32_t least, most;          /* exponents of blocks that are done here, and zero */
    int32_t below;                /* from a block's exponent to the base of its elements */
    int32_t span;                 /* from the base to the exponent of the limit */
    int32_t levels;               /* the limit in steps */
    int32_t more;                 /* added to the bits of the limit for negatives */
    int32_t most_quick;           /* exponents of blocks with a shorter way; below 0: none */
    bool even;                    /* ties go to even */
    bool raises, poisons, from_bf16, scaled;
    bool zero_loses;
    int32_t zero_from;            /* see block_kernel.h; 0: zeros keep their sign */
    float tensor_scale, greatest; /* formats with a scale */
    struct by_float_grid scale;
    int32_t top;                    /* of struct by_block_layout */
    bool twos;                      /* codes are in two's complement */
    size_t sub_bits;                /* of shifts, from sub-rows to the next */
    int32_t lane_bit[BY_LANES_MAX]; /* where the shift of each lane goes */
    int32_t lane_has[BY_LANES_MAX]; /* 0: its neighbour's counts */
};

/* What codes of elements mean. */
struct by_code_grid {
    struct by_float_grid element; /* not saturating */
    bool twos;
};

struct by_dtype_path {
    const char *name;
    size_t lanes;
    bool (*supported)(void); /* by the processor that runs */
    void (*floats)(float *out, const float *in, size_t count, const struct by_float_grid *grid);
    void (*codes8)(uint8_t *out, const float *in, size_t count, const struct by_float_grid *grid);
    void (*codes16)(uint16_t *out, const float *in, size_t count, const struct by_float_grid *grid);
    /* Codes of e8m0, whose ties all go up. */
    void (*powers)(uint8_t *out, const float *in, size_t count, bool saturate);
    void (*ints)(float *out, const float *in, size_t count, const struct by_int_grid *grid);
    /* Groups done, up to one that has to be done the plain way; out may be in. */
    size_t (*blocks)(float *out, const float *in, size_t groups, const struct by_block_grid *grid);
    /* The same as codes, as far apart as the values. shared: of each group the exponents that its
     * lanes' blocks are stored with, a lane each, and after them the shifts of sub-blocks. */
    size_t (*encode)(uint8_t *codes, int32_t *shared, const float *in, size_t groups,
                     const struct by_block_grid *grid);
    /* Codes times steps. */
    void (*decode)(float *out, const uint8_t *codes, const float *steps, size_t count,
                   const struct by_code_grid *grid);
    /* Whole vectors of them; returns how many. */
    size_t (*quantize)(void *codes, const float *in, size_t count, const struct by_linear *linear);
    size_t (*dequantize)(float *out, const void *codes, size_t count,
                         const struct by_linear *linear);
};

/* Best first; the last one runs everywhere. */
const struct by_dtype_path *const *by_dtype_paths(size_t *count);
const struct by_dtype_path *by_dtype_path_chosen(void);
/* For tests; NULL: the best one again. */
void by_dtype_path_choose(const struct by_dtype_path *path);

void by_float_grid(const struct by_float_layout *layout, enum by_ties ties, bool saturate,
                   struct by_float_grid *grid);

extern const struct by_dtype_path by_dtype_vector;
#if defined(__x86_64__)
extern const struct by_dtype_path by_dtype_avx512, by_dtype_avx2;
#endif

#endif
