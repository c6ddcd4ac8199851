/* Unpacking members of .npz files, in memory only. */
#include "input/npy.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <zlib.h>

static voidpf zip_alloc(voidpf opaque, uInt count, uInt size)
{
    (void)opaque;
    return by_alloc(count, size, NULL);
}

static void zip_free(voidpf opaque, voidpf block)
{
    (void)opaque;
    by_free(block);
}

static uInt portion(uint64_t left)
{
    return left > UINT_MAX ? UINT_MAX : (uInt)left;
}

/*
 * Fills `out` with the first `want` bytes. *got: bytes that came; *whole: the stream
 * ended, and with the last packed byte.
 */
static int inflate_into(const uint8_t *in, uint64_t packed, uint8_t *out, uint64_t want,
                        uint64_t *got, bool *whole, struct baryon_error *err)
{
    z_stream stream = {.zalloc = zip_alloc, .zfree = zip_free};
    uint64_t read = 0, made = 0;
    uint8_t spare = 0;
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
        return by_err_nomem(err, sizeof stream);
    int status = Z_OK;
    bool longer = false;
    while (status == Z_OK && !longer) {
        const uInt in_part = portion(packed - read), out_part = portion(want - made);
        stream.next_in = (z_const Bytef *)(uintptr_t)(in + read);
        stream.avail_in = in_part;
        /* One byte of room beyond the end lets a longer stream show itself. */
        stream.next_out = out_part ? out + made : &spare;
        stream.avail_out = out_part ? out_part : 1;
        status = inflate(&stream, Z_NO_FLUSH);
        read += in_part - stream.avail_in;
        if (out_part)
            made += out_part - stream.avail_out;
        else
            longer = stream.avail_out == 0;
    }
    inflateEnd(&stream);
    *got = made;
    *whole = status == Z_STREAM_END && read == packed && !longer;
    if (status == Z_MEM_ERROR)
        return by_err_nomem(err, 1u << 15);
    if (status == Z_DATA_ERROR || status == Z_NEED_DICT)
        return by_fail(err, BARYON_ERR_INPUT, "the packed data is damaged near byte %" PRIu64,
                       read);
    return 0;
}

static int in_member(const struct by_npz_member *member, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    by_err_offset(err, member->offset);
    return by_err_in(err, "member %s", by_quote(quoted, member->name));
}

static bool is_inside(const struct by_npz_member *member, size_t size)
{
    return member->offset <= size && member->packed <= size - member->offset;
}

static int inflate_whole(const uint8_t *packed, const struct by_npz_member *member, uint8_t *out,
                         struct baryon_error *err)
{
    uint64_t got = 0;
    bool whole = false;
    if (inflate_into(packed, member->packed, out, member->size, &got, &whole, err) < 0)
        return -1;
    if (got != member->size)
        return by_fail(err, BARYON_ERR_INPUT,
                       "%" PRIu64 " bytes from the packed data, the directory states %" PRIu64, got,
                       member->size);
    if (!whole)
        return by_fail(err, BARYON_ERR_INPUT,
                       "the packed data does not end after the %" PRIu64
                       " bytes that the directory states",
                       member->size);
    return 0;
}

static int unpack(const uint8_t *packed, const struct by_npz_member *member, uint8_t *out,
                  struct baryon_error *err)
{
    if (member->method == 0)
        memcpy(out, packed, (size_t)member->size);
    else if (inflate_whole(packed, member, out, err) < 0)
        return -1;
    const uint32_t crc = (uint32_t)crc32_z(crc32_z(0, NULL, 0), out, (size_t)member->size);
    if (crc != member->crc)
        return by_fail(err, BARYON_ERR_INPUT,
                       "the checksum (CRC-32) of the bytes is %08" PRIx32
                       ", the directory states %08" PRIx32,
                       crc, member->crc);
    return 0;
}

int by_npz_read(const uint8_t *bytes, size_t size, const struct by_npz_member *member,
                uint8_t **out, struct baryon_error *err)
{
    *out = NULL;
    if (!is_inside(member, size))
        return by_fail(err, BARYON_ERR_CHANGED, "the file was truncated while it was read");
    if (member->size > PTRDIFF_MAX)
        return by_err_nomem(err, SIZE_MAX);
    /* Not cleared: pages that the stream never fills cost nothing. */
    uint8_t *block = by_alloc((size_t)member->size, 1, err);
    if (!block)
        return -1;
    if (unpack(bytes + member->offset, member, block, err) < 0) {
        by_free(block);
        return in_member(member, err);
    }
    *out = block;
    return 0;
}

int by_npz_peek(const uint8_t *bytes, size_t size, const struct by_npz_member *member, uint8_t *out,
                size_t want, size_t *got, struct baryon_error *err)
{
    *got = 0;
    if (!is_inside(member, size))
        return by_fail(err, BARYON_ERR_CHANGED, "the file was truncated while it was read");
    if (want > member->size)
        want = (size_t)member->size;
    if (member->method == 0) {
        memcpy(out, bytes + member->offset, want);
        *got = want;
        return 0;
    }
    uint64_t made = 0;
    bool whole;
    if (inflate_into(bytes + member->offset, member->packed, out, want, &made, &whole, err) < 0)
        return in_member(member, err);
    *got = (size_t)made;
    return 0;
}
