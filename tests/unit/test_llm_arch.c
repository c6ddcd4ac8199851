/* Tests names, row orders, metadata and tokenizers between safetensors and GGUF. */
#include "llm/family/arch.h"
#include "llm/family/tokenizer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "scratch.h"

static const struct by_doc_node *json(struct by_arena *arena, const char *text)
{
    struct by_doc_node *root;
    assert_ok(by_json_parse(arena, text, strlen(text), "f.json", &root, &err));
    return root;
}

static void assert_name(const char *model, const char *hf, const char *gguf, int64_t expert)
{
    const struct by_gguf_arch *arch = by_gguf_arch_of_model(model);
    char out[BY_ARCH_NAME_MAX];
    int64_t found;
    assert_non_null(arch);
    assert_true(by_gguf_name_of(arch, hf, out, &found));
    assert_string_equal(out, gguf);
    assert_int_equal(found, expert);
    assert_true(by_gguf_name_back(arch, gguf, expert, out));
    assert_string_equal(out, hf);
}

static void names_both_ways(void **state)
{
    (void)state;
    assert_name("llama", "model.layers.12.self_attn.q_proj.weight", "blk.12.attn_q.weight", -1);
    assert_name("llama", "model.layers.0.post_attention_layernorm.weight", "blk.0.ffn_norm.weight",
                -1);
    assert_name("gemma3", "model.layers.0.post_attention_layernorm.weight",
                "blk.0.post_attention_norm.weight", -1);
    assert_name("gemma2", "model.layers.0.pre_feedforward_layernorm.weight",
                "blk.0.ffn_norm.weight", -1);
    assert_name("phi3", "model.layers.1.mlp.gate_up_proj.weight", "blk.1.ffn_up.weight", -1);
    assert_name("qwen2", "model.layers.1.self_attn.k_proj.bias", "blk.1.attn_k.bias", -1);
    assert_name("mixtral", "model.layers.1.block_sparse_moe.experts.7.w2.weight",
                "blk.1.ffn_down_exps.weight", 7);
    assert_name("qwen3_moe", "model.layers.1.mlp.experts.120.up_proj.weight",
                "blk.1.ffn_up_exps.weight", 120);
    assert_name("qwen2_moe", "model.layers.1.mlp.shared_expert_gate.weight",
                "blk.1.ffn_gate_inp_shexp.weight", -1);
    assert_name("llama", "lm_head.weight", "output.weight", -1);
    assert_name("llama", "model.embed_tokens.weight", "token_embd.weight", -1);
}

static void names_without_a_row(void **state)
{
    char out[BY_ARCH_NAME_MAX];
    int64_t expert;
    (void)state;
    const struct by_gguf_arch *llama = by_gguf_arch_of_model("llama");
    assert_false(by_gguf_name_of(llama, "model.layers.0.self_attn.rotary.weight", out, &expert));
    assert_false(by_gguf_name_of(llama, "model.layers.x.mlp.up_proj.weight", out, &expert));
    assert_false(by_gguf_name_of(llama, "model.layers.0.mlp.up_proj", out, &expert));
    assert_false(by_gguf_name_back(llama, "blk.0.ffn_up_gate.weight", -1, out));
    assert_false(by_gguf_name_back(llama, "blk.", -1, out));
    assert_null(by_gguf_arch_of_model("gpt2"));
    assert_null(by_gguf_arch_named("bert", false));
}

/* Two heads of four rows: pairs (0, 2), (1, 3) come to lie side by side. */
static void rows_of_rotary_pairs(void **state)
{
    static const uint64_t wanted[] = {0, 2, 1, 3, 4, 6, 5, 7};
    (void)state;
    for (uint64_t i = 0; i < 8; i++) {
        assert_int_equal(by_gguf_row_of(i, 8, 2), wanted[i]);
        assert_int_equal(by_gguf_row_back(by_gguf_row_of(i, 8, 2), 8, 2), i);
    }
    for (uint64_t i = 0; i < 96; i++)
        assert_int_equal(by_gguf_row_back(by_gguf_row_of(i, 96, 3), 96, 3), i);
}

static const char llama_config[] =
    "{\"model_type\": \"llama\", \"num_hidden_layers\": 2, \"max_position_embeddings\": 128,"
    " \"hidden_size\": 64, \"intermediate_size\": 96, \"num_attention_heads\": 4,"
    " \"rms_norm_eps\": 1e-05, \"vocab_size\": 384, \"head_dim\": 16, \"rope_theta\": 500000.0,"
    " \"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8.0, \"low_freq_factor\": 1.0,"
    " \"high_freq_factor\": 4.0, \"original_max_position_embeddings\": 8192}}";

static void metadata_and_back(void **state)
{
    struct by_arena arena;
    struct by_meta meta;
    struct by_str out = {0};
    const float *factors;
    size_t count;
    int64_t integer;
    double real;
    (void)state;
    by_arena_init(&arena, 0);
    by_meta_init(&meta, &arena);
    const struct by_doc_node *config = json(&arena, llama_config);
    const struct by_gguf_arch *arch = by_gguf_arch_of_model("llama");
    assert_ok(by_meta_of_config(&meta, arch, config, &err));
    assert_true(by_meta_get_int(&meta, "llama.block_count", &integer));
    assert_int_equal(integer, 2);
    assert_true(by_meta_get_int(&meta, "llama.attention.head_count_kv", &integer));
    assert_int_equal(integer, 4); /* as many as heads where config.json is silent */
    assert_true(by_meta_get_int(&meta, "llama.rope.dimension_count", &integer));
    assert_int_equal(integer, 16);
    assert_true(by_meta_get_real(&meta, "llama.rope.freq_base", &real));
    assert_float_equal(real, 500000, 0);
    assert_ok(by_rope_factors(&arena, config, &factors, &count, &err));
    assert_int_equal(count, 8);
    assert_float_equal(factors[0], 1, 0);
    assert_float_equal(factors[7], 8, 0);
    struct by_config_facts facts = {
        .type = "bfloat16", .vocab = 384, .factors = factors, .count = 8};
    assert_ok(by_config_of_meta(&out, &meta, arch, &facts, &err));
    const struct by_doc_node *back = json(&arena, by_str_text(&out));
    assert_true(by_hf_number(back, "rms_norm_eps", &real));
    assert_true(real == 1e-05);
    assert_true(by_hf_number(by_doc_get(back, "rope_scaling"), "factor", &real));
    assert_true(real == 8);
    assert_string_equal(by_hf_string(back, "model_type"), "llama");
    by_str_release(&out);
    by_arena_release(&arena);
}

static void metadata_that_is_missing(void **state)
{
    struct by_arena arena;
    struct by_meta meta;
    struct by_str out = {0};
    struct by_config_facts facts = {.type = "float32", .vocab = 8};
    (void)state;
    by_arena_init(&arena, 0);
    by_meta_init(&meta, &arena);
    const struct by_gguf_arch *arch = by_gguf_arch_of_model("qwen3");
    assert_error(by_meta_of_config(&meta, arch, json(&arena, "{\"hidden_size\": 8}"), &err),
                 BARYON_ERR_INPUT, "num_hidden_layers is missing, qwen3 needs it");
    assert_error(by_config_of_meta(&out, &meta, arch, &facts, &err), BARYON_ERR_INPUT,
                 "metadata qwen3.block_count is missing, Qwen3ForCausalLM needs it");
    by_str_release(&out);
    by_arena_release(&arena);
}

static const char byte_level[] =
    "{\"added_tokens\": [{\"id\": 4, \"content\": \"<|end|>\", \"special\": true},"
    " {\"id\": 5, \"content\": \"tool\", \"special\": false}],"
    " \"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false},"
    " \"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b\": 1, \"ab\": 2, \"aab\": 3},"
    " \"merges\": [\"a b\", [\"a\", \"ab\"]]}}";

static void byte_level_tokenizer_and_back(void **state)
{
    struct by_arena arena;
    struct by_meta meta;
    struct by_str notices = {0}, tokenizer = {0}, settings = {0};
    bool known;
    int64_t id;
    (void)state;
    by_arena_init(&arena, 0);
    by_meta_init(&meta, &arena);
    struct by_tokenizer_files files = {
        .tokenizer = json(&arena, byte_level),
        .settings = json(&arena, "{\"eos_token\": {\"content\": \"<|end|>\"}}")};
    assert_ok(by_meta_of_tokenizer(&meta, &files, 7, &notices, &err));
    assert_string_equal(by_meta_get_text(&meta, "tokenizer.ggml.model"), "gpt2");
    assert_string_equal(by_meta_get_text(&meta, "tokenizer.ggml.pre"), "gpt-2");
    assert_true(by_meta_get_int(&meta, "tokenizer.ggml.eos_token_id", &id));
    assert_int_equal(id, 4);
    const struct by_meta_value *kinds =
        by_meta_get_array(&meta, "tokenizer.ggml.token_type", BY_META_I32);
    static const int32_t wanted[] = {1, 1, 1, 1, 3, 4, 5};
    assert_memory_equal(kinds->items, wanted, sizeof wanted);
    const struct by_meta_value *merges =
        by_meta_get_array(&meta, "tokenizer.ggml.merges", BY_META_STRING);
    assert_int_equal(merges->count, 2);
    assert_memory_equal(((const struct by_meta_text *)merges->items)[1].bytes, "a ab", 4);
    assert_string_equal(by_str_text(&notices), "");
    assert_ok(by_tokenizer_of_meta(&tokenizer, &settings, &meta, &known, &notices, &err));
    assert_true(known);
    const struct by_doc_node *back = json(&arena, by_str_text(&tokenizer));
    const struct by_doc_node *model = by_doc_get(back, "model");
    assert_int_equal(by_doc_get(model, "vocab")->count, 6);
    assert_int_equal(by_doc_get(model, "merges")->count, 2);
    assert_int_equal(by_doc_get(back, "added_tokens")->count, 2);
    assert_string_equal(by_pre_of(by_doc_get(back, "pre_tokenizer")), "gpt-2");
    by_str_release(&notices);
    by_str_release(&tokenizer);
    by_str_release(&settings);
    by_arena_release(&arena);
}

static void refuse_tokenizer(const char *text, uint64_t vocab, const char *wanted)
{
    struct by_arena arena;
    struct by_meta meta;
    struct by_str notices = {0};
    by_arena_init(&arena, 0);
    by_meta_init(&meta, &arena);
    struct by_tokenizer_files files = {.tokenizer = json(&arena, text)};
    by_err_clear(&err);
    assert_int_equal(by_meta_of_tokenizer(&meta, &files, vocab, &notices, &err), -1);
    assert_string_equal(error_text(), wanted);
    by_str_release(&notices);
    by_arena_release(&arena);
}

static void tokenizers_that_are_refused(void **state)
{
    (void)state;
    refuse_tokenizer("{\"model\": {\"type\": \"WordPiece\"}}", 8,
                     "tokenizer.json: model.type is 'WordPiece', must be BPE or Unigram; other "
                     "kinds cannot be converted");
    refuse_tokenizer("{\"model\": {\"type\": \"Unigram\"}}", 8,
                     "tokenizer.json: model.vocab is missing, must be a list of pieces and scores");
    refuse_tokenizer("{\"model\": {\"type\": \"Unigram\", \"vocab\": [[\"a\", 0], [\"b\"]]}}", 8,
                     "tokenizer.json: model.vocab[1] must be a text and a score");
    refuse_tokenizer("{\"model\": {\"type\": \"Unigram\", \"vocab\": []}, \"normalizer\": "
                     "{\"type\": \"Precompiled\", \"precompiled_charsmap\": \"AA*A\"}}",
                     8, "tokenizer.json: precompiled_charsmap must be base64");
    refuse_tokenizer("{\"model\": {\"type\": \"BPE\"}}", 8,
                     "tokenizer.json: model.vocab is missing, must be a map of tokens");
    refuse_tokenizer(byte_level, 5,
                     "tokenizer.json: added_tokens: id of 'tool' (5), must be below the rows of "
                     "the embedding (5)");
}

/* What llama.cpp calls t5: the best sum of scores, with SentencePiece's normalization. */
static void unigram_tokenizer(void **state)
{
    static const char text[] =
        "{\"added_tokens\": [{\"id\": 3, \"content\": \"</s>\", \"special\": true}],"
        " \"normalizer\": {\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"Precompiled\","
        " \"precompiled_charsmap\": \"AQID/w==\"}, {\"type\": \"Replace\", \"pattern\":"
        " {\"Regex\": \" {2,}\"}, \"content\": \" \"}]},"
        " \"pre_tokenizer\": {\"type\": \"Metaspace\", \"prepend_scheme\": \"always\"},"
        " \"model\": {\"type\": \"Unigram\", \"unk_id\": 0, \"vocab\":"
        " [[\"<unk>\", 0], [\"a\", -1.5], [\"ab\", -2e0], [\"</s>\", 0]]}}";
    static const uint8_t charsmap[] = {1, 2, 3, 255};
    struct by_arena arena;
    struct by_meta meta;
    struct by_str notices = {0};
    int64_t flag;
    (void)state;
    by_arena_init(&arena, 0);
    by_meta_init(&meta, &arena);
    struct by_tokenizer_files files = {.tokenizer = json(&arena, text)};
    assert_ok(by_meta_of_tokenizer(&meta, &files, 5, &notices, &err));
    assert_string_equal(by_meta_get_text(&meta, "tokenizer.ggml.model"), "t5");
    assert_string_equal(by_meta_get_text(&meta, "tokenizer.ggml.pre"), "default");
    assert_true(by_meta_get_int(&meta, "tokenizer.ggml.add_space_prefix", &flag) && flag);
    assert_true(by_meta_get_int(&meta, "tokenizer.ggml.remove_extra_whitespaces", &flag) && flag);
    const struct by_meta_value *value =
        by_meta_get_array(&meta, "tokenizer.ggml.precompiled_charsmap", BY_META_U8);
    assert_int_equal(value->count, sizeof charsmap);
    assert_memory_equal(value->items, charsmap, sizeof charsmap);
    value = by_meta_get_array(&meta, "tokenizer.ggml.token_type", BY_META_I32);
    static const int32_t kinds[] = {2, 1, 1, 3, 5};
    assert_memory_equal(value->items, kinds, sizeof kinds);
    value = by_meta_get_array(&meta, "tokenizer.ggml.scores", BY_META_F32);
    assert_float_equal(((const float *)value->items)[1], -1.5f, 0);
    assert_float_equal(((const float *)value->items)[2], -2, 0);
    assert_string_equal(by_str_text(&notices), "");
    by_str_release(&notices);
    by_arena_release(&arena);
}

/* Pieces "<unk>" (unknown), "a" and "b" (normal), "ab" (normal, the best score). */
static const uint8_t pieces[] = {0x0a, 0x0e, 0x0a, 5,    '<',  'u',  'n',  'k',  '>', 0x15, 0,
                                 0,    0,    0,    0x18, 2,    0x0a, 8,    0x0a, 1,   'a',  0x15,
                                 0,    0,    0x80, 0xbf, 0x0a, 8,    0x0a, 1,    'b', 0x15, 0,
                                 0,    0,    0xc0, 0x0a, 9,    0x0a, 2,    'a',  'b', 0x15, 0,
                                 0,    0,    0,    0x12, 2,    0x18, 2,    0x1a, 2,   0x18, 0};

static void pieces_of_sentencepiece(void **state)
{
    struct by_arena arena;
    struct by_vocab vocab;
    struct by_piece_spec spec;
    uint64_t count;
    (void)state;
    by_arena_init(&arena, 0);
    assert_ok(by_sentencepiece_count(pieces, sizeof pieces, &count, &err));
    assert_int_equal(count, 4);
    assert_ok(by_vocab_make(&vocab, &arena, 5, &err));
    assert_ok(by_sentencepiece_read(&vocab, pieces, sizeof pieces, &spec, &err));
    assert_false(spec.prefix || spec.unigram);
    assert_true(spec.squeeze && !spec.charsmap_size);
    assert_int_equal(vocab.kinds[0], BY_TOKEN_UNKNOWN);
    assert_memory_equal(vocab.tokens[3].bytes, "ab", 2);
    assert_float_equal(vocab.scores[2], -2, 0);
    assert_int_equal(vocab.kinds[4], BY_TOKEN_UNUSED);
    assert_memory_equal(vocab.tokens[4].bytes, "[PAD4]", 6);
    /* Every cut is refused or shorter, and reads nothing beyond the end. */
    for (size_t size = 0; size < sizeof pieces; size++) {
        uint8_t *copy = by_alloc(size, 1, &err);
        memcpy(copy, pieces, size);
        if (!by_sentencepiece_read(&vocab, copy, size, &spec, &err))
            assert_true(size == 16 || size >= 26);
        by_free(copy);
    }
    assert_ok(by_vocab_make(&vocab, &arena, 3, &err));
    assert_error(by_sentencepiece_read(&vocab, pieces, sizeof pieces, &spec, &err),
                 BARYON_ERR_INPUT, "has more than 3 pieces, the embedding has so many rows");
    by_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_both_ways),
        cmocka_unit_test(names_without_a_row),
        cmocka_unit_test(rows_of_rotary_pairs),
        cmocka_unit_test(metadata_and_back),
        cmocka_unit_test(metadata_that_is_missing),
        cmocka_unit_test(byte_level_tokenizer_and_back),
        cmocka_unit_test(tokenizers_that_are_refused),
        cmocka_unit_test(unigram_tokenizer),
        cmocka_unit_test(pieces_of_sentencepiece),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
