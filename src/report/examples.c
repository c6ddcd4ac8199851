/* Writes samples, and what both models make of them, as JSON. */
#include "report/examples.h"

#include "base/format.h"
#include "metric/metric.h"
#include "report/boxes.h"
#include "report/number.h"
#include "report/picture.h"

#include <math.h>
#include <string.h>

#define FIRST_VALUES 16
#define TOP_CLASSES  5
#define WORST_VALUES 8

struct writing {
    struct by_examples *examples;
    const struct by_shown *shown;
    struct by_arena arena; /* of this sample */
    struct by_json *json;
    struct by_boxes_rule rule;
    size_t width, height; /* of the picture; 0: there is none */
};

/* --- Arrays --- */

static void put_shape(const struct by_array *array, struct by_json *json)
{
    by_json_open(json, "shape", '[');
    for (size_t i = 0; i < array->rank; i++)
        by_json_int(json, NULL, array->dims[i]);
    by_json_close(json, ']');
}

static bool has_numbers(const struct by_array *array)
{
    const struct by_elem_info *info = by_elem_info(array->elem);
    return info && (info->class == BY_CLASS_FLOAT || info->class == BY_CLASS_INT);
}

/* In the arena; *count 0: it has none that are numbers. */
static int take_values(struct writing *writing, const struct by_array *array, double **values,
                       size_t *count, struct baryon_error *err)
{
    *count = 0;
    if (!has_numbers(array))
        return 0;
    if (by_dims_count(array->dims, array->rank, count, err) < 0)
        return -1;
    *values = by_arena_alloc(&writing->arena, *count + 1, sizeof **values, err);
    return *values ? by_elem_to_doubles(array->elem, array->data, 0, *count, *values, err) : -1;
}

/* --- Inputs --- */

static int put_first_values(struct writing *writing, const struct by_array *array,
                            struct baryon_error *err)
{
    struct by_json *json = writing->json;
    double *values, low = INFINITY, high = -INFINITY, sum = 0;
    size_t count;
    if (take_values(writing, array, &values, &count, err) < 0)
        return -1;
    if (!count)
        return 0;
    by_json_open(json, "values", '[');
    for (size_t i = 0; i < count; i++) {
        if (i < FIRST_VALUES)
            by_number_json(json, NULL, 6, values[i]);
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
        sum += values[i];
    }
    by_json_close(json, ']');
    by_number_json(json, "min", 6, low);
    by_number_json(json, "max", 6, high);
    by_number_json(json, "mean", 6, sum / (double)count);
    return 0;
}

static int put_input(struct writing *writing, const struct by_array *array,
                     struct baryon_error *err)
{
    struct by_json *json = writing->json;
    const struct by_prep *prep = writing->examples->prep;
    struct by_picture picture;
    bool is = false;
    by_json_open(json, NULL, '{');
    by_json_text(json, "name", array->name ? array->name : "");
    put_shape(array, json);
    by_json_text(json, "type", by_elem_name(array->elem));
    if (prep && by_picture_make(&picture, array, prep, NULL, &writing->arena, &is, err) < 0)
        return -1;
    if (is && !writing->width)
        by_picture_sides(array, prep, &writing->width, &writing->height);
    if ((is ? by_picture_json(&picture, json, err) : put_first_values(writing, array, err)) < 0)
        return -1;
    by_json_close(json, '}');
    return 0;
}

/* --- Outputs --- */

static bool same_shape(const struct by_array *one, const struct by_array *other)
{
    return one->rank == other->rank &&
           !memcmp(one->dims, other->dims, one->rank * sizeof *one->dims);
}

static void note_class(struct by_examples *examples, size_t class, size_t classes)
{
    const struct by_class_names *labels = &examples->labels;
    if (class < labels->count && (!labels->exact || labels->count == classes))
        examples->occurs[class] = true;
}

static void put_greatest(struct writing *writing, const double *row, size_t classes)
{
    struct by_json *json = writing->json;
    size_t chosen[TOP_CLASSES], count = 0;
    for (size_t i = 0; i < classes; i++) {
        size_t at = count;
        while (at > 0 && !(row[chosen[at - 1]] >= row[i]))
            at--;
        if (at >= TOP_CLASSES)
            continue;
        count += count < TOP_CLASSES;
        for (size_t k = count - 1; k > at; k--)
            chosen[k] = chosen[k - 1];
        chosen[at] = i;
    }
    by_json_open(json, "classes", '[');
    for (size_t i = 0; i < count; i++) {
        by_json_open(json, NULL, '[');
        note_class(writing->examples, chosen[i], classes);
        by_json_int(json, NULL, (int64_t)chosen[i]);
        by_number_json(json, NULL, 6, row[chosen[i]]);
        by_json_close(json, ']');
    }
    by_json_close(json, ']');
}

/* Where both differ most, the first ones of equal differences. */
static size_t worst_places(const double *want, const double *got, size_t count,
                           size_t places[WORST_VALUES])
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const double distance = fabs(want[i] - got[i]);
        size_t at = found;
        while (at > 0 && fabs(want[places[at - 1]] - got[places[at - 1]]) < distance)
            at--;
        if (at >= WORST_VALUES)
            continue;
        found += found < WORST_VALUES;
        for (size_t k = found - 1; k > at; k--)
            places[k] = places[k - 1];
        places[at] = i;
    }
    return found;
}

static void put_places(const double *values, const size_t *places, size_t count,
                       struct by_json *json)
{
    by_json_open(json, "values", '[');
    for (size_t i = 0; i < count; i++) {
        by_json_open(json, NULL, '[');
        by_json_int(json, NULL, (int64_t)places[i]);
        by_number_json(json, NULL, 6, values[places[i]]);
        by_json_close(json, ']');
    }
    by_json_close(json, ']');
}

/* The row of classes where the models differ most. */
static size_t worst_row(const double *want, const double *got, size_t rows, size_t classes)
{
    size_t worst = 0;
    double most = -1;
    for (size_t i = 0; i < rows; i++) {
        double noise = 0;
        for (size_t k = 0; k < classes; k++)
            noise += fabs(want[i * classes + k] - got[i * classes + k]);
        if (noise <= most)
            continue;
        most = noise;
        worst = i;
    }
    return worst;
}

static int put_numbers(struct writing *writing, size_t output, bool of_want,
                       struct baryon_error *err)
{
    const struct by_array *want = &writing->shown->want[output];
    const struct by_array *got = &writing->shown->got[output];
    double *wanted, *found;
    size_t count, others, places[WORST_VALUES], rows, classes;
    if (take_values(writing, want, &wanted, &count, err) < 0 ||
        take_values(writing, got, &found, &others, err) < 0)
        return -1;
    if (!count || count != others)
        return 0;
    const double *values = of_want ? wanted : found;
    const struct by_compared shape = {.rank = want->rank, .dims = want->dims, .count = count};
    if (!by_metric_is_classes(&shape)) {
        put_places(values, places, worst_places(wanted, found, count, places), writing->json);
        return 0;
    }
    by_metric_rows(&shape, &rows, &classes);
    const size_t row = worst_row(wanted, found, rows, classes);
    if (rows > 1)
        by_json_int(writing->json, "row", (int64_t)row);
    put_greatest(writing, values + row * classes, classes);
    return 0;
}

/* Both with the same shades. */
static int put_map(struct writing *writing, size_t output, bool of_want, bool *is,
                   struct baryon_error *err)
{
    struct by_picture like, picture;
    const struct by_shown *shown = writing->shown;
    *is = false;
    if (!writing->width)
        return 0;
    if (by_picture_make(&like, &shown->want[output], NULL, NULL, &writing->arena, is, err) < 0)
        return -1;
    if (!*is || of_want)
        return *is ? by_picture_json(&like, writing->json, err) : 0;
    if (by_picture_make(&picture, &shown->got[output], NULL, &like, &writing->arena, is, err) < 0)
        return -1;
    return by_picture_json(&picture, writing->json, err);
}

static int put_output(struct writing *writing, size_t output, bool of_want,
                      struct baryon_error *err)
{
    struct by_json *json = writing->json;
    const struct by_shown *shown = writing->shown;
    const struct by_array *array = of_want ? &shown->want[output] : &shown->got[output];
    double sqnr;
    bool is_map = false;
    by_json_open(json, NULL, '{');
    by_json_text(json, "name", shown->names[output]);
    put_shape(array, json);
    if (by_shown_sqnr(&shown->want[output], &shown->got[output], &sqnr, err) < 0)
        return -1;
    if (!of_want && !isnan(sqnr))
        by_decibels_json(json, "quality_db", sqnr);
    if (same_shape(&shown->want[output], &shown->got[output]) &&
        (put_map(writing, output, of_want, &is_map, err) < 0 ||
         (!is_map && put_numbers(writing, output, of_want, err) < 0)))
        return -1;
    by_json_close(json, '}');
    return 0;
}

static int put_boxes(struct writing *writing, const struct by_array *outputs,
                     struct baryon_error *err)
{
    const struct by_boxes_rule *rule = &writing->rule;
    const struct by_array *want = writing->shown->want;
    struct by_box boxes[BY_BOXES_MOST];
    size_t count;
    if (!rule->kind || !same_shape(&outputs[rule->boxes], &want[rule->boxes]) ||
        !same_shape(&outputs[rule->scores], &want[rule->scores]))
        return 0;
    if (by_boxes_read(rule, outputs, writing->width, writing->height, boxes, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        note_class(writing->examples, boxes[i].class, rule->classes);
    by_boxes_json(rule, writing->shown->names, boxes, count, writing->json);
    return 0;
}

static int put_result(struct writing *writing, bool of_want, struct baryon_error *err)
{
    struct by_json *json = writing->json;
    const struct by_shown *shown = writing->shown;
    by_json_open(json, NULL, '{');
    by_json_text(json, "model", of_want ? "float" : "quantized");
    by_json_open(json, "outputs", '[');
    for (size_t i = 0; i < shown->output_count; i++)
        if (put_output(writing, i, of_want, err) < 0)
            return -1;
    by_json_close(json, ']');
    if (put_boxes(writing, of_want ? shown->want : shown->got, err) < 0)
        return -1;
    by_json_close(json, '}');
    return 0;
}

/* --- The sample --- */

static int put_example(struct writing *writing, struct baryon_error *err)
{
    struct by_json *json = writing->json;
    const struct by_shown *shown = writing->shown;
    by_json_open(json, NULL, '{');
    by_json_text(json, "sample", shown->name);
    by_json_int(json, "index", (int64_t)shown->index);
    if (shown->rank)
        by_json_text(json, "rank", shown->rank);
    if (!isnan(shown->sqnr))
        by_decibels_json(json, "quality_db", shown->sqnr);
    by_json_open(json, "inputs", '[');
    for (size_t i = 0; i < shown->input_count; i++)
        if (put_input(writing, &shown->inputs[i], err) < 0)
            return -1;
    by_json_close(json, ']');
    if (writing->width && by_boxes_find(&writing->rule, shown->want, shown->output_count,
                                        writing->width, writing->height, err) < 0)
        return -1;
    by_json_open(json, "results", '[');
    if (put_result(writing, true, err) < 0 || put_result(writing, false, err) < 0)
        return -1;
    by_json_close(json, ']');
    by_json_close(json, '}');
    return 0;
}

static int keep_example(struct by_examples *examples, const struct by_str *text,
                        struct baryon_error *err)
{
    if (by_str_error(text, err) < 0 ||
        by_list_reserve(&examples->arena, &examples->items, 1, sizeof *examples->items.at, err) < 0)
        return -1;
    const char *kept = by_arena_text(&examples->arena, by_str_text(text), text->size, err);
    if (!kept)
        return -1;
    examples->items.at[examples->items.count++] = kept;
    return 0;
}

int by_examples_show(void *context, const struct by_shown *shown, struct baryon_error *err)
{
    struct by_str text;
    struct by_json json;
    struct writing writing = {.examples = context, .shown = shown, .json = &json};
    by_str_init(&text);
    by_json_init(&json, &text, true);
    by_arena_init(&writing.arena, 0);
    int status = put_example(&writing, err);
    if (status == 0)
        status = keep_example(writing.examples, &text, err);
    by_arena_release(&writing.arena);
    by_str_release(&text);
    return status;
}

void by_examples_init(struct by_examples *examples, const struct by_prep *prep)
{
    *examples = (struct by_examples){.prep = prep};
    by_arena_init(&examples->arena, 0);
}

void by_examples_release(struct by_examples *examples)
{
    by_arena_release(&examples->arena);
    *examples = (struct by_examples){.prep = NULL};
}

int by_examples_name(struct by_examples *examples, const struct baryon_model *model,
                     const char *path, struct baryon_error *err)
{
    struct by_class_names *labels = &examples->labels;
    if ((path ? by_class_names_read(labels, path, &examples->arena, err)
              : by_class_names_of_model(labels, model, &examples->arena, err)) < 0)
        return -1;
    examples->occurs =
        by_arena_alloc(&examples->arena, labels->count + 1, sizeof *examples->occurs, err);
    if (!examples->occurs)
        return -1;
    memset(examples->occurs, 0, labels->count * sizeof *examples->occurs);
    return 0;
}

static void put_labels(const struct by_examples *examples, struct by_json *json)
{
    const struct by_class_names *labels = &examples->labels;
    bool any = false;
    for (size_t i = 0; i < labels->count; i++)
        any = any || (examples->occurs[i] && labels->at[i]);
    if (!any)
        return;
    by_json_open(json, "labels", '{');
    for (size_t i = 0; i < labels->count; i++) {
        char number[24];
        by_format(number, sizeof number, "%zu", i);
        if (examples->occurs[i] && labels->at[i])
            by_json_text(json, number, labels->at[i]);
    }
    by_json_close(json, '}');
}

void by_examples_json(const struct by_examples *examples, struct by_json *json)
{
    if (!examples->items.count)
        return;
    by_json_open(json, "examples", '[');
    for (size_t i = 0; i < examples->items.count; i++)
        by_json_raw(json, NULL, examples->items.at[i]);
    by_json_close(json, ']');
    put_labels(examples, json);
}
