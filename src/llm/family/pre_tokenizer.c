/* Pre-tokenizers: names in GGUF, regular expressions in tokenizer.json. */
#include "llm/family/tokenizer.h"

#include <string.h>

#define CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define BLANKS       "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define UPPER        "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER        "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define NO_WORD      "[^\\r\\n\\p{L}\\p{N}]?"

/* The first row of a kind is the name that is written. */
static const struct {
    const char *name;
    const char *regex; /* NULL: the one of GPT-2, which "ByteLevel" has built in */
    bool digits;
} pre_rows[] = {
    {"llama-bpe",
     CONTRACTIONS "|" NO_WORD "\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" BLANKS, false},
    {"llama3", CONTRACTIONS "|" NO_WORD "\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" BLANKS,
     false},
    {"qwen2", CONTRACTIONS "|" NO_WORD "\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" BLANKS,
     false},
    {"qwen35",
     CONTRACTIONS "|" NO_WORD "[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*" BLANKS,
     false},
    {"tekken",
     NO_WORD UPPER "*" LOWER "+|" NO_WORD UPPER "+" LOWER
                   "*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" BLANKS,
     false},
    {"gpt-4o",
     NO_WORD UPPER "*" LOWER "+" CONTRACTIONS "?|" NO_WORD UPPER "+" LOWER "*" CONTRACTIONS
                   "?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" BLANKS,
     false},
    {"gpt-2", NULL, false},
    {"smollm", NULL, true},
    {"starcoder", NULL, true},
    {"olmo", NULL, false},
    {"refact", NULL, true},
    {"command-r", NULL, true},
};

bool by_pre_named(const char *name, const char **regex, bool *digits)
{
    for (size_t i = 0; i < sizeof pre_rows / sizeof *pre_rows; i++)
        if (!strcmp(pre_rows[i].name, name)) {
            *regex = pre_rows[i].regex;
            *digits = pre_rows[i].digits;
            return true;
        }
    return false;
}

/* What a pre_tokenizer is made of; `other` is anything that no row has. */
struct pre_parts {
    const char *regex;
    bool digits, byte_level, built_in, other;
};

static void read_pre(struct pre_parts *parts, const struct by_doc_node *node)
{
    const char *type = by_hf_string(node, "type");
    const struct by_doc_node *list = by_doc_get(node, "pretokenizers");
    bool flag = true;
    if (!type) {
        parts->other = true;
    } else if (!strcmp(type, "Sequence") && list && list->kind == BY_DOC_LIST) {
        for (size_t i = 0; i < list->count; i++)
            read_pre(parts, list->items[i]);
    } else if (!strcmp(type, "Split") && !parts->regex) {
        parts->regex = by_hf_string(by_doc_get(node, "pattern"), "Regex");
        parts->other |= !parts->regex;
    } else if (!strcmp(type, "Digits")) {
        parts->digits = by_hf_bool(node, "individual_digits", &flag) && flag;
        parts->other |= !parts->digits;
    } else if (!strcmp(type, "ByteLevel")) {
        parts->byte_level = true;
        parts->built_in = !by_hf_bool(node, "use_regex", &flag) || flag;
    } else {
        parts->other = true;
    }
}

const char *by_pre_of(const struct by_doc_node *pre_tokenizer)
{
    struct pre_parts parts = {0};
    read_pre(&parts, pre_tokenizer);
    if (parts.other || !parts.byte_level || parts.built_in == (parts.regex != NULL))
        return NULL;
    for (size_t i = 0; i < sizeof pre_rows / sizeof *pre_rows; i++) {
        const char *regex = pre_rows[i].regex;
        if (pre_rows[i].digits == parts.digits && !regex == !parts.regex &&
            (!regex || !strcmp(regex, parts.regex)))
            return pre_rows[i].name;
    }
    return NULL;
}
