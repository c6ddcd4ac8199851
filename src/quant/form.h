/* Operators that only quantized models have, and the form of quantization they tell of. */
#ifndef BY_FORM_H
#define BY_FORM_H

#include "ir/model.h"

enum by_quant_form {
    BY_QUANT_QDQ,         /* QuantizeLinear, DequantizeLinear */
    BY_QUANT_OPERATOR,    /* QLinearConv, MatMulInteger, ... */
    BY_QUANT_CUSTOM,      /* com.amd.quark and its like */
    BY_QUANT_WEIGHT_ONLY, /* MatMulNBits, ... */
    BY_QUANT_FORMS,
};

/* BY_QUANT_FORMS when it is an ordinary operator. */
enum by_quant_form by_quant_form_of(const struct baryon_node *node);
const char *by_quant_form_name(enum by_quant_form form);
/* QuantizeLinear, DequantizeLinear: ONNX's, and those of other domains, "ExtendedQuantizeLinear".
 */
bool by_form_quantizes(const struct baryon_node *node);
bool by_form_dequantizes(const struct baryon_node *node);

#endif
