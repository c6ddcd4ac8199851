/* Tests Gram matrices on small layers computed by hand, and with any number of threads. */
#include "moments/moments_internal.h"

#include "graph_build.h"

#include "base/rng.h"

#include <math.h>

static struct by_moments_scratch *scratch;

static int enter(void **state)
{
    (void)state;
    return by_moments_scratch_open(&scratch, 4, &err);
}

static int leave(void **state)
{
    (void)state;
    by_moments_scratch_close(scratch);
    return 0;
}

static struct by_moments_layer matmul(int64_t columns)
{
    return (struct by_moments_layer){.kind = BY_LAYER_MATMUL,
                                     .name = "y",
                                     .input = "x",
                                     .weight = "w",
                                     .groups = 1,
                                     .columns = columns};
}

static struct by_moments_layer conv(int64_t channels, int64_t groups, int64_t kernel, int64_t pad)
{
    return (struct by_moments_layer){.kind = BY_LAYER_CONV,
                                     .name = "y",
                                     .input = "x",
                                     .weight = "w",
                                     .groups = groups,
                                     .columns = channels / groups * kernel,
                                     .spatial = 1,
                                     .channels = channels,
                                     .kernel = {kernel},
                                     .stride = {1},
                                     .dilation = {1},
                                     .pad_begin = {pad},
                                     .pad_end = {pad}};
}

/* Sums over all rows of a group. */
static void sums_of(const struct by_moments *moments, const struct by_moments_layer *layer,
                    size_t group, float *gram)
{
    const size_t each = by_moments_tiles(layer) / (size_t)layer->groups;
    for (size_t i = group * each; i < (group + 1) * each; i++) {
        struct by_moments_tile tile;
        by_moments_tile_at(layer, i, &tile);
        by_moments_put_tile(&moments->tiles[i], &tile, (size_t)layer->columns, 1, NULL, gram);
    }
}

static struct by_array array(const void *data, int64_t elem, size_t rank, int64_t a, int64_t b,
                             int64_t c)
{
    return (struct by_array){.name = "x",
                             .elem = elem,
                             .rank = rank,
                             .dims = {a, b, c},
                             .data = data,
                             .size = (size_t)(a * b * (rank > 2 ? c : 1)) * sizeof(float)};
}

/* Every tile once, and no entry in two of them. */
static void tiles_cover_the_upper_triangle(void **state)
{
    static const int64_t sizes[] = {1, 9, 512, 513, 1024, 1100, 4608};
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct by_moments_layer layer = matmul(sizes[s]);
        size_t entries = 0, row = 0, column = 0;
        const size_t tiles = by_moments_tiles(&layer), width = (size_t)sizes[s];
        for (size_t i = 0; i < tiles; i++) {
            struct by_moments_tile tile;
            by_moments_tile_at(&layer, i, &tile);
            assert_int_equal(tile.group, 0);
            assert_int_equal(tile.row, row);
            assert_int_equal(tile.column, column);
            assert_int_equal(by_moments_tile_bytes(&tile), tile.entries * 16);
            entries += tile.entries;
            if (++column == (width + BY_MOMENTS_TILE - 1) / BY_MOMENTS_TILE)
                column = ++row;
        }
        assert_int_equal(entries, width * (width + 1) / 2);
    }
}

/* How many windows there are, and where the first one begins. */
static void windows_have_stride_dilation_and_pads(void **state)
{
    static const struct {
        int64_t kernel, stride, dilation, begin, end, in, pad, out;
        enum by_auto_pad auto_pad;
    } rows[] = {
        {3, 1, 1, 0, 0, 7, 0, 5, 0},
        {3, 1, 2, 0, 0, 7, 0, 3, 0},
        {3, 2, 1, 1, 0, 7, 1, 3, 0},
        {3, 1, 4, 0, 0, 7, 0, 0, 0},
        {3, 1, 2, 9, 9, 7, 2, 7, BY_PADS_SAME_UPPER},
        {2, 1, 1, 9, 9, 7, 0, 7, BY_PADS_SAME_UPPER},
        {2, 1, 1, 9, 9, 7, 1, 7, BY_PADS_SAME_LOWER},
        {2, 1, 3, 9, 9, 7, 1, 7, BY_PADS_SAME_UPPER},
        {2, 1, 3, 9, 9, 7, 2, 7, BY_PADS_SAME_LOWER},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct by_moments_layer layer = conv(1, 1, rows[i].kernel, 0);
        int64_t pad, out;
        layer.stride[0] = rows[i].stride;
        layer.dilation[0] = rows[i].dilation;
        layer.pad_begin[0] = rows[i].begin;
        layer.pad_end[0] = rows[i].end;
        layer.auto_pad = (int)rows[i].auto_pad;
        by_layer_windows(&layer, 0, rows[i].in, &pad, &out);
        assert_int_equal(pad, rows[i].pad);
        assert_int_equal(out, rows[i].out);
    }
}

/* Of many rows one of each stretch is taken, of each sample another. */
static void samples_have_rows_of_their_own(void **state)
{
    static float values[1000];
    static const int64_t rows = 1000;
    const struct by_moments_layer layer = matmul(1);
    const struct by_array input = array(values, BY_ELEM_FLOAT, 2, rows, 1, 0);
    struct by_columns columns;
    struct by_moments_rows taken;
    size_t lists[3][10], differ = 0;
    (void)state;
    assert_ok(by_columns_init(&columns, &layer, &input, &err));
    columns.values = values;
    columns.most = 10;
    for (size_t i = 0; i < 3; i++) {
        assert_ok(by_rows_choose(&columns, i % 2, lists[i], &taken, NULL, &err));
        assert_int_equal(taken.count, 10);
        for (size_t k = 0; k < 10; k++)
            assert_in_range(lists[i][k], 100 * k, 100 * k + 99);
    }
    for (size_t k = 0; k < 10; k++)
        differ += lists[0][k] != lists[1][k];
    assert_true(differ > 5);
    assert_memory_equal(lists[0], lists[2], sizeof lists[0]);
}

static void a_small_matrix_by_hand(void **state)
{
    (void)state;
    const float values[] = {1, 2, 3, /**/ -1, 0.5f, 0};
    const double wanted[] = {2, 1.5, 3, 1.5, 4.25, 6, 3, 6, 9};
    const struct by_moments_layer layer = matmul(3);
    const struct by_array input = array(values, BY_ELEM_FLOAT, 2, 2, 3, 0);
    struct by_moments moments;
    double mean[3];
    float gram[9];
    assert_ok(by_moments_init(&moments, &layer, 0, 1, &err));
    by_moments_mean(&moments, &layer, 0, mean);
    assert_true(mean[0] == 0);
    assert_ok(by_moments_look(&moments, &layer, scratch, &input, 0, NULL, &err));
    assert_ok(by_moments_look(&moments, &layer, scratch, &input, 1, NULL, &err));
    assert_int_equal(moments.rows, 4);
    assert_int_equal(moments.samples, 2);
    sums_of(&moments, &layer, 0, gram);
    by_moments_mean(&moments, &layer, 0, mean);
    for (size_t i = 0; i < 9; i++)
        assert_true((double)gram[i] == 2 * wanted[i]);
    assert_true(mean[0] == 0 && mean[1] == 1.25 && mean[2] == 1.5);
    by_moments_release(&moments);
}

/* Two groups of one channel: x = 1 2 3 and 4 5 6, windows of 2 with a zero at each end. */
static void a_small_convolution_by_hand(void **state)
{
    (void)state;
    const float values[] = {1, 2, 3, 4, 5, 6};
    const double wanted[2][4] = {{14, 8, 8, 14}, {77, 50, 50, 77}};
    const struct by_moments_layer layer = conv(2, 2, 2, 1);
    const struct by_array input = array(values, BY_ELEM_FLOAT, 3, 1, 2, 3);
    struct by_moments moments;
    double mean[2];
    float gram[4];
    assert_int_equal(by_moments_tiles(&layer), 2);
    assert_ok(by_moments_init(&moments, &layer, 0, 2, &err));
    assert_ok(by_moments_look(&moments, &layer, scratch, &input, 0, NULL, &err));
    assert_int_equal(moments.rows, 4);
    for (size_t g = 0; g < 2; g++) {
        sums_of(&moments, &layer, g, gram);
        by_moments_mean(&moments, &layer, g, mean);
        for (size_t i = 0; i < 4; i++)
            assert_true((double)gram[i] == wanted[g][i]);
        assert_true(mean[0] == (g ? 3.75 : 1.5) && mean[1] == mean[0]);
    }
    by_moments_release(&moments);
}

/* Every fourth sample judges, and what it judges is gathered without it. */
static void samples_that_judge_are_kept_apart(void **state)
{
    (void)state;
    struct by_moments_layer layer = matmul(2);
    struct by_moments moments[3];
    for (enum by_moments_share share = BY_SHARE_ALL; share <= BY_SHARE_JUDGES; share++) {
        layer.share = share;
        assert_ok(by_moments_init(&moments[share], &layer, 0, 1, &err));
        for (uint64_t sample = 0; sample < 9; sample++) {
            const float values[] = {(float)(1u << sample), 1};
            const struct by_array input = array(values, BY_ELEM_FLOAT, 2, 1, 2, 0);
            assert_ok(
                by_moments_look(&moments[share], &layer, scratch, &input, sample, NULL, &err));
        }
    }
    assert_int_equal(moments[BY_SHARE_ALL].samples, 9);
    assert_int_equal(moments[BY_SHARE_SOLVES].samples, 7);
    assert_int_equal(moments[BY_SHARE_JUDGES].samples, 2);
    assert_true(by_fold_value(&moments[BY_SHARE_ALL].mean, 0) == 511);
    assert_true(by_fold_value(&moments[BY_SHARE_JUDGES].mean, 0) == (1 << 3) + (1 << 7));
    assert_true(by_fold_value(&moments[BY_SHARE_SOLVES].mean, 0) == 511 - (1 << 3) - (1 << 7));
    assert_true(by_fold_value(&moments[BY_SHARE_JUDGES].tiles[0], 0) == (1 << 6) + (1 << 14));
    for (size_t i = 0; i < 3; i++)
        by_moments_release(&moments[i]);
}

/* Of one input, whatever weights it meets; pads, groups and the rest count. */
static void layers_with_the_same_columns(void **state)
{
    (void)state;
    const struct by_moments_layer layer = conv(4, 2, 3, 1);
    struct by_moments_layer other = layer;
    other.name = "z";
    other.weight = "v";
    assert_true(by_layer_same_columns(&layer, &other));
    other.input = "other";
    assert_false(by_layer_same_columns(&layer, &other));
    other = layer;
    other.pad_end[0] = 0;
    assert_false(by_layer_same_columns(&layer, &other));
    other = layer;
    other.dilation[0] = 2;
    assert_false(by_layer_same_columns(&layer, &other));
    other = layer;
    other.groups = 1;
    assert_false(by_layer_same_columns(&layer, &other));
    other = layer;
    other.auto_pad = BY_PADS_SAME_UPPER;
    assert_false(by_layer_same_columns(&layer, &other));
    other = layer;
    other.transposed = true;
    assert_false(by_layer_same_columns(&layer, &other));
}

static void parts_that_differ_are_not_added(void **state)
{
    (void)state;
    const struct by_moments_layer layer = matmul(600);
    struct by_moments a, b;
    assert_ok(by_moments_init(&a, &layer, 0, 3, &err));
    assert_ok(by_moments_init(&b, &layer, 0, 2, &err));
    assert_err(by_moments_merge(&a, &layer, &b, &err), BARYON_ERR_INTERNAL,
               "layer 'y': Gram matrices with different tiles cannot be added");
    by_moments_release(&a);
    by_moments_release(&b);
}

static void inputs_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const float values[64];
    const struct by_moments_layer layer = conv(4, 1, 3, 0), product = matmul(5);
    struct by_array input = array(values, BY_ELEM_FLOAT, 3, 1, 3, 9);
    struct by_moments moments;
    assert_ok(by_moments_init(&moments, &layer, 0, 1, &err));
    assert_err(by_moments_look(&moments, &layer, scratch, &input, 0, NULL, &err), BARYON_ERR_INPUT,
               "the input of layer 'y' has the shape [1,3,9], the channels must be 4");
    input.rank = 2;
    assert_err(by_moments_look(&moments, &layer, scratch, &input, 0, NULL, &err), BARYON_ERR_INPUT,
               "the input of layer 'y' has the shape [1,3], the rank must be 3");
    assert_err(by_moments_look(&moments, &product, scratch, &input, 0, NULL, &err),
               BARYON_ERR_INPUT,
               "the input of layer 'y' has the shape [1,3], the last size must be 5");
    input.rank = 0;
    assert_err(by_moments_look(&moments, &product, scratch, &input, 0, NULL, &err),
               BARYON_ERR_INPUT,
               "the input of layer 'y' has the shape [], the rank must be at least 1");
    input = array(values, BY_ELEM_INT8, 2, 2, 5, 0);
    assert_err(by_moments_look(&moments, &product, scratch, &input, 0, NULL, &err),
               BARYON_ERR_UNSUPPORTED, "layer 'y': input of type int8, must be a float type");
    /* Smaller than its window: no rows. */
    input = array(values, BY_ELEM_FLOAT, 3, 1, 4, 2);
    assert_ok(by_moments_look(&moments, &layer, scratch, &input, 0, NULL, &err));
    assert_int_equal(moments.rows, 0);
    assert_int_equal(moments.samples, 1);
    by_moments_release(&moments);
}

static void a_table_counts_its_rows(void **state)
{
    (void)state;
    const int64_t indices[] = {0, 2, -1, 2};
    const int32_t outside[] = {0, 3};
    struct by_moments_layer layer = matmul(3);
    layer.kind = BY_LAYER_GATHER;
    struct by_array input = array(indices, BY_ELEM_INT64, 2, 2, 2, 0);
    struct by_moments moments, other;
    assert_ok(by_moments_init(&moments, &layer, 0, 0, &err));
    assert_ok(by_moments_init(&other, &layer, 0, 0, &err));
    assert_ok(by_moments_look(&moments, &layer, scratch, &input, 0, NULL, &err));
    assert_ok(by_moments_look(&other, &layer, scratch, &input, 1, NULL, &err));
    assert_ok(by_moments_merge(&moments, &layer, &other, &err));
    assert_int_equal(moments.rows, 8);
    assert_int_equal(moments.counts[0], 2);
    assert_int_equal(moments.counts[1], 0);
    assert_int_equal(moments.counts[2], 6);
    input = array(outside, BY_ELEM_INT32, 1, 2, 1, 0);
    assert_err(by_moments_look(&moments, &layer, scratch, &input, 2, NULL, &err), BARYON_ERR_INPUT,
               "layer 'y': index 3, but the table has 3 rows");
    assert_int_equal(moments.counts[0], 2);
    input.elem = BY_ELEM_FLOAT;
    assert_err(by_moments_look(&moments, &layer, scratch, &input, 2, NULL, &err),
               BARYON_ERR_UNSUPPORTED,
               "layer 'y': indices of type float32, must be int32 or int64");
    by_moments_release(&moments);
    by_moments_release(&other);
}

static void bfloat16_is_widened(void **state)
{
    (void)state;
    const uint16_t values[] = {0x3f80, 0x4000, 0xbf80, 0x7fc0}; /* 1 2, -1 NaN */
    const struct by_moments_layer layer = matmul(2);
    const struct by_array input = array(values, BY_ELEM_BFLOAT16, 2, 2, 2, 0);
    struct by_moments moments;
    float gram[4];
    assert_ok(by_moments_init(&moments, &layer, 0, 1, &err));
    assert_ok(by_moments_look(&moments, &layer, scratch, &input, 0, NULL, &err));
    sums_of(&moments, &layer, 0, gram);
    assert_true(gram[0] == 1 && gram[1] == 2 && gram[2] == 2 && gram[3] == 4);
    assert_int_equal(moments.rows, 1);
    assert_int_equal(moments.nonfinite_rows, 1);
    by_moments_release(&moments);
}

static float *random_values(size_t count)
{
    float *values = malloc(count * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)by_rng_normal(3, 4, i);
    return values;
}

static void assert_same_fold(const struct by_fold *a, const struct by_fold *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->cell, b->cell);
    assert_memory_equal(a->high, b->high, a->count * sizeof *a->high);
    assert_memory_equal(a->low, b->low, a->count * sizeof *a->low);
}

/* Less of what takes long there. */
static bool in_valgrind(void)
{
    return getenv("VALGRIND") != NULL;
}

static void assert_team_agrees(const struct by_moments_layer *layer, const struct by_array *input)
{
    const uint64_t samples = in_valgrind() ? 1 : 3;
    const size_t tiles = by_moments_tiles(layer);
    struct by_moments alone, together;
    struct by_pool_team team;
    struct by_pool *pool;
    assert_ok(by_pool_open(&pool, 4, &err));
    by_pool_team(&team, pool);
    assert_ok(by_moments_init(&alone, layer, 0, tiles, &err));
    assert_ok(by_moments_init(&together, layer, 0, tiles, &err));
    for (uint64_t sample = 0; sample < samples; sample++) {
        assert_ok(by_moments_look(&alone, layer, scratch, input, sample, NULL, &err));
        assert_ok(by_moments_look(&together, layer, scratch, input, sample, &team.team, &err));
    }
    assert_same_fold(&alone.mean, &together.mean);
    for (size_t i = 0; i < tiles; i++)
        assert_same_fold(&alone.tiles[i], &together.tiles[i]);
    by_moments_release(&alone);
    by_moments_release(&together);
    by_pool_close(pool);
}

static void a_team_gives_the_same(void **state)
{
    (void)state;
    const struct by_moments_layer wide = matmul(1100), deep = conv(24, 24, 5, 2),
                                  full = conv(64, 2, 3, 1);
    const int64_t rows = in_valgrind() ? 1100 : 5000;
    float *values = random_values(1100 * (size_t)rows);
    struct by_array input = array(values, BY_ELEM_FLOAT, 2, rows, 1100, 0);
    assert_team_agrees(&wide, &input);
    input = array(values, BY_ELEM_FLOAT, 3, 2, 24, 3000); /* more rows than are taken */
    assert_team_agrees(&deep, &input);
    input = array(values, BY_ELEM_FLOAT, 3, 5, 64, 333);
    assert_team_agrees(&full, &input);
    free(values);
}

static void few_products_are_the_same_everywhere(void **state)
{
    (void)state;
    enum { MOST = 1030 };
    float *values = random_values((size_t)BY_FEW_COLUMNS * MOST);
    static const size_t lengths[] = {0, 1, 7, 8, 9, 64, 1024, MOST};
    for (size_t count = 1; count <= BY_FEW_COLUMNS; count += 3)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            float ours[BY_FEW_COLUMNS * (BY_FEW_COLUMNS + 1) / 2] = {0}, ref[sizeof ours / 4] = {0};
            const size_t length = lengths[l], entries = count * (count + 1) / 2;
            by_few_products(values, count, length, ours);
            by_few_products_ref(values, count, length, ref);
            assert_memory_equal(ours, ref, entries * sizeof *ours);
            size_t at = 0;
            for (size_t i = 0; i < count; i++)
                for (size_t k = i; k < count; k++, at++) {
                    double sum = 0;
                    for (size_t r = 0; r < length; r++)
                        sum += (double)values[i * length + r] * (double)values[k * length + r];
                    assert_true(fabs(sum - (double)ours[at]) <= 1e-5 * (double)length);
                }
        }
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_cover_the_upper_triangle),
        cmocka_unit_test(a_small_matrix_by_hand),
        cmocka_unit_test(a_small_convolution_by_hand),
        cmocka_unit_test(samples_that_judge_are_kept_apart),
        cmocka_unit_test(layers_with_the_same_columns),
        cmocka_unit_test(parts_that_differ_are_not_added),
        cmocka_unit_test(inputs_that_do_not_fit_are_refused),
        cmocka_unit_test(windows_have_stride_dilation_and_pads),
        cmocka_unit_test(samples_have_rows_of_their_own),
        cmocka_unit_test(a_table_counts_its_rows),
        cmocka_unit_test(bfloat16_is_widened),
        cmocka_unit_test(a_team_gives_the_same),
        cmocka_unit_test(few_products_are_the_same_everywhere),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
