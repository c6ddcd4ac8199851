/* Texts for a language model, as ids. */
#include "llm/eval_text.h"

#include "llm/family/tokenizer.h"
#include "llm/ids.h"

#include <inttypes.h>
#include <sys/stat.h>

#define TOKENIZER_BYTES ((size_t)256 << 20)
#define TEXT_BYTES      ((size_t)1 << 30)

/* --- tokenizer.model --- */

/* tokenizer.json of the pieces, by the way that GGUF's keys take. */
static int json_of_pieces(struct by_checkpoint *checkpoint, struct by_tokenizer_files *files,
                          size_t vocab, struct by_str out[3], struct baryon_error *err)
{
    struct by_meta meta;
    bool known = false;
    by_meta_init(&meta, &checkpoint->arena);
    if (by_meta_of_tokenizer(&meta, files, vocab, &out[2], err) ||
        by_tokenizer_of_meta(&out[0], &out[1], &meta, &known, &out[2], err))
        return -1;
    if (known)
        return 0;
    by_fail(err, BARYON_ERR_UNSUPPORTED,
            "tokenizer.model is no BPE model of SentencePiece, cannot be used for texts");
    return by_err_hint(err, "--text takes ids in a .npy file, too");
}

static int made_of_pieces(struct by_llm_opened *opened, size_t vocab,
                          const struct by_doc_node **json, struct baryon_error *err)
{
    struct by_checkpoint *checkpoint = opened->checkpoint;
    struct by_tokenizer_files files = {.config = by_hf_text(checkpoint->config)};
    const struct by_doc_limits limits = {TOKENIZER_BYTES, TOKENIZER_BYTES / 8};
    struct by_str out[3] = {{0}};
    struct by_mapped model;
    struct by_doc_node *parsed = NULL;
    char path[4096];
    if (!by_join_path(path, sizeof path, checkpoint->folder, "tokenizer.model") ||
        !by_file_exists(path)) {
        by_fail(err, BARYON_ERR_INPUT,
                "there is no tokenizer.json and no tokenizer.model, one is required for texts");
        by_err_hint(err, "--text takes ids in a .npy file, too");
        return by_err_file(err, checkpoint->path);
    }
    if (by_checkpoint_json(checkpoint, "tokenizer_config.json", TOKENIZER_BYTES, &files.settings,
                           err) ||
        by_checkpoint_json(checkpoint, "added_tokens.json", TOKENIZER_BYTES, &files.added, err) ||
        by_mapped_open(&model, path, err))
        return -1;
    files.model = model.bytes;
    files.model_size = model.size;
    int status = json_of_pieces(checkpoint, &files, vocab, out, err);
    if (!status)
        status = by_json_parse_within(&checkpoint->arena, by_str_text(&out[0]), out[0].size,
                                      "tokenizer.json", limits, &parsed, err);
    for (size_t i = 0; i < 3; i++)
        by_str_release(&out[i]);
    by_mapped_close(&model);
    *json = parsed;
    return status;
}

int by_llm_tokenizer_open(struct by_tokenize **tokenize, struct by_llm_opened *opened, size_t vocab,
                          struct baryon_error *err)
{
    const struct by_str *made = &opened->files.tokenizer;
    struct by_checkpoint *checkpoint = opened->checkpoint;
    const struct by_doc_node *json = NULL;
    struct by_doc_node *parsed = NULL;
    const struct by_doc_limits limits = {TOKENIZER_BYTES, TOKENIZER_BYTES / 8};
    if (checkpoint->container == BY_GGUF && made->size) {
        if (by_json_parse_within(&checkpoint->arena, made->text, made->size, "tokenizer.json",
                                 limits, &parsed, err))
            return -1;
        json = parsed;
    } else if (by_checkpoint_json(checkpoint, "tokenizer.json", TOKENIZER_BYTES, &json, err)) {
        return -1;
    }
    if (!json && made_of_pieces(opened, vocab, &json, err))
        return -1;
    return by_tokenize_open(tokenize, json, err) ? by_err_file(err, "tokenizer.json") : 0;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int add_file(struct by_str *text, const char *path, struct baryon_error *err)
{
    char *bytes;
    size_t size;
    if (by_read_file(path, TEXT_BYTES, &bytes, &size, err))
        return -1;
    if (text->size)
        by_str_puts(text, "\n\n");
    by_str_add(text, bytes, size);
    by_free(bytes);
    return by_str_error(text, err);
}

static int add_folder(struct by_str *text, const char *folder, struct baryon_error *err)
{
    struct by_listing listing;
    char path[4096];
    int status = by_list_folder(&listing, folder, err);
    if (status)
        return -1;
    for (size_t i = 0; !status && i < listing.count; i++)
        status = by_join_path(path, sizeof path, folder, listing.names[i])
                     ? add_file(text, path, err)
                     : by_fail(err, BARYON_ERR_INPUT, "a path that is too long");
    by_listing_release(&listing);
    return status;
}

int by_llm_read_texts(struct by_str *text, const struct by_setting_texts *paths,
                      struct baryon_error *err)
{
    for (size_t i = 0; i < paths->count; i++)
        if (is_folder(paths->at[i]) ? add_folder(text, paths->at[i], err)
                                    : add_file(text, paths->at[i], err))
            return -1;
    return 0;
}

/* --- Ids --- */

static int ids_of_texts(struct by_token_ids *ids, struct by_llm_opened *opened,
                        const struct by_setting_texts *paths, size_t vocab,
                        struct baryon_error *err)
{
    struct by_tokenize *tokenize = NULL;
    struct by_str text = {0};
    int status = by_llm_tokenizer_open(&tokenize, opened, vocab, err);
    if (!status)
        status = by_llm_read_texts(&text, paths, err);
    if (!status)
        status = by_tokenize_text(tokenize, by_str_text(&text), text.size, true, ids, err);
    if (!status && by_tokenize_ids(tokenize) > vocab)
        status = by_fail(err, BARYON_ERR_INPUT,
                         "the tokenizer has ids up to %" PRIu32 ", the model only %zu",
                         by_tokenize_ids(tokenize) - 1, vocab);
    by_str_release(&text);
    by_tokenize_close(tokenize);
    return status;
}

int by_llm_text_ids(struct by_token_ids *ids, struct by_llm_opened *opened,
                    const struct by_setting_texts *paths, size_t length, size_t vocab,
                    struct baryon_error *err)
{
    return by_llm_ids_given(paths) ? by_llm_ids_read(ids, paths, length, vocab, err)
                                   : ids_of_texts(ids, opened, paths, vocab, err);
}
