/*
 * Presets: named configurations. Each is one literal, a list of options and their values on top of
 * the defaults, and one row in presets.c. A value stands as on the command line.
 */
#ifndef BY_PRESET_H
#define BY_PRESET_H

#include "base/err.h"

struct by_preset_value {
    const char *option, *value; /* option NULL ends a list */
};

struct by_preset {
    const char *name;
    const char *help;             /* one sentence, no full stop */
    bool random;                  /* without samples it takes random ones, for trying out */
    const struct by_preset *base; /* whose values come first; NULL: none */
    const struct by_preset_value *values;
    const struct by_preset_value *compat; /* with --compat quark-0.13, after those; may be NULL */
};

const struct by_preset *const *by_presets(size_t *count);
/*
 * In any letter case, with or without _CONFIG, - for _. NULL: the error says what is near.
 */
const struct by_preset *by_preset_find(const char *name, struct baryon_error *err);

#endif
