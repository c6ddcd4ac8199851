/*
 * Writing JSON: keeps track of commas and indentation; doubles are written so
 * that they read back as the same value, NaN and infinities as null.
 */
#ifndef BY_JSON_H
#define BY_JSON_H

#include "base/str.h"

struct by_json {
    struct by_str *out; /* not owned */
    unsigned depth;
    unsigned flat; /* brackets that deep and deeper stand on one line; 0: none do */
    bool comma, compact;
};

void by_json_init(struct by_json *json, struct by_str *out, bool compact);
void by_json_open(struct by_json *json, const char *key, char bracket); /* '{' or '[' */
void by_json_close(struct by_json *json, char bracket);                 /* '}' or ']' */
/* key NULL inside a list. */
void by_json_text(struct by_json *json, const char *key, const char *value);
void by_json_bytes(struct by_json *json, const char *key, const void *text, size_t size);
void by_json_int(struct by_json *json, const char *key, int64_t value);
void by_json_double(struct by_json *json, const char *key, double value);
void by_json_bool(struct by_json *json, const char *key, bool value);
void by_json_null(struct by_json *json, const char *key);
/* A value that is written as JSON already. */
void by_json_raw(struct by_json *json, const char *key, const char *value);

#endif
