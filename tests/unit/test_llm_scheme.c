/* Schemes and layouts of language models: tables, known answers, what is refused. */
#include "array/elem.h"
#include "base/half.h"
#include "dtype/family.h"
#include "llm/layout/layout.h"
#include "llm/layout/match.h"
#include "llm/scheme/table_path.h"
#include "llm/scheme/tally.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define COLUMNS 64
#define ROWS    64

/* --- Tables --- */

static void schemes_have_distinct_names(void **state)
{
    size_t count;
    const struct by_llm_scheme *schemes = by_llm_schemes(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        struct baryon_error err = {0};
        assert_ptr_equal(by_llm_scheme_find(schemes[i].name, &err), &schemes[i]);
        if (schemes[i].alias)
            assert_ptr_equal(by_llm_scheme_find(schemes[i].alias, &err), &schemes[i]);
        assert_non_null(schemes[i].help);
        assert_non_null(schemes[i].weight.dtype);
    }
}

static void unknown_scheme_names_the_nearest(void **state)
{
    struct baryon_error err = {0};
    (void)state;
    assert_null(by_llm_scheme_find("int4_wo_65", &err));
    assert_int_equal(err.code, BARYON_ERR_USAGE);
    assert_non_null(strstr(err.hint, "int4_wo_64"));
}

static void bits_count_scales_and_zero_points(void **state)
{
    struct baryon_error err = {0};
    (void)state;
    const struct by_llm_scheme *scheme = by_llm_scheme_find("uint4_wo_64", &err);
    assert_float_equal(by_llm_spec_bits(&scheme->weight, 4096, 16), 4 + 20.0 / 64, 1e-9);
    scheme = by_llm_scheme_find("mxfp4", &err);
    assert_float_equal(by_llm_spec_bits(&scheme->weight, 4096, 16), 4.25, 1e-9);
}

/* --- Known answers --- */

static void init(struct by_llm_tensor *tensor, const char *name, size_t columns)
{
    struct baryon_error err = {0};
    const struct by_llm_scheme *scheme = by_llm_scheme_find(name, &err);
    assert_non_null(scheme);
    assert_int_equal(by_llm_tensor_init(tensor, &scheme->weight, columns, &err), 0);
    tensor->search = BY_LLM_SEARCH_MINMAX;
}

static int quantize(const struct by_llm_tensor *tensor, const float *values, size_t rows,
                    struct by_llm_coded *coded)
{
    struct baryon_error err = {0};
    struct by_llm_scratch *scratch = by_llm_scratch_open(tensor, &err);
    assert_non_null(scratch);
    const int failed = by_llm_quantize_rows(tensor, scratch, values, rows, coded, &err);
    by_llm_scratch_close(scratch);
    return failed;
}

static void int4_uses_the_lowest_level(void **state)
{
    struct by_llm_tensor tensor;
    struct by_llm_coded coded;
    struct baryon_error err = {0};
    float values[32] = {0};
    (void)state;
    init(&tensor, "int4_wo_32", 32);
    values[0] = -15;
    values[1] = 15;
    values[2] = 3; /* 1.5 steps: to even */
    values[3] = 5; /* 2.5 steps: to even */
    assert_int_equal(by_llm_coded_open(&coded, &tensor, 1, &err), 0);
    assert_int_equal(quantize(&tensor, values, 1, &coded), 0);
    assert_float_equal(coded.scales[0], 2, 0);
    assert_int_equal((int8_t)coded.codes[0], -8);
    assert_int_equal((int8_t)coded.codes[1], 7);
    assert_int_equal((int8_t)coded.codes[2], 2);
    assert_int_equal((int8_t)coded.codes[3], 2);
    by_llm_coded_close(&coded);
}

/* The level that has no partner goes to the side of the greatest magnitude. */
static void scales_turn_the_lowest_level_up(void **state)
{
    static const char *const names[] = {"int4_wo_32", "int3_wo_64", "int8_wo_32"};
    float values[64] = {0};
    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (int turn = -1; turn <= 1; turn += 2) {
            struct by_llm_tensor tensor;
            struct by_llm_coded coded;
            struct baryon_error err = {0};
            init(&tensor, names[n], 64);
            const int low = (int)tensor.spec->dtype->low, bits = (int)tensor.spec->dtype->bits;
            for (int i = 0; i < 64; i++)
                values[i] = (float)(turn * (i % -low));
            values[0] = (float)(turn * -low);
            tensor.search = BY_LLM_SEARCH_MSE;
            assert_int_equal(by_llm_coded_open(&coded, &tensor, 1, &err), 0);
            assert_int_equal(quantize(&tensor, values, 1, &coded), 0);
            assert_true((coded.scales[0] < 0) == (turn > 0 && bits <= 4));
            assert_true(bits > 4 || coded.sums.error == 0);
            by_llm_coded_close(&coded);
        }
}

static void zero_point_is_within_the_levels(void **state)
{
    struct by_llm_tensor tensor;
    struct by_llm_coded coded;
    struct baryon_error err = {0};
    float values[32];
    (void)state;
    init(&tensor, "uint4_wo_32", 32);
    for (size_t i = 0; i < 32; i++)
        values[i] = 1 + (float)i; /* all above zero: the range is [0, 32] */
    assert_int_equal(by_llm_coded_open(&coded, &tensor, 1, &err), 0);
    assert_int_equal(quantize(&tensor, values, 1, &coded), 0);
    assert_int_equal(coded.zeros[0], 0);
    assert_int_equal(coded.codes[31], 15);
    by_llm_coded_close(&coded);
}

static uint8_t exponent_for(float peak, enum by_llm_even rule)
{
    struct by_llm_tensor tensor;
    struct by_llm_coded coded;
    struct baryon_error err = {0};
    float values[32] = {0};
    init(&tensor, "mxfp4", 32);
    tensor.exponent = rule;
    values[7] = -peak;
    assert_int_equal(by_llm_coded_open(&coded, &tensor, 1, &err), 0);
    assert_int_equal(quantize(&tensor, values, 1, &coded), 0);
    const uint8_t code = coded.scale_codes[0];
    by_llm_coded_close(&coded);
    return code;
}

static void powers_follow_their_rule(void **state)
{
    (void)state;
    assert_int_equal(exponent_for(6, BY_LLM_EXPONENT_EVEN), 127);
    assert_int_equal(exponent_for(6.99f, BY_LLM_EXPONENT_EVEN), 127);
    assert_int_equal(exponent_for(7, BY_LLM_EXPONENT_EVEN), 128);
    assert_int_equal(exponent_for(7, BY_LLM_EXPONENT_FLOOR), 127);
    assert_int_equal(exponent_for(4, BY_LLM_EXPONENT_CEIL), 127);
    assert_int_equal(exponent_for(4.5f, BY_LLM_EXPONENT_CEIL), 128);
    assert_int_equal(exponent_for(0, BY_LLM_EXPONENT_EVEN), 0);
}

static void group_sizes_that_fit_are_named(void **state)
{
    struct by_llm_tensor tensor;
    struct baryon_error err = {0};
    (void)state;
    const struct by_llm_scheme *scheme = by_llm_scheme_find("int4_wo_128", &err);
    assert_int_equal(by_llm_tensor_init(&tensor, &scheme->weight, 576, &err), -1);
    assert_non_null(strstr(err.message, "576"));
    assert_non_null(strstr(err.hint, "16, 32, 64 "));
}

static void nonfinite_values_are_found_and_cleaned(void **state)
{
    float values[5] = {1, -3, INFINITY, NAN, -INFINITY};
    (void)state;
    assert_int_equal(by_llm_strange(values, 2), 2);
    assert_int_equal(by_llm_strange(values, 5), 2);
    by_llm_clean_row(values, 5);
    assert_float_equal(values[2], 3, 0);
    assert_float_equal(values[3], 0, 0);
    assert_float_equal(values[4], -3, 0);
}

/* --- Layouts --- */

struct made {
    struct by_llm_tensor tensor;
    struct by_llm_fields fields;
    struct by_llm_coded coded;
    uint8_t *data[BY_LLM_FIELDS_MAX];
};

static void make_values(float values[ROWS * COLUMNS])
{
    uint32_t state = 1;
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++) {
        state = state * 1664525u + 1013904223u;
        values[i] = ((float)(state >> 8) / 0x1p23f - 1) * (float)(1 + i / COLUMNS);
    }
}

/* In pieces of `step` rows, last piece first. */
static void fill_fields(struct made *made, const float *values, size_t step)
{
    struct baryon_error err = {0};
    struct by_llm_range range = {0};
    by_llm_look(&range, values, (size_t)ROWS * COLUMNS);
    by_llm_tensor_scale(&made->tensor, &range);
    for (size_t i = 0; i < made->fields.count; i++)
        assert_non_null(made->data[i] = by_alloc_zero(made->fields.at[i].bytes, 1, &err));
    for (size_t end = ROWS; end > 0; end -= step) {
        assert_int_equal(by_llm_coded_open(&made->coded, &made->tensor, step, &err), 0);
        assert_int_equal(
            quantize(&made->tensor, values + (end - step) * COLUMNS, step, &made->coded), 0);
        assert_int_equal(by_llm_fields_put(&made->fields, &made->tensor, &made->coded, end - step,
                                           step, made->data, &err),
                         0);
        by_llm_coded_close(&made->coded);
    }
    by_llm_fields_finish(&made->fields, &made->tensor, ROWS, made->data);
}

static void compare_floats(struct made *made, const float *values)
{
    struct baryon_error err = {0};
    struct by_llm_coded own, back;
    float wanted[ROWS * COLUMNS], found[ROWS * COLUMNS];
    const uint8_t *data[BY_LLM_FIELDS_MAX];
    memcpy(data, made->data, sizeof data);
    assert_int_equal(by_llm_coded_open(&own, &made->tensor, ROWS, &err), 0);
    assert_int_equal(by_llm_coded_open(&back, &made->tensor, ROWS, &err), 0);
    assert_int_equal(quantize(&made->tensor, values, ROWS, &own), 0);
    assert_int_equal(by_llm_dequantize_rows(&made->tensor, &own, ROWS, wanted, &err), 0);
    assert_int_equal(by_llm_fields_open(&made->fields, &made->tensor, data, &err), 0);
    assert_int_equal(by_llm_fields_get(&made->fields, &made->tensor, data, 0, ROWS, &back, &err),
                     0);
    assert_int_equal(by_llm_dequantize_rows(&made->tensor, &back, ROWS, found, &err), 0);
    assert_memory_equal(wanted, found, sizeof wanted);
    by_llm_coded_close(&own);
    by_llm_coded_close(&back);
}

/* What the head of form.h says, a code at a time. */
static void put_plainly(const struct by_llm_form *form, const uint8_t *codes, uint8_t *words)
{
    const size_t per = form->word / form->bits, bytes = form->word / 8;
    const bool along = form->direction == BY_FORM_ROWS || form->direction == BY_FORM_DOWN;
    const bool turned = form->direction == BY_FORM_ACROSS || form->direction == BY_FORM_DOWN;
    uint64_t dims[2];
    by_llm_form_dims(form, dims);
    for (size_t r = 0; r < form->rows; r++)
        for (size_t c = 0; c < form->columns; c++) {
            const size_t row = along ? r : r / per, column = along ? c / per : c;
            const size_t word =
                turned ? column * (size_t)dims[1] + row : row * (size_t)dims[1] + column;
            const size_t element = (along ? c : r) % per;
            size_t place = element;
            for (size_t k = 0; form->order && k < per; k++)
                place = form->order[k] == element ? k : place;
            const uint32_t code =
                (codes[r * form->columns + c] ^ form->flip) & ((1u << form->bits) - 1);
            for (unsigned bit = 0; bit < form->bits; bit++) {
                const size_t at = place * form->bits + bit;
                words[word * bytes + at / 8] |= (uint8_t)((code >> bit & 1) << at % 8);
            }
        }
}

static void forms_are_what_they_say(void **state)
{
    static const uint8_t awq[8] = {0, 2, 4, 6, 1, 3, 5, 7}, other[8] = {7, 6, 5, 4, 3, 2, 1, 0};
    static const uint8_t *const orders[] = {NULL, awq, other};
    static const unsigned sizes[][2] = {{4, 32}, {4, 8}, {8, 8}, {8, 32}, {6, 24}, {2, 8}, {3, 24}};
    static const size_t rows[] = {96, 40, 33}, columns[] = {64, 24, 20};
    static uint8_t codes[96 * 64], wanted[96 * 64 * 2], found[96 * 64 * 2];
    (void)state;
    for (size_t i = 0; i < sizeof codes; i++)
        codes[i] = (uint8_t)(i * 2654435761u >> 13);
    for (size_t n = 0; n < 4 * 7 * 3 * 3 * 3 * 2; n++) {
        struct by_llm_form form = {.direction = (enum by_llm_direction)(n % 4),
                                   .bits = sizes[n / 4 % 7][0],
                                   .word = sizes[n / 4 % 7][1],
                                   .order = orders[n / 28 % 3],
                                   .rows = rows[n / 84 % 3],
                                   .columns = columns[n / 252 % 3],
                                   .flip = n / 756 ? 8 : 0};
        if (form.order && form.word / form.bits != 8)
            continue;
        memset(wanted, 0, sizeof wanted);
        put_plainly(&form, codes, wanted);
        memset(found, 0, sizeof found);
        const size_t half = form.rows / 64 * 32;
        by_llm_form_put(&form, codes + half * form.columns, half, form.rows - half, found);
        by_llm_form_put(&form, codes, 0, half, found);
        assert_memory_equal(found, wanted, sizeof found);
    }
}

/* What is counted gives the scale that the values give. */
static void tally_chooses_as_the_values_do(void **state)
{
    static const char *const names[] = {"fp8", "fp8_e5m2", "int8"};
    static float values[ROWS * COLUMNS];
    static uint16_t halves[ROWS * COLUMNS];
    static struct by_llm_tally tally;
    (void)state;
    make_values(values);
    by_f32_to_bf16(halves, values, (size_t)ROWS * COLUMNS);
    by_bf16_to_f32(values, halves, (size_t)ROWS * COLUMNS);
    memset(&tally, 0, sizeof tally);
    by_llm_tally_add(&tally, (const uint8_t *)halves, 5);
    by_llm_tally_add(&tally, (const uint8_t *)(halves + 5), (size_t)ROWS * COLUMNS - 5);
    for (size_t n = 0; n < 3; n++) {
        struct baryon_error err = {0};
        struct by_llm_range range = {0}, counted;
        struct by_llm_tensor tensor;
        struct by_llm_tries tries = {0}, own = {0};
        init(&tensor, names[n], COLUMNS);
        by_llm_look(&range, values, (size_t)ROWS * COLUMNS);
        assert_true(by_llm_tally_range(&tally, BY_ELEM_BFLOAT16, &counted));
        assert_float_equal(counted.min, range.min, 0);
        assert_float_equal(counted.max, range.max, 0);
        by_llm_tensor_scale(&tensor, &range);
        struct by_llm_scratch *scratch = by_llm_scratch_open(&tensor, &err);
        by_llm_try(&tensor, scratch, values, ROWS, &tries);
        by_llm_scratch_close(scratch);
        assert_int_equal(by_llm_tally_errors(&tally, BY_ELEM_BFLOAT16, &tensor, &own, &err), 0);
        for (size_t i = 0; i < tensor.candidate_count; i++) {
            assert_true(fabs(own.errors[i] / tries.errors[i] - 1) < 1e-12);
            assert_true(fabs(own.cut[i] - tries.cut[i]) <= 1e-12 * tries.cut[i]);
        }
        double energy = 0;
        for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++)
            energy += (double)values[i] * (double)values[i];
        assert_true(fabs(by_llm_tally_energy(&tally, BY_ELEM_BFLOAT16) / energy - 1) < 1e-12);
    }
    halves[0] = 0x7f80;
    by_llm_tally_add(&tally, (const uint8_t *)halves, 1);
    struct by_llm_range counted;
    assert_false(by_llm_tally_range(&tally, BY_ELEM_BFLOAT16, &counted));
}

static void check_table_paths(const struct by_llm_table *table, const uint16_t *halves,
                              const uint8_t *wanted)
{
    static uint8_t codes[BY_LLM_TABLE_VALUES];
    size_t count;
    const struct by_llm_table_path *const *paths = by_llm_table_paths(&count);
    for (size_t i = 0; i < count; i++) {
        if (!paths[i]->supported() || (paths[i]->needs_steps && !table->is_stepped))
            continue;
        memset(codes, 0x55, sizeof codes);
        paths[i]->codes(table, halves, BY_LLM_TABLE_VALUES - 3, codes);
        assert_memory_equal(codes, wanted, BY_LLM_TABLE_VALUES - 3);
        for (size_t k = BY_LLM_TABLE_VALUES - 3; k < BY_LLM_TABLE_VALUES; k++)
            assert_int_equal(codes[k], 0x55);
    }
}

/* Every value of 16 bits: what is looked up is what rows become, by all paths. */
static void tables_hold_what_rows_become(void **state)
{
    static const char *const names[] = {"fp8", "fp8_e5m2", "int8"};
    static const int64_t elems[] = {BY_ELEM_BFLOAT16, BY_ELEM_FLOAT16};
    static struct by_llm_table table;
    static uint16_t halves[BY_LLM_TABLE_VALUES];
    static float values[BY_LLM_TABLE_VALUES];
    static const float greatest[] = {3, 0x1p-128f, 1.7e38f, 0.1234f};
    (void)state;
    for (size_t n = 0; n < 24; n++) {
        const size_t i = n % 6;
        const int64_t elem = elems[i % 2];
        struct baryon_error err = {0};
        struct by_llm_range range = {
            .min = -greatest[n / 6], .max = greatest[n / 6] / 1.2f, .known = true};
        struct by_llm_tensor tensor;
        struct by_llm_coded coded;
        init(&tensor, names[i / 2], COLUMNS);
        by_llm_tensor_scale(&tensor, &range);
        assert_true(by_llm_table_fits(&tensor));
        for (size_t h = 0; h < BY_LLM_TABLE_VALUES; h++) {
            halves[h] = (uint16_t)(h * 40503 + 1);
            values[h] = elem == BY_ELEM_FLOAT16 ? by_f16_to_f32_one(halves[h])
                                                : by_bf16_to_f32_one(halves[h]);
            values[h] = isfinite(values[h]) ? values[h] : 0;
        }
        struct by_llm_scratch *scratch = by_llm_scratch_open(&tensor, &err);
        assert_int_equal(by_llm_coded_open(&coded, &tensor, BY_LLM_TABLE_VALUES / COLUMNS, &err),
                         0);
        assert_int_equal(by_llm_quantize_rows(&tensor, scratch, values,
                                              BY_LLM_TABLE_VALUES / COLUMNS, &coded, &err),
                         0);
        assert_int_equal(by_llm_table_fill(&table, elem, &tensor, &err), 0);
        /* Floats of 8 bits rise in steps from one power of two to the next, integers do not. */
        assert_int_equal(table.is_stepped, i / 2 < 2 && elem == BY_ELEM_BFLOAT16);
        check_table_paths(&table, halves, coded.codes);
        by_llm_coded_close(&coded);
        by_llm_scratch_close(scratch);
    }
    struct by_llm_tensor rows;
    init(&rows, "int8_wo_per_channel", COLUMNS);
    assert_false(by_llm_table_fits(&rows));
}

/* The range by bits is that of the floats. */
static void halves_have_the_range_of_their_floats(void **state)
{
    static float values[ROWS * COLUMNS];
    static uint16_t halves[ROWS * COLUMNS];
    struct by_llm_range range = {0}, own = {0};
    (void)state;
    make_values(values);
    by_f32_to_bf16(halves, values, (size_t)ROWS * COLUMNS);
    by_bf16_to_f32(values, halves, (size_t)ROWS * COLUMNS);
    by_llm_look(&range, values, (size_t)ROWS * COLUMNS);
    assert_true(by_llm_look_halves(&own, BY_ELEM_BFLOAT16, halves, (size_t)ROWS * COLUMNS));
    assert_true(own.known && own.min == range.min && own.max == range.max);
    static const uint16_t odd[] = {0x7f80, 0xff80, 0x7fc1, 0xffff};
    for (size_t i = 0; i < 4; i++) {
        const uint16_t kept = halves[77];
        halves[77] = odd[i];
        assert_false(by_llm_look_halves(&own, BY_ELEM_BFLOAT16, halves, (size_t)ROWS * COLUMNS));
        halves[77] = kept;
    }
}

/* One value is far out. Least squared error of the columns that count cuts it off; where nothing
 * says how much they count, the scale reaches it. */
static void peaks_are_kept_without_importance(void **state)
{
    static float values[ROWS * COLUMNS], importance[COLUMNS];
    struct baryon_error err = {0};
    struct by_llm_range range = {0};
    float scales[2];
    (void)state;
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++)
        values[i] = (float)((i * 2654435761u >> 7) % 2001) / 1000 - 1;
    values[COLUMNS + 3] = 8;
    by_llm_look(&range, values, (size_t)ROWS * COLUMNS);
    for (size_t i = 0; i < COLUMNS; i++)
        importance[i] = i == 3 ? 0 : 1;
    for (size_t n = 0; n < 2; n++) {
        struct by_llm_tensor tensor;
        struct by_llm_tries tries = {0};
        init(&tensor, "int8", COLUMNS);
        tensor.importance = n ? importance : NULL;
        by_llm_tensor_scale(&tensor, &range);
        struct by_llm_scratch *scratch = by_llm_scratch_open(&tensor, &err);
        assert_non_null(scratch);
        by_llm_try(&tensor, scratch, values, ROWS, &tries);
        by_llm_scratch_close(scratch);
        const size_t chosen = by_llm_tensor_choose(&tensor, &tries);
        assert_float_equal(tensor.scale, tensor.candidates[chosen], 0);
        scales[n] = tensor.scale;
    }
    assert_true(scales[0] * 128 > 7.5f);
    assert_true(scales[1] * 128 < 4);
}

/* Every scheme in every layout that accepts it: what is read is what was written, and pieces make
 * no difference. */
static void layouts_are_read_back(void **state)
{
    static float values[ROWS * COLUMNS];
    size_t layout_count, scheme_count, done = 0;
    const struct by_llm_layout *const *layouts = by_llm_layouts(&layout_count);
    const struct by_llm_scheme *schemes = by_llm_schemes(&scheme_count);
    (void)state;
    make_values(values);
    for (size_t l = 0; l < layout_count; l++)
        for (size_t s = 0; s < scheme_count; s++) {
            struct made made[2] = {{.data = {NULL}}};
            struct baryon_error err = {0};
            if (layouts[l]->accepts(&schemes[s], &err) ||
                by_llm_tensor_init(&made[0].tensor, &schemes[s].weight, COLUMNS, &err))
                continue;
            made[0].tensor.search = BY_LLM_SEARCH_MINMAX;
            layouts[l]->prepare(&made[0].tensor, BY_ELEM_BFLOAT16);
            assert_int_equal(layouts[l]->list(&made[0].tensor, ROWS, &made[0].fields, &err), 0);
            made[1] = made[0];
            fill_fields(&made[0], values, ROWS);
            fill_fields(&made[1], values, BY_LLM_ROWS_STEP);
            for (size_t i = 0; i < made[0].fields.count; i++)
                assert_memory_equal(made[0].data[i], made[1].data[i], made[0].fields.at[i].bytes);
            compare_floats(&made[0], values);
            for (size_t i = 0; i < BY_LLM_FIELDS_MAX; i++) {
                by_free(made[0].data[i]);
                by_free(made[1].data[i]);
            }
            done++;
        }
    assert_true(done > 50);
}

static void words_hold_codes_in_their_order(void **state)
{
    static const uint8_t order[8] = {0, 2, 4, 6, 1, 3, 5, 7};
    const struct by_llm_form form = {
        .direction = BY_FORM_ROWS, .rows = 1, .columns = 9, .bits = 4, .word = 32, .order = order};
    const uint8_t codes[9] = {0, 1, 2, 3, 4, 5, 6, 7, 9};
    uint8_t words[8] = {0}, back[9];
    (void)state;
    by_llm_form_put(&form, codes, 0, 1, words);
    assert_int_equal(words[0], 0x20); /* elements 0 and 2 */
    assert_int_equal(words[1], 0x64);
    assert_int_equal(words[2], 0x31);
    assert_int_equal(words[3], 0x75);
    assert_int_equal(words[4], 0x09);
    by_llm_form_get(&form, words, 0, 1, back);
    assert_memory_equal(codes, back, sizeof codes);
}

static void layouts_refuse_schemes_without_a_place(void **state)
{
    struct baryon_error err = {0};
    (void)state;
    const struct by_llm_scheme *scheme = by_llm_scheme_find("mxfp4", &err);
    const struct by_llm_layout *layout = by_llm_layout_find("awq", &err);
    assert_int_equal(layout->accepts(scheme, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_USAGE);
    assert_null(by_llm_layout_find("awk", &err));
    assert_non_null(strstr(err.hint, "awq"));
}

/* --- Weights that do not become shorter --- */

/* What the codes of all rows keep along them: at least, at most, in the mean; and their squared
 * error. */
struct kept {
    double least, most, mean, error;
};

static struct kept kept_by(const char *name, enum by_llm_search search, const float *values)
{
    static float back[ROWS * COLUMNS];
    struct by_llm_tensor tensor;
    struct by_llm_coded coded;
    struct baryon_error err = {0};
    struct kept kept = {.least = INFINITY};
    init(&tensor, name, COLUMNS);
    tensor.search = search;
    assert_int_equal(by_llm_coded_open(&coded, &tensor, ROWS, &err), 0);
    assert_int_equal(quantize(&tensor, values, ROWS, &coded), 0);
    assert_int_equal(by_llm_dequantize_rows(&tensor, &coded, ROWS, back, &err), 0);
    for (size_t r = 0; r < ROWS; r++) {
        double across = 0, energy = 0, error = 0;
        for (size_t i = r * COLUMNS; i < (r + 1) * COLUMNS; i++) {
            across += (double)back[i] * (double)values[i];
            energy += (double)values[i] * (double)values[i];
            error += ((double)back[i] - (double)values[i]) * ((double)back[i] - (double)values[i]);
        }
        kept.least = fmin(kept.least, across / energy);
        kept.most = fmax(kept.most, across / energy);
        kept.mean += across / energy / ROWS;
        kept.error += error;
    }
    if (search != BY_LLM_SEARCH_MINMAX)
        assert_true(fabs(coded.sums.error - kept.error) <= 1e-5 * kept.error);
    by_llm_coded_close(&coded);
    return kept;
}

static void unbiased_scales_keep_the_length_of_weights(void **state)
{
    static const char *const names[] = {"int4_wo_32", "uint4_wo_64", "int3_wo_64", "int2_wo_32"};
    static float values[ROWS * COLUMNS];
    (void)state;
    make_values(values);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct kept least = kept_by(names[i], BY_LLM_SEARCH_MSE, values);
        const struct kept same = kept_by(names[i], BY_LLM_SEARCH_UNBIASED, values);
        assert_true(least.mean < 0.9999);
        assert_float_equal((float)same.least, 1, 1e-6);
        assert_float_equal((float)same.most, 1, 1e-6);
        /* What is gained costs the square of what was lost. */
        assert_true(same.error > least.error && same.error < 1.35 * least.error);
    }
}

static uint8_t power_of(enum by_llm_search search, const float *importance)
{
    struct by_llm_tensor tensor;
    struct by_llm_coded coded;
    struct baryon_error err = {0};
    float values[32];
    for (size_t i = 0; i < 32; i++)
        values[i] = i ? (float)(i * 618 % 1000) / 1000 : 3.6f;
    init(&tensor, "mxfp4", 32);
    tensor.search = search;
    tensor.importance = importance;
    assert_int_equal(by_llm_coded_open(&coded, &tensor, 1, &err), 0);
    assert_int_equal(quantize(&tensor, values, 1, &coded), 0);
    const uint8_t code = coded.scale_codes[0];
    by_llm_coded_close(&coded);
    return code;
}

/* Least squared error halves the power and cuts the peak off, at 3 instead of 3.6. */
static void powers_of_two_reach_the_peaks(void **state)
{
    float importance[32];
    (void)state;
    for (size_t i = 0; i < 32; i++)
        importance[i] = 1;
    assert_int_equal(power_of(BY_LLM_SEARCH_MINMAX, NULL), 127);
    assert_int_equal(power_of(BY_LLM_SEARCH_MSE, NULL), 126);
    assert_int_equal(power_of(BY_LLM_SEARCH_UNBIASED, NULL), 127);
    assert_int_equal(power_of(BY_LLM_SEARCH_UNBIASED, importance), 126);
}

static void weights_on_a_grid_stay_there(void **state)
{
    static const char *const names[] = {"int4_wo_32", "int2_wo_32", "mxfp4"};
    float values[ROWS * COLUMNS];
    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        for (size_t i = 0; i < sizeof values / sizeof *values; i++)
            values[i] = 0.25f * (float)((int)(i * 7 % 4) - 2);
        assert_true(kept_by(names[n], BY_LLM_SEARCH_UNBIASED, values).error == 0);
    }
}

static void patterns_are_globs_or_expressions(void **state)
{
    struct baryon_error err = {0};
    (void)state;
    assert_int_equal(by_llm_match("*.o_proj", "model.layers.0.self_attn.o_proj", &err), 1);
    assert_int_equal(by_llm_match("o_proj", "model.layers.0.self_attn.o_proj", &err), 0);
    assert_int_equal(
        by_llm_match("re:model\\.layers\\.[01]\\.", "model.layers.1.mlp.up_proj", &err), 1);
    assert_int_equal(by_llm_match("re:layers", "model.layers.1.mlp.up_proj", &err), 0);
    assert_int_equal(by_llm_match("re:(", "x", &err), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schemes_have_distinct_names),
        cmocka_unit_test(unknown_scheme_names_the_nearest),
        cmocka_unit_test(bits_count_scales_and_zero_points),
        cmocka_unit_test(int4_uses_the_lowest_level),
        cmocka_unit_test(scales_turn_the_lowest_level_up),
        cmocka_unit_test(zero_point_is_within_the_levels),
        cmocka_unit_test(powers_follow_their_rule),
        cmocka_unit_test(group_sizes_that_fit_are_named),
        cmocka_unit_test(nonfinite_values_are_found_and_cleaned),
        cmocka_unit_test(forms_are_what_they_say),
        cmocka_unit_test(tally_chooses_as_the_values_do),
        cmocka_unit_test(tables_hold_what_rows_become),
        cmocka_unit_test(halves_have_the_range_of_their_floats),
        cmocka_unit_test(peaks_are_kept_without_importance),
        cmocka_unit_test(layouts_are_read_back),
        cmocka_unit_test(words_hold_codes_in_their_order),
        cmocka_unit_test(layouts_refuse_schemes_without_a_place),
        cmocka_unit_test(unbiased_scales_keep_the_length_of_weights),
        cmocka_unit_test(powers_of_two_reach_the_peaks),
        cmocka_unit_test(weights_on_a_grid_stay_there),
        cmocka_unit_test(patterns_are_globs_or_expressions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
