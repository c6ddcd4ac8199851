/* Lists the layouts, and has what their config.json have in common. */
#include "llm/layout/fields.h"

#include "base/str.h"

#include <string.h>

static const struct by_llm_layout *const rows[] = {
    &by_llm_layout_quark, &by_llm_layout_compressed, &by_llm_layout_awq,  &by_llm_layout_gptq,
    &by_llm_layout_fp8,   &by_llm_layout_json,       &by_llm_layout_gguf,
};

enum { COUNT = sizeof rows / sizeof *rows };

const struct by_llm_layout *const *by_llm_layouts(size_t *count)
{
    *count = COUNT;
    return rows;
}

const struct by_llm_layout *by_llm_layout_find(const char *name, struct baryon_error *err)
{
    const char *names[COUNT];
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < COUNT; i++) {
        if (!strcmp(rows[i]->name, name))
            return rows[i];
        names[i] = rows[i]->name;
    }
    by_fail(err, BARYON_ERR_USAGE, "%s is no layout", by_quote(quoted, name));
    const char *near = by_nearest(name, names, COUNT);
    by_err_hint(err, "did you mean '%s'?", near ? near : rows[0]->name);
    return NULL;
}

bool by_llm_layout_whole_bytes(const struct by_llm_layout *layout,
                               const struct by_llm_scheme *scheme, const char *stored)
{
    return layout->whole_bytes && layout->whole_bytes(scheme, stored);
}

int by_llm_layout_refuse(const char *layout, const struct by_llm_scheme *scheme,
                         const char *accepted, struct baryon_error *err)
{
    by_fail(err, BARYON_ERR_USAGE, "layout %s has no place for scheme %s, must be %s", layout,
            scheme->name, accepted);
    return by_err_hint(err, "--layout quark or json-safetensors has one");
}

struct by_llm_spec by_llm_input_spec(const struct by_llm_scheme *scheme, bool from_samples)
{
    struct by_llm_spec spec = scheme->input;
    if (from_samples)
        return spec;
    if (spec.dtype && spec.global)
        return (struct by_llm_spec){0};
    spec.dynamic = true;
    return spec;
}

void by_llm_config_names(struct by_json *json, const char *key, const char *const *names,
                         size_t count)
{
    by_json_open(json, key, '[');
    for (size_t i = 0; i < count; i++)
        by_json_text(json, NULL, names[i]);
    by_json_close(json, ']');
}
