/* Checks whether statistics belong to a given model, data and settings. */
#include "ir/graph.h"
#include "onnx/external.h"
#include "onnx/schema.h"
#include "stats/stats.h"

int by_stats_check_key(const struct by_stats_key *have, const struct by_stats_key *want,
                       struct baryon_error *err)
{
    const struct {
        const char *what;
        struct by_hash128 have, want;
    } rows[] = {
        {"another model", have->model, want->model},
        {"other data", have->data, want->data},
        {"other settings", have->settings, want->settings},
    };
    char first[33], second[33];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!by_hash128_equal(rows[i].have, rows[i].want))
            return by_fail(err, BARYON_ERR_CHANGED, "the statistics are of %s (%.12s, not %.12s)",
                           rows[i].what, by_hash128_text(rows[i].have, first),
                           by_hash128_text(rows[i].want, second));
    return 0;
}

static int hash_piece(void *context, const uint8_t *bytes, size_t size, struct baryon_error *err)
{
    (void)err;
    by_hasher_add(context, bytes, size);
    return 0;
}

static int hash_tensor(void *context, struct baryon_tensor *tensor, struct baryon_error *err)
{
    (void)err;
    if (!by_tensor_is_external(tensor))
        return 0;
    by_hasher_number(context, tensor->external.size);
    by_hasher_add(context, tensor->external.data, tensor->external.size);
    return 0;
}

int by_model_content_hash(struct baryon_model *model, struct by_hash128 *hash,
                          struct baryon_error *err)
{
    struct by_hasher *hasher;
    if (by_model_settle(model, err) || by_hasher_open(&hasher, err))
        return -1;
    by_wire_measure(&by_schema_model, model);
    int failed = by_wire_encode(&by_schema_model, model, hash_piece, hasher, err) ||
                 by_model_each_tensor(model, hash_tensor, hasher, err);
    *hash = by_hasher_value(hasher);
    by_hasher_close(hasher);
    return failed ? -1 : 0;
}
