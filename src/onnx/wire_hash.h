/* Content of messages as a hash; used by wire_decode.c and wire_encode.c. */
#ifndef BY_WIRE_HASH_H
#define BY_WIRE_HASH_H

#include "onnx/wire.h"

/*
 * Hash of what a message says. Names and views count by address, children by
 * their own hash (msg.now), so that it takes time in proportion to the struct.
 */
uint64_t by_wire_hash(const struct by_schema *schema, const void *msg);

static inline const void *by_field_at(const void *msg, const struct by_field *field)
{
    return (const char *)msg + field->offset;
}

static inline void *by_field_of(void *msg, const struct by_field *field)
{
    return (char *)msg + field->offset;
}

#endif
