/* Notices about options, which a run reports before it begins. */
#ifndef BY_SETTINGS_NOTICES_H
#define BY_SETTINGS_NOTICES_H

#include "settings/quantize.h"

int by_settings_note(struct by_config *config, struct by_recipe_settings *settings,
                     struct baryon_error *err, const char *format, ...) BARYON_PRINTF(4, 5);

#endif
