/* What 'baryon stats' shows, as text and as JSON. */
#ifndef BY_STATS_VIEW_H
#define BY_STATS_VIEW_H

#include "base/json.h"
#include "calib/calib.h"
#include "cli/out.h"
#include "stats/stats.h"

/* Tensors to show, in the order to show them in. */
struct by_stats_view {
    struct by_stats *stats;
    const char *file;
    uint64_t bytes; /* of the file */
    const struct by_tensor_stats **tensors;
    size_t tensor_count;
    size_t left_out;     /* by --top */
    const char *checked; /* a model that the statistics are of, NULL: nobody asked */
};

/* All methods that suit the type and have what they need; by_free() *made. */
int by_choices_make(const struct by_sketch *sketch, const struct by_calib_type *type,
                    struct by_calib_choice **made, size_t *count, struct baryon_error *err);
/* The method that suits, but lacks votes; NULL: there is none. */
const char *by_choice_left_out(const struct by_sketch *sketch, const struct by_calib_type *type);

int by_stats_text(struct by_out *out, const struct by_stats_view *view, struct baryon_error *err);
void by_stats_json(struct by_json *json, const struct by_stats_view *view);
/* One tensor: numbers, histogram, choices; types twice: scales as they come, powers of two. */
int by_stats_tensor_text(struct by_out *out, const struct by_tensor_stats *tensor,
                         const struct by_calib_type types[2], bool logarithmic,
                         struct baryon_error *err);
int by_stats_tensor_json(struct by_json *json, const struct by_tensor_stats *tensor,
                         const struct by_calib_type types[2], struct baryon_error *err);

/* Parts of them. */
bool by_tensor_is_zero(const struct by_tensor_stats *tensor);
bool by_tensor_is_constant(const struct by_tensor_stats *tensor); /* and not zero */
uint64_t by_tensor_nonfinite(const struct by_tensor_stats *tensor);
size_t by_tensor_memory(const struct by_tensor_stats *tensor);
/* "[1, 64, ?, 7]", "[...]" when the rank varies, "" when there was no look; returns buf. */
const char *by_tensor_shape(const struct by_tensor_stats *tensor, char *buf, size_t size);
/* "constant, shape varies, 5 NaN (first in sample 3, x.npy)" */
void by_tensor_notes(const struct by_tensor_stats *tensor, uint64_t samples, struct by_str *notes);
const char *by_layer_kind_name(enum by_layer_kind kind);
/* Tiles that are there, and bytes that all would take in memory. */
size_t by_layer_tiles_there(const struct by_layer_stats *layer);
uint64_t by_layer_memory(const struct by_layer_stats *layer);

#endif
