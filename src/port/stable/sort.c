/* Sorts as glibc does: what compares equal keeps its order, which results depend on. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef int compare_fn(const void *, const void *);

/* Two halves of `bytes`, each in order, become one in `out`. */
static void merge_halves(char *out, const char *bytes, size_t count, size_t size,
                         compare_fn *compare)
{
    const char *left = bytes, *middle = bytes + count / 2 * size, *right = middle;
    const char *end = bytes + count * size;
    for (; left < middle || right < end; out += size) {
        const bool takes_left = right == end || (left < middle && compare(left, right) <= 0);
        memcpy(out, takes_left ? left : right, size);
        left += takes_left ? size : 0;
        right += takes_left ? 0 : size;
    }
}

static void sort_range(char *bytes, char *room, size_t count, size_t size, compare_fn *compare)
{
    if (count < 2)
        return;
    sort_range(bytes, room, count / 2, size, compare);
    sort_range(bytes + count / 2 * size, room, count - count / 2, size, compare);
    merge_halves(room, bytes, count, size, compare);
    memcpy(bytes, room, count * size);
}

/* Without room for a copy, one after the other is put in its place. */
static void sort_in_place(char *bytes, size_t count, size_t size, compare_fn *compare)
{
    for (size_t i = 1; i < count; i++)
        for (size_t j = i; j && compare(bytes + (j - 1) * size, bytes + j * size) > 0; j--)
            for (size_t k = 0; k < size; k++) {
                const char byte = bytes[(j - 1) * size + k];
                bytes[(j - 1) * size + k] = bytes[j * size + k];
                bytes[j * size + k] = byte;
            }
}

void qsort(void *bytes, size_t count, size_t size, compare_fn *compare)
{
    char *room = count < 2 || !size ? NULL : malloc(count * size);
    if (room)
        sort_range(bytes, room, count, size, compare);
    else if (size)
        sort_in_place(bytes, count, size, compare);
    free(room);
}
