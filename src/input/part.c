/* Opening a file of samples: which reader, its arrays, and their order. */
#include "input/part.h"

#include "input/npy.h"

#include <string.h>

/* A file that shrinks while it is mapped ends the program; greater ones would take too much memory.
 */
#define READ_MAX ((size_t)64 << 20)

void by_part_close(struct by_part *part)
{
    for (size_t i = 0; i < part->count; i++)
        by_free(part->arrays[i].owned);
    part->arrays = NULL;
    part->count = 0;
    by_arena_release(&part->arena);
    if (part->open)
        by_mapped_close(&part->mapped);
    part->open = false;
}

static int refuse_unknown(const struct by_mapped *mapped, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_INPUT, "not a sample of a known kind: it begins with %s",
            by_quote_bytes(quoted, mapped->bytes, mapped->size < 8 ? mapped->size : 8));
    return by_err_hint(err, "samples must be .npy, .npz, .jpg, .jpeg, .png or .raw files");
}

/* Byte order and array order are settled once a file, types sample by sample. */
static int settle_stored_array(struct by_stored *array, struct baryon_error *err)
{
    struct by_npy_header header = {.elem = array->elem,
                                   .swap = array->swap,
                                   .fortran = array->fortran,
                                   .rank = array->rank,
                                   .bytes = array->size};
    memcpy(header.dims, array->dims, sizeof header.dims);
    if (by_dims_count(header.dims, header.rank, &header.count, err) < 0)
        return -1;
    uint8_t *settled = by_alloc(array->size, 1, err);
    if (!settled)
        return -1;
    by_npy_copy(&header, array->bytes, settled);
    by_free(array->owned);
    array->owned = settled;
    array->bytes = settled;
    array->swap = array->fortran = false;
    return 0;
}

static int settle_all(struct by_part *part, const struct by_reading *reading,
                      struct baryon_error *err)
{
    for (size_t i = 0; i < part->count; i++) {
        struct by_stored *array = &part->arrays[i];
        if (!array->bytes || (!array->swap && !array->fortran))
            continue;
        if (array->swap)
            by_tell_once(reading, BY_TOLD_SWAPPED, "big-endian values are converted");
        if (array->fortran)
            by_tell_once(reading, BY_TOLD_FORTRAN, "Fortran order is converted to C order");
        if (settle_stored_array(array, err) < 0)
            return -1;
    }
    return 0;
}

static int match(struct by_part *part, const struct by_reading *reading, struct baryon_error *err)
{
    bool renamed;
    if (by_match_all(part->wanted, part->ports, part->batch, part->arrays, part->count,
                     part->matches, &renamed, err) < 0)
        return -1;
    if (renamed)
        by_tell_once(
            reading, BY_TOLD_RENAMED,
            "its only array is used for the model's only input, although the names differ");
    return 0;
}

/* Pictures for an input of three dimensions have no batch: its first one is no batch either. */
static bool takes_rows(const struct by_part *part, const struct by_reader *reader)
{
    return reader != &by_read_image || part->wanted->rank == 4;
}

int by_part_read(struct by_part *part, const struct by_reading *wanted, struct baryon_error *err)
{
    struct by_reading reading = *wanted;
    if (by_mapped_read(&part->mapped, reading.path, READ_MAX, err) < 0)
        return -1;
    part->open = true;
    reading.bytes = part->mapped.bytes;
    reading.size = part->mapped.size;
    reading.arena = &part->arena;
    if (reading.size == 0)
        return by_fail(err, BARYON_ERR_INPUT, "the file is empty");
    const struct by_reader *reader = by_reader_for(reading.path, reading.bytes, reading.size);
    if (!reader)
        return refuse_unknown(&part->mapped, err);
    if (!takes_rows(part, reader))
        reading.ports = part->wanted;
    if (reader->check && reader->check(reading.ports, reading.port_count, reading.options, err) < 0)
        return -1;
    if (reader->read(&reading, &part->arrays, &part->count, err) < 0 ||
        match(part, &reading, err) < 0 || settle_all(part, &reading, err) < 0)
        return -1;
    return by_mapped_check(&part->mapped, err);
}
