/*
 * Number formats: what a float becomes in few bits, and back.
 *
 * A format is a row: its name, the bits of a code, the limits and rules of its elements and, for
 * block formats, what the elements of a block share (block.h has their functions). To add one:
 * a row in the file of its family, a line in dtypes.c.
 *
 * Codes lie one in an element of 8, 16 or 32 bits (by_dtype_code_bytes()), whatever their own
 * bits are: integers in two's complement, floats as sign, exponent, fraction from the top bit
 * down. In files and in memory that counts they are packed: one after the other, the first in the
 * low bits of the first byte, as ONNX packs int4 and float4.
 *
 * A value v is stored as code(v / scale + zero) and read as (value(code) - zero) * scale.
 *
 * Beyond the limits: integers and formats without infinity take the limit that is nearer when
 * `saturate` is set, and so do those that have one. When it is not set, floats take infinity where
 * the format has it, else NaN, else the limit. Integers always saturate; NaN is their least level.
 * NaN is the quiet NaN of the format with its sign; formats without NaN store zero, with
 * the other sign, as ml_dtypes does.
 */
#ifndef BY_DTYPE_H
#define BY_DTYPE_H

#include "base/par.h"

/* What becomes of a value between two levels; all but the last take the nearer one. */
enum by_ties {
    BY_TIES_EVEN,       /* of two equally near ones the even one */
    BY_TIES_AWAY,       /* the greater magnitude */
    BY_TIES_UP,         /* the greater value */
    BY_TIES_STOCHASTIC, /* each with the chance that its nearness gives, by the seed and the index
                         */
    BY_TIES_COUNT,
};

/* What a float has beside numbers. */
enum by_specials {
    BY_SPECIAL_NONE,     /* all codes are numbers */
    BY_SPECIAL_NAN,      /* the greatest magnitude is NaN */
    BY_SPECIAL_NAN_ZERO, /* the code of negative zero is NaN */
    BY_SPECIAL_IEEE,     /* the greatest exponent has infinity and NaN */
};

/* A sign, exponent and fraction; subnormal where the exponent is 0. */
struct by_float_layout {
    int exponent, mantissa; /* bits */
    int bias;
    enum by_specials specials;
};

enum by_zero_sign {
    BY_ZERO_KEEPS, /* -0 stays, negatives may become it */
    BY_ZERO_LOSES, /* all zeros are positive */
    /* With ties to even negatives become +0, and -0 stays; so do negatives whose quotient by the
     * step of the levels, or by the scale, is too small for a float. */
    BY_ZERO_BY_STEP,
    BY_ZERO_BY_SCALE,
};

/* What the elements of a block share; size 0: nothing, not a block format. */
struct by_block_layout {
    size_t size;
    size_t sub;      /* elements that share a shift of the exponent; 0: none */
    unsigned shifts; /* bits of that shift */
    int top;         /* exponent of the greatest power of two that an element has */
    bool scaled;     /* a scale in E4M3 for its greatest magnitude, not a shared exponent */
    bool twos;       /* elements have one more negative level */
    bool raises;     /* the exponent is one more when a positive element would need it */
    bool poisons;    /* an infinity or NaN makes all of the block NaN */
    bool flushes;    /* float's own subnormal numbers are zero */
    enum by_zero_sign zero;
};

struct by_dtype {
    const char *name, *help;
    unsigned bits;                      /* of a code */
    int64_t elem;                       /* enum by_elem; 0: ONNX has no such type */
    const struct by_dtype_family *does; /* NULL for block formats */
    int64_t low, high;                  /* integers */
    struct by_float_layout element;     /* floats, and elements of blocks */
    struct by_block_layout block;
};

struct by_cast {
    float scale; /* finite, above 0 */
    int64_t zero;
    enum by_ties ties;
    bool saturate;
    uint64_t seed; /* of BY_TIES_STOCHASTIC */
};

/* Scale 1, zero 0, ties to even, saturating. */
extern const struct by_cast by_cast_default;

const struct by_dtype *const *by_dtypes(size_t *count);
const struct by_dtype *by_dtype_find(const char *name);
/* NULL for a number that is no row. */
const char *by_ties_name(int ties);

/* With what a block shares. */
double by_dtype_bits(const struct by_dtype *dtype);
/* Greatest finite magnitude of an element, and least above zero. */
double by_dtype_max(const struct by_dtype *dtype);
double by_dtype_least(const struct by_dtype *dtype);
/* First opset of ONNX that has the type; 0 when none has. */
unsigned by_dtype_opset(const struct by_dtype *dtype);

size_t by_dtype_code_bytes(const struct by_dtype *dtype);
/* Bytes of `count` codes, packed. */
int by_dtype_packed_bytes(const struct by_dtype *dtype, size_t count, size_t *bytes,
                          struct baryon_error *err);
void by_dtype_pack(const struct by_dtype *dtype, const void *codes, size_t count, uint8_t *packed);
void by_dtype_unpack(const struct by_dtype *dtype, const uint8_t *packed, size_t count,
                     void *codes);

/*
 * For formats without blocks. pool NULL: the caller alone; the bytes do not depend on it.
 * by_dtype_round() is decode of encode: what is left of the values; out may be in.
 */
int by_dtype_encode(const struct by_dtype *dtype, const float *in, size_t count,
                    const struct by_cast *cast, struct by_pool *pool, void *codes,
                    struct baryon_error *err);
int by_dtype_decode(const struct by_dtype *dtype, const void *codes, size_t count,
                    const struct by_cast *cast, struct by_pool *pool, float *out,
                    struct baryon_error *err);
int by_dtype_round(const struct by_dtype *dtype, const float *in, size_t count,
                   const struct by_cast *cast, struct by_pool *pool, float *out,
                   struct baryon_error *err);

/*
 * The grid around finite values: held[i] is the value within the format's limits, and the whole
 * multiples of steps[i] next to it, or it itself where it is one, are numbers of the format. Where
 * the step would be too small for a normal float, held is 0. Formats of floats alone.
 */
int by_dtype_steps(const struct by_dtype *dtype, const float *in, size_t count, float *steps,
                   float *held, struct baryon_error *err);

#endif
