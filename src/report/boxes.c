/* Finds the boxes of a detector in its outputs. */
#include "report/boxes.h"

#include "report/number.h"
#include "report/regions.h"

#include <math.h>
#include <stdlib.h>

#define SCORE_LEAST  0.25
#define OVERLAP_MOST 0.5
#define PIXELS_FROM  2.0
#define ROWS_LEAST   16   /* boxes that a detector gives */
#define KEPT         2048 /* candidates that are compared with each other */

/* --- Values --- */

static double *values_of(const struct by_array *array, size_t *count, struct baryon_error *err)
{
    if (by_dims_count(array->dims, array->rank, count, err) < 0)
        return NULL;
    double *values = by_alloc(*count + 1, sizeof *values, err);
    if (values && by_elem_to_doubles(array->elem, array->data, 0, *count, values, err) == 0)
        return values;
    by_free(values);
    return NULL;
}

bool by_boxes_is_score(double value)
{
    return value >= -0.01 && value <= 1.01;
}

/* --- Which rule --- */

/* Without axes of 1 in front. */
static size_t inner_dims(const struct by_array *array, int64_t dims[2])
{
    size_t rank = array->rank, first = 0;
    while (rank - first > 1 && array->dims[first] == 1 && first < 1)
        first++;
    rank -= first;
    for (size_t i = 0; i < rank && i < 2; i++)
        dims[i] = array->dims[first + i];
    return rank;
}

static bool all_are_scores(const double *values, size_t count, size_t first, size_t step,
                           size_t per_item, size_t item_step)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < per_item; k++)
            if (!by_boxes_is_score(values[first + i * step + k * item_step]))
                return false;
    return true;
}

static double greatest_coordinate(const double *values, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, values[i]);
    return most;
}

static void find_single(struct by_boxes_rule *rule, const double *values, const int64_t dims[2])
{
    const size_t rows = (size_t)dims[0], columns = (size_t)dims[1];
    if (rows >= 5 && rows < columns && columns >= ROWS_LEAST &&
        all_are_scores(values, columns, 4 * columns, 1, rows - 4, columns)) {
        rule->kind = BY_BOXES_ROWS;
        rule->count = columns;
        rule->classes = rows - 4;
        rule->pixels = greatest_coordinate(values, 4 * columns) > PIXELS_FROM;
    } else if (columns >= 6 && columns < rows && rows >= ROWS_LEAST &&
               all_are_scores(values, rows, 4, columns, columns - 4, 1)) {
        rule->kind = BY_BOXES_COLUMNS;
        rule->count = rows;
        rule->classes = columns - 5;
        for (size_t i = 0; i < rows; i++)
            rule->pixels |= greatest_coordinate(values + i * columns, 4) > PIXELS_FROM;
    }
}

static int try_single(struct by_boxes_rule *rule, const struct by_array *output,
                      struct baryon_error *err)
{
    int64_t dims[2];
    size_t count;
    if (!by_elem_is_floats(output->elem) || output->rank != 3 || inner_dims(output, dims) != 2)
        return 0;
    double *values = values_of(output, &count, err);
    if (!values)
        return -1;
    if (count)
        find_single(rule, values, dims);
    by_free(values);
    return 0;
}

static int try_map(struct by_boxes_rule *rule, const struct by_array *output, size_t width,
                   size_t height, struct baryon_error *err)
{
    size_t count;
    if (rule->kind || !by_elem_is_floats(output->elem))
        return 0;
    double *values = values_of(output, &count, err);
    if (!values)
        return -1;
    if (by_regions_is_map(output, values, count, width, height))
        *rule = (struct by_boxes_rule){.kind = BY_BOXES_MAP, .classes = 1};
    by_free(values);
    return 0;
}

static void find_corners(struct by_boxes_rule *rule, const double *boxes)
{
    size_t right = 0;
    for (size_t i = 0; i < rule->count; i++)
        right += boxes[4 * i + 2] >= boxes[4 * i] && boxes[4 * i + 3] >= boxes[4 * i + 1];
    rule->corners = right == rule->count;
    rule->pixels = greatest_coordinate(boxes, 4 * rule->count) > PIXELS_FROM;
}

static int try_scores(struct by_boxes_rule *rule, const struct by_array *outputs, size_t boxes,
                      size_t scores, struct baryon_error *err)
{
    int64_t dims[2] = {0}, box_dims[2] = {0};
    size_t count;
    const size_t rank = inner_dims(&outputs[scores], dims);
    inner_dims(&outputs[boxes], box_dims);
    if (scores == boxes || !by_elem_is_floats(outputs[scores].elem) || rank > 2 ||
        dims[0] != box_dims[0])
        return 0;
    double *values = values_of(&outputs[scores], &count, err);
    double *corners = values ? values_of(&outputs[boxes], &count, err) : NULL;
    const size_t classes = rank == 2 ? (size_t)dims[1] : 1;
    if (corners && classes && classes < (size_t)dims[0] &&
        all_are_scores(values, (size_t)dims[0], 0, classes, classes, 1)) {
        *rule = (struct by_boxes_rule){.kind = BY_BOXES_PAIR,
                                       .boxes = boxes,
                                       .scores = scores,
                                       .count = (size_t)dims[0],
                                       .classes = classes};
        find_corners(rule, corners);
    }
    const bool failed = !corners;
    by_free(corners);
    by_free(values);
    return failed ? -1 : 0;
}

static bool are_boxes(const struct by_array *output)
{
    int64_t dims[2] = {0};
    return by_elem_is_floats(output->elem) && output->rank >= 2 && inner_dims(output, dims) == 2 &&
           dims[1] == 4 && dims[0] >= ROWS_LEAST;
}

int by_boxes_find(struct by_boxes_rule *rule, const struct by_array *outputs, size_t count,
                  size_t width, size_t height, struct baryon_error *err)
{
    *rule = (struct by_boxes_rule){.kind = BY_BOXES_NONE};
    if (count == 1)
        return try_single(rule, &outputs[0], err) < 0
                   ? -1
                   : try_map(rule, &outputs[0], width, height, err);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count && are_boxes(&outputs[i]) && !rule->kind; k++)
            if (try_scores(rule, outputs, i, k, err) < 0)
                return -1;
    return 0;
}

/* --- The boxes --- */

static int by_score(const void *a, const void *b)
{
    const struct by_box *one = a, *other = b;
    if (one->score != other->score)
        return one->score > other->score ? -1 : 1;
    for (size_t i = 0; i < 4; i++)
        if (one->at[i] != other->at[i])
            return one->at[i] < other->at[i] ? -1 : 1;
    return one->class < other->class ? -1 : one->class > other->class;
}

static double overlap(const struct by_box *one, const struct by_box *other)
{
    const double width = fmin(one->at[2], other->at[2]) - fmax(one->at[0], other->at[0]);
    const double height = fmin(one->at[3], other->at[3]) - fmax(one->at[1], other->at[1]);
    if (width <= 0 || height <= 0)
        return 0;
    const double both = width * height;
    const double all = (one->at[2] - one->at[0]) * (one->at[3] - one->at[1]) +
                       (other->at[2] - other->at[0]) * (other->at[3] - other->at[1]);
    return both / (all - both);
}

static bool is_covered(const struct by_box *box, const struct by_box *kept, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (kept[i].class == box->class && overlap(&kept[i], box) > OVERLAP_MOST)
            return true;
    return false;
}

struct reading {
    const struct by_boxes_rule *rule;
    const double *boxes, *scores;
    double width, height;
};

static void place_box(const struct reading *reading, size_t i, struct by_box *box)
{
    const struct by_boxes_rule *rule = reading->rule;
    double at[4];
    for (size_t k = 0; k < 4; k++)
        at[k] = rule->kind == BY_BOXES_ROWS      ? reading->boxes[k * rule->count + i]
                : rule->kind == BY_BOXES_COLUMNS ? reading->boxes[i * (rule->classes + 5) + k]
                                                 : reading->boxes[4 * i + k];
    if (!rule->corners) {
        const double half_width = at[2] / 2, half_height = at[3] / 2;
        at[2] = at[0] + half_width;
        at[3] = at[1] + half_height;
        at[0] -= half_width;
        at[1] -= half_height;
    }
    for (size_t k = 0; k < 4; k++)
        box->at[k] = at[k] / (!rule->pixels ? 1 : k % 2 ? reading->height : reading->width);
}

static double score_of(const struct reading *reading, size_t i, size_t class)
{
    const struct by_boxes_rule *rule = reading->rule;
    if (rule->kind == BY_BOXES_ROWS)
        return reading->boxes[(4 + class) * rule->count + i];
    if (rule->kind == BY_BOXES_COLUMNS) {
        const double *row = reading->boxes + i * (rule->classes + 5);
        return row[4] * row[5 + class];
    }
    return reading->scores[i * rule->classes + class];
}

/* Of its best class. */
static void read_box(const struct reading *reading, size_t i, struct by_box *box)
{
    *box = (struct by_box){.score = -INFINITY};
    for (size_t class = 0; class < reading->rule->classes; class ++) {
        const double score = score_of(reading, i, class);
        if (score <= box->score)
            continue;
        box->score = score;
        box->class = class;
    }
    place_box(reading, i, box);
}

static bool is_finite_box(const struct by_box *box)
{
    return isfinite(box->at[0]) && isfinite(box->at[1]) && isfinite(box->at[2]) &&
           isfinite(box->at[3]);
}

static void choose_boxes(const struct reading *reading, struct by_box *all, struct by_box *boxes,
                         size_t *count)
{
    size_t found = 0;
    for (size_t i = 0; i < reading->rule->count; i++) {
        read_box(reading, i, &all[found]);
        found += all[found].score >= SCORE_LEAST && is_finite_box(&all[found]);
    }
    if (found)
        qsort(all, found, sizeof *all, by_score);
    *count = 0;
    for (size_t i = 0; i < found && i < KEPT && *count < BY_BOXES_MOST; i++)
        if (!is_covered(&all[i], boxes, *count))
            boxes[(*count)++] = all[i];
}

static int read_map(const struct by_array *output, struct by_box *boxes, size_t *count,
                    struct baryon_error *err)
{
    size_t all;
    double *values = values_of(output, &all, err);
    const int status = values ? by_regions_read(output, values, boxes, count, err) : -1;
    by_free(values);
    return status;
}

int by_boxes_read(const struct by_boxes_rule *rule, const struct by_array *outputs, size_t width,
                  size_t height, struct by_box *boxes, size_t *count, struct baryon_error *err)
{
    size_t values;
    if (rule->kind == BY_BOXES_MAP)
        return read_map(&outputs[rule->boxes], boxes, count, err);
    double *at = values_of(&outputs[rule->boxes], &values, err);
    double *scores =
        at && rule->kind == BY_BOXES_PAIR ? values_of(&outputs[rule->scores], &values, err) : NULL;
    struct by_box *all = at ? by_alloc(rule->count + 1, sizeof *all, err) : NULL;
    const bool failed = !at || !all || (rule->kind == BY_BOXES_PAIR && !scores);
    const struct reading reading = {rule, at, scores, (double)width, (double)height};
    if (!failed)
        choose_boxes(&reading, all, boxes, count);
    by_free(all);
    by_free(scores);
    by_free(at);
    return failed ? -1 : 0;
}

/* --- JSON --- */

void by_boxes_json(const struct by_boxes_rule *rule, const char *const *names,
                   const struct by_box *boxes, size_t count, struct by_json *json)
{
    static const char *const texts[] = {
        [BY_BOXES_ROWS] = "one output, 4 rows of a box and one a class",
        [BY_BOXES_COLUMNS] = "one output, 4 columns of a box, its score and one a class",
        [BY_BOXES_PAIR] = "an output with boxes and one with scores",
        [BY_BOXES_MAP] = "one output, regions of a map whose values are 0.3 or more",
        [BY_BOXES_NONE] = "",
    };
    by_json_open(json, "boxes", '{');
    by_json_open(json, "outputs", '[');
    by_json_text(json, NULL, names[rule->boxes]);
    if (rule->kind == BY_BOXES_PAIR)
        by_json_text(json, NULL, names[rule->scores]);
    by_json_close(json, ']');
    by_json_text(json, "rule", texts[rule->kind]);
    by_json_open(json, "list", '[');
    for (size_t i = 0; i < count; i++) {
        by_json_open(json, NULL, '[');
        for (size_t k = 0; k < 4; k++)
            by_number_json(json, NULL, 4, boxes[i].at[k]);
        by_json_int(json, NULL, (int64_t)boxes[i].class);
        by_number_json(json, NULL, 4, boxes[i].score);
        by_json_close(json, ']');
    }
    by_json_close(json, ']');
    by_json_close(json, '}');
}
