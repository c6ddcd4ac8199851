/* Copies the input columns of a convolution out of the input tensor. */
#include "moments/moments_internal.h"

#include "base/divide.h"

#include <string.h>

/* What one column of a chunk is put together from; the same for all channels. */
struct stretches {
    struct by_stretch *at;
    size_t count;
    size_t to_step, from_step;
};

static void push_stretch(struct stretches *list, size_t to, size_t from, size_t count, bool zeros)
{
    struct by_stretch *last = list->count ? &list->at[list->count - 1] : NULL;
    if (!count)
        return;
    const bool follows = last && last->zeros == zeros && last->to + last->count == to;
    if (follows &&
        (zeros || (list->to_step == 1 && list->from_step == 1 && last->from + last->count == from)))
        last->count += count;
    else
        list->at[list->count++] = (struct by_stretch){to, from, count, zeros};
}

/*
 * Places [begin, end) along the last axis where a window's element falls into the input:
 * the first of them, how many, and the input's index there.
 */
struct reach {
    int64_t first, count, index;
};

static struct reach reach_of(const struct by_columns *columns, int64_t at, int64_t begin,
                             int64_t end)
{
    const size_t axis = columns->spatial - 1;
    const int64_t stride = columns->stride[axis], size = columns->in[axis];
    const int64_t shift = at * columns->dilation[axis] - columns->pad[axis];
    struct reach reach = {0};
    if (columns->spread) { /* place = index * stride + shift */
        const int64_t low = by_divide_up(begin - shift, stride),
                      high = by_divide_up(end - shift, stride);
        reach.index = low > 0 ? low : 0;
        reach.count = (high < size ? high : size) - reach.index;
        reach.first = reach.index * stride + shift;
    } else { /* index = place * stride + shift */
        const int64_t low = by_divide_up(-shift, stride), high = by_divide_up(size - shift, stride);
        reach.first = low > begin ? low : begin;
        reach.count = (high < end ? high : end) - reach.first;
        reach.index = reach.first * stride + shift;
    }
    return reach;
}

/* Rows that stand side by side along the last axis; `to` is where the first one goes. */
static void add_line(const struct by_columns *columns, struct stretches *list, size_t row,
                     size_t count, const int64_t *at, size_t to)
{
    const size_t axis = columns->spatial - 1;
    int64_t place[BY_SPATIAL_MAX];
    size_t element;
    const size_t image = by_columns_place(columns, row, place);
    const int64_t begin = place[axis], end = begin + (int64_t)count;
    struct reach reach = reach_of(columns, at[axis], begin, end);
    place[axis] = reach.first;
    if (reach.count <= 0 || !by_columns_source(columns, place, at, &element)) {
        push_stretch(list, to, 0, count, true);
        return;
    }
    const size_t from = image * columns->channels * columns->plane + element;
    const size_t first = (size_t)(reach.first - begin), reached = (size_t)reach.count;
    if (list->to_step != 1) { /* zeros are there already */
        push_stretch(list, to + first, from, reached, false);
        return;
    }
    push_stretch(list, to, 0, first, true);
    push_stretch(list, to + first, from, reached, false);
    push_stretch(list, to + first + reached, 0, count - first - reached, true);
}

/* All rows in order, line by line. */
static void add_lines(const struct by_columns *columns, struct stretches *list, size_t begin,
                      size_t length, const int64_t *at)
{
    const size_t axis = columns->spatial - 1, line = (size_t)columns->out[axis];
    list->to_step = columns->spread ? (size_t)columns->stride[axis] : 1;
    list->from_step = columns->spread ? 1 : (size_t)columns->stride[axis];
    if (list->to_step != 1)
        push_stretch(list, 0, 0, length, true);
    for (size_t done = 0; done < length;) {
        const size_t row = begin + done, left = line - row % line;
        const size_t count = left < length - done ? left : length - done;
        add_line(columns, list, row, count, at, done);
        done += count;
    }
}

static void copy_column(const struct stretches *list, const float *from, float *out)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct by_stretch *stretch = &list->at[i];
        float *to = out + stretch->to;
        const float *source = from + stretch->from;
        if (stretch->zeros)
            memset(to, 0, stretch->count * sizeof *to);
        else if (list->to_step == 1 && list->from_step == 1 && stretch->count > 4)
            memcpy(to, source, stretch->count * sizeof *to);
        else
            for (size_t k = 0; k < stretch->count; k++)
                to[k * list->to_step] = source[k * list->from_step];
    }
}

/* Rows of a list: each by itself. */

#define NO_SOURCE SIZE_MAX

static void find_sources(const struct by_columns *columns, const struct by_fill_room *room,
                         size_t length, const int64_t *at)
{
    for (size_t i = 0; i < length; i++) {
        const struct by_place *place = &room->places[i];
        size_t element;
        room->sources[i] = by_columns_source(columns, place->at, at, &element)
                               ? place->image * columns->channels * columns->plane + element
                               : NO_SOURCE;
    }
}

static void pick_column(const size_t *sources, size_t length, const float *from, float *out)
{
    for (size_t i = 0; i < length; i++)
        out[i] = sources[i] == NO_SOURCE ? 0 : from[sources[i]];
}

static void kernel_place(const struct by_columns *columns, size_t element, int64_t *at)
{
    for (size_t i = columns->spatial; i-- > 0;) {
        at[i] = (int64_t)(element % (size_t)columns->kernel[i]);
        element /= (size_t)columns->kernel[i];
    }
}

/* The column of each channel that one element of the kernel sees. */
static void fill_element(const struct by_columns *columns, const struct by_moments_rows *rows,
                         const struct by_fill *fill, const struct by_fill_room *room,
                         size_t element)
{
    const size_t a_group = columns->channels / (size_t)columns->layer->groups;
    const size_t blocks = by_layer_blocks(columns->layer);
    struct stretches list = {.at = room->stretches};
    int64_t at[BY_SPATIAL_MAX];
    kernel_place(columns, element, at);
    if (rows->list)
        find_sources(columns, room, fill->length, at);
    else
        add_lines(columns, &list, fill->begin, fill->length, at);
    for (size_t c = fill->channel; c < fill->channel + fill->channels; c++) {
        const size_t group = c / a_group, column = c % a_group * columns->kernel_size + element;
        const size_t place = group * (size_t)columns->layer->columns + column;
        const float *from = columns->values + c * columns->plane;
        float *out = fill->out + place * fill->length;
        if (!fill->needed[group * blocks + column / BY_MOMENTS_TILE])
            continue;
        if (rows->list)
            pick_column(room->sources, fill->length, from, out);
        else
            copy_column(&list, from, out);
    }
}

void by_columns_fill(const struct by_columns *columns, const struct by_moments_rows *rows,
                     const struct by_fill *fill, const struct by_fill_room *room)
{
    for (size_t i = 0; rows->list && i < fill->length; i++)
        room->places[i].image =
            by_columns_place(columns, rows->list[fill->begin + i], room->places[i].at);
    for (size_t element = 0; element < columns->kernel_size; element++)
        fill_element(columns, rows, fill, room, element);
}
