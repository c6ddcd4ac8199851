/* Collects the versions of Baryon and the libraries it found on this machine. */
#include "cli/versions.h"

#include "base/half.h"
#include "engine/ops_find.h"
#include "engine/ort.h"

#include <stdio.h>

#define TEXT_OF(x)  #x
#define VALUE_OF(x) TEXT_OF(x)
#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER                                                                                   \
    "gcc " VALUE_OF(__GNUC__) "." VALUE_OF(__GNUC_MINOR__) "." VALUE_OF(__GNUC_PATCHLEVEL__)
#else
#define COMPILER "an unknown compiler"
#endif

void by_versions_find(struct by_versions *versions, const char *ort_path)
{
    const struct by_ort *ort;
    *versions = (struct by_versions){.compiler = COMPILER, .vectors = by_half_path()};
    by_err_clear(&versions->ort_error);
    by_err_clear(&versions->blas_error);
    by_blas_open(&versions->blas, &versions->blas_error);
    versions->has_ops = by_ops_find(versions->ops_path, sizeof versions->ops_path);
    if (by_ort_open(&ort, ort_path, &versions->ort_error) < 0)
        return;
    versions->has_ort = true;
    snprintf(versions->ort_version, sizeof versions->ort_version, "%s", ort->version);
    snprintf(versions->ort_path, sizeof versions->ort_path, "%s", ort->path);
    by_ort_close(ort);
}

void by_version_line(struct by_out *out)
{
    struct by_versions versions;
    by_versions_find(&versions, NULL);
    by_str_printf(&out->text, "baryon %s (", baryon_version());
    if (versions.has_ort)
        by_str_printf(&out->text, "ONNX Runtime %s)\n", versions.ort_version);
    else
        by_str_puts(&out->text, "ONNX Runtime not found)\n");
}
