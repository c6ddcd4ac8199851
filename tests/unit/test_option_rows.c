/*
 * Every option of quantization, from its row: that a value which is given counts in the recipe, by
 * every way alike, and which of two values counts.
 */
#include "settings_world.h"

#include <stdio.h>
#include <string.h>

/* What options may require beside themselves; the first that is taken is used. */
static const char *const *const bases[] = {
    WORDS(NULL),
    WORDS("--approach=nbits"),
    WORDS("--approach=nbits", "--nbits-method=rtn", "--rounding=descent"),
    WORDS("--rounding=descent"),
    WORDS("--rounding=relaxation"),
    WORDS("--activation-symmetric=false"),
    WORDS("--bias=int8"),
    WORDS("--weight-granularity=group"),
    WORDS("--hardware=extended"),
    WORDS("--activation=bf16", "--weight=bf16"),
    WORDS("--activation=int16", "--weight=int16", "--mixed=int8"),
    WORDS("--activation=mx6", "--weight=mx6"),
    WORDS("--activation=mx6", "--weight=mx6", "--keep-float-weights=false"),
};

/* Values to try; each option takes some of them. */
static const char *const texts[] = {
    "true",
    "false",
    "1",
    "2",
    "3",
    "4",
    "8",
    "16",
    "64",
    "0.5",
    "0.9",
    "100",
    "19",
    "x",
    "Conv",
    "shift-read",
    "-",
    "Mul>Add",
    "x|y",
    "a|b",
    "Conv=weight:int16",
    "x=weight:int16",
    "x=int16",
    "fold-pad",
    "names.txt",
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static int enter(void **state)
{
    if (scratch_enter(state))
        return -1;
    put_file("names.txt", "x\n");
    return 0;
}

/* --- Values that a row takes --- */

static const char *candidate(const struct by_option *row, size_t index)
{
    if (row->type != BY_OPT_CHOICE)
        return index < COUNT(texts) ? texts[index] : NULL;
    for (size_t i = 0; row->choices[i].name; i++)
        if (i == index)
            return row->choices[i].name;
    return NULL;
}

/* An option that requires others is dropped with a notice. */
static bool is_dropped(const struct world *world, const char *name)
{
    char option[128];
    snprintf(option, sizeof option, "--%s ", name);
    const struct by_setting_texts *notices = &world->settings.notices;
    for (size_t i = 0; i < notices->count; i++)
        if (!strncmp(notices->at[i], option, strlen(option)) &&
            strstr(notices->at[i], "has no effect"))
            return true;
    return false;
}

/* Base words and "--name=value"; true when that makes a recipe in which it counts. */
static bool try_to_make(struct world *world, const char *const *base, const char *name,
                        const char *value)
{
    char word[128];
    const char *words[8] = {NULL};
    size_t count = 0;
    for (; base[count]; count++)
        words[count] = base[count];
    snprintf(word, sizeof word, "--%s=%s", name, value ? value : "");
    if (value)
        words[count] = word;
    begin(world);
    if (give(world, words) == 0 && !is_dropped(world, name))
        return true;
    end(world);
    return false;
}

/* --- What a recipe is --- */

struct compared {
    const struct by_recipe *recipe, *alike, *changed;
};

/*
 * Bytes that are the same in two recipes made alike, and others in the third: pointers into arenas
 * never are, counts of lists and all other members are.
 */
static size_t changed_bytes(const struct compared *compared)
{
    const unsigned char *one = (const unsigned char *)compared->recipe;
    const unsigned char *alike = (const unsigned char *)compared->alike;
    const unsigned char *changed = (const unsigned char *)compared->changed;
    size_t count = 0;
    for (size_t i = 0; i < sizeof *compared->recipe; i++)
        count += one[i] == alike[i] && one[i] != changed[i];
    return count;
}

static bool same_as_default(const struct by_option *row, const char *value)
{
    return row->fallback && !strcmp(row->fallback, value);
}

/* Whether the option changes the recipe; *taken: whether any value is taken at all. */
static bool changes_recipe(const struct by_option *row, const char *const *base, bool *taken)
{
    struct world one, alike, changed;
    bool found = false;
    if (!try_to_make(&one, base, row->name, NULL))
        return false;
    assert_true(try_to_make(&alike, base, row->name, NULL));
    const char *value;
    for (size_t i = 0; !found && (value = candidate(row, i)) != NULL; i++) {
        if (same_as_default(row, value) || !try_to_make(&changed, base, row->name, value))
            continue;
        const struct compared compared = {one.recipe, alike.recipe, changed.recipe};
        *taken = true;
        found = changed_bytes(&compared) > 0;
        end(&changed);
    }
    end(&one);
    end(&alike);
    return found;
}

/* --- Walking the rows --- */

typedef void visit_fn(const struct by_option *row);

/* Options of methods have structs of their own: test_methods.c. */
static bool is_of_method(const struct by_option *row)
{
    return by_method_option_needs(BY_FOR_ACTIVATIONS, row->name) ||
           by_method_option_needs(BY_FOR_WEIGHTS, row->name);
}

static size_t each_row(visit_fn *visit)
{
    size_t visited = 0;
    const struct by_option_group *const *group = by_recipe_groups();
    for (; *group; group++) {
        size_t count;
        const struct by_option *rows = by_group_rows(*group, &count);
        for (size_t i = 0; i < count; i++) {
            if (*group == &by_recipe_preset_group || is_of_method(&rows[i]))
                continue;
            visit(&rows[i]);
            visited++;
        }
    }
    return visited;
}

/* --- It counts in the recipe --- */

static void counts(const struct by_option *row)
{
    bool taken = false;
    for (size_t i = 0; i < COUNT(bases); i++)
        if (changes_recipe(row, bases[i], &taken))
            return;
    fail_msg("--%s %s", row->name, taken ? "does not count" : "takes no value of this test");
}

static void every_option_counts(void **state)
{
    (void)state;
    assert_true(each_row(counts) > 80);
}

/* --- Which of two values counts --- */

static int set_from(struct world *world, const struct by_option *row, const char *text,
                    enum by_option_source source)
{
    const char *bar = row->type == BY_OPT_SPANS ? strchr(text, '|') : NULL;
    const char *first =
        bar ? by_arena_text(&world->config.arena, text, (size_t)(bar - text), &err) : text;
    return by_config_set(&world->config, row, first, bar ? bar + 1 : NULL, source, &err);
}

static const char *show(const struct world *world, const struct by_option *row, char *buf,
                        size_t size)
{
    struct by_str text;
    by_str_init(&text);
    by_config_show(&world->config, row->name, &text);
    snprintf(buf, size, "%s", by_str_text(&text));
    by_str_release(&text);
    return buf;
}

/* The row's value when it is set to the one from a source, then to the other from another. */
static bool shows(const struct by_option *row, const char *one, enum by_option_source source,
                  const char *other, enum by_option_source later, char *buf, size_t size)
{
    struct world world;
    begin(&world);
    bool set = set_from(&world, row, one, source) == 0;
    set = set && (!other || set_from(&world, row, other, later) == 0);
    if (set)
        show(&world, row, buf, size);
    end(&world);
    return set;
}

static void prefers(const struct by_option *row, const char *one, const char *other)
{
    static const enum by_option_source ranks[] = {BY_SOURCE_PRESET, BY_SOURCE_FILE, BY_SOURCE_FLAG};
    char strong[128], both[128];
    for (size_t low = 0; low < COUNT(ranks); low++)
        for (size_t high = low + 1; high < COUNT(ranks); high++) {
            assert_true(shows(row, one, ranks[high], NULL, 0, strong, sizeof strong));
            assert_true(shows(row, one, ranks[high], other, ranks[low], both, sizeof both));
            assert_string_equal(both, strong);
            assert_true(shows(row, other, ranks[low], one, ranks[high], both, sizeof both));
            assert_string_equal(both, strong);
        }
}

static void stronger_source_counts(const struct by_option *row)
{
    const char *found[2], *value;
    size_t count = 0;
    char buf[128], before[128] = "";
    if (row->command_line || row->not_in_files)
        return;
    for (size_t i = 0; count < 2 && (value = candidate(row, i)) != NULL; i++) {
        if (!shows(row, value, BY_SOURCE_FLAG, NULL, 0, buf, sizeof buf) || !strcmp(before, buf))
            continue;
        snprintf(before, sizeof before, "%s", buf);
        found[count++] = value;
    }
    if (count < 2)
        fail_msg("--%s takes no two values of this test", row->name);
    prefers(row, found[0], found[1]);
}

/* Command line, file, preset: whatever comes first. Lists are replaced, they do not add up. */
static void stronger_sources_count(void **state)
{
    (void)state;
    assert_true(each_row(stronger_source_counts) > 80);
}

/* --- Files say the same as words --- */

static void file_says_the_same(const struct by_option *row)
{
    char text[512], shown[256], again[256];
    const char *value = NULL;
    struct world world;
    if (row->command_line || row->not_in_files || row->type == BY_OPT_SPANS)
        return; /* spans of files: test_quantize_settings.c */
    for (size_t i = 0; (value = candidate(row, i)) != NULL; i++)
        if (!same_as_default(row, value) &&
            shows(row, value, BY_SOURCE_FLAG, NULL, 0, shown, sizeof shown))
            break;
    assert_non_null(value);
    snprintf(text, sizeof text, "%s: %s\n", row->name, shown);
    put_file("one.yaml", text);
    begin(&world);
    assert_ok(by_config_load(&world.config, "one.yaml", &err));
    assert_string_equal(show(&world, row, again, sizeof again), shown);
    assert_int_equal(by_config_source(&world.config, row->name), BY_SOURCE_FILE);
    end(&world);
}

static void files_say_the_same(void **state)
{
    (void)state;
    assert_true(each_row(file_says_the_same) > 80);
}

/* --- Quark's names beside ours --- */

/* A file, then words, as a command has both. */
static int load_and_give(struct world *world, const char *file, const char *const *words)
{
    put_file("both.yaml", file);
    begin(world);
    return by_config_load(&world->config, "both.yaml", &err) < 0 ? -1 : give(world, words);
}

static void precedence_of_extra_options(void **state)
{
    (void)state;
    const struct {
        const char *file;
        const char *const *words;
        bool dedicated;
        int64_t activation;
    } rows[] = {
        {"extra_options: {DedicatedQDQPair: True}\n", WORDS(NULL), true, BY_ELEM_INT8},
        /* The command line counts more than a file, by whatever name either has it. */
        {"extra_options: {DedicatedQDQPair: True}\n", WORDS("--dedicated-pairs=false"), false,
         BY_ELEM_INT8},
        {"extra_options: {DedicatedQDQPair: True}\n", WORDS("--extra=DedicatedQDQPair=False"),
         false, BY_ELEM_INT8},
        {"dedicated-pairs: true\n", WORDS("--extra=DedicatedQDQPair=False"), false, BY_ELEM_INT8},
        {"activation_type: QInt8\n", WORDS("--extra=activation_type=QInt16"), false, BY_ELEM_INT16},
        /* A file counts more than a preset, of the command line too. */
        {"preset: A16W8\nextra_options: {DedicatedQDQPair: True}\nactivation_type: QInt8\n",
         WORDS(NULL), true, BY_ELEM_INT8},
        {"activation_type: QInt8\n", WORDS("--preset=A16W8"), false, BY_ELEM_INT8},
        {"preset: A16W8\n", WORDS("--extra=activation_type=QInt8"), false, BY_ELEM_INT8},
        {"preset: A16W8\n", WORDS(NULL), false, BY_ELEM_INT16},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world world;
        assert_ok(load_and_give(&world, rows[i].file, rows[i].words));
        assert_int_equal(world.recipe->dedicated_pairs, rows[i].dedicated);
        assert_int_equal(world.recipe->activation.elem, rows[i].activation);
        end(&world);
    }
}

static void same_rank_may_not_contradict(void **state)
{
    (void)state;
    struct world world;
    assert_int_equal(load_and_give(&world,
                                   "dedicated-pairs: true\n"
                                   "extra_options: {DedicatedQDQPair: False}\n",
                                   WORDS(NULL)),
                     -1);
    end(&world);
    refuses(WORDS("--dedicated-pairs=true", "--extra=DedicatedQDQPair=False"),
            "--extra DedicatedQDQPair: DedicatedQDQPair sets dedicated-pairs to false, but it is "
            "already set to true");
}

/* What an option of Quark's only suggests gives way to the preset, wherever either stands. */
static void suggestions_give_way_to_presets(void **state)
{
    (void)state;
    struct world world;
    makes(&world, WORDS("--extra=include_cle=True", "--cle=exact"));
    assert_int_equal(world.recipe->cle, BY_CLE_EXACT);
    end(&world);
    makes(&world, WORDS("--preset=FP16"));
    assert_int_equal(world.recipe->cle, BY_CLE_EXACT);
    end(&world);
    makes(&world, WORDS("--preset=FP16", "--extra=include_cle=True"));
    assert_int_equal(world.recipe->cle, BY_CLE_EXACT);
    end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option_counts),
        cmocka_unit_test(stronger_sources_count),
        cmocka_unit_test(files_say_the_same),
        cmocka_unit_test(precedence_of_extra_options),
        cmocka_unit_test(same_rank_may_not_contradict),
        cmocka_unit_test(suggestions_give_way_to_presets),
    };
    return cmocka_run_group_tests(tests, enter, scratch_leave);
}
