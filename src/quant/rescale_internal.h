/* What the files of rescaling share. */
#ifndef BY_RESCALE_INTERNAL_H
#define BY_RESCALE_INTERNAL_H

#include "quant/rescale.h"

/* Inputs of QuantizeLinear and DequantizeLinear. */
enum by_rescale_slot { BY_SLOT_VALUES, BY_SLOT_SCALE, BY_SLOT_ZERO };

/* The tensor that stands in that input of a row's nodes from now on, under a fresh name; old: what
 * stands there. saturated: of integers, how many their type cannot hold any more. */
struct baryon_tensor *by_rescale_tensor(const struct by_rescaling *rescaling, size_t row,
                                        enum by_rescale_slot slot, const struct baryon_tensor *old,
                                        size_t *saturated, struct baryon_error *err);

#endif
