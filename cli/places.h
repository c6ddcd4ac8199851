/* Declares the checks of output paths. */
#ifndef BY_PLACES_H
#define BY_PLACES_H

#include "onnx/save.h"

/* Refuses a file that exists; for commands that have --force. what: "OUT", "--out". */
int by_place_check_free(const char *what, const char *path, struct baryon_error *err);
/* A model must not take the place of the weights that it is read from. */
int by_place_check_data(const char *what, const struct baryon_model *model, const char *path,
                        struct baryon_error *err);
/* How --external and --force save a model. */
struct by_save_options by_place_options(const char *external, bool force);
/* Names that saving to --out would refuse, before samples run. */
int by_place_probe(const struct baryon_model *model, const char *out,
                   const struct by_save_options *options, struct baryon_error *err);

#endif
