/* Lists the float types: transformers and GGUF call them differently, both names are taken. */
#include "llm/float_types.h"

#include "array/elem.h"
#include "base/text.h"

#include <string.h>

const struct by_choice by_llm_float_choices[] = {
    {"auto", BY_ELEM_UNDEFINED, "fp16 where scales are fp16, else bf16"},
    {"bf16", BY_ELEM_BFLOAT16, "bfloat16"},
    {"f16", BY_ELEM_FLOAT16, "float16"},
    {"fp16", BY_ELEM_FLOAT16, "the same"},
    {"f32", BY_ELEM_FLOAT, "float32, exact"},
    {"fp32", BY_ELEM_FLOAT, "the same"},
    {NULL, 0, NULL},
};

const struct by_choice *by_llm_float_type(const char *name)
{
    for (const struct by_choice *row = by_llm_float_choices + 1; row->name; row++)
        if (!strcmp(row->name, name))
            return row;
    return NULL;
}

void by_llm_float_list(char *buf, size_t size)
{
    struct by_text text;
    by_text_init(&text, buf, size);
    for (const struct by_choice *row = by_llm_float_choices + 1; row->name; row++)
        by_text_add(&text, "%s%s", row == by_llm_float_choices + 1 ? "" : ", ", row->name);
}
