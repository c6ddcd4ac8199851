/* Finds regions of a map that touch, and their boxes. */
#include "report/regions.h"

#define SIDE_LEAST   16  /* of a map */
#define REGION_LEAST 3   /* places a side */
#define PRESENT      0.3 /* from there on something is at a place */
#define MEAN_LEAST   0.5
#define LOW          0.1 /* values below are sure, as are those above HIGH */
#define HIGH         0.9
#define LOW_SHARE    0.5
#define SURE_SHARE   0.9

struct map {
    const double *values;
    size_t width, height;
};

struct region {
    size_t left, top, right, bottom; /* places, the last ones within */
    size_t size;
    double sum;
};

/* --- Is it one --- */

static bool has_sides(const struct by_array *output, struct map *map)
{
    if ((output->rank != 4 || output->dims[1] != 1) && output->rank != 3)
        return false;
    map->height = (size_t)output->dims[output->rank - 2];
    map->width = (size_t)output->dims[output->rank - 1];
    return output->dims[0] == 1 && map->height >= SIDE_LEAST && map->width >= SIDE_LEAST;
}

bool by_regions_is_map(const struct by_array *output, const double *values, size_t count,
                       size_t width, size_t height)
{
    struct map map;
    size_t low = 0, sure = 0;
    if (!has_sides(output, &map) || map.width * height != map.height * width || map.width > width)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!by_boxes_is_score(values[i]))
            return false;
        low += values[i] < LOW;
        sure += values[i] < LOW || values[i] > HIGH;
    }
    return (double)low >= LOW_SHARE * (double)count && (double)sure >= SURE_SHARE * (double)count;
}

/* --- Regions --- */

static void grow(struct region *region, size_t x, size_t y, double value)
{
    region->left = x < region->left ? x : region->left;
    region->right = x > region->right ? x : region->right;
    region->top = y < region->top ? y : region->top;
    region->bottom = y > region->bottom ? y : region->bottom;
    region->size++;
    region->sum += value;
}

/* What touches a place and was not seen yet, onto the stack. */
static void push_neighbours(const struct map *map, size_t place, bool *seen, size_t *stack,
                            size_t *depth)
{
    const size_t x = place % map->width, y = place / map->width;
    for (size_t row = y ? y - 1 : 0; row <= y + 1 && row < map->height; row++)
        for (size_t column = x ? x - 1 : 0; column <= x + 1 && column < map->width; column++) {
            const size_t at = row * map->width + column;
            if (seen[at] || !(map->values[at] >= PRESENT))
                continue;
            seen[at] = true;
            stack[(*depth)++] = at;
        }
}

static struct region take_region(const struct map *map, size_t place, bool *seen, size_t *stack)
{
    struct region region = {.left = map->width, .top = map->height};
    size_t depth = 0;
    seen[place] = true;
    stack[depth++] = place;
    while (depth) {
        const size_t at = stack[--depth];
        grow(&region, at % map->width, at / map->width, map->values[at]);
        push_neighbours(map, at, seen, stack, &depth);
    }
    return region;
}

static bool is_kept(const struct region *region)
{
    return region->right - region->left + 1 >= REGION_LEAST &&
           region->bottom - region->top + 1 >= REGION_LEAST &&
           region->sum >= MEAN_LEAST * (double)region->size;
}

static struct by_box box_of(const struct map *map, const struct region *region)
{
    return (struct by_box){.at = {(double)region->left / (double)map->width,
                                  (double)region->top / (double)map->height,
                                  (double)(region->right + 1) / (double)map->width,
                                  (double)(region->bottom + 1) / (double)map->height},
                           .score = region->sum / (double)region->size};
}

/* Of equal sizes the one that was found first. */
static void keep_largest(const struct map *map, const struct region *region, size_t *sizes,
                         struct by_box *boxes, size_t *count)
{
    size_t at = *count;
    while (at > 0 && sizes[at - 1] < region->size)
        at--;
    if (at == BY_BOXES_MOST)
        return;
    *count += *count < BY_BOXES_MOST;
    for (size_t i = *count - 1; i > at; i--) {
        sizes[i] = sizes[i - 1];
        boxes[i] = boxes[i - 1];
    }
    sizes[at] = region->size;
    boxes[at] = box_of(map, region);
}

int by_regions_read(const struct by_array *output, const double *values, struct by_box *boxes,
                    size_t *count, struct baryon_error *err)
{
    struct map map = {.values = values};
    size_t sizes[BY_BOXES_MOST];
    *count = 0;
    if (!has_sides(output, &map))
        return 0;
    const size_t places = map.width * map.height;
    bool *seen = by_alloc_zero(places, sizeof *seen, err);
    size_t *stack = seen ? by_alloc(places, sizeof *stack, err) : NULL;
    for (size_t i = 0; stack && i < places; i++) {
        if (seen[i] || !(values[i] >= PRESENT))
            continue;
        const struct region region = take_region(&map, i, seen, stack);
        if (is_kept(&region))
            keep_largest(&map, &region, sizes, boxes, count);
    }
    const bool failed = !stack;
    by_free(stack);
    by_free(seen);
    return failed ? -1 : 0;
}
