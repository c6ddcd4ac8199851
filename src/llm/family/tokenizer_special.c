/* Special tokens of a folder's tokenizer, what stands around a text, the chat template. */
#include "llm/family/tokenizer_in.h"

#include <string.h>

static const struct {
    const char *name, *setting, *config, *key;
} special_rows[] = {
    {"bos", "bos_token", "bos_token_id", "tokenizer.ggml.bos_token_id"},
    {"eos", "eos_token", "eos_token_id", "tokenizer.ggml.eos_token_id"},
    {"unk", "unk_token", "unk_token_id", "tokenizer.ggml.unknown_token_id"},
    {"sep", "sep_token", "sep_token_id", "tokenizer.ggml.seperator_token_id"},
    {"pad", "pad_token", "pad_token_id", "tokenizer.ggml.padding_token_id"},
};

/* A setting is a text, or a map with the text in it. */
static const char *setting_text(const struct by_doc_node *settings, const char *key)
{
    const char *text = by_hf_string(settings, key);
    return text ? text : by_hf_string(by_doc_get(settings, key), "content");
}

static int64_t special_id(const struct by_token_reader *reader, size_t row)
{
    const struct by_tokenizer_files *files = reader->files;
    const char *text = setting_text(files->settings, special_rows[row].setting);
    int64_t id = text ? by_token_find(reader, text) : -1;
    if (id < 0 && !by_hf_int(files->config, special_rows[row].config, &id)) {
        /* Several ids that end a text: the first one. */
        const struct by_doc_node *list = by_doc_get(files->config, special_rows[row].config);
        if (list && list->kind == BY_DOC_LIST && list->count &&
            list->items[0]->kind == BY_DOC_SCALAR && !by_parse_i64(list->items[0]->text, &id))
            id = -1;
    }
    return id >= 0 && (uint64_t)id < reader->vocab.count ? id : -1;
}

/* The template of one text in tokenizer.json's post_processor; NULL: there is none. */
static const struct by_doc_node *single_template(const struct by_doc_node *node)
{
    const struct by_doc_node *list = by_doc_get(node, "processors");
    for (size_t i = 0; list && list->kind == BY_DOC_LIST && i < list->count; i++) {
        const struct by_doc_node *found = single_template(list->items[i]);
        if (found)
            return found;
    }
    node = by_doc_get(node, "single");
    return node && node->kind == BY_DOC_LIST && node->count ? node : NULL;
}

static void read_around(struct by_token_reader *reader)
{
    const struct by_tokenizer_files *files = reader->files;
    const struct by_doc_node *single =
        single_template(by_doc_get(files->tokenizer, "post_processor"));
    bool first = false, last = false;
    if (single) {
        first = by_doc_get(single->items[0], "SpecialToken") != NULL;
        last = single->count > 1 &&
               by_doc_get(single->items[single->count - 1], "SpecialToken") != NULL;
    }
    bool has_first = by_hf_bool(files->settings, "add_bos_token", &first) || single;
    bool has_last = by_hf_bool(files->settings, "add_eos_token", &last) || single;
    if (has_first || (files->tokenizer && !files->model))
        by_meta_set_bool(reader->meta, "tokenizer.ggml.add_bos_token", first);
    if (has_last)
        by_meta_set_bool(reader->meta, "tokenizer.ggml.add_eos_token", last);
}

static void read_template(struct by_token_reader *reader)
{
    const struct by_tokenizer_files *files = reader->files;
    const char *text = by_hf_string(files->settings, "chat_template");
    const struct by_doc_node *list = by_doc_get(files->settings, "chat_template");
    for (size_t i = 0; !text && list && list->kind == BY_DOC_LIST && i < list->count; i++) {
        const char *name = by_hf_string(list->items[i], "name");
        if (name && !strcmp(name, "default"))
            text = by_hf_string(list->items[i], "template");
    }
    if (!text)
        text = files->chat_template;
    if (text)
        by_meta_set_text(reader->meta, "tokenizer.chat_template", text);
}

int by_token_read_special(struct by_token_reader *reader, struct baryon_error *err)
{
    for (size_t row = 0; row < sizeof special_rows / sizeof *special_rows; row++) {
        int64_t id = special_id(reader, row);
        if (id >= 0)
            by_meta_set_u32(reader->meta, special_rows[row].key, (uint64_t)id);
    }
    read_around(reader);
    read_template(reader);
    return by_meta_error(reader->meta, err);
}
