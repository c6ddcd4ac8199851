/*
 * Parameters and integers of constants, for tests that compare with other implementations. A
 * question on stdin, in native numbers (see pipe.h):
 *
 *   text words     "ELEM METHOD SCALE GRANULARITY SYMMETRIC REDUCE GROUP AXIS GROUP_AXIS PERCENTILE
 *                  THREADS": int8 minmax float32|float16|pow2|int16 tensor|channel|group 1 0 32 0
 * 1 99.9 2 u32 rank, i64 dims, f32 values
 *
 * The answer is text: "" or an error; without one u32 count, f32 scales, i64 zeros, f64 error,
 * u32 bytes, the integers, f32 values of the integers.
 */
#include "calib/methods.h"
#include "ir/tensor.h"
#include "quant/weights.h"

#include "tests/tools/pipe.h"

static struct by_tensor_spec spec;
static struct by_weight_view view;
static struct by_pool *pool;
static int64_t dims[BY_RANK_MAX];

static int number_of(const char *word, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (!strcmp(word, words[i]))
            return i;
    fprintf(stderr, "weights_dump: what is %s?\n", word);
    exit(2);
}

static void read_words(char *text)
{
    static const char *const scales[] = {"float32", "float16", "pow2", "int16", NULL};
    static const char *const parts[] = {"tensor", "channel", "group", NULL};
    char elem[16], method[32], scale[16], part[16];
    int symmetric, reduce;
    long long group;
    unsigned threads;
    double percentile;
    static struct by_percentile_options own = {.symmetric = true};
    if (sscanf(text, "%15s %31s %15s %15s %d %d %lld %d %d %lf %u", elem, method, scale, part,
               &symmetric, &reduce, &group, &view.axis, &view.group_axis, &percentile,
               &threads) != 11)
        exit(2);
    spec = (struct by_tensor_spec){.symmetric = symmetric,
                                   .reduce_range = reduce,
                                   .scale = (enum by_scale_type)number_of(scale, scales),
                                   .granularity = (enum by_granularity)number_of(part, parts),
                                   .group = group,
                                   .method = by_calibrator_find(method)};
    by_spec_set_type(&spec, !strcmp(elem, "int3")    ? BY_TYPE_INT3
                            : !strcmp(elem, "uint3") ? BY_TYPE_UINT3
                                                     : by_elem_by_name(elem));
    by_calib_defaults(spec.method, &spec.calib);
    own.percent = percentile;
    if (!strcmp(method, "percentile"))
        spec.calib.own = &own;
    by_pool_close(pool);
    if (by_pool_open(&pool, threads, NULL))
        exit(3);
}

static int answer(size_t count, struct by_arena *arena, struct baryon_error *err)
{
    struct by_params params;
    double error;
    size_t size;
    if (by_weight_params(&view, &spec, pool, arena, &params, &error, err) ||
        by_elem_bytes(spec.elem, count, &size, err))
        return -1;
    uint8_t *integers = have(size);
    float *back = have(count * sizeof *back);
    if (by_weight_quantize(&view, &spec, &params, pool, integers, size, err) ||
        by_weight_dequantize(integers, &view, &spec, &params, back, err))
        return -1;
    put_text("");
    put_u32((uint32_t)params.count);
    put(params.scales, params.count * sizeof *params.scales);
    put(params.zeros, params.count * sizeof *params.zeros);
    put(&error, sizeof error);
    put_u32((uint32_t)size);
    put(integers, size);
    put(back, count * sizeof *back);
    free(integers);
    free(back);
    return 0;
}

int main(void)
{
    uint32_t length;
    while (fread(&length, sizeof length, 1, stdin) == 1) {
        char *text = get_bytes(length);
        struct by_arena arena;
        struct baryon_error err = {.code = 0};
        size_t count;
        read_words(text);
        view.rank = get_u32();
        get(dims, view.rank * sizeof *dims);
        if (by_dims_count(dims, view.rank, &count, NULL))
            exit(2);
        float *values = (float *)(void *)get_bytes(count * sizeof *values);
        view.dims = dims;
        view.values = values;
        view.name = "w";
        by_arena_init(&arena, 0);
        if (answer(count, &arena, &err)) {
            char message[512];
            baryon_error_format(&err, message, sizeof message);
            put_text(message);
        }
        fflush(stdout);
        by_arena_release(&arena);
        free(values);
        free(text);
    }
    by_pool_close(pool);
    return 0;
}
