/*
 * Weights of MatMulNBits, for tests that compare with other implementations. A question on stdin,
 * in native numbers (see pipe.h):
 *
 *   text words     "BITS BLOCK SYMMETRIC MINMSE HALF rtn|hqq AXIS GROUP_AXIS THREADS"
 *   i64 dims[2], f32 values
 *
 * The answer is text: "" or an error; without one u64 channels, blocks, bytes of a block, bytes of
 * a channel's zero points, then levels, f32 scales, f32 zeros, the zero points packed, f64 error.
 */
#include "quant/nbits.h"

#include "tests/tools/pipe.h"

static void answer(const struct by_nbits *made, const struct by_nbits_spec *spec)
{
    const uint64_t sizes[] = {made->channels, made->blocks, made->block_bytes,
                              by_nbits_zero_bytes(made, spec)};
    const size_t params = made->channels * made->blocks;
    uint8_t *zeros = have(made->channels * sizes[3]);
    put_text("");
    put(sizes, sizeof sizes);
    put(made->levels, params * made->block_bytes);
    put(made->scales, params * sizeof(float));
    put(made->zeros, params * sizeof(float));
    memset(zeros, 0, made->channels * sizes[3]);
    if (!made->float_zeros)
        by_nbits_pack_zeros(made, spec, zeros);
    put(zeros, made->channels * sizes[3]);
    put(&made->error, sizeof made->error);
    free(zeros);
}

int main(void)
{
    uint32_t length;
    while (fread(&length, sizeof length, 1, stdin) == 1) {
        char *text = get_bytes(length), method[8];
        int symmetric, minmse, half, axis, group_axis;
        unsigned threads;
        struct by_nbits_spec spec;
        if (sscanf(text, "%u %zu %d %d %d %7s %d %d %u", &spec.bits, &spec.block, &symmetric,
                   &minmse, &half, method, &axis, &group_axis, &threads) != 9)
            return 2;
        spec.symmetric = symmetric;
        spec.minmse = minmse;
        spec.half = half;
        spec.method = strcmp(method, "hqq") ? BY_NBITS_RTN : BY_NBITS_HQQ;
        int64_t dims[2];
        get(dims, sizeof dims);
        float *values = (float *)(void *)get_bytes((size_t)(dims[0] * dims[1]) * sizeof *values);
        const struct by_weight_view view = {values, 2, dims, axis, group_axis, "w"};
        struct by_nbits made;
        struct by_pool *pool;
        struct baryon_error err = {.code = 0};
        if (by_pool_open(&pool, threads, NULL))
            return 3;
        if (by_nbits_open(&made, &view, &spec, pool, &err)) {
            char message[512];
            baryon_error_format(&err, message, sizeof message);
            put_text(message);
        } else {
            answer(&made, &spec);
            by_nbits_close(&made);
        }
        fflush(stdout);
        by_pool_close(pool);
        free(values);
        free(text);
    }
    return 0;
}
