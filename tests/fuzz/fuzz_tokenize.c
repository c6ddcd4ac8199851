/*
 * A tokenizer.json and a text, with a zero byte between them: whatever is accepted gives ids that
 * it has.
 */
#include "llm/text/tokenize.h"

#include "base/doc.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define TEXT_MAX 512

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void demand_message(const struct baryon_error *err)
{
    demand(err->message[0] && by_utf8_valid(err->message, strlen(err->message)));
}

static void take_text(const struct by_tokenize *tokenize, const char *text, size_t size)
{
    struct by_token_ids ids = {0};
    struct baryon_error err = {0};
    if (by_tokenize_text(tokenize, text, size, false, &ids, &err) == 0)
        for (size_t i = 0; i < ids.count; i++)
            demand(ids.ids[i] < by_tokenize_ids(tokenize));
    else
        demand_message(&err);
    by_token_ids_release(&ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const uint8_t *zero = size ? memchr(bytes, 0, size) : NULL;
    const size_t length = zero ? (size_t)(zero - bytes) : size;
    const size_t rest = zero ? size - length - 1 : 0;
    const char *text = zero ? (const char *)zero + 1 : "";
    struct by_tokenize *tokenize = NULL;
    struct by_doc_node *json;
    struct by_arena arena;
    struct baryon_error err = {0};
    by_arena_init(&arena, 0);
    if (by_json_parse(&arena, (const char *)bytes, length, "f", &json, NULL) == 0) {
        if (by_tokenize_open(&tokenize, json, &err))
            demand_message(&err);
        by_arena_release(&arena); /* it is not needed any more */
        if (tokenize)
            take_text(tokenize, text, rest < TEXT_MAX ? rest : TEXT_MAX);
        by_tokenize_close(tokenize);
    }
    by_arena_release(&arena);
    return 0;
}
