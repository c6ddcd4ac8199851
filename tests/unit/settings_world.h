/* Settings of quantization made from words or files, for tests of them. */
#ifndef BY_TEST_SETTINGS_WORLD_H
#define BY_TEST_SETTINGS_WORLD_H

#include "calib/methods.h"
#include "config/value.h"
#include "ir/tensor.h"
#include "pass/pass.h"
#include "preset/preset.h"
#include "settings/quark/alias.h"
#include "settings/recipe/recipe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "scratch.h"
struct world {
    struct by_config config;
    struct by_recipe_settings settings;
    struct by_running_settings running;
    struct by_recipe *recipe;
};

static inline void begin(struct world *world)
{
    by_err_clear(&err);
    by_config_init(&world->config);
    assert_ok(by_recipe_bind(&world->config, &world->settings, &err));
    assert_ok(by_config_bind(&world->config, &by_data_group, &world->running.data, &err));
    assert_ok(by_config_bind(&world->config, &by_engine_group, &world->running.engine, &err));
}

static inline void end(struct world *world)
{
    by_config_release(&world->config);
}

/* "--name=value" or "--name" words; two values of a span stand in one "a|b". */
static inline int give(struct world *world, const char *const *words)
{
    for (; *words; words++) {
        char name[64];
        const char *mark = strchr(*words, '=');
        snprintf(name, sizeof name, "%.*s", (int)(mark ? mark - *words - 2 : 62), *words + 2);
        const struct by_option *option = by_config_find(&world->config, name);
        assert_non_null(option);
        const char *second = mark && option->type == BY_OPT_SPANS ? strchr(mark, '|') : NULL;
        const char *text = mark ? mark + 1 : NULL;
        if (second)
            text = by_arena_text(&world->config.arena, text, (size_t)(second - text), &err);
        if (by_config_set(&world->config, option, text, second ? second + 1 : NULL, BY_SOURCE_FLAG,
                          &err) < 0)
            return -1;
    }
    return by_recipe_make(&world->config, &world->recipe, &err);
}

/* Of a spec whose method is percentile. */
static inline double percent_of(const struct by_tensor_spec *spec)
{
    const struct by_percentile_options *own = spec->calib.own;
    assert_string_equal(spec->method->name, "percentile");
    return own->percent;
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static inline void makes(struct world *world, const char *const *words)
{
    begin(world);
    assert_ok(give(world, words));
}

static inline void refuses(const char *const *words, const char *message)
{
    struct world world;
    begin(&world);
    assert_int_equal(give(&world, words), -1);
    assert_string_equal(error_text(), message);
    end(&world);
}

/* What is taken with a notice. */
static inline void notes(const char *const *words, const char *message)
{
    struct world world;
    makes(&world, words);
    for (size_t i = 0; i < world.settings.notices.count; i++)
        if (!strcmp(world.settings.notices.at[i], message)) {
            end(&world);
            return;
        }
    fail_msg("no notice '%s' among %zu, first '%s'", message, world.settings.notices.count,
             world.settings.notices.count ? world.settings.notices.at[0] : "");
}

static inline int load(struct world *world, const char *text)
{
    put_file("c.yaml", text);
    begin(world);
    if (by_config_load(&world->config, "c.yaml", &err) < 0)
        return -1;
    return by_recipe_make(&world->config, &world->recipe, &err);
}

static inline void loads(struct world *world, const char *text)
{
    assert_ok(load(world, text));
}

static inline void refuses_file(const char *text, const char *message)
{
    struct world world;
    assert_int_equal(load(&world, text), -1);
    assert_string_equal(error_text(), message);
    end(&world);
}

#endif
