/*
 * Writes small statistics made from numbers, for tests:
 *
 *   stats_make FILE BEGIN END [SEED [votes]]     samples [BEGIN, END) of 30; seeds are other data
 */
#include "tests/unit/stats_make.h"

#include <stdio.h>

static int number(const char *text, int64_t *value)
{
    return text && by_parse_i64(text, value) && *value >= 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
    int64_t begin, end, seed = 1;
    struct baryon_error error;
    char text[2048];
    if (argc < 4 || number(argv[2], &begin) || number(argv[3], &end) ||
        (argc > 4 && number(argv[4], &seed)))
        return 2;
    by_err_clear(&error);
    stats_without_votes = argc < 6;
    struct by_stats *stats = stats_small((uint64_t)begin, (uint64_t)end, (uint64_t)seed);
    if (stats)
        stats->key.data.high += (uint64_t)seed - 1;
    int status = stats ? by_stats_save(stats, argv[1], BY_WRITER_NO_SYNC, &error) : -1;
    by_stats_close(stats);
    if (status) {
        baryon_error_format(&error, text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    return status ? 1 : 0;
}
