/*
 * The loops of descent, for the chooser and for the test that compares them. To add a way: a row
 * here and in descent_plain.c, and a file of its own that compiles to nothing where the processor
 * has another architecture. All of them give the same bits: steps are taken in the order of
 * columns whatever the width of vectors, each element is added to in the order of rows, and a dot
 * product has 16 lanes, element i in lane i mod 16, joined as a tree.
 */
#ifndef BY_DESCENT_PATH_H
#define BY_DESCENT_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Columns that are gone through before what they did is told to all the others. */
#define BY_DESCENT_BLOCK 128
#define BY_DESCENT_LANES 16
/* Outputs side by side where rows stand for gram (descent_rows.h). */
#define BY_DESCENT_SIDE 8

/* A block of columns of one output. */
struct by_descent_line {
    const float *gram; /* rows of the block, from its first column on */
    size_t stride;     /* floats from one row to the next */
    size_t count;      /* columns, at most BY_DESCENT_BLOCK */
    /* A step pays when |residual| is more than scale * reach. After these there are
     * BY_DESCENT_LANES more that can be read, as after the next three. */
    const float *reach;
    float *residual;  /* gram w - cross */
    float *down, *up; /* levels that are left in each direction; below zero: none */
    int32_t *integers;
    int32_t turn; /* 1, or -1 where the value rises as the integer falls */
    /* NULL: levels are whole numbers. Else down and up are how far the next levels are; 0: none. */
    const float *table;
    int32_t low, high; /* levels of the table */
    /* What was done. */
    float *steps;      /* by column: how far the value went; 0 elsewhere */
    uint32_t *stepped; /* columns, ascending */
    size_t stepped_count;
};

struct by_descent_path {
    const char *name;
    bool (*supported)(void); /* by the processor that runs */
    /* Columns [begin, end) of the line, one step each at most; all have the scale. */
    void (*sweep)(struct by_descent_line *line, size_t begin, size_t end, float scale);
    /* to += factors[which[i]] * row which[i], for each of them. */
    void (*add)(float *to, size_t count, const float *rows, size_t stride, const uint32_t *which,
                size_t which_count, const float *factors);
    double (*dot)(const float *row, const double *with, size_t count);
    /* sums[k] = column[i] * lines[i][k] over the rows, row i in lane i mod 4, lanes joined as a
     * tree. */
    void (*project)(const float *column, const float *lines, size_t count,
                    float sums[BY_DESCENT_SIDE]);
    /* lines[i][k] += column[i] * factors[k] */
    void (*push)(float *lines, const float *column, size_t count,
                 const float factors[BY_DESCENT_SIDE]);
};

/* How far the levels next to the integer are, where levels are those of a table. */
static inline void by_descent_distances(const float *table, int32_t low, int32_t high,
                                        int32_t integer, int32_t turn, float *down, float *up)
{
    const float *at = table + (integer - low);
    const float below = integer > low ? at[0] - at[-1] : 0;
    const float above = integer < high ? at[1] - at[0] : 0;
    *down = turn > 0 ? below : above;
    *up = turn > 0 ? above : below;
}

/* Notes a step of the column, and gives how far its value goes. */
static inline float by_descent_step(struct by_descent_line *line, size_t column, float scale)
{
    const int32_t way = line->residual[column] > 0 ? -1 : 1;
    float *down = line->down + column, *up = line->up + column, length = 1;
    line->integers[column] += way * line->turn;
    if (line->table) {
        length = way < 0 ? *down : *up;
        by_descent_distances(line->table, line->low, line->high, line->integers[column], line->turn,
                             down, up);
    } else {
        *down += (float)way;
        *up -= (float)way;
    }
    line->steps[column] = (float)way * length * scale;
    line->stepped[line->stepped_count++] = (uint32_t)column;
    return line->steps[column];
}

/* Best first; the last one is the reference, which every processor supports. */
const struct by_descent_path *const *by_descent_paths(size_t *count);
const struct by_descent_path *by_descent_path_chosen(void);

/* As a tree: lane i with lane i + 8, then i + 4, and so on. */
static inline double by_descent_join(const double lanes[BY_DESCENT_LANES])
{
    double eight[8], four[4];
    for (size_t i = 0; i < 8; i++)
        eight[i] = lanes[i] + lanes[i + 8];
    for (size_t i = 0; i < 4; i++)
        four[i] = eight[i] + eight[i + 4];
    return (four[0] + four[2]) + (four[1] + four[3]);
}

extern const struct by_descent_path by_descent_vector;
#if defined(__x86_64__)
extern const struct by_descent_path by_descent_avx512, by_descent_avx2;
#endif

#endif
