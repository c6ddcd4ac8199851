/*
 * Nodes around values that become integers, floats of fewer bits, or blocks: which operator, whose,
 * with which attributes. Integers and floats have two, blocks one that does both.
 */
#ifndef BY_LOWER_FORMAT_H
#define BY_LOWER_FORMAT_H

#include "quant/lower_internal.h"

#define BY_QUARK "com.amd.quark"

/* What a node does to values. */
enum by_half { BY_NARROWS, BY_WIDENS };

/* The next node of a row; blocks have BY_WIDENS alone. number 0: none in the names. */
struct baryon_value *by_lower_half(struct by_lowering *lowering, size_t row, enum by_half half,
                                   struct baryon_value *input, const char *stem, size_t number,
                                   struct baryon_error *err);
/* Casts with a scale; by_lower_divide() is what stands before the first of them. */
bool by_lower_is_divided(const struct by_recipe *recipe, const struct by_quant_row *row);
struct baryon_value *by_lower_divide(struct by_lowering *lowering, size_t index, const char *stem,
                                     struct baryon_error *err);
/* What the row's float type can hold of it. */
struct baryon_value *by_lower_clip(struct by_lowering *lowering, size_t row, const char *stem,
                                   struct baryon_error *err);
/* True when lowering writes operators of com.amd.quark for the row. */
bool by_lower_is_quark(const struct by_recipe *recipe, const struct by_quant_row *row);
/* True when a constant of the row is rounded and stored as float32, with no node after it. */
bool by_lower_is_rounded(const struct by_recipe *recipe, const struct by_quant_row *row);
/* Codes of a float type, or what is left of the values where they are rounded. */
int by_lower_floats(const struct by_recipe *recipe, const struct by_quant_row *row,
                    const float *values, size_t count, struct by_pool *pool, uint8_t *out,
                    struct baryon_error *err);
/* A constant that stays float32 before its nodes: as it was solved, or without what its float
 * type cannot hold. */
int by_lower_fit(struct by_lowering *lowering, size_t row, struct baryon_error *err);

#endif
