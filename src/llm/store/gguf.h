/*
 * Metadata of GGUF files: keys with typed values, in the order of the file.
 */
#ifndef BY_LLM_STORE_GGUF_H
#define BY_LLM_STORE_GGUF_H

#include "base/map.h"

/* The numbers are the format's. */
enum by_gguf_type {
    BY_GGUF_U8,
    BY_GGUF_I8,
    BY_GGUF_U16,
    BY_GGUF_I16,
    BY_GGUF_U32,
    BY_GGUF_I32,
    BY_GGUF_F32,
    BY_GGUF_BOOL,
    BY_GGUF_STRING,
    BY_GGUF_ARRAY,
    BY_GGUF_U64,
    BY_GGUF_I64,
    BY_GGUF_F64,
    BY_GGUF_TYPE_COUNT,
};

/* Arrays of arrays are at most so deep. */
#define BY_GGUF_DEPTH_MAX     4
#define BY_GGUF_ALIGNMENT     32u
#define BY_GGUF_ALIGNMENT_MAX (1u << 20)
#define BY_GGUF_KEY_MAX       65535u
#define BY_GGUF_NAME_MAX      64u /* bytes of a tensor's name */
#define BY_GGUF_RANK_MAX      4

struct by_gguf_text {
    const char *text; /* in the mapped file, no NUL after */
    size_t size;
};

struct by_gguf_value {
    enum by_gguf_type type;
    union {
        uint64_t u; /* all unsigned types, bool */
        int64_t i;  /* all signed types */
        double f;   /* both floats */
        struct by_gguf_text text;
        struct {
            enum by_gguf_type type; /* of an element */
            uint64_t count;
            const uint8_t *bytes; /* as they are in the file, not aligned */
            size_t size;
        } array;
    };
};

struct by_gguf_pair {
    const char *key;
    struct by_gguf_value value;
};

struct by_gguf {
    uint32_t version;
    uint64_t alignment;
    struct by_gguf_pair *pairs;
    size_t count;
    struct by_map by_key;
};

/* NULL: no such key. */
const struct by_gguf_value *by_gguf_get(const struct by_gguf *gguf, const char *key);
/* False when there is no such key, or when the value is no text or number of that kind. */
bool by_gguf_text(const struct by_gguf *gguf, const char *key, struct by_gguf_text *text);
bool by_gguf_uint(const struct by_gguf *gguf, const char *key, uint64_t *value);
bool by_gguf_float(const struct by_gguf *gguf, const char *key, double *value);
/* "u32", "string". */
const char *by_gguf_type_name(enum by_gguf_type type);

/* Walks the elements of an array; false after the last one. */
struct by_gguf_walk {
    const uint8_t *at;
    uint64_t left;
    enum by_gguf_type type;
    const uint8_t *end;
};
void by_gguf_walk(struct by_gguf_walk *walk, const struct by_gguf_value *array);
bool by_gguf_next(struct by_gguf_walk *walk, struct by_gguf_value *value);

#endif
