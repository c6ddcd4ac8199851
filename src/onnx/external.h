/*
 * External data of tensors: the keys, the files, the ranges. Everything that a
 * model says about other files comes through here and nowhere else.
 */
#ifndef BY_EXTERNAL_H
#define BY_EXTERNAL_H

#include "ir/tensor.h"
#include "onnx/load.h"

struct by_external_ref {
    const char *location;
    uint64_t offset;
    uint64_t length; /* UINT64_MAX: not given, to the end of the file */
    const char *checksum;
};

/* The parsed keys; refuses unknown, repeated and malformed ones. */
int by_external_parse(const struct baryon_tensor *tensor, struct by_arena *arena,
                      struct by_external_ref *ref, struct baryon_error *err);
/* Opens the data files and sets tensor->external of every tensor of the model. */
int by_model_resolve_external(struct baryon_model *model, const struct by_load_options *options,
                              struct baryon_error *err);
/* Bytes of the model's data files. */
uint64_t by_model_data_size(const struct baryon_model *model);
/* True when path leads to one of them. */
bool by_model_has_data_file(const struct baryon_model *model, const char *path);
/* Calls visit for every tensor: initializers, sparse parts, attributes, all graphs, functions. */
typedef int by_tensor_fn(void *context, struct baryon_tensor *tensor, struct baryon_error *err);
int by_model_each_tensor(struct baryon_model *model, by_tensor_fn *visit, void *context,
                         struct baryon_error *err);

/* Gives back what by_model_payload() made and no tensor has any more. Whoever kept its address must
 * be done with it. */
void by_model_payloads_done(struct baryon_model *model);

#endif
