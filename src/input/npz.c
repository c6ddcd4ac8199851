/*
 * The directory of a .npz file: a zip file read strictly, from its end.
 *
 *   member ... member | directory | [zip64 record | zip64 locator] | end record
 *
 * Everything between must touch without a gap at the end: what the end record says
 * about the directory has to lead exactly to where the record itself stands.
 */
#include "base/map.h"
#include "base/str.h"
#include "input/npy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LOCAL_SIGN   0x04034b50u
#define ENTRY_SIGN   0x02014b50u
#define END_SIGN     0x06054b50u
#define END64_SIGN   0x06064b50u
#define LOCATOR_SIGN 0x07064b50u

#define LOCAL_SIZE   30u
#define ENTRY_SIZE   46u
#define END_SIZE     22u
#define END64_SIZE   56u
#define LOCATOR_SIZE 20u

#define FLAG_ENCRYPTED  (1u << 0 | 1u << 6 | 1u << 13)
#define FLAG_DESCRIPTOR (1u << 3)
#define NAME_MAX_BYTES  4096u

struct zip {
    const uint8_t *bytes;
    size_t size;
    uint64_t directory, directory_size, entries;
};

/* A member as its directory entry tells it. */
struct entry {
    unsigned flags, method;
    uint32_t crc;
    uint64_t packed, size, local;
    const uint8_t *name;
    size_t name_size;
};

static unsigned get16(const uint8_t *at)
{
    return at[0] | (unsigned)at[1] << 8;
}

static uint32_t get32(const uint8_t *at)
{
    return (uint32_t)get16(at) | (uint32_t)get16(at + 2) << 16;
}

static uint64_t get64(const uint8_t *at)
{
    return get32(at) | (uint64_t)get32(at + 4) << 32;
}

static int bad(struct baryon_error *err, uint64_t offset, const char *message)
{
    by_fail(err, BARYON_ERR_INPUT, "%s", message);
    by_err_offset(err, offset);
    return -1;
}

bool by_npz_sniff(const uint8_t *bytes, size_t size)
{
    return size >= 4 && (get32(bytes) == LOCAL_SIGN || get32(bytes) == END_SIGN);
}

/* The end record is the last thing in the file; only its comment may follow. */
static int find_end(const struct zip *zip, size_t *end, struct baryon_error *err)
{
    if (zip->size < END_SIZE)
        return bad(err, zip->size, "the file is too short to be a .npz (zip) archive");
    size_t last = zip->size - END_SIZE;
    size_t first = last > 0xffff ? last - 0xffff : 0;
    for (size_t at = last + 1; at-- > first;)
        if (get32(zip->bytes + at) == END_SIGN &&
            get16(zip->bytes + at + 20) == zip->size - at - END_SIZE) {
            *end = at;
            return 0;
        }
    bad(err, zip->size, "no end record of a zip directory at the end of the file");
    return by_err_hint(err, "the file is truncated, or not a .npz archive");
}

static int read_end64(struct zip *zip, size_t end, size_t *edge, struct baryon_error *err)
{
    const size_t locator = end - LOCATOR_SIZE;
    const uint64_t record = get64(zip->bytes + locator + 8);
    if (get32(zip->bytes + locator + 4) != 0 || get32(zip->bytes + locator + 16) > 1)
        return bad(err, locator, "an archive of several files is not supported");
    if (locator < END64_SIZE || record != locator - END64_SIZE ||
        get32(zip->bytes + record) != END64_SIGN)
        return bad(err, locator, "the zip64 locator does not point to the record before it");
    const uint8_t *at = zip->bytes + record;
    if (get64(at + 4) != END64_SIZE - 12 || get32(at + 16) != 0 || get32(at + 20) != 0 ||
        get64(at + 24) != get64(at + 32))
        return bad(err, record, "the zip64 record contradicts itself");
    zip->entries = get64(at + 32);
    zip->directory_size = get64(at + 40);
    zip->directory = get64(at + 48);
    *edge = (size_t)record;
    return 0;
}

/* Values of the end record must be those of the zip64 record, or say "see there". */
static bool agrees(uint64_t small, uint64_t full, uint64_t marker)
{
    return small == marker || small == full;
}

static int read_end(struct zip *zip, struct baryon_error *err)
{
    size_t end = 0;
    if (find_end(zip, &end, err) < 0)
        return -1;
    const uint8_t *at = zip->bytes + end;
    size_t edge = end;
    const uint64_t entries = get16(at + 10), size = get32(at + 12), offset = get32(at + 16);
    if (get16(at + 4) != 0 || get16(at + 6) != 0 || get16(at + 8) != entries)
        return bad(err, end, "an archive of several files is not supported");
    if (end >= LOCATOR_SIZE && get32(at - LOCATOR_SIZE) == LOCATOR_SIGN) {
        if (read_end64(zip, end, &edge, err) < 0)
            return -1;
        if (!agrees(entries, zip->entries, 0xffff) ||
            !agrees(size, zip->directory_size, UINT32_MAX) ||
            !agrees(offset, zip->directory, UINT32_MAX))
            return bad(err, end, "the end record contradicts the zip64 record");
    } else {
        zip->entries = entries;
        zip->directory_size = size;
        zip->directory = offset;
    }
    if (zip->directory > edge || edge - zip->directory != zip->directory_size)
        return bad(err, end, "the directory does not end where the end record begins");
    if (zip->entries > BY_NPZ_MEMBERS_MAX || zip->entries > zip->directory_size / ENTRY_SIZE) {
        by_fail(err, BARYON_ERR_INPUT, "%" PRIu64 " members, must be at most %" PRIu64,
                zip->entries,
                zip->entries > BY_NPZ_MEMBERS_MAX ? (uint64_t)BY_NPZ_MEMBERS_MAX
                                                  : zip->directory_size / ENTRY_SIZE);
        return by_err_offset(err, end);
    }
    return 0;
}

/*
 * 64-bit values stand in the extra field of id 1, in a fixed order, for each 32-bit
 * one that is all ones. `wide` lists those to be filled in, NULL for others.
 */
static bool read_extra64(const uint8_t *extra, size_t size, uint64_t *wide[3])
{
    const uint8_t *field = NULL;
    size_t length = 0;
    while (size >= 4) {
        size_t part = get16(extra + 2);
        if (part > size - 4)
            return false;
        if (get16(extra) == 1 && !field) {
            field = extra + 4;
            length = part;
        }
        extra += 4 + part;
        size -= 4 + part;
    }
    for (size_t i = 0; i < 3; i++) {
        if (!wide[i])
            continue;
        if (length < 8)
            return false;
        *wide[i] = get64(field);
        field += 8;
        length -= 8;
    }
    return true;
}

/* `at` is where an entry begins; *next where it ends. */
static int read_entry(const struct zip *zip, uint64_t at, struct entry *entry, uint64_t *next,
                      struct baryon_error *err)
{
    const uint64_t end = zip->directory + zip->directory_size;
    const uint8_t *from = zip->bytes + at;
    if (end - at < ENTRY_SIZE || get32(from) != ENTRY_SIGN)
        return bad(err, at, "a directory entry is missing");
    const size_t name = get16(from + 28), extra = get16(from + 30), comment = get16(from + 32);
    if (name + extra + comment > end - at - ENTRY_SIZE)
        return bad(err, at, "a directory entry is longer than the directory");
    *entry = (struct entry){
        .flags = get16(from + 8),
        .method = get16(from + 10),
        .crc = get32(from + 16),
        .packed = get32(from + 20),
        .size = get32(from + 24),
        .local = get32(from + 42),
        .name = from + ENTRY_SIZE,
        .name_size = name,
    };
    uint64_t *wide[3] = {entry->size == UINT32_MAX ? &entry->size : NULL,
                         entry->packed == UINT32_MAX ? &entry->packed : NULL,
                         entry->local == UINT32_MAX ? &entry->local : NULL};
    if (!read_extra64(from + ENTRY_SIZE + name, extra, wide))
        return bad(err, at, "the zip64 sizes of a directory entry are missing or truncated");
    if (get16(from + 34) != 0)
        return bad(err, at, "an archive of several files is not supported");
    *next = at + ENTRY_SIZE + name + extra + comment;
    return 0;
}

static int check_entry(const struct entry *entry, struct baryon_error *err)
{
    if (entry->flags & FLAG_ENCRYPTED)
        return by_fail(err, BARYON_ERR_INPUT, "the member is encrypted, which is not supported");
    if (entry->method != 0 && entry->method != 8)
        return by_fail(err, BARYON_ERR_INPUT,
                       "packing method %u, must be 0 (stored) or 8 (deflated)", entry->method);
    if (entry->method == 0 && entry->packed != entry->size)
        return by_fail(err, BARYON_ERR_INPUT,
                       "a stored member of %" PRIu64 " bytes uses %" PRIu64
                       " bytes, must be the same",
                       entry->size, entry->packed);
    if (entry->method == 8 && entry->packed < UINT64_MAX / BY_NPZ_RATIO_MAX &&
        entry->size > entry->packed * BY_NPZ_RATIO_MAX)
        return by_fail(err, BARYON_ERR_INPUT,
                       "%" PRIu64 " bytes from %" PRIu64
                       " packed bytes, deflate reaches at most %d to 1",
                       entry->size, entry->packed, BY_NPZ_RATIO_MAX);
    return 0;
}

/* Sizes in a local header: the directory's, "see the extra field", or 0 before a descriptor. */
static bool local_agrees(const struct entry *entry, const uint8_t *local, const uint8_t *extra,
                         size_t extra_size)
{
    uint32_t crc = get32(local + 14);
    uint64_t packed = get32(local + 18), size = get32(local + 22);
    if (packed == UINT32_MAX || size == UINT32_MAX) {
        uint64_t *wide[3] = {size == UINT32_MAX ? &size : NULL,
                             packed == UINT32_MAX ? &packed : NULL, NULL};
        if (!read_extra64(extra, extra_size, wide))
            return false;
    }
    if ((entry->flags & FLAG_DESCRIPTOR) && crc == 0 && packed == 0 && size == 0)
        return true;
    return crc == entry->crc && packed == entry->packed && size == entry->size;
}

/* Finds the packed bytes by the member's own header, which must say what the entry says. */
static int find_data(const struct zip *zip, const struct entry *entry, uint64_t *data,
                     struct baryon_error *err)
{
    if (entry->local > zip->directory || zip->directory - entry->local < LOCAL_SIZE)
        return bad(err, entry->local,
                   "the header of the member is outside of the data of the file");
    const uint8_t *local = zip->bytes + entry->local;
    if (get32(local) != LOCAL_SIGN)
        return bad(err, entry->local, "no member header at the place in the directory");
    const size_t name = get16(local + 26), extra = get16(local + 28);
    uint64_t room = zip->directory - entry->local - LOCAL_SIZE;
    if (name + extra > room || entry->packed > room - name - extra)
        return bad(err, entry->local, "the member is longer than the data of the file");
    if (name != entry->name_size || memcmp(local + LOCAL_SIZE, entry->name, name) != 0 ||
        get16(local + 6) != entry->flags || get16(local + 8) != entry->method ||
        !local_agrees(entry, local, local + LOCAL_SIZE + name, extra))
        return bad(err, entry->local, "the header of the member contradicts the directory");
    *data = entry->local + LOCAL_SIZE + name + extra;
    return 0;
}

struct range {
    uint64_t start, end;
};

static int by_start(const void *a, const void *b)
{
    const struct range *one = a, *two = b;
    return (one->start > two->start) - (one->start < two->start);
}

static int check_overlap(struct range *ranges, size_t count, struct baryon_error *err)
{
    if (count)
        qsort(ranges, count, sizeof *ranges, by_start);
    for (size_t i = 1; i < count; i++)
        if (ranges[i].start < ranges[i - 1].end)
            return bad(err, ranges[i].start, "two members overlap");
    return 0;
}

struct builder {
    struct by_arena *arena;
    struct by_map names;
    struct by_npz *npz;
    struct range *ranges;
};

/* The whole name, checked, as a text; it must be the only one of its kind. */
static const char *take_name(struct builder *builder, const struct entry *entry,
                             struct baryon_error *err)
{
    if (entry->name_size > NAME_MAX_BYTES || memchr(entry->name, 0, entry->name_size) ||
        !by_utf8_valid(entry->name, entry->name_size)) {
        by_fail(err, BARYON_ERR_INPUT, "a name must be UTF-8 without NUL and have at most %u bytes",
                NAME_MAX_BYTES);
        return NULL;
    }
    char *name = by_arena_text(builder->arena, entry->name, entry->name_size, err);
    if (!name)
        return NULL;
    if (by_map_get(&builder->names, name)) {
        by_fail(err, BARYON_ERR_INPUT, "two members have this name, names must be unique");
        return NULL;
    }
    return by_map_put(&builder->names, name, name, err) < 0 ? NULL : name;
}

static int add_member(struct builder *builder, const struct zip *zip, const struct entry *entry,
                      size_t index, struct baryon_error *err)
{
    uint64_t data;
    const char *name = take_name(builder, entry, err);
    if (!name || check_entry(entry, err) < 0 || find_data(zip, entry, &data, err) < 0)
        return -1;
    builder->ranges[index] = (struct range){entry->local, data + entry->packed};
    const size_t length = entry->name_size;
    if (length < 4 || memcmp(name + length - 4, ".npy", 4) != 0)
        return 0;
    char *key = by_arena_text(builder->arena, name, length - 4, err);
    if (!key)
        return -1;
    builder->npz->members[builder->npz->count++] = (struct by_npz_member){
        .name = key,
        .offset = data,
        .packed = entry->packed,
        .size = entry->size,
        .crc = entry->crc,
        .method = (int)entry->method,
    };
    return 0;
}

static int read_directory(struct builder *builder, const struct zip *zip, struct baryon_error *err)
{
    uint64_t at = zip->directory;
    const uint64_t end = zip->directory + zip->directory_size;
    const size_t count = (size_t)zip->entries;
    for (size_t i = 0; i < count; i++) {
        struct entry entry;
        uint64_t next;
        char quoted[BY_QUOTE_MAX];
        if (read_entry(zip, at, &entry, &next, err) < 0)
            return by_err_in(err, "entry[%zu]", i);
        if (add_member(builder, zip, &entry, i, err) < 0) {
            by_err_offset(err, at);
            return by_err_in(err, "member %s", by_quote_bytes(quoted, entry.name, entry.name_size));
        }
        at = next;
    }
    if (at != end)
        return bad(err, at, "the directory is longer than its entries");
    return check_overlap(builder->ranges, count, err);
}

int by_npz_parse(struct by_arena *arena, const uint8_t *bytes, size_t size, struct by_npz *npz,
                 struct baryon_error *err)
{
    struct zip zip = {.bytes = bytes, .size = size};
    *npz = (struct by_npz){0};
    if (read_end(&zip, err) < 0)
        return -1;
    const size_t count = (size_t)zip.entries;
    struct builder builder = {.arena = arena, .npz = npz};
    npz->members = by_arena_alloc(arena, count, sizeof *npz->members, err);
    builder.ranges = by_arena_alloc(arena, count, sizeof *builder.ranges, err);
    if (!npz->members || !builder.ranges)
        return -1;
    by_map_init(&builder.names);
    int failed = read_directory(&builder, &zip, err);
    by_map_release(&builder.names);
    return failed;
}
