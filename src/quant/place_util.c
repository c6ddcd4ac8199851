#include "quant/place_internal.h"

#include "base/str.h"

const char *by_place_text(struct by_placing *placing, struct baryon_error *err, const char *format,
                          ...)
{
    struct by_str str;
    const char *text = NULL;
    va_list args;
    by_str_init(&str);
    va_start(args, format);
    by_str_vprintf(&str, format, args);
    va_end(args);
    if (by_str_error(&str, err) == 0)
        text = by_arena_text(&placing->plan->arena, by_str_text(&str), str.size, err);
    by_str_release(&str);
    return text;
}

bool by_place_is_float(const struct baryon_value *value)
{
    return value && (value->elem == BY_ELEM_FLOAT || value->elem == BY_ELEM_FLOAT16);
}

/* One that is an input as well counts: a quantized model has no use for another value of it. */
bool by_place_is_constant(const struct baryon_value *value)
{
    return value && value->initializer;
}

bool by_place_in(const struct by_placing *placing, const struct baryon_value *value)
{
    return value && value->graph == placing->graph && value->index < placing->value_count;
}

int by_place_any_picks(const struct by_patterns *patterns, const char *name, bool *picks,
                       struct baryon_error *err)
{
    *picks = false;
    for (size_t i = 0; i < patterns->count && !*picks; i++)
        if (by_pattern_picks(&patterns->at[i], name ? name : "", picks, err))
            return -1;
    return 0;
}
