/*
 * One value of an option, from its text to the member of the settings struct.
 */
#ifndef BY_CONFIG_VALUE_H
#define BY_CONFIG_VALUE_H

#include "config/config.h"

size_t by_value_size(const struct by_option *option); /* of the member */
/* Zero, or an empty list. */
void by_value_clear(const struct by_option *option, void *slot);
/*
 * Sets the member, or adds to it when the type is a list. The message says what the
 * text is not; the caller says where it stood.
 */
int by_value_parse(struct by_arena *arena, const struct by_option *option, const char *text,
                   const char *second, void *slot, struct baryon_error *err);
/* Adds one item to a BY_OPT_TEXTS as it is. */
int by_value_add_text(struct by_arena *arena, const struct by_option *option, const char *text,
                      void *slot, struct baryon_error *err);
/* True for types whose values may stand in quotes in a file. */
bool by_option_takes_text(const struct by_option *option);

#endif
