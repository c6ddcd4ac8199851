/*
 * Zip archives byte by byte, right or wrong on purpose. Include cmocka.h first.
 */
#ifndef BY_TEST_ZIP_MAKE_H
#define BY_TEST_ZIP_MAKE_H

#include <stdint.h>
#include <string.h>
#include <zlib.h>

/* A member: what its local header and its directory entry say. */
struct zip_member {
    const char *name;
    const void *data; /* as stored in the file */
    size_t stored;
    uint32_t size, packed, crc;
    uint16_t method, flags;
    const void *extra; /* of the entry */
    size_t extra_size;
    uint32_t local_size;   /* in the local header, 0: the same */
    uint32_t local_offset; /* in the entry, 0: where it is */
};

struct zip_file {
    uint8_t bytes[1 << 16];
    size_t size;
};

static inline void zip_add(struct zip_file *file, const void *bytes, size_t size)
{
    assert_true(file->size + size <= sizeof file->bytes);
    if (size)
        memcpy(file->bytes + file->size, bytes, size);
    file->size += size;
}

static inline void zip_add_number(struct zip_file *file, uint64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++) {
        const uint8_t byte = (uint8_t)(value >> (8 * i));
        zip_add(file, &byte, 1);
    }
}

/* Version, flags, method, time, crc, sizes, length of the name: the same in both headers. */
static inline void zip_add_common(struct zip_file *file, const struct zip_member *member,
                                  uint32_t size)
{
    zip_add_number(file, 20, 2);
    zip_add_number(file, member->flags, 2);
    zip_add_number(file, member->method, 2);
    zip_add_number(file, 0, 4);
    zip_add_number(file, member->crc, 4);
    zip_add_number(file, member->packed, 4);
    zip_add_number(file, size, 4);
    zip_add_number(file, strlen(member->name), 2);
}

static inline void zip_add_entry(struct zip_file *file, const struct zip_member *member,
                                 size_t offset)
{
    zip_add_number(file, 0x02014b50, 4);
    zip_add_number(file, 20, 2);
    zip_add_common(file, member, member->size);
    zip_add_number(file, member->extra_size, 2);
    zip_add_number(file, 0, 2); /* comment */
    zip_add_number(file, 0, 8); /* file number, attributes */
    zip_add_number(file, member->local_offset ? member->local_offset : offset, 4);
    zip_add(file, member->name, strlen(member->name));
    zip_add(file, member->extra, member->extra_size);
}

static inline void zip_add_end(struct zip_file *file, size_t entries, size_t start, size_t size)
{
    zip_add_number(file, 0x06054b50, 4);
    zip_add_number(file, 0, 4);
    zip_add_number(file, entries, 2);
    zip_add_number(file, entries, 2);
    zip_add_number(file, size, 4);
    zip_add_number(file, start, 4);
    zip_add_number(file, 0, 2);
}

/* Returns where the directory begins. */
static inline size_t zip_make(struct zip_file *file, const struct zip_member *members, size_t count)
{
    size_t offsets[16];
    file->size = 0;
    assert_true(count <= 16);
    for (size_t i = 0; i < count; i++) {
        offsets[i] = file->size;
        zip_add_number(file, 0x04034b50, 4);
        zip_add_common(file, &members[i],
                       members[i].local_size ? members[i].local_size : members[i].size);
        zip_add_number(file, 0, 2);
        zip_add(file, members[i].name, strlen(members[i].name));
        zip_add(file, members[i].data, members[i].stored);
    }
    const size_t start = file->size;
    for (size_t i = 0; i < count; i++)
        zip_add_entry(file, &members[i], offsets[i]);
    zip_add_end(file, count, start, file->size - start);
    return start;
}

/* A stored member with right sums. */
static inline struct zip_member zip_stored(const char *name, const void *data, size_t size)
{
    return (struct zip_member){.name = name,
                               .data = data,
                               .stored = size,
                               .size = (uint32_t)size,
                               .packed = (uint32_t)size,
                               .crc = (uint32_t)crc32_z(0, data, size)};
}

/* Raw deflate; returns the packed size. */
static inline size_t zip_deflate(const void *data, size_t size, uint8_t *out, size_t room)
{
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (Bytef *)(uintptr_t)data;
    stream.avail_in = (uInt)size;
    stream.next_out = out;
    stream.avail_out = (uInt)room;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    const size_t packed = stream.total_out;
    deflateEnd(&stream);
    return packed;
}

static inline struct zip_member zip_deflated(const char *name, const void *data, size_t size,
                                             uint8_t *room, size_t room_size)
{
    struct zip_member member = zip_stored(name, data, size);
    member.packed = (uint32_t)zip_deflate(data, size, room, room_size);
    member.data = room;
    member.stored = member.packed;
    member.method = 8;
    return member;
}

#endif
