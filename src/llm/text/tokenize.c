/* From text to ids: the stages of a tokenizer.json in their order. */
#include "llm/text/tokenize_internal.h"
#include "llm/text/unicode.h"

#include "llm/family/family.h"

#include <string.h>

struct by_tokenize {
    struct by_arena arena;
    struct by_normal_step *normalizer;
    struct by_split_step *splits;
    struct by_bpe bpe;
    struct by_added added;
    struct by_token_ids before, behind; /* what stands around a text */
};

/* --- Opening --- */

static int add_special(struct by_tokenize *t, const struct by_doc_node *ids, bool behind,
                       struct baryon_error *err)
{
    int64_t id = -1;
    for (size_t i = 0; ids && ids->kind == BY_DOC_LIST && i < ids->count; i++) {
        if (ids->items[i]->kind != BY_DOC_SCALAR || !by_parse_i64(ids->items[i]->text, &id) ||
            id < 0 || id > INT32_MAX)
            return by_fail(err, BARYON_ERR_INPUT, "ids of special tokens must be whole numbers");
        if (by_token_ids_add(behind ? &t->behind : &t->before, (uint32_t)id, err))
            return -1;
    }
    return 0;
}

/* TemplateProcessing: what stands around one text. */
static int read_template(struct by_tokenize *t, const struct by_doc_node *node,
                         struct baryon_error *err)
{
    const struct by_doc_node *single = by_doc_get(node, "single");
    const struct by_doc_node *tokens = by_doc_get(node, "special_tokens");
    bool behind = false;
    for (size_t i = 0; single && single->kind == BY_DOC_LIST && i < single->count; i++) {
        const char *name = by_hf_string(by_doc_get(single->items[i], "SpecialToken"), "id");
        if (by_doc_get(single->items[i], "Sequence"))
            behind = true;
        else if (name && add_special(t, by_doc_get(by_doc_get(tokens, name), "ids"), behind, err))
            return -1;
    }
    return 0;
}

static int read_around(struct by_tokenize *t, const struct by_doc_node *node,
                       struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const char *type = by_hf_string(node, "type");
    const struct by_doc_node *list = by_doc_get(node, "processors");
    if (!type || !strcmp(type, "ByteLevel"))
        return 0;
    if (!strcmp(type, "TemplateProcessing"))
        return read_template(t, node, err);
    if (strcmp(type, "Sequence") != 0)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "the post-processor %s, must be TemplateProcessing or ByteLevel",
                       by_quote(quoted, type));
    for (size_t i = 0; list && list->kind == BY_DOC_LIST && i < list->count; i++)
        if (read_around(t, list->items[i], err))
            return -1;
    return 0;
}

static int read_stages(struct by_tokenize *t, const struct by_doc_node *json,
                       struct baryon_error *err)
{
    struct by_tokenize_work work = {.err = err};
    if (json->kind != BY_DOC_MAP || !by_doc_get(json, "model"))
        return by_fail(err, BARYON_ERR_INPUT, "not a tokenizer.json: it has no model");
    if (by_normal_read(&t->normalizer, &t->arena, by_doc_get(json, "normalizer"), err) ||
        by_split_read(&t->splits, &t->arena, by_doc_get(json, "pre_tokenizer"), err) ||
        by_bpe_read(&t->bpe, &t->arena, by_doc_get(json, "model"), err) ||
        read_around(t, by_doc_get(json, "post_processor"), err))
        return -1;
    int status = by_added_read(&t->added, &t->arena, by_doc_get(json, "added_tokens"),
                               t->normalizer, &work, &t->bpe.count, err);
    by_tokenize_work_release(&work);
    return status;
}

int by_tokenize_open(struct by_tokenize **tokenize, const struct by_doc_node *json,
                     struct baryon_error *err)
{
    struct by_tokenize *t = *tokenize = by_alloc_zero(1, sizeof *t, err);
    if (!t)
        return -1;
    by_arena_init(&t->arena, 0);
    if (!read_stages(t, json, err))
        return 0;
    by_tokenize_close(t);
    *tokenize = NULL;
    return -1;
}

void by_tokenize_close(struct by_tokenize *tokenize)
{
    if (!tokenize)
        return;
    by_bpe_release(&tokenize->bpe);
    by_token_ids_release(&tokenize->before);
    by_token_ids_release(&tokenize->behind);
    by_arena_release(&tokenize->arena);
    by_free(tokenize);
}

uint32_t by_tokenize_ids(const struct by_tokenize *tokenize)
{
    return tokenize->bpe.count;
}

/* --- A text --- */

struct tokenizing {
    const struct by_tokenize *t;
    struct by_tokenize_work work;
};

static int take_word(void *context, const char *word, size_t size)
{
    struct tokenizing *now = context;
    return by_bpe_word(&now->t->bpe, &now->work, word, size);
}

/* What added tokens leave of a normalized part. */
static int take_normal(struct tokenizing *now, const char *text, size_t size, bool begins)
{
    size_t at = 0, first, end;
    const struct by_added_token *token;
    while ((token = by_added_find(&now->t->added.normalized, text, size, at, &first, &end))) {
        if (by_split(now->t->splits, &now->work, text + at, first - at, begins && !at, take_word,
                     now) ||
            by_token_ids_add(now->work.ids, token->id, now->work.err))
            return -1;
        at = end;
    }
    return by_split(now->t->splits, &now->work, text + at, size - at, begins && !at, take_word,
                    now);
}

static int take_part(struct tokenizing *now, const char *text, size_t size, bool begins)
{
    struct by_str normal = {0};
    if (!size)
        return 0;
    if (!now->t->normalizer)
        return take_normal(now, text, size, begins);
    int status = by_normalize(now->t->normalizer, &now->work, text, size, &normal);
    if (!status)
        status = take_normal(now, by_str_text(&normal), normal.size, begins);
    by_str_release(&normal);
    return status;
}

static int take_text(struct tokenizing *now, const char *text, size_t size)
{
    size_t at = 0, first, end;
    const struct by_added_token *token;
    while ((token = by_added_find(&now->t->added.raw, text, size, at, &first, &end))) {
        if (take_part(now, text + at, first - at, !at) ||
            by_token_ids_add(now->work.ids, token->id, now->work.err))
            return -1;
        at = end;
    }
    return take_part(now, text + at, size - at, !at);
}

static int add_around(struct by_token_ids *to, const struct by_token_ids *from,
                   struct baryon_error *err)
{
    for (size_t i = 0; i < from->count; i++)
        if (by_token_ids_add(to, from->ids[i], err))
            return -1;
    return 0;
}

int by_tokenize_text(const struct by_tokenize *tokenize, const char *text, size_t size, bool around,
                     struct by_token_ids *ids, struct baryon_error *err)
{
    struct tokenizing now = {.t = tokenize, .work = {.ids = ids, .err = err}};
    struct by_str repaired = {0};
    int status = 0;
    if (!by_utf8_valid(text, size)) {
        by_utf8_repair(&repaired, text, size);
        status = by_str_error(&repaired, err);
        text = by_str_text(&repaired);
        size = repaired.size;
    }
    if (!status && around)
        status = add_around(ids, &tokenize->before, err);
    if (!status)
        status = take_text(&now, text, size);
    if (!status && around)
        status = add_around(ids, &tokenize->behind, err);
    by_str_release(&repaired);
    by_tokenize_work_release(&now.work);
    return status;
}
