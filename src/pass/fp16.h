/* From float16 to float32, what whole models and regions have in common. */
#ifndef BY_PASS_FP16_H
#define BY_PASS_FP16_H

#include "pass/pass.h"

/* The tensor as float32 under the same name; the tensor itself when it is not float16. */
struct baryon_tensor *by_fp16_tensor(struct baryon_model *model, struct baryon_tensor *tensor,
                                     struct baryon_error *err);
/* Tensors in attributes, and attributes that name the type of an output. */
int by_fp16_attributes(struct baryon_model *model, struct baryon_node *node,
                       struct baryon_error *err);
/* An initializer becomes float32. */
int by_fp16_initializer(struct baryon_value *value, struct baryon_error *err);
/* A declared type, containers included. */
void by_fp16_type(struct by_type *type);
/* The regions of context->regions alone. */
int by_fp16_regions(struct by_pass_context *context, struct baryon_error *err);

#endif
