/* The usual forms, eight codes at once. */
#ifndef BY_LLM_FORM_QUICK_H
#define BY_LLM_FORM_QUICK_H

#include "llm/layout/form.h"

/* Puts as many rows as there is a quick way for, from the first on; returns how many. */
size_t by_llm_form_put_quickly(const struct by_llm_form *form, const uint8_t *codes, size_t first,
                               size_t count, uint8_t *words);

#endif
