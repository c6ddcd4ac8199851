/* Declares the edits of a model that `baryon copy` makes. */
#ifndef BY_EDITS_H
#define BY_EDITS_H

#include "config/config.h"
#include "ir/graph.h"

/*
 * Gives open dimensions of the model's inputs a size, by symbol or as "INPUT:AXIS", and
 * wherever else the symbol is declared. Fixes the symbol everywhere.
 */
int by_edit_shapes(struct baryon_model *model, const struct by_setting_pairs *shapes,
                   struct baryon_error *err);
/* OLD=NEW names of values of the main graph. */
int by_edit_names(struct baryon_model *model, const struct by_setting_pairs *names,
                  struct baryon_error *err);

#endif
