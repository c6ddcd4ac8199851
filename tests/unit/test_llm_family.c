/* Tests which role tensors of known models get, and what is left alone. */
#include "llm/family/family.h"

#include "base/file.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scratch.h"

#define TENSORS_MAX 128

/* Tensors of one model as the golden file lists them: name, dims, what is expected. */
struct listed {
    struct by_family_tensor tensors[TENSORS_MAX];
    uint64_t dims[TENSORS_MAX][4];
    const char *wanted[TENSORS_MAX];
    size_t count;
};

static void show_role(struct by_str *out, const struct by_tensor_role *role)
{
    by_str_clear(out);
    by_str_puts(out, by_llm_role_text(role->role));
    if (role->part != BY_LLM_PART_DECODER)
        by_str_printf(out, " %s", by_llm_part_text(role->part));
    if (role->param != BY_LLM_PARAM_WEIGHT)
        by_str_puts(out, role->param == BY_LLM_PARAM_BIAS ? " bias" : " quant");
    if (role->layer >= 0)
        by_str_printf(out, " layer=%d", (int)role->layer);
    if (role->expert >= 0)
        by_str_printf(out, " expert=%d", (int)role->expert);
    by_str_puts(out, role->stacked ? " stacked" : "");
    by_str_puts(out, role->shared ? " shared" : "");
    by_str_puts(out, role->transposed ? " transposed" : "");
}

/* "NAME 4x8 ROLE..."; the line is cut into parts. A tensor of one value has no dims. */
static void list_line(struct listed *listed, char *line)
{
    size_t i = listed->count++;
    assert_true(i < TENSORS_MAX);
    char *at = strchr(line, ' ');
    assert_non_null(at);
    *at++ = '\0';
    listed->tensors[i] = (struct by_family_tensor){line, listed->dims[i], 0};
    while (*at && *at != ' ') {
        listed->dims[i][listed->tensors[i].rank++] = strtoull(at, &at, 10);
        at += *at == 'x';
    }
    listed->wanted[i] = at + (*at == ' ');
}

static void check_listed(struct listed *listed, const char *heading)
{
    struct by_arena arena;
    struct by_doc_node *config;
    struct by_family family;
    struct by_str out = {0};
    const char *json = strchr(heading, '{');
    by_arena_init(&arena, 0);
    assert_ok(by_json_parse(&arena, json, strlen(json), "config.json", &config, &err));
    assert_ok(by_family_read(&family, &arena, config, listed->tensors, listed->count, &err));
    for (size_t i = 0; i < listed->count; i++) {
        show_role(&out, &family.roles[i]);
        if (strcmp(by_str_text(&out), listed->wanted[i]) != 0)
            fail_msg("%s: %s is %s, wanted %s", heading, listed->tensors[i].name, by_str_text(&out),
                     listed->wanted[i]);
    }
    by_str_release(&out);
    by_arena_release(&arena);
    listed->count = 0;
}

/* Names and shapes as transformers saves models of these families. */
static void roles_of_known_models(void **state)
{
    static struct listed listed;
    (void)state;
    char *text, *heading = NULL;
    size_t size, models = 0;
    assert_ok(by_read_file("tests/golden/llm/families.txt", 1 << 20, &text, &size, &err));
    for (char *line = text, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        *next++ = '\0';
        if (*line != '[') {
            list_line(&listed, line);
            continue;
        }
        if (heading)
            check_listed(&listed, heading);
        heading = line;
        models++;
    }
    check_listed(&listed, heading);
    assert_true(models > 50);
    by_free(text);
}

static void assert_excluded(const char *name, const char *wanted)
{
    struct by_tensor_role role;
    by_llm_role_of_name(name, &role);
    const char *why = by_llm_role_excluded(&role);
    if (wanted)
        assert_string_equal(why, wanted);
    else
        assert_null(why);
}

static void left_alone_by_default(void **state)
{
    (void)state;
    assert_excluded("model.layers.3.mlp.down_proj.weight", NULL);
    assert_excluded("model.layers.3.mlp.down_proj.bias", "a bias");
    assert_excluded("model.layers.3.mlp.down_proj.weight_scale", "of a quantization");
    assert_excluded("model.layers.3.mlp.gate.weight", "a router of experts");
    assert_excluded("model.layers.3.mlp.gate.e_score_correction_bias", "a router of experts");
    assert_excluded("model.layers.3.mlp.shared_expert_gate.weight", "the gate of a shared expert");
    assert_excluded("lm_head.weight", "the head");
    assert_excluded("model.embed_tokens.weight", "the embedding");
    assert_excluded("vision_tower.encoder.layers.0.self_attn.q_proj.weight", "of the vision tower");
    assert_excluded("model.visual.blocks.0.attn.qkv.weight", "of the vision tower");
    assert_excluded("multi_modal_projector.linear_1.weight", "of the projector");
    assert_excluded("mtp.layers.0.mlp.up_proj.weight", "of a block that predicts more tokens");
    assert_excluded("model.layers.3.hyper.mix.weight", "not recognised");
    assert_excluded("blk.0.ffn_down_exps.weight", NULL);
    assert_excluded("blk.0.attn_norm.weight", "a norm");
}

/* Layers beyond those of config.json are MTP blocks (DeepSeek-V3's layer 61). */
static void layers_behind_the_last_predict_more_tokens(void **state)
{
    (void)state;
    static const uint64_t dims[] = {8, 8};
    static const struct by_family_tensor tensors[] = {
        {"model.layers.0.self_attn.q_proj.weight", dims, 2},
        {"model.layers.1.self_attn.q_proj.weight", dims, 2},
        {"model.layers.2.self_attn.q_proj.weight", dims, 2},
    };
    static const char json[] = "{\"num_hidden_layers\": 2, \"hidden_size\": 8}";
    struct by_arena arena;
    struct by_doc_node *config;
    struct by_family family;
    by_arena_init(&arena, 0);
    assert_ok(by_json_parse(&arena, json, sizeof json - 1, "config.json", &config, &err));
    assert_ok(by_family_read(&family, &arena, config, tensors, 3, &err));
    assert_int_equal(family.roles[1].part, BY_LLM_PART_DECODER);
    assert_int_equal(family.roles[2].part, BY_LLM_PART_MTP);
    assert_true(family.tied);
    assert_int_equal(family.layers, 2);
    by_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roles_of_known_models),
        cmocka_unit_test(left_alone_by_default),
        cmocka_unit_test(layers_behind_the_last_predict_more_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
