/* The pre-tokenizer of a tokenizer.json as steps. */
#include "llm/text/tokenize_internal.h"

#include "base/utf8.h"
#include "llm/family/family.h"

#include <string.h>

/* What GPT-2 cuts a text by. */
#define BYTE_LEVEL                                                                                 \
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
#define STEPS_MAX     32
#define DEFAULT_BLANK "\xe2\x96\x81"

/* Those that cut by one pattern. */
static const struct {
    const char *type, *pattern;
    enum by_split_way way;
    bool invert;
} pattern_rows[] = {
    {"Whitespace", "\\w+|[^\\w\\s]+", BY_SPLIT_REMOVED, true},
    {"WhitespaceSplit", "\\s", BY_SPLIT_REMOVED, false},
    {"Punctuation", "[!-/:-@\\[-`{-~\\p{P}]", BY_SPLIT_ISOLATED, false},
    {"Digits", "\\p{N}", BY_SPLIT_CONTIGUOUS, false},
};

static const char *const way_names[] = {"Isolated", "Removed", "MergedWithPrevious",
                                        "MergedWithNext", "Contiguous"};

static int read_way(struct by_split_step *step, const struct by_doc_node *node,
                    struct baryon_error *err)
{
    const char *name = by_hf_string(node, "behavior");
    for (size_t i = 0; name && i < sizeof way_names / sizeof *way_names; i++)
        if (!strcmp(name, way_names[i])) {
            step->way = (enum by_split_way)i;
            return 0;
        }
    return by_fail(err, BARYON_ERR_INPUT,
                   "the behavior of a pre-tokenizer must be Isolated, Removed, "
                   "MergedWithPrevious, MergedWithNext or Contiguous");
}

static int read_split(struct by_split_step *step, struct by_arena *arena,
                      const struct by_doc_node *node, struct baryon_error *err)
{
    const struct by_doc_node *pattern = by_doc_get(node, "pattern");
    const char *text = by_hf_string(pattern, "String"), *regex = by_hf_string(pattern, "Regex");
    if (!text && !regex)
        return by_fail(err, BARYON_ERR_INPUT, "a pre-tokenizer Split without a pattern");
    by_hf_bool(node, "invert", &step->invert);
    step->kind = text ? BY_SPLIT_TEXT : BY_SPLIT_REGEX;
    step->text = text;
    if (read_way(step, node, err))
        return -1;
    return regex ? by_regex_parse(&step->regex, arena, regex, err) : 0;
}

static int read_bytes(struct by_split_step *step, struct by_arena *arena,
                      const struct by_doc_node *node, struct baryon_error *err)
{
    bool prefix = true;
    step->kind = BY_SPLIT_BYTES;
    step->splits = true;
    by_hf_bool(node, "add_prefix_space", &prefix);
    by_hf_bool(node, "use_regex", &step->splits);
    step->prepend = prefix ? BY_PREPEND_ALWAYS : BY_PREPEND_NEVER;
    return step->splits ? by_regex_parse(&step->regex, arena, BYTE_LEVEL, err) : 0;
}

static int read_metaspace(struct by_split_step *step, const struct by_doc_node *node,
                          struct baryon_error *err)
{
    const char *scheme = by_hf_string(node, "prepend_scheme");
    uint32_t code;
    bool prefix = true;
    step->kind = BY_SPLIT_METASPACE;
    step->way = BY_SPLIT_WITH_NEXT;
    step->splits = true;
    step->text = by_hf_string(node, "replacement");
    step->text = step->text ? step->text : DEFAULT_BLANK;
    if (!*step->text ||
        by_utf8_next((const uint8_t *)step->text, strlen(step->text), &code) != strlen(step->text))
        return by_fail(err, BARYON_ERR_INPUT,
                       "the replacement of a pre-tokenizer must be one character");
    by_hf_bool(node, "split", &step->splits);
    by_hf_bool(node, "add_prefix_space", &prefix);
    step->prepend = prefix ? BY_PREPEND_ALWAYS : BY_PREPEND_NEVER;
    if (!scheme)
        return 0;
    if (strcmp(scheme, "always") != 0 && strcmp(scheme, "first") != 0 &&
        strcmp(scheme, "never") != 0)
        return by_fail(err, BARYON_ERR_INPUT,
                       "the prepend_scheme of a pre-tokenizer must be always, first or never");
    step->prepend = *scheme == 'a'   ? BY_PREPEND_ALWAYS
                    : *scheme == 'f' ? BY_PREPEND_FIRST
                                     : BY_PREPEND_NEVER;
    return 0;
}

static int read_step(struct by_split_step *step, struct by_arena *arena,
                     const struct by_doc_node *node, const char *type, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (!strcmp(type, "Split"))
        return read_split(step, arena, node, err);
    if (!strcmp(type, "ByteLevel"))
        return read_bytes(step, arena, node, err);
    if (!strcmp(type, "Metaspace"))
        return read_metaspace(step, node, err);
    for (size_t i = 0; i < sizeof pattern_rows / sizeof *pattern_rows; i++)
        if (!strcmp(type, pattern_rows[i].type)) {
            bool individual = false;
            by_hf_bool(node, "individual_digits", &individual);
            step->way = individual ? BY_SPLIT_ISOLATED : pattern_rows[i].way;
            step->invert = pattern_rows[i].invert;
            if (by_doc_get(node, "behavior") && read_way(step, node, err))
                return -1;
            return by_regex_parse(&step->regex, arena, pattern_rows[i].pattern, err);
        }
    return by_fail(err, BARYON_ERR_UNSUPPORTED,
                   "the pre-tokenizer %s, must be Split, ByteLevel, Metaspace, Digits, Whitespace, "
                   "WhitespaceSplit or Punctuation",
                   by_quote(quoted, type));
}

static int read_steps(struct by_split_step **steps, size_t *count, struct by_arena *arena,
                      const struct by_doc_node *node, struct baryon_error *err)
{
    const char *type = by_hf_string(node, "type");
    const struct by_doc_node *list = by_doc_get(node, "pretokenizers");
    while (*steps)
        steps = &(*steps)->next;
    if (!node || node->kind == BY_DOC_NULL)
        return 0;
    if (!type)
        return by_fail(err, BARYON_ERR_INPUT, "a pre-tokenizer without a type");
    if (!strcmp(type, "Sequence")) {
        for (size_t i = 0; list && list->kind == BY_DOC_LIST && i < list->count; i++)
            if (read_steps(steps, count, arena, list->items[i], err))
                return -1;
        return 0;
    }
    if (++*count > STEPS_MAX)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "more than %d pre-tokenizers", STEPS_MAX);
    struct by_split_step *step = *steps = BY_ARENA_NEW(arena, struct by_split_step, err);
    if (!step || read_step(step, arena, node, type, err))
        return -1;
    if (step->text && !(step->text = by_arena_text(arena, step->text, strlen(step->text), err)))
        return -1;
    return 0;
}

int by_split_read(struct by_split_step **steps, struct by_arena *arena,
                  const struct by_doc_node *node, struct baryon_error *err)
{
    size_t count = 0;
    return read_steps(steps, &count, arena, node, err);
}
