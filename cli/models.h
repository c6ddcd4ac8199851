/* Opening the model that a command line names. */
#ifndef BY_MODELS_H
#define BY_MODELS_H

#include "cli/cmd.h"
#include "onnx/load.h"
#include "settings/settings.h"

struct by_loaded {
    struct baryon_model *model;
    char *bytes; /* of standard input, else NULL */
    size_t size;
    const char *name; /* for messages and reports */
};

/* path "-" reads standard input; such a model can have no external data. */
int by_loaded_open(struct by_loaded *loaded, const struct by_cli *cli,
                   const struct by_model_settings *settings, const char *path,
                   struct baryon_error *err);
void by_loaded_close(struct by_loaded *loaded);
/* Bytes of the model file, external data not counted. */
uint64_t by_loaded_size(const struct by_loaded *loaded);

#endif
