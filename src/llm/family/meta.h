/*
 * Metadata of a GGUF file as a list of keys and values in the order of the file.
 * The first failure sticks: set as often as you like and ask by_meta_error()
 * once at the end. Everything lives in the arena.
 */
#ifndef BY_LLM_META_H
#define BY_LLM_META_H

#include "base/mem.h"

/* Numbers are those of the file. */
enum by_meta_kind {
    BY_META_U8 = 0,
    BY_META_I8 = 1,
    BY_META_U16 = 2,
    BY_META_I16 = 3,
    BY_META_U32 = 4,
    BY_META_I32 = 5,
    BY_META_F32 = 6,
    BY_META_BOOL = 7,
    BY_META_STRING = 8,
    BY_META_ARRAY = 9,
    BY_META_U64 = 10,
    BY_META_I64 = 11,
    BY_META_F64 = 12,
};

/* Bytes, not ended; a token may contain any. */
struct by_meta_text {
    const char *bytes;
    size_t size;
};

struct by_meta_value {
    const char *key;
    enum by_meta_kind kind, item; /* item: of an array */
    int64_t integer;              /* whole numbers and bool */
    double real;                  /* floats */
    struct by_meta_text text;     /* a string, with a NUL after */
    size_t count;                 /* of an array */
    const void *items; /* struct by_meta_text, float (F32), uint8_t (U8), int32_t (32 bits) */
};

struct by_meta {
    struct by_arena *arena; /* not owned */
    struct by_meta_value *at;
    size_t count, cap;
    bool failed;
};

void by_meta_init(struct by_meta *meta, struct by_arena *arena);
/* Keys are copied; a value that is there already is replaced in its place. */
void by_meta_set_u32(struct by_meta *meta, const char *key, uint64_t value);
void by_meta_set_f32(struct by_meta *meta, const char *key, double value);
void by_meta_set_bool(struct by_meta *meta, const char *key, bool value);
void by_meta_set_text(struct by_meta *meta, const char *key, const char *text);
/* Items are not copied. */
void by_meta_set_array(struct by_meta *meta, const char *key, enum by_meta_kind item,
                       const void *items, size_t count);
/* NULL: not there. */
const struct by_meta_value *by_meta_get(const struct by_meta *meta, const char *key);
bool by_meta_get_int(const struct by_meta *meta, const char *key, int64_t *value);
bool by_meta_get_real(const struct by_meta *meta, const char *key, double *value);
const char *by_meta_get_text(const struct by_meta *meta, const char *key);
/* An array of that kind of items; NULL when it is not there or of another kind. */
const struct by_meta_value *by_meta_get_array(const struct by_meta *meta, const char *key,
                                              enum by_meta_kind item);
int by_meta_error(const struct by_meta *meta, struct baryon_error *err);

#endif
