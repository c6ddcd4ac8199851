/*
 * Lowering: writes the quantized graph that a plan describes into the plan's model. It decides
 * nothing, and depends on nothing but the plan. Names as in facts 6.5.
 */
#ifndef BY_LOWER_H
#define BY_LOWER_H

#include "base/par.h"
#include "quant/plan.h"

/* The domain that QuantizeLinear and DequantizeLinear come from. Refuses what the model's opset has
 * not, and names the opset that has it. */
int by_quant_domain(const struct by_quant_plan *plan, const char **domain,
                    struct baryon_error *err);
/* The opset that a model should have at least for what the recipe and its rules ask: to convert
 * older ones to before placement. */
int64_t by_quant_least_opset(const struct by_recipe *recipe);
/* True when no domain has what the recipe asks for in a model of that opset. */
bool by_quant_must_raise(const struct by_recipe *recipe, int64_t opset);
/* True when a model of that opset may have such a type with this recipe. constant: a weight. */
bool by_quant_has_type(const struct by_recipe *recipe, const struct by_tensor_spec *spec,
                       bool constant, int64_t opset);
/* QuantizeLinear and DequantizeLinear around layers. The plan's nodes and values may be gone
 * afterwards: the plan is good for reports by name only. */
int by_lower_qdq(struct by_quant_plan *plan, struct by_pool *pool, struct baryon_error *err);
/* QLinearConv and the like where there is one, pairs elsewhere. */
int by_lower_qoperator(struct by_quant_plan *plan, struct by_pool *pool, struct baryon_error *err);
#define BY_DYNAMIC_OPSET 11 /* DynamicQuantizeLinear */
/* DynamicQuantizeLinear, MatMulInteger, ConvInteger, DynamicQuantizeLSTM, ... */
int by_lower_dynamic(struct by_quant_plan *plan, struct by_pool *pool, struct baryon_error *err);
/* MatMulNBits of com.microsoft. */
int by_lower_nbits(struct by_quant_plan *plan, struct by_pool *pool, struct baryon_error *err);
/* The one that the recipe asks for. */
int by_lower(struct by_quant_plan *plan, struct by_pool *pool, struct baryon_error *err);

#endif
