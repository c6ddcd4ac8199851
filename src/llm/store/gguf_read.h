/*
 * A place in the bytes of a GGUF file that is being read.
 */
#ifndef BY_LLM_STORE_GGUF_READ_H
#define BY_LLM_STORE_GGUF_READ_H

#include "llm/store/gguf.h"

struct by_gguf_reader {
    const uint8_t *at, *end;
};

size_t by_gguf_left(const struct by_gguf_reader *reader);
/* Little-endian. After a failure reader->at is where the field begins. */
int by_gguf_number(struct by_gguf_reader *reader, unsigned bytes, uint64_t *value,
                   struct baryon_error *err);
int by_gguf_string(struct by_gguf_reader *reader, struct by_gguf_text *text,
                   struct baryon_error *err);
/* Type and value. */
int by_gguf_value(struct by_gguf_reader *reader, struct by_gguf_value *value,
                  struct baryon_error *err);

#endif
