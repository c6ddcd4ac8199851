/*
 * Importance matrices in both forms. Values of an accepted file are finite, and are found by the
 * names of their tensors.
 */
#include "base/file.h"
#include "llm/importance.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_opened(const struct by_llm_importance *importance)
{
    if (!importance->count)
        abort();
    for (size_t i = 0; i < importance->count; i++) {
        const struct by_llm_weighting *weighting = &importance->at[i];
        if (by_llm_importance_find(importance, weighting->name) != weighting || !weighting->count)
            abort();
        for (uint64_t k = 0; k < weighting->count; k++)
            if (!isfinite(weighting->values[k]) || weighting->values[k] < 0)
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct by_llm_importance *importance;
    struct by_received file;
    struct baryon_error err;
    by_err_clear(&err);
    if (by_received_open(&file, "fuzz", &err))
        return 0;
    if (by_write_at(file.fd, bytes, size, 0) == 0) {
        if (by_llm_importance_open(&importance, file.path, &err) == 0) {
            check_opened(importance);
            by_llm_importance_close(importance);
        } else if (err.code == BARYON_OK) {
            abort();
        }
    }
    return by_received_map(&file, NULL, "fuzz", NULL);
}
