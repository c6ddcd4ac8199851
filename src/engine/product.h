/*
 * An operator of ours for sessions that try changes of weights: it adds the product of a layer's
 * input and a difference of weights to the layer's output. The weight itself stays a constant,
 * which the runtime packs once, and what does not change costs nothing.
 */
#ifndef BY_PRODUCT_H
#define BY_PRODUCT_H

#include "engine/session_internal.h"

#define BY_PRODUCT_DOMAIN "baryon.products"
/* y, x [..., k], difference [k, n] or [0, n]: y, or y + x difference. */
#define BY_PRODUCT_OP "AddProduct"

bool by_products_wanted(const struct baryon_model *model);
/* Adds the operator to the options of a session that is being opened. */
int by_product_ops_add(struct by_session *session, OrtSessionOptions *built,
                       struct baryon_error *err);

#endif
