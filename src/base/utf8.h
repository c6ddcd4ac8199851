/*
 * UTF-8, one code point at a time.
 */
#ifndef BY_UTF8_H
#define BY_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the code point that begins at bytes[0], 0 when they are not valid UTF-8. */
size_t by_utf8_next(const uint8_t *bytes, size_t size, uint32_t *code);
/* It acts on a terminal or turns the text around instead of being seen. */
bool by_utf8_is_hidden(uint32_t code);
/* Writes a code point (at most 4 bytes); returns its length. */
size_t by_utf8_put(char *out, uint32_t code);

#endif
