/* Names of the float types that commands for language models write, in one list. */
#ifndef BY_LLM_FLOAT_TYPES_H
#define BY_LLM_FLOAT_TYPES_H

#include "base/choice.h"

#include <stddef.h>

/* Values are element types; "auto", the first, is none. */
extern const struct by_choice by_llm_float_choices[];

/* NULL: the name is none of them, or "auto". */
const struct by_choice *by_llm_float_type(const char *name);
/* "bf16, f16, f32" */
void by_llm_float_list(char *buf, size_t size);

#endif
