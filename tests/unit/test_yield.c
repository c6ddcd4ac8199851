/* Values that nobody asked for give way to those that somebody did. */
#include "settings_world.h"

/* The words of an option alone contradict no default. */
static void check_alone(const struct by_option *option, const char *value)
{
    struct world world;
    begin(&world);
    assert_ok(by_config_set(&world.config, option, value, NULL, BY_SOURCE_FLAG, &err));
    if (by_recipe_make(&world.config, &world.recipe, &err) < 0)
        fail_msg("--%s %s: %s", option->name, value, error_text());
    end(&world);
}

static void no_option_contradicts_defaults(void **state)
{
    size_t checked = 0;
    (void)state;
    for (const struct by_option_group *const *group = by_recipe_groups(); *group; group++) {
        size_t count;
        const struct by_option *option = by_group_rows(*group, &count);
        for (const struct by_option *end = option + count; option < end; option++) {
            const struct by_choice *choice = option->choices;
            for (; choice && choice->name; choice++, checked++)
                check_alone(option, choice->name);
            if (option->type != BY_OPT_FLAG)
                continue;
            check_alone(option, "true");
            check_alone(option, "false");
            checked += 2;
        }
    }
    assert_true(checked > 150);
}

static const struct {
    const char *words[5]; /* after the last one NULL */
    const char *says;
} yields[] = {
    {{"--activation-method=nonoverflow"},
     "--activation-scale is set to pow2: --activation-method requires it"},
    {{"--activation-method=minmse-pow2-common"},
     "--activation-symmetric is set to true: --activation-method requires it"},
    {{"--preset=A8W8", "--weight-method=minmse-pow2"},
     "--weight-scale is set to pow2: --weight-method requires it"},
    {{"--preset=XINT8", "--bias-scale=float32"},
     "--bias-method is set to minmax: --bias-scale requires it"},
    {{"--bias=int8", "--bias-method=minmse-pow2"},
     "--bias-scale is set to pow2: --bias-method requires it"},
    {{"--preset=XINT8", "--approach=dynamic"},
     "--weight-scale is set to float32: --approach dynamic requires it"},
    {{"--preset=XINT8", "--format=qoperator"},
     "--bias is set to int32: --format qoperator requires it"},
    {{"--preset=MATMUL_NBITS", "--nbits-method=hqq"},
     "--nbits-symmetric is set to false: --nbits-method hqq optimizes zero points"},
    {{"--preset=BF16", "--weight=int3"},
     "--keep-float-weights is set to false: --weight of 2 or 3 bits requires it"},
    {{"--rounding=descent", "--keep-float-weights"},
     "--keep-float-weights is set to false: rounding reconstruction writes integers, which the "
     "model would round again"},
    {{"--preset=VINT8", "--op-types=Conv"},
     "--all-op-types is set to false: --op-types lists the operators"},
    {{"--preset=VINT8", "--dedicated-dq"},
     "--dedicated-pairs is set to false: --dedicated-dq replaces it"},
    {{"--approach=weights", "--cle=auto"},
     "--cle is set to off: --cle auto requires samples, which only --approach static has"},
    {{"--approach=weights", "--activation=int16", "--activation-scale=pow2"},
     "--activation, --activation-scale have no effect: they require --approach static"},
    {{"--approach=dynamic", "--rounding=descent", "--rounding-free"},
     "--rounding has no effect: it requires --approach static, weights or nbits"},
};

static void what_was_given_stays(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof yields / sizeof *yields; i++)
        notes(yields[i].words, yields[i].says);
}

static void what_has_no_effect_is_at_its_default(void **state)
{
    struct world world;
    (void)state;
    makes(&world, WORDS("--approach=dynamic", "--rounding=descent"));
    assert_int_equal(world.recipe->rounding, BY_ROUNDING_NEAREST);
    assert_false(by_recipe_needs_data(world.recipe));
    end(&world);
    makes(&world, WORDS("--op-types=Conv", "--extra-op-types=Gemm"));
    assert_int_equal(world.recipe->op_types.count, 2);
    end(&world);
    refuses(WORDS("--hardware=xint8", "--approach=weights"),
            "--hardware xint8 requires --format qdq and --approach static");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_option_contradicts_defaults),
        cmocka_unit_test(what_was_given_stays),
        cmocka_unit_test(what_has_no_effect_is_at_its_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
