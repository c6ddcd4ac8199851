/* Reads the attributes of a node; absent ones keep their default, other types are errors. */
#include "ops/op.h"

#include <math.h>
#include <string.h>

/* 0: read; 1: absent; -1. The runtime has the same code for both failures, but not the same text.
 */
static int read_status(const struct by_ort *ort, OrtStatus *status, const char *name,
                       const char *type, struct baryon_error *err)
{
    if (!status)
        return 0;
    const char *text = ort->api->GetErrorMessage(status);
    const bool mistyped = strstr(text, "type don't match") || strstr(text, "expected to have type");
    ort->api->ReleaseStatus(status);
    if (!mistyped)
        return 1;
    return by_fail(err, BARYON_ERR_INPUT, "attribute %s has a wrong type, must be %s", name, type);
}

int by_op_int(const struct by_ort *ort, const OrtKernelInfo *info, const char *name, int64_t least,
              int64_t most, int64_t *value, struct baryon_error *err)
{
    int64_t found = 0;
    const int left = read_status(ort, ort->api->KernelInfoGetAttribute_int64(info, name, &found),
                                 name, "an integer", err);
    if (left)
        return left < 0 ? -1 : 0;
    if (found < least || found > most)
        return by_fail(err, BARYON_ERR_INPUT, "attribute %s is %lld, must be %lld to %lld", name,
                       (long long)found, (long long)least, (long long)most);
    *value = found;
    return 0;
}

int by_op_float(const struct by_ort *ort, const OrtKernelInfo *info, const char *name, bool needed,
                float *value, struct baryon_error *err)
{
    float found = 0;
    const int left = read_status(ort, ort->api->KernelInfoGetAttribute_float(info, name, &found),
                                 name, "a float", err);
    if (left > 0 && needed)
        return by_fail(err, BARYON_ERR_INPUT, "attribute %s is missing", name);
    if (left)
        return left < 0 ? -1 : 0;
    if (!isfinite(found))
        return by_fail(err, BARYON_ERR_INPUT, "attribute %s is %g, must be finite", name,
                       (double)found);
    *value = found;
    return 0;
}

int by_op_text(const struct by_ort *ort, const OrtKernelInfo *info, const char *name, char *value,
               size_t size, struct baryon_error *err)
{
    size_t needed = 0;
    const int left =
        read_status(ort, ort->api->KernelInfoGetAttribute_string(info, name, NULL, &needed), name,
                    "a string", err);
    if (left)
        return left < 0 ? -1 : 0;
    if (needed > size)
        return by_fail(err, BARYON_ERR_INPUT,
                       "attribute %s has %zu characters, must be a name of at most %zu", name,
                       needed - 1, size - 1);
    return by_ort_status(ort, ort->api->KernelInfoGetAttribute_string(info, name, value, &size),
                         "read an attribute", err);
}
