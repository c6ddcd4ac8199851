/* Tests of what reports are made of: bins and clipped shares beside a direct count, chosen samples,
 * pictures, boxes, the command line. */
#include "base/mem.h"
#include "input/image.h"
#include "report/boxes.h"
#include "report/picture.h"
#include "report/report.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "sketch_case.h"

#define COUNT 20000

static struct baryon_error err;

/* --- Bins --- */

static void fill_values(float *values)
{
    for (size_t i = 0; i < COUNT; i++)
        values[i] = i % 5 == 0 ? 0 : (float)draw_normal(i) * (i % 97 ? 1 : 20);
}

static void look(struct by_sketch *sketch, const float *values)
{
    by_sketch_init(sketch);
    assert_int_equal(by_sketch_look_ref(sketch, values, BY_ELEM_FLOAT, COUNT, 0, &err), 0);
}

static double direct_count(const float *values, double low, double high, bool last)
{
    double count = 0;
    for (size_t i = 0; i < COUNT; i++) {
        const double value = (double)values[i];
        count += values[i] != 0 && value >= low && (value < high || (last && value <= high));
    }
    return count;
}

static void assert_bins(const struct by_report_bins *bins, const float *values, double slack)
{
    const double step = (bins->high - bins->low) / BY_REPORT_BINS;
    double most = 0;
    for (size_t i = 0; i < BY_REPORT_BINS; i++)
        most =
            fmax(most, direct_count(values, bins->low + (double)i * step,
                                    bins->low + (double)(i + 1) * step, i == BY_REPORT_BINS - 1));
    assert_true(fabs(bins->most - most) <= slack * most);
    for (size_t i = 0; i < BY_REPORT_BINS; i++) {
        const double count =
            direct_count(values, bins->low + (double)i * step, bins->low + (double)(i + 1) * step,
                         i == BY_REPORT_BINS - 1);
        const double told = bins->counts[i] * bins->most / BY_REPORT_GREATEST;
        assert_true(fabs(told - count) <= slack * most + bins->most / BY_REPORT_GREATEST);
        if (count > 0 && slack < 1e-6)
            assert_true(bins->counts[i] > 0);
    }
}

static void bins_of_values_are_a_direct_count(void **state)
{
    static float values[COUNT];
    struct by_report_bins bins;
    (void)state;
    fill_values(values);
    by_report_bins_of_values(&bins, values, COUNT);
    assert_bins(&bins, values, 1e-9);
}

static void bins_of_a_sketch_are_near_a_direct_count(void **state)
{
    static float values[COUNT];
    struct by_report_bins bins;
    struct by_sketch sketch;
    (void)state;
    fill_values(values);
    look(&sketch, values);
    assert_int_equal(by_report_bins_of_sketch(&bins, &sketch, &err), 0);
    assert_bins(&bins, values, 0.02);
    by_sketch_release(&sketch);
}

static void one_value_has_no_bins(void **state)
{
    const float same[3] = {2, 2, 2};
    struct by_report_bins bins;
    (void)state;
    by_report_bins_of_values(&bins, same, 3);
    assert_true(bins.low == 2 && bins.high == 2 && bins.most == 0);
    by_report_bins_of_values(&bins, same, 0);
    assert_true(bins.most == 0);
}

static void what_lies_outside_is_counted(void **state)
{
    static float values[COUNT];
    struct by_sketch sketch;
    (void)state;
    fill_values(values);
    look(&sketch, values);
    for (double bound = 0.25; bound < 40; bound *= 1.7) {
        double share, count = 0;
        for (size_t i = 0; i < COUNT; i++)
            count += (double)values[i] < -bound || (double)values[i] > bound / 2;
        assert_int_equal(by_sketch_outside(&sketch, -bound, bound / 2, &share, &err), 0);
        assert_true(fabs(share - count / COUNT) < 0.003);
    }
    by_sketch_release(&sketch);
}

/* --- Samples --- */

static size_t shown_of(const double *sqnr, size_t count, struct by_shown_place *places)
{
    size_t chosen;
    assert_int_equal(by_shown_choose(sqnr, count, places, &chosen, &err), 0);
    return chosen;
}

static void the_worst_the_median_and_the_best_are_shown(void **state)
{
    double sqnr[11];
    struct by_shown_place places[BY_SHOWN_MOST];
    (void)state;
    for (size_t i = 0; i < 11; i++)
        sqnr[i] = (double)((i * 4) % 11); /* all of 0 to 10 */
    assert_int_equal(shown_of(sqnr, 11, places), BY_SHOWN_MOST);
    assert_true(sqnr[places[0].place] == 0);
    assert_string_equal(places[0].rank, "worst");
    assert_true(sqnr[places[3].place] == 5);
    assert_string_equal(places[3].rank, "median");
    assert_true(sqnr[places[5].place] == 10);
    assert_string_equal(places[5].rank, "best");
    assert_null(places[1].rank);
    for (size_t i = 1; i < BY_SHOWN_MOST; i++)
        assert_true(sqnr[places[i].place] > sqnr[places[i - 1].place]);
}

static void each_sample_is_shown_once(void **state)
{
    struct by_shown_place places[BY_SHOWN_MOST];
    double sqnr[64];
    (void)state;
    for (size_t i = 0; i < 64; i++)
        sqnr[i] = i == 3 ? (double)NAN : 7;
    for (size_t count = 1; count < 64; count++) {
        const size_t shown = shown_of(sqnr, count, places);
        const size_t known = count > 3 ? count - 1 : count;
        assert_int_equal(shown, known < BY_SHOWN_MOST ? known : BY_SHOWN_MOST);
        for (size_t i = 1; i < shown; i++)
            assert_true(places[i].place > places[i - 1].place && places[i].place != 3);
    }
    sqnr[0] = (double)NAN;
    assert_int_equal(shown_of(sqnr, 1, places), 0);
}

/* --- Pictures --- */

static struct by_array array_of(const void *data, size_t rank, const int64_t *dims)
{
    struct by_array array = {.elem = BY_ELEM_FLOAT, .rank = rank, .data = data};
    size_t count = 1;
    for (size_t i = 0; i < rank; i++) {
        array.dims[i] = dims[i];
        count *= (size_t)dims[i];
    }
    array.size = count * sizeof(float);
    return array;
}

static void preparation_is_undone(void **state)
{
    static float values[3 * 16 * 20];
    const int64_t dims[4] = {1, 3, 16, 20};
    struct by_prep prep = by_prep_default;
    struct by_picture picture;
    struct by_arena arena;
    bool is;
    (void)state;
    prep.mean_count = prep.std_count = 3;
    for (size_t c = 0; c < 3; c++) {
        prep.mean[c] = 0.4 + 0.05 * (double)c;
        prep.std[c] = 0.2 + 0.01 * (double)c;
        for (size_t i = 0; i < 320; i++)
            values[c * 320 + i] =
                (float)(((double)((i + 7 * c) % 256) / 255 - prep.mean[c]) / prep.std[c]);
    }
    const struct by_array array = array_of(values, 4, dims);
    by_arena_init(&arena, 0);
    assert_int_equal(by_picture_make(&picture, &array, &prep, NULL, &arena, &is, &err), 0);
    assert_true(is && !picture.stretched && picture.shrunk == 1);
    assert_true(picture.width == 20 && picture.height == 16 && picture.channels == 3);
    for (size_t i = 0; i < 320; i++)
        for (size_t c = 0; c < 3; c++)
            assert_int_equal(picture.pixels[3 * i + c], (i + 7 * c) % 256);
    by_arena_release(&arena);
}

static void other_values_are_stretched(void **state)
{
    static float values[700 * 350];
    const int64_t dims[4] = {1, 350, 700, 1};
    struct by_picture picture;
    struct by_arena arena;
    bool is;
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        values[i] = i % 700 < 350 ? -1000 : 3000;
    const struct by_array array = array_of(values, 4, dims);
    by_arena_init(&arena, 0);
    assert_int_equal(by_picture_make(&picture, &array, &by_prep_default, NULL, &arena, &is, &err),
                     0);
    assert_true(is && picture.stretched && picture.shrunk == 3);
    assert_true(picture.width == 234 && picture.height == 117 && picture.channels == 1);
    assert_int_equal(picture.pixels[0], 0);
    assert_int_equal(picture.pixels[233], 255);
    by_arena_release(&arena);
}

static void other_shapes_are_no_pictures(void **state)
{
    static float values[3 * 7 * 9];
    const int64_t dims[][4] = {{1, 3, 7, 9}, {1, 3, 63, 1}, {1, 1, 1, 189}, {1, 9, 7, 3}};
    struct by_arena arena;
    (void)state;
    by_arena_init(&arena, 0);
    for (size_t i = 0; i < 4; i++) {
        const struct by_array array = array_of(values, 4, dims[i]);
        struct by_picture picture;
        bool is = true;
        assert_int_equal(by_picture_make(&picture, &array, NULL, NULL, &arena, &is, &err), 0);
        assert_false(is);
    }
    by_arena_release(&arena);
}

static size_t decode_base64(const char *text, uint8_t *bytes)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = 0;
    size_t size = 0, held = 0;
    for (; *text && *text != '=' && *text != '"'; text++) {
        bits = bits << 6 | (uint32_t)(strchr(letters, *text) - letters);
        held += 6;
        if (held < 8)
            continue;
        held -= 8;
        bytes[size++] = (uint8_t)(bits >> held);
    }
    return size;
}

static void png_has_the_pixels(void **state)
{
    static uint8_t pixels[3 * 11 * 9], bytes[4096];
    struct by_picture picture = {.width = 11, .height = 9, .shrunk = 1, .pixels = pixels};
    struct by_str text;
    struct by_json json;
    struct by_image image;
    (void)state;
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * 37);
    for (picture.channels = 1; picture.channels <= 3; picture.channels += 2) {
        by_str_init(&text);
        by_json_init(&json, &text, true);
        by_json_open(&json, NULL, '{');
        assert_int_equal(by_picture_json(&picture, &json, &err), 0);
        by_json_close(&json, '}');
        const char *png = strstr(by_str_text(&text), "\"png\":\"");
        assert_non_null(png);
        const size_t size = decode_base64(png + 7, bytes);
        assert_int_equal(by_image_decode(bytes, size, &image, &err), 0);
        assert_true(image.width == 11 && image.height == 9);
        for (size_t i = 0; i < 99; i++)
            assert_int_equal(image.rgb[3 * i], pixels[picture.channels * i]);
        by_image_release(&image);
        by_str_release(&text);
    }
}

/* --- Boxes --- */

#define BOXES 40

static void put_box(float *rows, size_t i, const float box[4], size_t class, float score)
{
    for (size_t k = 0; k < 4; k++)
        rows[k * BOXES + i] = box[k];
    rows[(4 + class) * BOXES + i] = score;
}

static void rows_of_boxes_are_found(void **state)
{
    static float rows[7 * BOXES];
    const int64_t dims[3] = {1, 7, BOXES};
    struct by_boxes_rule rule;
    struct by_box boxes[BY_BOXES_MOST];
    size_t count;
    (void)state;
    memset(rows, 0, sizeof rows);
    put_box(rows, 3, (const float[]){100, 50, 40, 20}, 2, 0.9F);
    put_box(rows, 4, (const float[]){101, 50, 40, 20}, 2, 0.8F); /* covered */
    put_box(rows, 9, (const float[]){101, 50, 40, 20}, 1, 0.5F); /* of another class */
    put_box(rows, 5, (const float[]){20, 20, 10, 10}, 0, 0.2F);  /* too little */
    const struct by_array output = array_of(rows, 3, dims);
    assert_int_equal(by_boxes_find(&rule, &output, 1, 200, 100, &err), 0);
    assert_int_equal(rule.kind, BY_BOXES_ROWS);
    assert_int_equal(rule.classes, 3);
    assert_int_equal(by_boxes_read(&rule, &output, 200, 100, boxes, &count, &err), 0);
    assert_int_equal(count, 2);
    assert_true(boxes[0].class == 2 && fabs(boxes[0].score - 0.9) < 1e-6);
    assert_true(fabs(boxes[0].at[0] - 0.4) < 1e-6 && fabs(boxes[0].at[1] - 0.4) < 1e-6);
    assert_true(fabs(boxes[0].at[2] - 0.6) < 1e-6 && fabs(boxes[0].at[3] - 0.6) < 1e-6);
    assert_int_equal(boxes[1].class, 1);
    rows[6 * BOXES] = 3; /* no score */
    assert_int_equal(by_boxes_find(&rule, &output, 1, 200, 100, &err), 0);
    assert_int_equal(rule.kind, BY_BOXES_NONE);
}

static void columns_of_boxes_have_a_score_of_their_own(void **state)
{
    static float columns[BOXES * 7];
    const int64_t dims[3] = {1, BOXES, 7};
    struct by_boxes_rule rule;
    struct by_box boxes[BY_BOXES_MOST];
    size_t count;
    (void)state;
    memset(columns, 0, sizeof columns);
    const float row[7] = {0.5F, 0.5F, 0.2F, 0.4F, 0.8F, 0.1F, 0.5F};
    memcpy(&columns[7 * 11], row, sizeof row);
    const struct by_array output = array_of(columns, 3, dims);
    assert_int_equal(by_boxes_find(&rule, &output, 1, 200, 100, &err), 0);
    assert_int_equal(rule.kind, BY_BOXES_COLUMNS);
    assert_int_equal(by_boxes_read(&rule, &output, 200, 100, boxes, &count, &err), 0);
    assert_int_equal(count, 1);
    assert_true(boxes[0].class == 1 && fabs(boxes[0].score - 0.4) < 1e-6);
    assert_true(fabs(boxes[0].at[0] - 0.4) < 1e-6 && fabs(boxes[0].at[3] - 0.7) < 1e-6);
}

static void boxes_and_scores_are_a_pair(void **state)
{
    static float corners[BOXES * 4], scores[BOXES * 2];
    const int64_t box_dims[3] = {1, BOXES, 4}, score_dims[3] = {1, BOXES, 2};
    struct by_boxes_rule rule;
    struct by_box boxes[BY_BOXES_MOST];
    size_t count;
    (void)state;
    memset(corners, 0, sizeof corners);
    memset(scores, 0, sizeof scores);
    corners[4 * 6 + 0] = 10;
    corners[4 * 6 + 1] = 20;
    corners[4 * 6 + 2] = 30;
    corners[4 * 6 + 3] = 60;
    scores[2 * 6 + 1] = 0.75F;
    const struct by_array outputs[2] = {array_of(scores, 3, score_dims),
                                        array_of(corners, 3, box_dims)};
    assert_int_equal(by_boxes_find(&rule, outputs, 2, 200, 100, &err), 0);
    assert_int_equal(rule.kind, BY_BOXES_PAIR);
    assert_true(rule.boxes == 1 && rule.scores == 0 && rule.corners && rule.pixels);
    assert_int_equal(by_boxes_read(&rule, outputs, 100, 100, boxes, &count, &err), 0);
    assert_int_equal(count, 1);
    assert_true(boxes[0].class == 1 && fabs(boxes[0].at[1] - 0.2) < 1e-6 &&
                fabs(boxes[0].at[2] - 0.3) < 1e-6);
}

static void logits_are_no_boxes(void **state)
{
    static float values[BOXES * 4];
    const int64_t dims[2] = {1, BOXES * 4}, maps[4] = {1, 4, 5, 8};
    const struct by_array logits = array_of(values, 2, dims), map = array_of(values, 4, maps);
    const struct by_array both[2] = {logits, map};
    struct by_boxes_rule rule;
    (void)state;
    assert_int_equal(by_boxes_find(&rule, &logits, 1, 200, 100, &err), 0);
    assert_int_equal(rule.kind, BY_BOXES_NONE);
    assert_int_equal(by_boxes_find(&rule, &map, 1, 200, 100, &err), 0);
    assert_int_equal(rule.kind, BY_BOXES_NONE);
    assert_int_equal(by_boxes_find(&rule, both, 2, 200, 100, &err), 0);
    assert_int_equal(rule.kind, BY_BOXES_NONE);
}

/* Of one value from the first column and row up to the last ones, which are not in it. */
static void fill_region(float *map, size_t width, const size_t at[4], float value)
{
    for (size_t y = at[1]; y < at[3]; y++)
        for (size_t x = at[0]; x < at[2]; x++)
            map[y * width + x] = value;
}

static void regions_of_a_map_are_boxes(void **state)
{
    static float map[50 * 100];
    const int64_t dims[4] = {1, 1, 50, 100};
    struct by_boxes_rule rule;
    struct by_box boxes[BY_BOXES_MOST];
    size_t count;
    const struct by_array output = array_of(map, 4, dims);
    (void)state;
    fill_region(map, 100, (size_t[]){10, 5, 20, 10}, 0.95F);
    fill_region(map, 100, (size_t[]){20, 10, 30, 15}, 0.95F); /* touches it by a corner */
    fill_region(map, 100, (size_t[]){60, 20, 90, 30}, 0.85F);
    fill_region(map, 100, (size_t[]){5, 40, 15, 45}, 0.4F);   /* too low in the mean */
    fill_region(map, 100, (size_t[]){40, 40, 60, 42}, 0.95F); /* two places high */
    assert_int_equal(by_boxes_find(&rule, &output, 1, 200, 100, &err), 0);
    assert_int_equal(rule.kind, BY_BOXES_MAP);
    assert_int_equal(by_boxes_read(&rule, &output, 200, 100, boxes, &count, &err), 0);
    assert_int_equal(count, 2);
    assert_true(fabs(boxes[0].at[0] - 0.6) < 1e-9 && fabs(boxes[0].at[1] - 0.4) < 1e-9);
    assert_true(fabs(boxes[0].at[2] - 0.9) < 1e-9 && fabs(boxes[0].at[3] - 0.6) < 1e-9);
    assert_true(fabs(boxes[0].score - 0.85) < 1e-6 && boxes[0].class == 0);
    assert_true(fabs(boxes[1].at[0] - 0.1) < 1e-9 && fabs(boxes[1].at[3] - 0.3) < 1e-9);
}

static void other_maps_have_no_boxes(void **state)
{
    static float map[50 * 100];
    const int64_t dims[4] = {1, 1, 50, 100}, two[4] = {1, 2, 25, 100};
    struct by_boxes_rule rule;
    const struct by_array output = array_of(map, 4, dims), channels = array_of(map, 4, two);
    (void)state;
    assert_int_equal(by_boxes_find(&rule, &channels, 1, 200, 50, &err), 0);
    assert_int_equal(rule.kind, BY_BOXES_NONE);
    assert_int_equal(by_boxes_find(&rule, &output, 1, 200, 200, &err), 0); /* other sides */
    assert_int_equal(rule.kind, BY_BOXES_NONE);
    fill_region(map, 100, (size_t[]){0, 0, 100, 6}, 0.5F); /* a tenth is neither low nor high */
    assert_int_equal(by_boxes_find(&rule, &output, 1, 200, 100, &err), 0);
    assert_int_equal(rule.kind, BY_BOXES_NONE);
    fill_region(map, 100, (size_t[]){0, 0, 100, 26}, 1); /* the half is high */
    assert_int_equal(by_boxes_find(&rule, &output, 1, 200, 100, &err), 0);
    assert_int_equal(rule.kind, BY_BOXES_NONE);
    fill_region(map, 100, (size_t[]){0, 0, 100, 50}, 0);
    map[7] = NAN;
    assert_int_equal(by_boxes_find(&rule, &output, 1, 200, 100, &err), 0);
    assert_int_equal(rule.kind, BY_BOXES_NONE);
}

/* --- The command --- */

static void a_command_is_quoted_for_a_shell(void **state)
{
    const char *const words[] = {"-o", "int8.onnx", "it's", "", "a b", "sqnr>=20", "$(x)", "x=1,y"};
    struct by_str text;
    (void)state;
    by_str_init(&text);
    by_report_say_command(words, sizeof words / sizeof *words, &text);
    assert_string_equal(by_str_text(&text),
                        "-o int8.onnx 'it'\\''s' '' 'a b' 'sqnr>=20' '$(x)' x=1,y");
    by_str_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_of_values_are_a_direct_count),
        cmocka_unit_test(bins_of_a_sketch_are_near_a_direct_count),
        cmocka_unit_test(one_value_has_no_bins),
        cmocka_unit_test(what_lies_outside_is_counted),
        cmocka_unit_test(the_worst_the_median_and_the_best_are_shown),
        cmocka_unit_test(each_sample_is_shown_once),
        cmocka_unit_test(preparation_is_undone),
        cmocka_unit_test(other_values_are_stretched),
        cmocka_unit_test(other_shapes_are_no_pictures),
        cmocka_unit_test(png_has_the_pixels),
        cmocka_unit_test(rows_of_boxes_are_found),
        cmocka_unit_test(columns_of_boxes_have_a_score_of_their_own),
        cmocka_unit_test(boxes_and_scores_are_a_pair),
        cmocka_unit_test(logits_are_no_boxes),
        cmocka_unit_test(regions_of_a_map_are_boxes),
        cmocka_unit_test(other_maps_have_no_boxes),
        cmocka_unit_test(a_command_is_quoted_for_a_shell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
