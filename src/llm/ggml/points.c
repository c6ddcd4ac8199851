/* The points of IQ3_XXS and IQ3_S, which the formats list, and which of them are next to a cell. */
#include "llm/ggml/points.h"

#include <pthread.h>

/* A bit for each cell that is a point: the first two steps choose the bit, the other two the word.
 * Points are numbered in this order. */
#define WORDS 64

/* clang-format off */
static const uint64_t listed_xxs[WORDS] = {
    0x2800000402058a15, 0x010010020522050a, 0x200082008a050215, 0x0100000000200582,
    0x2800801080000800, 0x0000040004000082, 0x0010000020000000, 0x0002000800005100,
    0x00000180150a050a, 0x0000000000050205, 0x040000000102050a, 0x0040004002010005,
    0x0000010000000022, 0x0200004000110000, 0x0000000000000020, 0x0000000100040000,
    0x0000000402450a05, 0x018800000102052a, 0x0000200180058205, 0x1100000000001102,
    0x0000080020000000, 0x1000000200800008, 0x0000000000000000, 0x000000200000400a,
    0x04200100000a0502, 0x0000005002010005, 0x040004000020010a, 0x0000000008000200,
    0x0400008001000000, 0x0000200000040041, 0x0008000040001000, 0x0001000008000000,
    0x00008800a0008010, 0x1000000000000000, 0x0041000180010000, 0x0000002000000080,
    0x0010020000000010, 0x0100000800200000, 0x0000000000000000, 0x0000000001000520,
    0x0100000200000400, 0x0000200000400041, 0x0400000004001000, 0x0000080000000004,
    0x0400000000880100, 0x0000000002000004, 0x0000010000000000, 0x0000000400100000,
    0x0010005000100000, 0x0002000000020000, 0x0010000000008000, 0x0000000041000000,
    0x0000001000000000, 0x0000040000000020, 0x0000000008000000, 0x0000000000020008,
    0x00000400040001a8, 0x0000000100400000, 0x0000042000000400, 0x0001000008002001,
    0x0000000200020000, 0x0000000000100005, 0x0000000001000000, 0x0000000000000000,
};

static const uint64_t listed_s[WORDS] = {
    0x92050aa5082357a7, 0x0422001022892317, 0x09000aa4112249a3, 0x228005104a052208,
    0x0100020904128801, 0x084000a208450014, 0x0200040002000a40, 0x0000110008450015,
    0x040250005205ab17, 0x410005020902114b, 0x040120090411a401, 0x0104000211820992,
    0x000011440a001428, 0x0000020005020902, 0x0000005000910000, 0x010400022002050a,
    0x2980052a058a55ab, 0x0000020412248905, 0x12008802810a0092, 0x004001040a140225,
    0x2400000224090082, 0x0100080180040210, 0x0002200000020085, 0x0000010801400220,
    0x020802942a04aa04, 0x44010001000a102a, 0x0000010014010401, 0x0800208a018a1102,
    0x0011040002044208, 0x0800401004200502, 0x0000000200004000, 0x000000002005000a,
    0x0100010204910411, 0x0000220821040a84, 0x010480010802210a, 0x0000000022050a10,
    0x0200000180100005, 0x00040000000200a0, 0x0001000010000800, 0x0000020801002100,
    0x1040049100041104, 0x040000000402042a, 0x0000080041080201, 0x0820021000800184,
    0x0000004004010012, 0x00000a0000400400, 0x0000000400000000, 0x0000000000040014,
    0x000100000a002a00, 0x0010000000810001, 0x0104200410000400, 0x0000000100021001,
    0x0004000800200000, 0x0001000010000009, 0x0000000100000020, 0x0000000000000a00,
    0x0004100140050091, 0x0000002800100204, 0x0000020001024112, 0x0000080024000004,
    0x0000010000010822, 0x0000000400040000, 0x0000000002000004, 0x0000000000000001,
};
/* clang-format on */

/* In quarters of the stored numbers, so that scales are the same odd numbers for both types. */
const float by_ggml_levels_xxs[2 * BY_POINT_STEPS] = {-15.5f, -13, -11, -9, -7, -5, -3, -1,
                                                      1,      3,   5,   7,  9,  11, 13, 15.5f};
const float by_ggml_levels_s[2 * BY_POINT_STEPS] = {-15, -13, -11, -9, -7, -5, -3, -1,
                                                    1,   3,   5,   7,  9,  11, 13, 15};

static struct by_ggml_points points_xxs, points_s;
static pthread_once_t points_made = PTHREAD_ONCE_INIT;

static void list_points(struct by_ggml_points *points, const uint64_t *listed)
{
    for (size_t cell = 0; cell < BY_POINT_CELLS; cell++) {
        const bool is_point = listed[cell / 64] >> cell % 64 & 1;
        points->of_cell[cell] = is_point ? (uint16_t)points->count : BY_POINT_NONE;
        if (is_point)
            points->cells[points->count++] = (uint16_t)cell;
    }
}

#define FARTHEST (BY_POINT_VALUES * 7 * 7) /* square of a distance, in steps */

static unsigned distance_of(unsigned cell, unsigned other)
{
    int far = 0;
    for (size_t k = 0; k < BY_POINT_VALUES; k++) {
        const int off = (int)by_point_step_at(cell, k) - (int)by_point_step_at(other, k);
        far += off * off;
    }
    return (unsigned)far;
}

/* In the order of distances, then of numbers. */
static void list_near(struct by_ggml_points *points, unsigned cell)
{
    size_t before[FARTHEST + 2] = {0};
    for (size_t i = 0; i < points->count; i++)
        before[distance_of(cell, points->cells[i]) + 1]++;
    for (size_t far = 1; far <= FARTHEST; far++)
        before[far] += before[far - 1];
    for (size_t i = 0; i < points->count; i++) {
        const size_t at = before[distance_of(cell, points->cells[i])]++;
        if (at < BY_POINTS_NEAR)
            points->near[cell][at] = points->cells[i];
    }
}

static void make_points(void)
{
    points_xxs = (struct by_ggml_points){
        .even = true, .sizes = by_ggml_levels_xxs + BY_POINT_STEPS, .levels = by_ggml_levels_xxs};
    points_s = (struct by_ggml_points){.sizes = by_ggml_levels_s + BY_POINT_STEPS,
                                       .levels = by_ggml_levels_s};
    list_points(&points_xxs, listed_xxs);
    list_points(&points_s, listed_s);
    for (unsigned cell = 0; cell < BY_POINT_CELLS; cell++) {
        list_near(&points_xxs, cell);
        list_near(&points_s, cell);
    }
}

const struct by_ggml_points *by_ggml_points_xxs(void)
{
    pthread_once(&points_made, make_points);
    return &points_xxs;
}

const struct by_ggml_points *by_ggml_points_s(void)
{
    pthread_once(&points_made, make_points);
    return &points_s;
}
