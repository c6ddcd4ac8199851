/* Checks that an output path is free and is not a data file of the model. */
#include "cli/places.h"

#include "onnx/external.h"

#include <unistd.h>

int by_place_check_free(const char *what, const char *path, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (access(path, F_OK) != 0)
        return 0;
    by_fail(err, BARYON_ERR_USAGE, "%s %s exists already", what, by_quote(quoted, path));
    return by_err_hint(err, "--force overwrites it");
}

int by_place_check_data(const char *what, const struct baryon_model *model, const char *path,
                        struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (!by_model_has_data_file(model, path))
        return 0;
    return by_fail(err, BARYON_ERR_USAGE, "%s %s is a data file of the model", what,
                   by_quote(quoted, path));
}

struct by_save_options by_place_options(const char *external, bool force)
{
    return (struct by_save_options){
        .data = external ? BY_SAVE_EXTERNAL : BY_SAVE_KEEP,
        .external_file = external,
        .writer_flags = force ? 0 : BY_WRITER_EXCLUSIVE,
    };
}

int by_place_probe(const struct baryon_model *model, const char *out,
                   const struct by_save_options *options, struct baryon_error *err)
{
    if (by_place_check_data("--out", model, out, err) < 0)
        return -1;
    return by_model_probe_save(model, out, options, err);
}
