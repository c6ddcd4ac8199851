/*
 * The pieces of a tokenizer.model: every token of an accepted one is UTF-8 inside the file.
 */
#include "llm/family/tokenizer.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct by_arena arena;
    struct by_vocab vocab;
    struct baryon_error err;
    struct by_piece_spec spec;
    uint64_t count;
    by_err_clear(&err);
    by_arena_init(&arena, 0);
    if (by_sentencepiece_count(bytes, size, &count, &err) == 0) {
        if (count > size || by_vocab_make(&vocab, &arena, count, &err))
            abort();
        if (by_sentencepiece_read(&vocab, bytes, size, &spec, &err) == 0)
            for (size_t i = 0; i < vocab.count; i++)
                if (!by_utf8_valid(vocab.tokens[i].bytes, vocab.tokens[i].size))
                    abort();
    }
    by_arena_release(&arena);
    return 0;
}
