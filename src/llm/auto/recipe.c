/* What was chosen as a configuration file of llm quantize. */
#include "llm/auto/auto_internal.h"

#include "base/json.h"

static void put_quoted(struct by_str *out, const char *text)
{
    struct by_json json;
    by_json_init(&json, out, true);
    by_json_text(&json, NULL, text);
}

static void put_line(struct by_str *out, const char *key, const char *value)
{
    by_str_printf(out, "%s: ", key);
    put_quoted(out, value);
    by_str_puts(out, "\n");
}

static void put_list(struct by_str *out, const char *key, const char *const *at, size_t count)
{
    by_str_printf(out, "%s: [", key);
    for (size_t i = 0; i < count; i++) {
        by_str_puts(out, i ? ", " : "");
        put_quoted(out, at[i]);
    }
    by_str_puts(out, "]\n");
}

static void put_solver(struct by_str *out, const struct by_llm_solver *solver)
{
    const struct by_llm_method_options *own = &solver->options;
    put_line(out, "method", solver->method->name);
    if (own->shrink >= 0)
        by_str_printf(out, "shrink: %.17g\n", own->shrink);
    if (own->damping >= 0)
        by_str_printf(out, "damping: %.17g\n", own->damping);
    by_str_printf(out, "cross: %.17g\nsweeps: %u\nscale-fits: %u\n", own->cross, own->sweeps,
                  own->fits);
    if (solver->method->defaults.sweeps)
        put_line(out, "start", own->start == BY_LLM_START_GPTQ ? "gptq" : "nearest");
    if (own->in_order)
        by_str_puts(out, "in-order: true\n");
}

int by_bits_recipe(const struct by_bits_search *s, struct by_str *text, struct baryon_error *err)
{
    struct by_llm_quantize_options options;
    struct by_arena arena;
    by_arena_init(&arena, 0);
    const int status = by_bits_rules(s, s->chosen, &options, &arena, err);
    if (!status) {
        by_str_printf(text,
                      "# Found by baryon llm auto %s: %.4f bits a weight of the linear layers.\n"
                      "# The same model without a search: baryon llm quantize %s --config "
                      "THIS_FILE -o OUT\n",
                      baryon_version(), by_bits_bits(s, by_bits_chosen_bytes(s, s->chosen)), s->in);
        put_line(text, "layout", options.layout);
        put_line(text, "scheme", options.scheme);
        put_list(text, "text", (const char *const *)options.texts.at, options.texts.count);
        by_str_printf(text, "length: %llu\nwindows: %llu\n", (unsigned long long)options.length,
                      (unsigned long long)options.windows);
        if (options.halved)
            put_line(text, "stream-type", "bf16");
        put_solver(text, &options.solver);
        if (options.exclude_count)
            put_list(text, "exclude", options.exclude, options.exclude_count);
        if (options.layer_count)
            by_str_puts(text, "layer:\n");
        for (size_t i = 0; i < options.layer_count; i++) {
            by_str_puts(text, "  ");
            put_quoted(text, options.layers[i].pattern);
            by_str_puts(text, ": ");
            put_quoted(text, options.layers[i].scheme);
            by_str_puts(text, "\n");
        }
    }
    by_arena_release(&arena);
    return status ? -1 : by_str_error(text, err);
}
