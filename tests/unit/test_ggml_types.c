/* GGUF types: their sizes, the mixtures that choose them, and what rows of odd widths get. */
#include "llm/ggml/mixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct baryon_error err;

static void sizes(void **state)
{
    (void)state;
    for (size_t i = 0; by_ggml_type_at(i); i++) {
        const struct by_ggml_type *type = by_ggml_type_at(i);
        assert_ptr_equal(by_ggml_type(type->number), type);
        assert_ptr_equal(by_ggml_type_named(type->name), type);
        assert_true(type->halves_at + 2 * type->halves <= type->bytes);
        assert_true(type->decode || !type->encode);
    }
    assert_null(by_ggml_type(4));
    assert_null(by_ggml_type(43));
    assert_null(by_ggml_type_named("q4_k_m"));
    assert_ptr_equal(by_ggml_type_named("Q4_K"), by_ggml_type(BY_GGML_Q4_K));
    assert_true(by_ggml_bits_per_weight(by_ggml_type(BY_GGML_Q4_K)) == 4.5);
    assert_true(by_ggml_bits_per_weight(by_ggml_type(BY_GGML_Q6_K)) == 6.5625);
}

static void bytes(void **state)
{
    (void)state;
    size_t size = 0;
    assert_int_equal(by_ggml_bytes(by_ggml_type(BY_GGML_Q8_0), 64, &size, &err), 0);
    assert_int_equal(size, 68);
    assert_int_equal(by_ggml_bytes(by_ggml_type(BY_GGML_Q8_0), 33, &size, &err), -1);
    assert_string_equal(err.message, "33 elements of type q8_0, which are not whole blocks of 32");
    assert_int_equal(by_ggml_bytes(by_ggml_type(BY_GGML_F64), UINT64_MAX / 4, &size, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_UNSUPPORTED);
}

static void fallbacks(void **state)
{
    static const struct {
        enum by_ggml_number type;
        uint64_t width;
        enum by_ggml_number used;
    } cases[] = {
        {BY_GGML_Q4_K, 512, BY_GGML_Q4_K},     {BY_GGML_Q4_K, 576, BY_GGML_Q5_0},
        {BY_GGML_Q5_K, 576, BY_GGML_Q5_1},     {BY_GGML_Q6_K, 576, BY_GGML_Q8_0},
        {BY_GGML_Q2_K, 576, BY_GGML_Q4_0},     {BY_GGML_Q3_K, 576, BY_GGML_Q4_0},
        {BY_GGML_IQ4_XS, 576, BY_GGML_IQ4_NL}, {BY_GGML_IQ4_NL, 576, BY_GGML_IQ4_NL},
        {BY_GGML_Q6_K, 100, BY_GGML_F16},      {BY_GGML_Q8_0, 100, BY_GGML_F16},
        {BY_GGML_F32, 100, BY_GGML_F32},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(by_ggml_fallback(by_ggml_type(cases[i].type), cases[i].width)->number,
                         cases[i].used);
}

static const char *chosen(const char *mixture, const struct by_ggml_model *model, const char *name,
                          size_t index, uint64_t width)
{
    const struct by_ggml_tensor tensor = {
        .name = name, .width = width, .matrices = 1, .index = index, .layer = index};
    return by_ggml_choose(by_ggml_mixture_named(mixture), model, &tensor, NULL)->name;
}

static const struct by_ggml_model llama = {
    .layers = 32, .attn_values = 32, .heads = 32, .kv_heads = 8};

/* Those of a Llama of 32 layers; "first" to "last" are layers. */
static void mixtures(void **state)
{
    static const struct {
        const char *mixture, *name;
        size_t index;
        const char *type;
    } cases[] = {
        {"Q4_K_M", "output.weight", 0, "q6_K"},
        {"Q4_K_M", "token_embd.weight", 0, "q4_K"},
        {"Q4_K_M", "blk.0.attn_q.weight", 0, "q4_K"},
        {"Q4_K_M", "blk.0.attn_v.weight", 0, "q6_K"},
        {"Q4_K_M", "blk.4.attn_v.weight", 4, "q4_K"},
        {"Q4_K_M", "blk.6.attn_v.weight", 6, "q6_K"},
        {"Q4_K_M", "blk.27.ffn_down.weight", 27, "q6_K"},
        {"Q4_K_M", "blk.28.ffn_down.weight", 28, "q6_K"},
        {"Q4_K_M", "blk.26.ffn_down.weight", 26, "q4_K"},
        {"Q4_K_S", "blk.3.attn_v.weight", 3, "q5_K"},
        {"Q4_K_S", "blk.4.attn_v.weight", 4, "q4_K"},
        {"Q4_K_S", "blk.3.ffn_down.weight", 3, "q5_K"},
        {"Q5_K_M", "blk.0.ffn_down.weight", 0, "q6_K"},
        {"Q5_K_S", "blk.0.ffn_down.weight", 0, "q5_K"},
        {"Q2_K", "blk.9.attn_v.weight", 9, "q4_K"},
        {"Q2_K", "blk.9.ffn_down.weight", 9, "q3_K"},
        {"Q2_K", "blk.9.attn_output.weight", 9, "q3_K"},
        {"Q2_K", "blk.9.ffn_up.weight", 9, "q2_K"},
        {"Q3_K_M", "blk.1.attn_v.weight", 1, "q5_K"},
        {"Q3_K_M", "blk.2.attn_v.weight", 2, "q4_K"},
        {"Q3_K_M", "blk.1.ffn_down.weight", 1, "q5_K"},
        {"Q3_K_M", "blk.2.ffn_down.weight", 2, "q4_K"},
        {"Q3_K_L", "blk.2.attn_output.weight", 2, "q5_K"},
        {"Q3_K_S", "blk.2.attn_v.weight", 2, "q3_K"},
        {"IQ4_XS", "blk.2.attn_v.weight", 2, "q5_K"},
        {"IQ4_XS", "blk.3.ffn_down.weight", 3, "q5_K"},
        {"IQ4_XS", "blk.4.ffn_down.weight", 4, "iq4_xs"},
        {"IQ3_S", "blk.2.attn_v.weight", 2, "q4_K"},
        {"IQ3_S", "blk.2.attn_q.weight", 2, "iq3_s"},
        {"IQ3_M", "blk.2.attn_v.weight", 2, "q4_K"},
        {"IQ3_M", "blk.2.attn_output.weight", 2, "q4_K"},
        {"IQ3_M", "blk.3.ffn_down.weight", 3, "q4_K"},
        {"IQ3_M", "blk.4.ffn_down.weight", 4, "iq3_s"},
        {"IQ3_XS", "blk.2.attn_k.weight", 2, "iq3_xxs"},
        {"IQ3_XS", "blk.3.ffn_gate.weight", 3, "iq3_s"},
        {"IQ3_XS", "blk.4.ffn_gate.weight", 4, "iq3_xxs"},
        {"IQ3_XS", "blk.27.ffn_up.weight", 27, "iq3_xxs"},
        {"IQ3_XS", "blk.28.ffn_up.weight", 28, "iq3_s"},
        {"IQ3_XXS", "output.weight", 0, "q5_K"},
        {"IQ3_XXS", "token_embd.weight", 0, "iq3_s"},
        {"IQ3_XXS", "blk.2.attn_v.weight", 2, "q4_K"},
        {"IQ3_XXS", "blk.2.attn_k.weight", 2, "iq3_xxs"},
        {"IQ3_XXS", "blk.2.attn_output.weight", 2, "iq3_s"},
        {"IQ3_XXS", "blk.3.ffn_down.weight", 3, "q4_K"},
        {"IQ3_XXS", "blk.4.ffn_down.weight", 4, "q3_K"},
        {"Q4_0", "blk.0.ffn_down.weight", 0, "q4_0"},
        {"Q4_0", "output.weight", 0, "q6_K"},
        {"Q8_0", "output.weight", 0, "q8_0"},
        {"BF16", "output.weight", 0, "bf16"},
        {"MXFP4_MOE", "blk.0.attn_q.weight", 0, "q8_0"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(chosen(cases[i].mixture, &llama, cases[i].name, cases[i].index, 4096),
                            cases[i].type);
}

static void other_models(void **state)
{
    struct by_ggml_model model = llama;
    (void)state;
    model.tied = true;
    assert_string_equal(chosen("Q4_K_M", &model, "token_embd.weight", 0, 4096), "q6_K");
    assert_string_equal(chosen("Q4_K_M", &model, "token_embd.weight", 0, 576), "q8_0");
    model.kv_heads = 32;
    assert_string_equal(chosen("Q2_K", &model, "blk.9.attn_v.weight", 9, 4096), "q3_K");
    model.is_70b = true;
    assert_string_equal(chosen("Q2_K", &model, "blk.9.attn_v.weight", 9, 4096), "q5_K");
    assert_string_equal(chosen("IQ3_XXS", &model, "blk.2.attn_v.weight", 2, 4096), "iq3_s");
    model.importance = true;
    assert_string_equal(chosen("IQ3_XXS", &model, "blk.2.attn_v.weight", 2, 4096), "iq3_xxs");
    assert_string_equal(chosen("IQ3_XXS", &model, "blk.2.ffn_down.weight", 2, 4096), "iq3_xxs");
    assert_string_equal(chosen("Q4_0", &model, "blk.0.ffn_down.weight", 0, 4096), "q4_1");
    model.experts = 8;
    assert_string_equal(chosen("IQ3_M", &model, "blk.31.ffn_down.weight", 31, 4096), "q4_K");
    assert_string_equal(chosen("Q4_K_M", &model, "blk.9.attn_v.weight", 9, 4096), "q8_0");
    assert_string_equal(chosen("Q4_K_M", &model, "blk.9.attn_k.weight", 9, 4096), "q8_0");
    assert_string_equal(chosen("Q4_K_M", &model, "blk.9.attn_output.weight", 9, 4096), "q5_K");
    const struct by_ggml_tensor experts = {
        .name = "blk.9.ffn_up_exps.weight", .width = 4096, .matrices = 8};
    assert_string_equal(
        by_ggml_choose(by_ggml_mixture_named("mxfp4_moe"), &model, &experts, NULL)->name, "mxfp4");
    model.falcon = true;
    assert_string_equal(chosen("Q4_K_M", &model, "output.weight", 0, 4096), "q8_0");
}

static void before_fallback(void **state)
{
    const struct by_ggml_type *before;
    const struct by_ggml_tensor tensor = {
        .name = "blk.9.attn_q.weight", .width = 576, .matrices = 1, .index = 9, .layer = 9};
    (void)state;
    const struct by_ggml_type *used =
        by_ggml_choose(by_ggml_mixture_named("Q4_K_M"), &llama, &tensor, &before);
    assert_string_equal(before->name, "q4_K");
    assert_string_equal(used->name, "q5_0");
}

static void kept_tensors(void **state)
{
    (void)state;
    assert_true(by_ggml_may_quantize("blk.0.attn_q.weight", 2));
    assert_true(by_ggml_may_quantize("blk.0.ffn_up_exps.weight", 3));
    assert_false(by_ggml_may_quantize("blk.0.attn_q.weight", 1));
    assert_false(by_ggml_may_quantize("blk.0.attn_q.bias", 2));
    assert_false(by_ggml_may_quantize("blk.0.attn_norm.weight", 2));
    assert_false(by_ggml_may_quantize("blk.0.ffn_gate_inp.weight", 2));
    assert_false(by_ggml_may_quantize("position_embd.weight", 2));
    assert_false(by_ggml_may_quantize("a", 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),        cmocka_unit_test(bytes),
        cmocka_unit_test(fallbacks),    cmocka_unit_test(mixtures),
        cmocka_unit_test(other_models), cmocka_unit_test(before_fallback),
        cmocka_unit_test(kept_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
