/* Presets through the public interface. */
#include "api_expect.h"

static const char *find(const struct baryon_preset *preset,
                        const struct baryon_setting *at(const struct baryon_preset *, size_t),
                        const char *name)
{
    const struct baryon_setting *row;
    for (size_t i = 0; (row = at(preset, i)); i++)
        if (!strcmp(row->name, name))
            return row->value;
    return "";
}

/* Names and values, by turns. */
static void has(const char *name, bool quark, const char *const *rows)
{
    struct baryon_preset *preset;
    ok(baryon_preset_open(&preset, name, &err));
    for (; *rows; rows += 2) {
        const char *value =
            find(preset, quark ? baryon_preset_quark : baryon_preset_setting, rows[0]);
        if (strcmp(value, rows[1]) != 0)
            fail_msg("%s: %s is '%s', not '%s'", name, rows[0], value, rows[1]);
    }
    baryon_preset_free(preset);
}

#define ROWS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_ours(void **state)
{
    (void)state;
    has("xint8_config", false,
        ROWS("activation", "int8", "activation-scale", "pow2", "refine-rounds", "5", "preset", "",
             "nbits", ""));
    has("VINT8", false, ROWS("dedicated-pairs", "true", "fuse-relu", "false"));
    has("MATMUL_NBITS", false, ROWS("activation", "", "nbits-group", "128"));
}

static void test_quark(void **state)
{
    (void)state;
    has("XINT8", true,
        ROWS("activation_type", "QInt8", "calibrate_method", "MinMSE", "enable_npu_cnn", "true",
             "EnableNPUCnn", "", "quant_format", "QDQ", "ActivationSymmetric", "true",
             "FastFinetune", "", "DedicatedQDQPair", ""));
    has("VINT8", true,
        ROWS("ConvertBNToConv", "true", "SplitLargeKernelPool", "false", "ConvertClipToRelu", "",
             "Int32Bias", "false"));
    has("A8W8_ADAQUANT", true,
        ROWS("quant_format", "ExtendedQuantFormat.QDQ", "enable_npu_cnn", "false",
             "calibrate_method", "minmse", "WeightCalibrateMethod", "", "FastFinetune",
             "{\"OptimAlgorithm\": \"adaquant\"}", "include_fast_ft", "true"));
    has("MX4", true, ROWS("weight_type", "MX4", "calibrate_method", "", "include_cle", "false"));
}

/* A preset has something to say of itself, and its values are settings. */
static void test_all(void **state)
{
    (void)state;
    const char *name;
    for (size_t i = 0; (name = baryon_list("presets", i, NULL)); i++) {
        struct baryon_preset *preset;
        ok(baryon_preset_open(&preset, name, &err));
        size_t count = 0, fields = 0;
        const struct baryon_setting *row;
        for (; (row = baryon_preset_setting(preset, count)); count++)
            assert_true(*row->name && *row->value);
        for (; (row = baryon_preset_quark(preset, fields)); fields++)
            assert_true(*row->name && *row->value);
        assert_true(count > 5 && fields > 5);
        baryon_preset_free(preset);
    }
    baryon_preset_free(NULL);
}

static void test_refused(void **state)
{
    (void)state;
    struct baryon_preset *preset = NULL;
    assert_error(baryon_preset_open(&preset, "XINT", &err), BARYON_ERR_USAGE,
                 "--preset: unknown preset 'XINT'; did you mean 'XINT8'?");
    assert_null(preset);
    assert_int_equal(baryon_preset_open(&preset, "XINT", NULL), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ours),
        cmocka_unit_test(test_quark),
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
