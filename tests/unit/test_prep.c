/* Settings of the preparation: what is refused, what is said, where pixels go. */
#include "input/prep.h"
#include "input/prep_place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"

static struct by_port port_of(int64_t elem, const int64_t *dims, size_t rank)
{
    return (struct by_port){
        .name = "data", .elem = elem, .kind = "tensor", .rank = rank, .dims = dims};
}

struct refused_row {
    struct by_prep prep;
    int64_t elem;
    int64_t dims[5];
    size_t rank;
    const char *message;
};

#define NCHW {1, 3, 224, 224}, 4
#define OPEN {1, 3, -1, -1}, 4

static const struct refused_row refused[] = {
    {{0},
     BY_ELEM_INT64,
     NCHW,
     "input 'data': the input is int64 [1,3,224,224], pictures require float32, float16, bfloat16, "
     "float64 or uint8"},
    {{0},
     BY_ELEM_FLOAT,
     {1, 10},
     2,
     "input 'data': the input is float32 [1,10], pictures require 4 dimensions, or 3 without a "
     "batch"},
    {{0},
     BY_ELEM_FLOAT,
     {1, 3, 2, 4, 4},
     5,
     "input 'data': the input is float32 [1,3,2,4,4], pictures require 4 dimensions, or 3 without "
     "a "
     "batch"},
    {{0},
     BY_ELEM_FLOAT,
     {8, 3, 4, 4},
     4,
     "input 'data': the input is float32 [8,3,4,4], pictures require a batch of 1 or a symbolic "
     "batch; "
     "give larger batches as .npy files"},
    {{0},
     BY_ELEM_FLOAT,
     {1, 3, 4, 3},
     4,
     "input 'data': the input is float32 [1,3,4,3], the axis of its 3 colour channels is not "
     "clear; set "
     "it with --layout nchw or nhwc"},
    {{0},
     BY_ELEM_FLOAT,
     {1, 1, 28, 28},
     4,
     "input 'data': the input is float32 [1,1,28,28], the axis of its 3 colour channels is not "
     "clear; set "
     "it with --layout nchw or nhwc, or use --pixels gray for one channel"},
    {{.colour = BY_COLOUR_GRAY},
     BY_ELEM_FLOAT,
     {1, 3, 28, 28},
     4,
     "input 'data': the input is float32 [1,3,28,28], the axis of its 1 channel is not clear; set "
     "it with "
     "--layout nchw or nhwc, or use --pixels gray for one channel"},
    {{.layout = BY_LAYOUT_NHWC},
     BY_ELEM_FLOAT,
     NCHW,
     "input 'data': the input is float32 [1,3,224,224], RGB and BGR pictures require 3 channels; "
     "describe "
     "the picture with --pixels and --layout"},
    {{.pad = 256}, BY_ELEM_FLOAT, NCHW, "pad value 256, must be 0 to 255"},
    {{.mean = {1, 2}, .mean_count = 2},
     BY_ELEM_FLOAT,
     NCHW,
     "mean has 2 values for 3 channels, must be 1 or one per channel"},
    {{.std = {1, 2, 3, 4}, .std_count = 4},
     BY_ELEM_FLOAT,
     NCHW,
     "std has 4 values for 3 channels, must be 1 or one per channel"},
    {{.std = {1, 0, 1}, .std_count = 3}, BY_ELEM_FLOAT, NCHW, "std 0, must not be 0"},
    {{.std = {1e-300}, .std_count = 1}, BY_ELEM_FLOAT, NCHW, "std 1e-300, must not be 0"},
    {{.std = {__builtin_inf()}, .std_count = 1}, BY_ELEM_FLOAT, NCHW, "std inf, must be finite"},
    {{.mean = {__builtin_nan("")}, .mean_count = 1},
     BY_ELEM_FLOAT,
     NCHW,
     "mean nan, must be finite"},
    {{.scale = __builtin_inf()}, BY_ELEM_FLOAT, NCHW, "scale inf, must be finite"},
    {{.mean = {1}, .mean_count = 1},
     BY_ELEM_UINT8,
     NCHW,
     "the model takes uint8 pixels, scale, mean and std require a float input; remove --scale, "
     "--mean and --std, and use --prep plain"},
    {{0},
     BY_ELEM_FLOAT,
     OPEN,
     "the width of the input is symbolic, must be given; give --size WIDTHxHEIGHT, or --resize "
     "none for pictures of the right size"},
    {{.width = 5, .height = 5},
     BY_ELEM_FLOAT,
     NCHW,
     "width 5 is given, but the model's input has 224"},
    {{.width = 40000, .height = 5}, BY_ELEM_FLOAT, OPEN, "width 40000, must be 1 to 32768 pixels"},
    {{0}, BY_ELEM_FLOAT, {1, 3, 0, 4}, 4, "height 0, must be 1 to 32768 pixels"},
    {{.resize = BY_RESIZE_SHORT_SIDE, .short_side = 100},
     BY_ELEM_FLOAT,
     NCHW,
     "short side 100, must be 224 (the longer side of the input) to 32768"},
    {{.short_side = 256}, BY_ELEM_FLOAT, NCHW, "a short side requires short-side resizing"},
    {{.stride = 32}, BY_ELEM_FLOAT, NCHW, "a stride requires letterbox or fit resizing"},
    {{.resize = BY_RESIZE_LETTERBOX, .stride = 32, .width = 100, .height = 64},
     BY_ELEM_FLOAT,
     OPEN,
     "stride 32, must divide the size 100 x 64"},
    {{.resize = BY_RESIZE_LETTERBOX, .stride = 32},
     BY_ELEM_FLOAT,
     NCHW,
     "stride 32 produces pictures of different sizes, but the model's input is fixed at 224 x 224"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const struct by_port port = port_of(refused[i].elem, refused[i].dims, refused[i].rank);
        assert_error(by_prep_check(&refused[i].prep, &port, &err), BARYON_ERR_USAGE,
                     refused[i].message);
    }
}

struct said_row {
    struct by_prep prep;
    int64_t elem;
    int64_t dims[4];
    const char *text;
};

static void test_describe(void **state)
{
    (void)state;
    static const struct said_row rows[] = {
        {{.filter = BY_FILTER_PIL_BILINEAR},
         BY_ELEM_FLOAT,
         {1, 3, 224, 320},
         "rgb, stretched to 320x224 (pil-bilinear), float32 = x / 255, nchw"},
        {{.resize = BY_RESIZE_SHORT_SIDE,
          .filter = BY_FILTER_CV_AREA,
          .mean = {0.5, 0.25, 1},
          .std = {0.229},
          .mean_count = 3,
          .std_count = 1},
         BY_ELEM_FLOAT16,
         {-1, 224, 224, 3},
         "rgb, short side to 256 (cv-area), centre 224x224, float16 = (x / 255 - [0.5,0.25,1]) / "
         "0.229, nhwc"},
        {{.resize = BY_RESIZE_LETTERBOX,
          .width = 640,
          .height = 640,
          .stride = 32,
          .pad = 114,
          .no_upscale = true,
          .colour = BY_COLOUR_BGR,
          .scale = 1},
         BY_ELEM_FLOAT,
         {1, 3, -1, -1},
         "bgr, letterbox into 640x640 (pil-nearest), never enlarged, filled with 114 to multiples "
         "of 32, float32 = x, nchw"},
        {{.resize = BY_RESIZE_NONE, .layout = BY_LAYOUT_NCHW, .colour = BY_COLOUR_GRAY},
         BY_ELEM_UINT8,
         {1, 1, -1, -1},
         "gray, not resized, uint8 = x, nchw"},
        {{.resize = BY_RESIZE_FIT,
          .layout = BY_LAYOUT_NCHW,
          .colour = BY_COLOUR_GRAY,
          .scale = 0.5},
         BY_ELEM_FLOAT,
         {1, 1, 28, 28},
         "gray, fit into 28x28 (pil-nearest), filled with 0, float32 = x * 0.5, nchw"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[300];
        const struct by_port port = port_of(rows[i].elem, rows[i].dims, 4);
        assert_ok(by_prep_check(&rows[i].prep, &port, &err));
        by_prep_describe(&rows[i].prep, &port, text, sizeof text);
        assert_string_equal(text, rows[i].text);
    }
}

struct place_row {
    struct by_prep prep;
    size_t target_w, target_h, width, height;
    struct by_prep_place place;
};

static void test_place(void **state)
{
    (void)state;
    static const struct place_row rows[] = {
        {{.resize = BY_RESIZE_STRETCH}, 10, 20, 7, 7, {10, 20, 10, 20, 0, 0}},
        {{.resize = BY_RESIZE_SHORT_SIDE}, 224, 224, 500, 375, {341, 256, 224, 224, -58, -16}},
        {{.resize = BY_RESIZE_SHORT_SIDE}, 224, 224, 375, 500, {256, 341, 224, 224, -16, -58}},
        {{.resize = BY_RESIZE_SHORT_SIDE, .short_side = 232},
         224,
         224,
         100,
         100,
         {232, 232, 224, 224, -4, -4}},
        {{.resize = BY_RESIZE_LETTERBOX}, 640, 640, 1280, 719, {640, 360, 640, 640, 0, 140}},
        {{.resize = BY_RESIZE_LETTERBOX}, 640, 640, 333, 250, {640, 480, 640, 640, 0, 80}},
        {{.resize = BY_RESIZE_LETTERBOX}, 641, 640, 100, 100, {640, 640, 641, 640, 0, 0}},
        {{.resize = BY_RESIZE_LETTERBOX, .no_upscale = true},
         64,
         64,
         10,
         21,
         {10, 21, 64, 64, 27, 21}},
        {{.resize = BY_RESIZE_LETTERBOX, .stride = 32},
         640,
         640,
         1280,
         719,
         {640, 360, 640, 384, 0, 12}},
        {{.resize = BY_RESIZE_FIT}, 64, 64, 10, 20, {32, 64, 64, 64, 0, 0}},
        {{.resize = BY_RESIZE_FIT, .stride = 1}, 64, 64, 10, 20, {32, 64, 32, 64, 0, 0}},
        {{.resize = BY_RESIZE_FIT}, 64, 64, 30000, 1, {64, 1, 64, 64, 0, 0}},
        {{.resize = BY_RESIZE_NONE}, 0, 9, 30, 9, {30, 9, 30, 9, 0, 0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct by_prep_place place;
        assert_ok(by_prep_place(&rows[i].prep, rows[i].target_w, rows[i].target_h, rows[i].width,
                                rows[i].height, &place, &err));
        assert_int_equal(place.resized_w, rows[i].place.resized_w);
        assert_int_equal(place.resized_h, rows[i].place.resized_h);
        assert_int_equal(place.out_w, rows[i].place.out_w);
        assert_int_equal(place.out_h, rows[i].place.out_h);
        assert_int_equal(place.left, rows[i].place.left);
        assert_int_equal(place.top, rows[i].place.top);
    }
}

static void test_place_refused(void **state)
{
    (void)state;
    struct by_prep_place place;
    struct by_prep prep = {.resize = BY_RESIZE_NONE};
    assert_error(
        by_prep_place(&prep, 224, 0, 30, 9, &place, &err), BARYON_ERR_INPUT,
        "the picture has 30 x 9 pixels, the input requires 224 x 9; resize it with --resize");
    prep.resize = BY_RESIZE_SHORT_SIDE;
    assert_error(by_prep_place(&prep, 224, 224, 30000, 9, &place, &err), BARYON_ERR_INPUT,
                 "a picture of 30000 x 9 pixels becomes 853333 x 256, sides must be at most 32768");
}

/* A picture of 4 x 2 pixels whose channels count up. */
static void count_up(struct by_image *image)
{
    *image = (struct by_image){.width = 4, .height = 2, .rgb = by_alloc(8, 3, &err)};
    for (size_t i = 0; i < 24; i++)
        image->rgb[i] = (uint8_t)i;
}

static void apply(const struct by_prep *prep, const struct by_port *port, struct by_arena *arena,
                  struct by_array *array)
{
    struct by_image image;
    count_up(&image);
    by_arena_init(arena, 0);
    assert_ok(by_prep_check(prep, port, &err));
    assert_ok(by_prep_apply(prep, &image, port, arena, array, &err));
    by_image_release(&image);
}

static void test_layout(void **state)
{
    (void)state;
    struct by_arena arena;
    struct by_array array;
    const struct by_prep rgb = {.resize = BY_RESIZE_NONE};
    const struct by_prep bgr = {.resize = BY_RESIZE_NONE, .colour = BY_COLOUR_BGR};
    const int64_t nchw[4] = {1, 3, 2, 4}, hwc[3] = {2, 4, 3};
    struct by_port port = port_of(BY_ELEM_UINT8, nchw, 4);
    apply(&rgb, &port, &arena, &array);
    const uint8_t planes[24] = {0,  3,  6,  9,  12, 15, 18, 21, 1,  4,  7,  10,
                                13, 16, 19, 22, 2,  5,  8,  11, 14, 17, 20, 23};
    assert_int_equal(array.size, 24);
    assert_int_equal(array.rank, 4);
    assert_memory_equal(array.dims, nchw, sizeof nchw);
    assert_memory_equal(array.data, planes, 24);
    by_arena_release(&arena);
    port = port_of(BY_ELEM_UINT8, hwc, 3);
    apply(&bgr, &port, &arena, &array);
    assert_int_equal(array.rank, 3);
    assert_memory_equal(array.dims, hwc, sizeof hwc);
    assert_memory_equal(array.data, "\2\1\0\5\4\3\10\7\6", 9);
    by_arena_release(&arena);
}

static void test_values(void **state)
{
    (void)state;
    struct by_arena arena;
    struct by_array array;
    const struct by_prep prep = {.resize = BY_RESIZE_NONE,
                                 .scale = 2,
                                 .mean = {1, 2, 3},
                                 .std = {4},
                                 .mean_count = 3,
                                 .std_count = 1};
    const int64_t dims[4] = {-1, -1, -1, 3};
    struct by_port port = port_of(BY_ELEM_FLOAT, dims, 4);
    apply(&prep, &port, &arena, &array);
    const float *values = array.data;
    assert_int_equal(array.dims[0], 1);
    for (size_t i = 0; i < 24; i++)
        assert_true(values[i] == ((float)i * 2 - (float)(i % 3 + 1)) / 4);
    by_arena_release(&arena);
    port.elem = BY_ELEM_BFLOAT16;
    apply(&prep, &port, &arena, &array);
    assert_int_equal(array.size, 48);
    assert_int_equal(((const uint16_t *)array.data)[0], 0xbe80); /* -1/4 */
    by_arena_release(&arena);
}

/* One mean and one deviation are those of all channels. */
static void test_one_value_for_all_channels(void **state)
{
    (void)state;
    struct by_arena arena;
    struct by_array array;
    const struct by_prep prep = {.resize = BY_RESIZE_NONE,
                                 .scale = 1,
                                 .mean = {5, 100, 200},
                                 .std = {4, 8, 16},
                                 .mean_count = 1,
                                 .std_count = 1};
    const int64_t dims[4] = {1, 2, 4, 3};
    struct by_port port = port_of(BY_ELEM_FLOAT, dims, 4);
    apply(&prep, &port, &arena, &array);
    const float *values = array.data;
    for (size_t i = 0; i < 24; i++)
        assert_true(values[i] == ((float)i - 5) / 4);
    by_arena_release(&arena);
}

static struct by_hash128 identity_of(const struct by_prep *prep)
{
    struct by_hasher *hasher;
    assert_ok(by_hasher_open(&hasher, &err));
    by_prep_identify(prep, hasher);
    const struct by_hash128 identity = by_hasher_value(hasher);
    by_hasher_close(hasher);
    return identity;
}

/* Statistics of other pixels are of other samples: every member counts. */
static void test_identity(void **state)
{
    (void)state;
    const struct by_prep prep = {
        .mean = {1, 2, 3}, .std = {4, 5, 6}, .mean_count = 3, .std_count = 3, .scale = 1};
    struct by_prep others[15];
    for (size_t i = 0; i < 15; i++)
        others[i] = prep;
    others[1].resize = BY_RESIZE_FIT;
    others[2].filter = BY_FILTER_PIL_BICUBIC;
    others[3].colour = BY_COLOUR_BGR;
    others[4].layout = BY_LAYOUT_NHWC;
    others[5].width = 9;
    others[6].height = 9;
    others[7].short_side = 9;
    others[8].stride = 9;
    others[9].pad = 9;
    others[10].no_upscale = true;
    others[11].scale = 2;
    others[12].mean[2] = 9;
    others[13].std[0] = 9;
    others[14].mean_count = 1;
    for (size_t i = 0; i < 15; i++)
        for (size_t k = 0; k < i; k++) {
            const struct by_hash128 one = identity_of(&others[i]), other = identity_of(&others[k]);
            assert_memory_not_equal(&one, &other, sizeof one);
        }
    const struct by_hash128 one = identity_of(&others[0]), again = identity_of(&prep);
    assert_memory_equal(&one, &again, sizeof one);
}

static void test_frame(void **state)
{
    (void)state;
    struct by_arena arena;
    struct by_array array;
    const struct by_prep prep = {.resize = BY_RESIZE_LETTERBOX,
                                 .pad = 7,
                                 .colour = BY_COLOUR_GRAY,
                                 .layout = BY_LAYOUT_NCHW,
                                 .no_upscale = true};
    const int64_t dims[4] = {1, 1, 5, 7};
    const struct by_port port = port_of(BY_ELEM_UINT8, dims, 4);
    apply(&prep, &port, &arena, &array);
    const uint8_t wanted[35] = {7,  7, 7, 7, 7, 7, 7, 7, 1, 4, 7, 10, 7, 7, 7, 13, 16, 19,
                                22, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,  7, 7, 7, 7,  7};
    assert_memory_equal(array.data, wanted, sizeof wanted);
    by_arena_release(&arena);
}

static void test_names(void **state)
{
    (void)state;
    const struct by_choice *const lists[] = {by_resize_names, by_filter_names, by_colour_names,
                                             by_layout_names, by_prep_preset_names};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (const struct by_choice *row = lists[i]; row->name; row++) {
            assert_ptr_equal(by_prep_name_of(lists[i], row->value), row);
            assert_true(row->help && row->help[0]);
        }
    assert_null(by_prep_name_of(by_resize_names, 99)->name);
    assert_ptr_equal(by_prep_preset(-1), by_prep_preset(0));
    assert_ptr_equal(by_prep_preset(99), by_prep_preset(0));
}

/* Every named preparation works for the input that it is made for. */
static void test_presets(void **state)
{
    (void)state;
    const int64_t dims[4] = {1, 3, 224, 224};
    const struct by_port port = port_of(BY_ELEM_FLOAT, dims, 4);
    assert_ok(by_prep_check(&by_prep_default, &port, &err));
    for (const struct by_choice *row = by_prep_preset_names; row->name; row++) {
        char text[300];
        assert_ok(by_prep_check(by_prep_preset(row->value), &port, &err));
        by_prep_describe(by_prep_preset(row->value), &port, text, sizeof text);
        assert_non_null(strstr(text, "float32 = "));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_place),
        cmocka_unit_test(test_place_refused),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_one_value_for_all_channels),
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_frame),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_presets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
