/*
 * The rows of all operators, in order of domain and name; opinfo.c gives the notation
 * its meaning, infer_internal.h takes the names of the rules from here.
 *
 *   OP(name, opsets, inputs, outputs, roles, types, rule, attributes)
 *
 *   opsets      SINCE(first), BETWEEN(first, last)
 *   inputs      IN(least, most), outputs OUT(least, most); ANY: no upper bound;
 *               IN_BUT(least, most, slots): these of the first `least` may be left out
 *   roles       NO_DATA, DATA(slots), DATA_AXIS(slots, channel axis), or
 *               LAYER(data slots, weight slot, bias slot, channel axis of the weight,
 *               channel axis of the data)
 *   types       SAME(input), FIXED(type), ATTR(attribute, type), ATTR_OR_SAME(attribute,
 *               input), EACH("one word an output"), SPECIAL, NO_TYPE
 *   rule        by_infer_NAME finds the shapes; none: there is no rule
 *   attributes  A(type, name) may be given, NEED(type, name) must be; _FROM and _UNTIL
 *               name the first and the last opset that has it
 */

#define DOMAIN ""
#include "ir/opinfo_onnx.h"
#undef DOMAIN

#define DOMAIN "ai.onnx.ml"
#include "ir/opinfo_ml.h"
#undef DOMAIN

#define DOMAIN "ai.onnx.preview"
#include "ir/opinfo_preview.h"
#undef DOMAIN

#define DOMAIN "ai.onnx.preview.training"
#include "ir/opinfo_training.h"
#undef DOMAIN

#define DOMAIN "com.amd.quark"
#include "ir/opinfo_quark.h"
#undef DOMAIN

#define DOMAIN "com.microsoft"
#include "ir/opinfo_microsoft.h"
#undef DOMAIN

#define DOMAIN "com.vai.quantize"
#include "ir/opinfo_vai.h"
#undef DOMAIN
