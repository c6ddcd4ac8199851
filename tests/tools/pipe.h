/*
 * Questions on stdin and answers on stdout, in native numbers, for tools that are asked
 * many times:
 *   text   u32 bytes, the bytes
 */
#ifndef PIPE_H
#define PIPE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void *have(size_t size)
{
    void *block = malloc(size + 1);
    if (!block)
        exit(3);
    return block;
}

static inline void get(void *out, size_t size)
{
    if (fread(out, 1, size, stdin) != size)
        exit(2);
}

static inline uint32_t get_u32(void)
{
    uint32_t value;
    get(&value, sizeof value);
    return value;
}

static inline char *get_bytes(size_t size)
{
    char *bytes = have(size);
    get(bytes, size);
    bytes[size] = '\0';
    return bytes;
}

static inline void put(const void *bytes, size_t size)
{
    if (size && fwrite(bytes, 1, size, stdout) != size)
        exit(2);
}

static inline void put_u32(uint32_t value)
{
    put(&value, sizeof value);
}

static inline void put_text(const char *text)
{
    put_u32((uint32_t)strlen(text));
    put(text, strlen(text));
}

#endif
