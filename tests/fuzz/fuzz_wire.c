/*
 * The wire codec alone: the first byte chooses a schema, the rest is a message.
 * What is accepted has to come back byte for byte; written anew it has to be
 * accepted again, and writing that anew must not change it any more.
 */
#include "base/str.h"
#include "onnx/schema.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

struct memory {
    struct by_arena arena;
    struct by_names_table names;
};

static void *decode(struct memory *memory, const struct by_schema *schema, const void *bytes,
                    size_t size)
{
    struct baryon_error err;
    struct by_wire_reader reader = {
        .arena = &memory->arena, .names = &memory->names, .base = bytes};
    void *msg = by_arena_alloc(&memory->arena, 1, schema->size, &err);
    return msg && by_wire_decode(&reader, schema, bytes, size, msg, &err) == 0 ? msg : NULL;
}

static int collect(void *context, const uint8_t *bytes, size_t size, struct baryon_error *err)
{
    by_str_add(context, bytes, size);
    return by_str_error(context, err);
}

static void encode(const struct by_schema *schema, void *msg, struct by_str *out)
{
    uint64_t size = by_wire_measure(schema, msg);
    if (by_wire_encode(schema, msg, collect, out, NULL) || out->size != size)
        abort();
}

/* Makes every message look changed; without its source it is written in schema order. */
static void forget(const struct by_schema *schema, void *msg)
{
    struct by_msg *head = msg;
    head->hash = 0;
    for (size_t i = 0; i < schema->count; i++) {
        const struct by_field *row = &schema->fields[i];
        void *member = (char *)msg + row->offset;
        if (row->kind == BY_FIELD_MSG && *(void **)member)
            forget(row->child, *(void **)member);
        const struct by_ptrs *list = member;
        for (size_t k = 0; row->kind == BY_FIELD_MSGS && k < list->count; k++)
            forget(row->child, list->at[k]);
    }
}

static void write_anew(const struct by_schema *schema, const char *bytes, size_t size,
                       struct by_str *out)
{
    struct memory memory;
    by_arena_init(&memory.arena, 0);
    by_names_table_init(&memory.names, &memory.arena);
    void *msg = decode(&memory, schema, bytes, size);
    if (!msg)
        abort();
    forget(schema, msg);
    encode(schema, msg, out);
    by_names_table_release(&memory.names);
    by_arena_release(&memory.arena);
}

static void round_trip(const struct by_schema *schema, void *msg, const uint8_t *bytes, size_t size)
{
    struct by_str same, anew, again;
    by_str_init(&same);
    by_str_init(&anew);
    by_str_init(&again);
    encode(schema, msg, &same);
    if (same.size != size || (size && memcmp(same.text, bytes, size) != 0))
        abort();
    write_anew(schema, by_str_text(&same), size, &anew);
    write_anew(schema, by_str_text(&anew), anew.size, &again);
    if (anew.size != again.size || (anew.size && memcmp(anew.text, again.text, anew.size) != 0))
        abort();
    by_str_release(&same);
    by_str_release(&anew);
    by_str_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    size_t count;
    const struct by_schema *const *all = by_schema_all(&count);
    if (!size)
        return 0;
    const struct by_schema *schema = all[bytes[0] % count];
    struct memory memory;
    by_arena_init(&memory.arena, (1u << 20) + 400 * size);
    by_names_table_init(&memory.names, &memory.arena);
    void *msg = decode(&memory, schema, bytes + 1, size - 1);
    if (msg)
        round_trip(schema, msg, bytes + 1, size - 1);
    by_names_table_release(&memory.names);
    by_arena_release(&memory.arena);
    return 0;
}
