/*
 * The payload of tensors, whatever way it is stored.
 */
#ifndef BY_TENSOR_H
#define BY_TENSOR_H

#include "array/array.h"
#include "ir/model.h"

int by_tensor_count(const struct baryon_tensor *tensor, size_t *count, struct baryon_error *err);
/* One value for each channel: the last axis has them, and all others one place. */
bool by_tensor_is_row(const struct baryon_tensor *tensor, size_t channels);

/* By its data_location; the payload is tensor->external once it is resolved. */
bool by_tensor_is_external(const struct baryon_tensor *tensor);
/* Puts the tensor's name before a message about it, when it has one. */
int by_err_tensor(struct baryon_error *err, const struct baryon_tensor *tensor);
/*
 * Checks that there is exactly one payload of exactly the right size, type known,
 * typed field the right one. For strings: as many as elements.
 */
int by_tensor_check(const struct baryon_tensor *tensor, struct baryon_error *err);

/*
 * The elements as raw little-endian bytes (what raw_data would hold), not for
 * strings. Raw and external data are returned as they are, without a copy; typed
 * data is unpacked into the arena. The view may be unaligned.
 */
int by_tensor_bytes(const struct baryon_tensor *tensor, struct by_arena *arena,
                    struct by_span *bytes, struct baryon_error *err);

/* All elements of a tensor that is at most `most` elements long, into the arena. */
int by_tensor_ints(const struct baryon_tensor *tensor, struct by_arena *arena, size_t most,
                   int64_t **out, size_t *count, struct baryon_error *err);
/* The number in a tensor of one element; is_one is false, and number as it was, of any other and of
 * NULL. */
int by_tensor_number(const struct baryon_tensor *tensor, bool *is_one, double *number,
                     struct baryon_error *err);

/*
 * From now on payloads of 1 MiB and more of new tensors go to a nameless file in the folder and
 * take no memory when nobody looks at them. room: bytes for all of them; what goes beyond stays in
 * memory.
 */
int by_model_spill(struct baryon_model *model, const char *folder, size_t room,
                   struct baryon_error *err);
/* A copy that lives as long as the model and does not change: of 64 KiB and more the one that all
 * have (base/constant.h), if it is not spilled. */
int by_model_payload(struct baryon_model *model, const void *bytes, size_t size,
                     struct by_span *payload, struct baryon_error *err);
/* A new tensor of the model whose raw_data are the bytes, which live as long as the model. */
struct baryon_tensor *by_tensor_over(struct baryon_model *model, const char *name, int64_t elem,
                                     const int64_t *dims, size_t rank, struct by_span bytes,
                                     struct baryon_error *err);
/* A new tensor of the model whose raw_data is a copy of bytes (NULL: zeros). */
struct baryon_tensor *by_tensor_new(struct baryon_model *model, const char *name, int64_t elem,
                                    const int64_t *dims, size_t rank, const void *bytes,
                                    size_t size, struct baryon_error *err);

#endif
