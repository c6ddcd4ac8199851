/*
 * The protobuf wire format, driven by tables.
 *
 * by_wire_decode() fills a struct from bytes by its schema, by_wire_measure() and
 * by_wire_encode() write it. Nothing is copied but names and lists of numbers;
 * texts, bytes and typed payloads are views into the input. Depth, memory and the
 * number of parts are limited.
 *
 * How bytes survive: each message keeps the span it was read from and a hash of
 * its content, children included. A message whose hash is still the same is
 * written as that span. Another one is written by walking its old span: unknown
 * fields are copied, a known field is written with its new value where it first
 * stood, fields that are new follow at the end.
 */
#ifndef BY_WIRE_H
#define BY_WIRE_H

#include "ir/model.h"

enum by_field_kind {
    BY_FIELD_INT,           /* int64_t: int32, int64, enum */
    BY_FIELD_FLOAT,         /* float */
    BY_FIELD_NAME,          /* const char *, interned, UTF-8 without NUL, at most 4 KiB */
    BY_FIELD_TEXT,          /* struct by_span, UTF-8 */
    BY_FIELD_BYTES,         /* struct by_span */
    BY_FIELD_MSG,           /* pointer to the child's struct */
    BY_FIELD_INTS,          /* struct by_ints */
    BY_FIELD_FLOATS,        /* struct by_floats */
    BY_FIELD_NAMES,         /* struct by_names */
    BY_FIELD_SPANS,         /* struct by_spans */
    BY_FIELD_MSGS,          /* struct by_ptrs */
    BY_FIELD_PACKED_VARINT, /* struct by_span of elements in wire form */
    BY_FIELD_PACKED_32,
    BY_FIELD_PACKED_64,
};

enum by_wire_type { BY_WIRE_VARINT = 0, BY_WIRE_64 = 1, BY_WIRE_BYTES = 2, BY_WIRE_32 = 5 };

struct by_schema;

struct by_field {
    uint16_t number;
    uint8_t kind;
    uint8_t packed; /* how we write lists of numbers; both forms are read */
    uint32_t offset;
    const char *name;
    const struct by_schema *child;
};

struct by_schema {
    const char *name;
    size_t size;                   /* of the struct */
    const struct by_field *fields; /* in order of the numbers */
    size_t count;                  /* at most BY_SCHEMA_FIELDS_MAX */
};

#define BY_SCHEMA_FIELDS_MAX 32
#define BY_WIRE_DEPTH_MAX    100
#define BY_WIRE_NAME_MAX     4096
#define BY_WIRE_PARTS_MAX    (16u << 20) /* messages in one file */
#define BY_WIRE_BYTES_MAX    0x7fffffffu /* protobuf's own limit for a message */

struct by_wire_reader {
    struct by_arena *arena;
    struct by_names_table *names;
    const uint8_t *base; /* start of the file: offsets in messages count from here */
    unsigned depth;
    size_t parts;
};

/* Fills *out, which the caller cleared. Errors carry offset and place. */
int by_wire_decode(struct by_wire_reader *reader, const struct by_schema *schema,
                   const uint8_t *bytes, size_t size, void *out, struct baryon_error *err);

/* Sizes of a message and all below it, kept in them for by_wire_encode(). */
uint64_t by_wire_measure(const struct by_schema *schema, void *msg);

/* Takes pieces of the output in order. Big pieces are views, never copies. */
typedef int by_wire_sink(void *context, const uint8_t *bytes, size_t size,
                         struct baryon_error *err);
/* One that appends to a struct by_str. */
int by_wire_to_text(void *context, const uint8_t *bytes, size_t size, struct baryon_error *err);
/* After by_wire_measure(), with nothing changed since. */
int by_wire_encode(const struct by_schema *schema, const void *msg, by_wire_sink *sink,
                   void *context, struct baryon_error *err);

/* True when the message says what it said when it was read; after by_wire_measure(). */
bool by_wire_unchanged(const struct by_msg *msg);

/* One varint; returns bytes read, 0 when it is cut off or longer than 10 bytes/64 bits. */
size_t by_varint_read(const uint8_t *bytes, size_t size, uint64_t *value);
size_t by_varint_write(uint8_t out[10], uint64_t value);
size_t by_varint_size(uint64_t value);

/* A field as it stands in bytes: the whole of it, and its content. */
struct by_wire_field {
    uint32_t number;
    enum by_wire_type type;
    const uint8_t *start, *content, *end;
    uint64_t value; /* of a varint */
};

/* The field at *at; moves *at after it. end > *at. */
int by_wire_next(const uint8_t **at, const uint8_t *end, struct by_wire_field *field,
                 struct baryon_error *err);
const struct by_field *by_schema_field(const struct by_schema *schema, uint32_t number);

#endif
