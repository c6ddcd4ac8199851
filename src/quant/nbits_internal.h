/* One block of weights of MatMulNBits. */
#ifndef BY_NBITS_INTERNAL_H
#define BY_NBITS_INTERNAL_H

#include "quant/nbits.h"
#include "quant/weights_path.h"

#define BY_NBITS_BLOCK_MAX 256

struct by_nbits_block {
    float scale, zero;
};

/* The number as it is stored. */
float by_nbits_stored(const struct by_nbits_spec *spec, float value);
struct by_nbits_block by_nbits_rtn(const struct by_nbits_spec *spec, const float *values,
                                   size_t count);
struct by_nbits_block by_nbits_hqq(const struct by_nbits_spec *spec, const float *values,
                                   size_t count);
/* The nearest level; zero may be no integer. */
float by_nbits_level(const struct by_nbits_spec *spec, struct by_nbits_block block, float value);

#endif
