/* One block of weights of MatMulNBits. */
#ifndef BY_NBITS_INTERNAL_H
#define BY_NBITS_INTERNAL_H

#include "dtype/weights_path.h"
#include "quant/nbits.h"
#include "quant/weights_layout.h"

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
/* Levels as bits, the first one lowest. */
void by_nbits_pack(unsigned bits, const uint8_t *levels, size_t count, uint8_t *out);
/* Room for a matrix; by_nbits_close() it, whatever comes out. */
int by_nbits_room(struct by_nbits *made, const struct by_weight_view *view,
                  const struct by_nbits_spec *spec, struct by_weight_layout *layout,
                  struct baryon_error *err);
/* The nearest level; zero may be no integer. */
float by_nbits_level(const struct by_nbits_spec *spec, struct by_nbits_block block, float value);

#endif
