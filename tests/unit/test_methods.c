/* Every calibration method: what its row says is there in the options of quantization. */
#include "settings_world.h"

#include "stats/sketch.h"

#include <ctype.h>
#include <math.h>

static const enum by_calib_use uses[] = {BY_FOR_ACTIVATIONS, BY_FOR_WEIGHTS, BY_FOR_BIASES};
static const char *const roles[] = {"activation", "weight", "bias"};

#define USES (sizeof uses / sizeof *uses)

static void each_method(void (*visit)(const struct by_calibrator *))
{
    size_t count;
    const struct by_calibrator *const *methods = by_calibrators(&count);
    assert_true(count <= BY_METHODS_MAX);
    for (size_t i = 0; i < count; i++)
        visit(methods[i]);
}

static void each_option(void (*visit)(const struct by_calibrator *, const struct by_calib_option *))
{
    size_t count;
    const struct by_calibrator *const *methods = by_calibrators(&count);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; methods[i]->options && k < methods[i]->options->count; k++)
            visit(methods[i], &methods[i]->options->rows[k]);
}

/* --- Rows --- */

static void row_is_complete(const struct by_calibrator *method)
{
    assert_non_null(method->name);
    assert_non_null(method->alias);
    assert_non_null(method->range);
    assert_non_null(method->help);
    assert_ptr_equal(by_calibrator_find(method->name), method);
    assert_ptr_equal(by_calibrator_find(method->alias), method);
    assert_true(method->uses || method->instead); /* rules say what to do in its place */
    assert_true(!method->options || method->options->count);
}

static void rows_are_complete(void **state)
{
    (void)state;
    each_method(row_is_complete);
}

static bool is_choice(const struct by_choice *choices, const char *name)
{
    for (; choices->name; choices++)
        if (!strcmp(choices->name, name))
            return true;
    return false;
}

static void is_chosen_by_name(const struct by_calibrator *method)
{
    for (size_t i = 0; i < USES; i++) {
        char name[32];
        struct world world;
        begin(&world);
        snprintf(name, sizeof name, "%s-method", roles[i]);
        const struct by_option *option = by_config_find(&world.config, name);
        const bool listed = is_choice(option->choices, method->name);
        assert_int_equal(listed, (method->uses & uses[i]) != 0);
        assert_int_equal(
            by_config_set(&world.config, option, method->name, NULL, BY_SOURCE_FLAG, &err),
            listed ? 0 : -1);
        const int places[] = {world.settings.activation_method, world.settings.weight_method,
                              world.settings.bias_method};
        if (listed)
            assert_ptr_equal(by_method_of(places[i]), method);
        end(&world);
    }
}

static void methods_are_chosen_by_name(void **state)
{
    (void)state;
    each_method(is_chosen_by_name);
}

/* In the same spelling as in Quark, and after the names of its enumerations. */
static void is_known_by_quarks_words(const struct by_calibrator *method)
{
    for (const struct by_calib_word *word = method->quark; word->option; word++) {
        char given[128];
        struct world world;
        snprintf(given, sizeof given, "--extra=%s=%s", word->option, word->word);
        makes(&world, WORDS("--activation-scale=pow2", "--weight-scale=pow2",
                            "--activation-symmetric", given));
        const bool of_weights = !strcmp(word->option, BY_QUARK_WEIGHT_METHOD);
        assert_ptr_equal((of_weights ? &world.recipe->weight : &world.recipe->activation)->method,
                         method);
        end(&world);
    }
}

static void methods_are_known_by_quarks_words(void **state)
{
    (void)state;
    each_method(is_known_by_quarks_words);
}

/* --- Options --- */

/* "--activation-method=percentile", what the method needs, and more words, of which some are "". */
static int choose(struct world *world, enum by_calib_use use, const struct by_calibrator *method,
                  const char *const *more)
{
    static const struct by_calib_target plain = {.qmin = -127, .qmax = 127, .symmetric = true};
    const char *role = use == BY_FOR_WEIGHTS ? "weight" : "activation";
    const char *words[8] = {NULL};
    char name[64], scale[64];
    size_t count = 0;
    snprintf(name, sizeof name, "--%s-method=%s", role, method->name);
    snprintf(scale, sizeof scale, "--%s-scale=pow2", role);
    words[count++] = name;
    if (by_calib_needs(method, &plain) == BY_NEEDS_POW2) {
        words[count++] = scale;
        words[count++] = "--activation-symmetric";
    }
    for (; *more; more++)
        if (**more)
            words[count++] = *more;
    begin(world);
    return give(world, words);
}

static const void *value_of(const struct by_tensor_spec *spec, const struct by_calib_option *option)
{
    return (const char *)spec->calib.own + option->row.offset;
}

/* A value that is not the default, as one would write it: for numbers a small one. */
static void other_value(const struct by_option *row, char *buf, size_t size)
{
    switch (row->type) {
    case BY_OPT_FLAG:
        snprintf(buf, size, "%s", strcmp(row->fallback, "true") != 0 ? "true" : "false");
        break;
    case BY_OPT_INT:
        snprintf(buf, size, "%.0f", row->min + 2);
        break;
    case BY_OPT_CHOICE:
        snprintf(buf, size, "%s",
                 strcmp(row->fallback, row->choices[0].name) != 0 ? row->choices[0].name
                                                                  : row->choices[1].name);
        break;
    default:
        snprintf(buf, size, "%.17g", (row->min + row->max) / 4);
    }
}

/* Another such value: a great one. */
static void great_value(const struct by_option *row, char *buf, size_t size)
{
    if (row->type == BY_OPT_INT)
        snprintf(buf, size, "%.0f", 2 * strtod(row->fallback, NULL));
    else if (row->type == BY_OPT_NUMBER)
        snprintf(buf, size, "%.17g", row->max * 0.999);
    else if (row->type == BY_OPT_NUMBERS)
        snprintf(buf, size, "%.17g,%.17g", row->max * 0.999, row->max);
    else
        other_value(row, buf, size);
}

static void defaults_agree(const struct by_calibrator *method, const struct by_calib_option *option)
{
    struct world world;
    const char *own = (const char *)method->options->defaults + option->row.offset;
    const struct by_setting_numbers *list = (const void *)own;
    if (!(method->uses & BY_FOR_ACTIVATIONS) || !strcmp(option->row.name, "percentile-guard"))
        return; /* the guard compares with the type at hand, which statistics do not have */
    assert_ok(choose(&world, BY_FOR_ACTIVATIONS, method, WORDS("")));
    const void *value = value_of(&world.recipe->activation, option);
    const struct by_setting_numbers *given = value;
    if (option->row.type == BY_OPT_NUMBERS) {
        assert_int_equal(given->count, list->count);
        assert_memory_equal(given->at, list->at, list->count * sizeof *list->at);
    } else {
        assert_memory_equal(value, own, by_value_size(&option->row));
    }
    end(&world);
}

static void defaults_of_options_are_those_of_methods(void **state)
{
    (void)state;
    each_option(defaults_agree);
}

static const char *text_of(const char *text)
{
    return text ? text : "";
}

/* Without the offset, which is that in another struct. */
static void is_the_same_row(const struct by_option *one, const struct by_option *other)
{
    struct by_option moved = *other;
    moved.offset = one->offset;
    moved.name = one->name;
    moved.fallback = one->fallback;
    moved.arg = one->arg;
    moved.help = one->help;
    assert_string_equal(one->name, other->name);
    assert_string_equal(one->help, other->help);
    assert_string_equal(text_of(one->arg), text_of(other->arg));
    assert_string_equal(text_of(one->fallback), text_of(other->fallback));
    assert_memory_equal(one, &moved, sizeof moved);
}

static void row_is_one(const struct by_calibrator *method, const struct by_calib_option *option)
{
    size_t count;
    const struct by_calibrator *const *methods = by_calibrators(&count);
    assert_true(by_value_size(&option->row) <= sizeof(union by_method_value));
    assert_true(option->row.offset + by_value_size(&option->row) <= method->options->size);
    assert_true(islower((unsigned char)option->row.help[0]));
    assert_ptr_equal(by_method_option_of(method, option->row.name), option);
    for (size_t i = 0; i < count; i++) {
        const struct by_calib_option *other = by_method_option_of(methods[i], option->row.name);
        if (other)
            is_the_same_row(&option->row, &other->row);
    }
}

static void options_of_one_name_are_one(void **state)
{
    (void)state;
    each_option(row_is_one);
}

/* By the command line, by a rule, and by Quark's name. */
static void option_arrives(const struct by_calibrator *method, const struct by_calib_option *option)
{
    char value[64], given[160];
    struct world world;
    other_value(&option->row, value, sizeof value);
    if (!(method->uses & BY_FOR_ACTIVATIONS))
        return;
    snprintf(given, sizeof given, "--%s=%s", option->row.name, value);
    assert_ok(choose(&world, BY_FOR_ACTIVATIONS, method, WORDS(given)));
    const void *direct = value_of(&world.recipe->activation, option);
    const char *own = (const char *)method->options->defaults + option->row.offset;
    const struct by_setting_numbers *list = direct;
    if (option->row.type == BY_OPT_NUMBERS)
        assert_int_equal(list->count, 1);
    else if (strcmp(option->row.name, "percentile-guard") != 0)
        assert_memory_not_equal(direct, own, by_value_size(&option->row));
    end(&world);

    snprintf(given, sizeof given, "--tensor=x=method:%s,%s:%s,scale:pow2,symmetric:true",
             method->name, option->row.name, value);
    makes(&world, WORDS(given));
    const struct by_rule *rule = world.recipe->rules.at;
    assert_ptr_equal(rule->input.spec.method, method);
    direct = value_of(&rule->input.spec, option);
    list = direct;
    if (option->row.type == BY_OPT_NUMBERS)
        assert_int_equal(list->count, 1);
    else if (strcmp(option->row.name, "percentile-guard") != 0)
        assert_memory_not_equal(direct, own, by_value_size(&option->row));
    end(&world);

    if (!option->quark)
        return;
    snprintf(given, sizeof given, "--extra=%s=%s", option->quark, value);
    assert_ok(choose(&world, BY_FOR_ACTIVATIONS, method, WORDS(given)));
    end(&world);
}

static void options_arrive(void **state)
{
    (void)state;
    each_option(option_arrives);
}

/* What the row does not allow is refused in the same words everywhere. */
static void is_refused(const struct by_calib_option *option, const char *name, const char *value)
{
    char expects[256], message[400];
    struct world world;
    begin(&world);
    const struct by_option *row = by_config_find(&world.config, name);
    snprintf(message, sizeof message, "'%s' is not %s", value,
             by_option_expects(&option->row, expects, sizeof expects));
    by_err_clear(&err);
    assert_int_equal(by_config_set(&world.config, row, value, NULL, BY_SOURCE_FLAG, &err), -1);
    assert_string_equal(err.message, message);
    end(&world);
}

static void range_is_kept(const struct by_calibrator *method, const struct by_calib_option *option)
{
    char value[64];
    (void)method;
    const char *const names[] = {option->row.name, option->weight_name};
    for (size_t i = 0; i < 2 && names[i]; i++) {
        is_refused(option, names[i], "no value");
        if (option->row.min == 0 && option->row.max == 0)
            continue;
        snprintf(value, sizeof value, "%.17g", option->row.max + 1);
        is_refused(option, names[i], value);
        snprintf(value, sizeof value, "%.17g", option->row.min - 1);
        is_refused(option, names[i], value);
    }
}

static void ranges_are_kept(void **state)
{
    (void)state;
    each_option(range_is_kept);
}

/* An option that the method does not have. */
static void option_needs_its_method(const struct by_calibrator *method)
{
    size_t count;
    const struct by_option *rows = by_method_options(BY_FOR_ACTIVATIONS, &count);
    assert_true(count <= BY_METHOD_OPTIONS_MAX);
    for (size_t i = 0; (method->uses & BY_FOR_ACTIVATIONS) && i < count; i++) {
        char value[64], given[160], message[400];
        struct world world;
        other_value(&rows[i], value, sizeof value);
        if (by_method_has_option(BY_FOR_ACTIVATIONS, method, rows[i].name) ||
            !strcmp(value, "false"))
            continue; /* what is off asks for nothing */
        snprintf(given, sizeof given, "--%s=%s", rows[i].name, value);
        assert_ok(choose(&world, BY_FOR_ACTIVATIONS, method, WORDS(given)));
        snprintf(message, sizeof message, "--%s has no effect: it requires %s", rows[i].name,
                 by_method_option_needs(BY_FOR_ACTIVATIONS, rows[i].name));
        const struct by_setting_texts *notices = &world.settings.notices;
        assert_string_equal(notices->at[notices->count - 1], message);
        end(&world);
    }
}

static void options_need_their_methods(void **state)
{
    (void)state;
    each_method(option_needs_its_method);
}

/* --- What options do --- */

static void look(struct by_sketch *sketch, size_t count, double reach, uint64_t sample)
{
    static float values[30000];
    assert_true(count <= sizeof values / sizeof *values);
    for (size_t i = 0; i < count; i++) {
        const double x = ((double)i + 0.5) / (double)count * 2 - 1;
        values[i] = (float)((x < 0 ? -0.01 : 1) / (1.0001 - fabs(x)) * reach);
    }
    values[count / 2] = (float)(2.5 * reach);
    assert_ok(by_sketch_look_ref(sketch, values, BY_ELEM_FLOAT, count, sample, &err));
}

static bool differs(const struct by_calibrator *method, const struct by_sketch *sketch,
                    const struct by_calib_target *target, const struct by_calib_options *one,
                    const struct by_calib_options *other)
{
    struct by_range first, second;
    return method->range(sketch, target, one, &first, &err) == 0 &&
           method->range(sketch, target, other, &second, &err) == 0 &&
           (first.low != second.low || first.high != second.high);
}

/* Whether the word gives another range for one of some targets; the other words are for both. */
static bool word_counts(const struct by_calibrator *method, const char *word, const char *compat,
                        const char *also, const struct by_sketch *sketch)
{
    static const struct by_calib_target targets[] = {
        {.qmin = -7, .qmax = 7, .symmetric = true, .power_of_two = true},
        {.qmin = -32767, .qmax = 32767, .symmetric = true, .power_of_two = true},
        {.qmin = 0, .qmax = 15},
        {.qmin = -127, .qmax = 127, .symmetric = true},
        {.qmin = -32768, .qmax = 32767},
    };
    struct world world, other;
    bool found = false;
    assert_ok(choose(&world, BY_FOR_ACTIVATIONS, method, WORDS(compat, also)));
    assert_ok(choose(&other, BY_FOR_ACTIVATIONS, method, WORDS(compat, also, word)));
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (by_calib_needs(method, &targets[i]) == BY_NEEDS_NOTHING)
            found |= differs(method, sketch, &targets[i], &world.recipe->activation.calib,
                             &other.recipe->activation.calib);
    end(&other);
    end(&world);
    return found;
}

typedef void value_maker(const struct by_option *row, char *buf, size_t size);
static value_maker *const makers[] = {other_value, great_value};

#define WORD_SIZE 96

static void make_word(const struct by_option *row, size_t maker, char *word)
{
    char value[64];
    makers[maker](row, value, sizeof value);
    snprintf(word, WORD_SIZE, "--%s=%s", row->name, value);
}

/* Alone, or beside some value of another option of the method; with defaults of options, or with
 * those of methods. */
static bool word_counts_somewhere(const struct by_calibrator *method, const char *word,
                                  const struct by_sketch *sketch)
{
    static const char *const compats[] = {"", "--compat=quark-0.13"};
    char also[WORD_SIZE];
    bool counts = false;
    for (size_t i = 0; i < 2 && !counts; i++) {
        counts = word_counts(method, word, compats[i], "", sketch);
        for (size_t k = 0; k < 2 * method->options->count && !counts; k++) {
            make_word(&method->options->rows[k / 2].row, k % 2, also);
            if (strncmp(also, word, strcspn(word, "=") + 1) != 0)
                counts = word_counts(method, word, compats[i], also, sketch);
        }
    }
    return counts;
}

static void option_counts(const struct by_calibrator *method, const struct by_calib_option *option)
{
    struct by_sketch sketch;
    char small[WORD_SIZE], great[WORD_SIZE];
    if (!(method->uses & BY_FOR_ACTIVATIONS))
        return;
    by_sketch_init(&sketch);
    look(&sketch, 30000, 1, 0);
    look(&sketch, 2000, 4, 1);
    make_word(&option->row, 0, small);
    make_word(&option->row, 1, great);
    if (!word_counts_somewhere(method, small, &sketch) &&
        !word_counts_somewhere(method, great, &sketch))
        fail_msg("--%s changes nothing of %s", option->row.name, method->name);
    by_sketch_release(&sketch);
}

static void options_count(void **state)
{
    (void)state;
    each_option(option_counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_complete),
        cmocka_unit_test(methods_are_chosen_by_name),
        cmocka_unit_test(methods_are_known_by_quarks_words),
        cmocka_unit_test(defaults_of_options_are_those_of_methods),
        cmocka_unit_test(options_of_one_name_are_one),
        cmocka_unit_test(options_arrive),
        cmocka_unit_test(ranges_are_kept),
        cmocka_unit_test(options_need_their_methods),
        cmocka_unit_test(options_count),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
