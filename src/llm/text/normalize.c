/* The normalizer of a tokenizer.json. */
#include "llm/text/tokenize_internal.h"
#include "llm/text/unicode.h"

#include "base/utf8.h"
#include "llm/family/family.h"

#include <string.h>

#define STEPS_MAX   32
#define CONTENT_MAX 32 /* bytes that may stand for a match */
/* How much longer a text may become; canonical forms and signs for blanks triple it at most. */
#define TIMES_MAX  16
#define LONGER_MAX 4096

static int read_step(struct by_normal_step *step, struct by_arena *arena,
                     const struct by_doc_node *node, const char *type, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const struct by_doc_node *pattern = by_doc_get(node, "pattern");
    const char *regex = by_hf_string(pattern, "Regex");
    if (!strcmp(type, "NFC") || !strcmp(type, "NFD")) {
        step->kind = type[2] == 'C' ? BY_NORMAL_NFC : BY_NORMAL_NFD;
        return 0;
    }
    if (!strcmp(type, "Strip")) {
        step->kind = BY_NORMAL_STRIP;
        by_hf_bool(node, "strip_left", &step->left);
        by_hf_bool(node, "strip_right", &step->right);
        return 0;
    }
    if (!strcmp(type, "Replace")) {
        step->kind = BY_NORMAL_REPLACE;
        step->from = by_hf_string(pattern, "String");
        step->to = by_hf_string(node, "content");
        if (regex && by_regex_parse(&step->regex, arena, regex, err))
            return -1;
        if (step->to && strlen(step->to) > CONTENT_MAX)
            return by_fail(err, BARYON_ERR_UNSUPPORTED,
                           "the normalizer Replace has a content of %zu bytes, must be at most %d",
                           strlen(step->to), CONTENT_MAX);
        if ((step->from || regex) && step->to)
            return 0;
    }
    if (!strcmp(type, "Prepend")) {
        step->kind = BY_NORMAL_PREPEND;
        step->to = by_hf_string(node, "prepend");
        if (step->to)
            return 0;
    }
    return by_fail(err, BARYON_ERR_UNSUPPORTED,
                   "the normalizer %s, must be NFC, NFD, Replace, Prepend or Strip",
                   by_quote(quoted, type));
}

/* Texts of the document are copied: it may be gone later. */
static int keep_texts(struct by_normal_step *step, struct by_arena *arena, struct baryon_error *err)
{
    if (step->from && !(step->from = by_arena_text(arena, step->from, strlen(step->from), err)))
        return -1;
    if (step->to && !(step->to = by_arena_text(arena, step->to, strlen(step->to), err)))
        return -1;
    return 0;
}

static int read_steps(struct by_normal_step **steps, size_t *count, struct by_arena *arena,
                      const struct by_doc_node *node, struct baryon_error *err)
{
    const char *type = by_hf_string(node, "type");
    const struct by_doc_node *list = by_doc_get(node, "normalizers");
    while (*steps)
        steps = &(*steps)->next;
    if (!node || node->kind == BY_DOC_NULL)
        return 0;
    if (!type)
        return by_fail(err, BARYON_ERR_INPUT, "a normalizer without a type");
    if (!strcmp(type, "Sequence")) {
        for (size_t i = 0; list && list->kind == BY_DOC_LIST && i < list->count; i++)
            if (read_steps(steps, count, arena, list->items[i], err))
                return -1;
        return 0;
    }
    if (++*count > STEPS_MAX)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "more than %d normalizers", STEPS_MAX);
    *steps = BY_ARENA_NEW(arena, struct by_normal_step, err);
    if (!*steps || read_step(*steps, arena, node, type, err))
        return -1;
    return keep_texts(*steps, arena, err);
}

int by_normal_read(struct by_normal_step **steps, struct by_arena *arena,
                   const struct by_doc_node *node, struct baryon_error *err)
{
    size_t count = 0;
    return read_steps(steps, &count, arena, node, err);
}

static void replace_text(const char *from, const char *to, const char *text, size_t size,
                         struct by_str *out)
{
    const size_t length = strlen(from);
    for (size_t at = 0; at < size;) {
        bool same = length && size - at >= length && !memcmp(text + at, from, length);
        if (same)
            by_str_puts(out, to);
        else
            by_str_add(out, text + at, 1);
        at += same ? length : 1;
    }
}

static int replace_regex(const struct by_normal_step *step, struct by_tokenize_work *work,
                         const char *text, size_t size, struct by_str *out)
{
    size_t at = 0, first, end;
    bool found, any = false;
    for (size_t from = 0; from <= size;) {
        if (by_regex_find(&step->regex, &work->stack, text, size, from, &found, &first, &end,
                          work->err))
            return -1;
        if (!found)
            break;
        if (any && first == end && first == at) { /* not right after a match */
            from = first + 1;
            continue;
        }
        by_str_add(out, text + at, first - at);
        by_str_puts(out, step->to);
        from = at = end;
        any = true;
    }
    by_str_add(out, text + at, size - at);
    return 0;
}

static void strip(const struct by_normal_step *step, const char *text, size_t size,
                  struct by_str *out)
{
    const uint8_t *bytes = (const uint8_t *)text;
    size_t first = 0, end = 0;
    uint32_t code;
    bool begins = step->left;
    for (size_t at = 0, length; at < size; at += length) {
        length = by_utf8_next(bytes + at, size - at, &code);
        bool white = by_is_white(code);
        begins = begins && white;
        if (begins)
            first = at + length;
        if (!white || !step->right)
            end = at + length;
    }
    if (end > first)
        by_str_add(out, text + first, end - first);
}

static int apply(const struct by_normal_step *step, struct by_tokenize_work *work, const char *text,
                 size_t size, struct by_str *out)
{
    switch (step->kind) {
    case BY_NORMAL_NFC:
    case BY_NORMAL_NFD:
        return by_canonical(out, text, size, step->kind == BY_NORMAL_NFC, work->err);
    case BY_NORMAL_REPLACE:
        if (!step->from)
            return replace_regex(step, work, text, size, out);
        replace_text(step->from, step->to, text, size, out);
        return 0;
    case BY_NORMAL_PREPEND:
        if (size)
            by_str_puts(out, step->to);
        by_str_add(out, text, size);
        return 0;
    case BY_NORMAL_STRIP:
        strip(step, text, size, out);
        return 0;
    }
    return 0;
}

int by_normalize(const struct by_normal_step *steps, struct by_tokenize_work *work,
                 const char *text, size_t size, struct by_str *out)
{
    struct by_str now = {0}, next = {0};
    int status = 0;
    by_str_add(&now, text, size);
    for (const struct by_normal_step *step = steps; step && !status; step = step->next) {
        by_str_clear(&next);
        status = apply(step, work, by_str_text(&now), now.size, &next);
        struct by_str swap = now;
        now = next;
        next = swap;
        if (!status && now.size / TIMES_MAX > size + LONGER_MAX)
            status = by_fail(work->err, BARYON_ERR_UNSUPPORTED,
                             "the normalizers make %zu bytes of %zu", now.size, size);
    }
    by_str_add(out, by_str_text(&now), now.size);
    if (!status)
        status = now.failed || next.failed ? by_err_nomem(work->err, size)
                                           : by_str_error(out, work->err);
    by_str_release(&now);
    by_str_release(&next);
    return status;
}
