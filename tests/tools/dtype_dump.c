/*
 * Values through number formats, for tests that compare with other implementations. A question
 * on stdin, in native numbers (see pipe.h):
 *
 *   text words     "FORMAT round|encode|decode TIES SATURATE SCALE ZERO THREADS AXIS SIZE
 *                  TENSOR_SCALE FROM_BF16": fp8_e4m3 round 0 1 1 0 2 -1 0 0 0
 *   u32 rank, i64 dims, f32 values; to decode, a code as u32 for each
 *
 * The answer is text: "" or an error; without one f32 values (round, decode); or u32 bytes, the
 * codes, packed, u32 bytes, the scales, f32 values of them (encode).
 */
#include "dtype/block.h"
#include "dtype/family.h"
#include "ir/tensor.h"

#include "tests/tools/pipe.h"

static const struct by_dtype *dtype;
static struct by_cast cast;
static struct by_block_cast block;
static struct by_pool *pool;
static int64_t dims[BY_RANK_MAX];
static char what[16];

static void read_words(const char *text)
{
    char name[32];
    int ties, saturate, axis, from_bf16;
    long long zero;
    unsigned threads;
    size_t size;
    float scale, tensor_scale;
    if (sscanf(text, "%31s %15s %d %d %f %lld %u %d %zu %f %d", name, what, &ties, &saturate,
               &scale, &zero, &threads, &axis, &size, &tensor_scale, &from_bf16) != 11)
        exit(2);
    dtype = by_dtype_find(name);
    if (!dtype) {
        fprintf(stderr, "dtype_dump: no format %s\n", name);
        exit(2);
    }
    cast = (struct by_cast){
        .scale = scale, .zero = zero, .ties = (enum by_ties)ties, .saturate = saturate};
    block = (struct by_block_cast){.dims = dims,
                                   .axis = axis,
                                   .size = size,
                                   .ties = (enum by_ties)ties,
                                   .tensor_scale = tensor_scale,
                                   .from_bf16 = from_bf16};
    by_pool_close(pool);
    if (by_pool_open(&pool, threads, NULL))
        exit(3);
}

static int round_values(const float *values, size_t count, struct baryon_error *err)
{
    float *out = have(count * sizeof *out);
    if (dtype->block.size ? by_block_round(dtype, values, &block, pool, out, err)
                          : by_dtype_round(dtype, values, count, &cast, pool, out, err))
        return -1;
    put_text("");
    put(out, count * sizeof *out);
    free(out);
    return 0;
}

static int decode_values(const uint32_t *wide, size_t count, struct baryon_error *err)
{
    float *out = have(count * sizeof *out);
    void *codes = have(count * by_dtype_code_bytes(dtype));
    for (size_t i = 0; i < count; i++)
        by_code_put(codes, i, by_dtype_code_bytes(dtype), wide[i]);
    if (by_dtype_decode(dtype, codes, count, &cast, pool, out, err))
        return -1;
    put_text("");
    put(out, count * sizeof *out);
    free(codes);
    free(out);
    return 0;
}

static int through_codes(const float *values, size_t count, void *codes, size_t codes_count,
                         uint8_t *packed, uint8_t *scales, float *back, struct baryon_error *err)
{
    if (dtype->block.size ? by_block_encode(dtype, values, &block, pool, codes, scales, err)
                          : by_dtype_encode(dtype, values, count, &cast, pool, codes, err))
        return -1;
    by_dtype_pack(dtype, codes, codes_count, packed);
    memset(codes, 0xee, codes_count * by_dtype_code_bytes(dtype));
    by_dtype_unpack(dtype, packed, codes_count, codes);
    return dtype->block.size ? by_block_decode(dtype, codes, scales, &block, pool, back, err)
                             : by_dtype_decode(dtype, codes, count, &cast, pool, back, err);
}

static int encode_values(const float *values, size_t count, struct baryon_error *err)
{
    struct by_block_extent extent = {.values = count};
    size_t bytes;
    if ((dtype->block.size && by_block_extent(dtype, &block, &extent, err)) ||
        by_dtype_packed_bytes(dtype, extent.values, &bytes, err))
        return -1;
    void *codes = have(extent.values * by_dtype_code_bytes(dtype));
    uint8_t *packed = have(bytes), *scales = have(extent.scale_bytes);
    float *back = have(count * sizeof *back);
    const int status =
        through_codes(values, count, codes, extent.values, packed, scales, back, err);
    if (!status) {
        put_text("");
        put_u32((uint32_t)bytes);
        put(packed, bytes);
        put_u32((uint32_t)extent.scale_bytes);
        put(scales, extent.scale_bytes);
        put(back, count * sizeof *back);
    }
    free(codes);
    free(packed);
    free(scales);
    free(back);
    return status;
}

static int answer(const void *values, size_t count, struct baryon_error *err)
{
    if (!strcmp(what, "round"))
        return round_values(values, count, err);
    if (!strcmp(what, "encode"))
        return encode_values(values, count, err);
    return decode_values(values, count, err);
}

int main(void)
{
    uint32_t length;
    while (fread(&length, sizeof length, 1, stdin) == 1) {
        struct baryon_error err = {.code = 0};
        char *text = get_bytes(length);
        size_t count;
        read_words(text);
        block.rank = get_u32();
        get(dims, block.rank * sizeof *dims);
        if (by_dims_count(dims, block.rank, &count, NULL))
            exit(2);
        char *values = get_bytes(count * sizeof(float));
        if (answer(values, count, &err)) {
            char message[512];
            baryon_error_format(&err, message, sizeof message);
            put_text(message);
        }
        fflush(stdout);
        free(values);
        free(text);
    }
    by_pool_close(pool);
    return 0;
}
