/* Finds the most similar name in a list, for hints about misspelled names. */
#include "base/str.h"

#include <limits.h>
#include <string.h>

#define LENGTH_MAX 64u

static unsigned least_distance(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Insertions, removals, replacements and swaps of neighbours count one each. */
unsigned by_edit_distance(const char *a, const char *b)
{
    size_t rows = strlen(a), columns = strlen(b);
    if (rows > LENGTH_MAX || columns > LENGTH_MAX)
        return UINT_MAX;
    unsigned store[3][LENGTH_MAX + 1];
    unsigned *before = store[0], *above = store[1], *row = store[2];
    for (unsigned j = 0; j <= columns; j++)
        above[j] = j;
    for (size_t i = 1; i <= rows; i++) {
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= columns; j++) {
            row[j] = least_distance(above[j], row[j - 1]) + 1;
            row[j] = least_distance(row[j], above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least_distance(row[j], before[j - 2] + 1);
        }
        unsigned *free_row = before;
        before = above;
        above = row;
        row = free_row;
    }
    return above[columns];
}

const char *by_nearest(const char *name, const char *const *names, size_t count)
{
    size_t size = strlen(name);
    /* One slip, and another for every four letters; a name of one letter is no hint. */
    unsigned best = 2 + (unsigned)(size > LENGTH_MAX ? LENGTH_MAX : size) / 4;
    const char *nearest = NULL;
    for (size_t i = 0; i < count; i++) {
        unsigned distance = by_edit_distance(name, names[i]);
        if (distance < best && distance < size) {
            best = distance;
            nearest = names[i];
        }
    }
    return nearest;
}
