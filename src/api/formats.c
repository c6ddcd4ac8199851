/* The public interface: number formats, and lists. */
#include "api/api.h"
#include "api/registry.h"
#include "base/str.h"
#include "dtype/block.h"
#include "dtype/family.h"

#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#define FORMATS_MAX 64
#define NAME_SIZE   32

static struct baryon_format formats[FORMATS_MAX];
static size_t format_count;

/* --- Names --- */

static void fill_formats(void)
{
    size_t count;
    const struct by_dtype *const *rows = by_dtypes(&count);
    for (size_t i = 0; i < count && i < FORMATS_MAX; i++)
        formats[format_count++] = (struct baryon_format){.name = rows[i]->name,
                                                         .help = rows[i]->help,
                                                         .bits = by_dtype_bits(rows[i]),
                                                         .block = rows[i]->block.size,
                                                         .integer = rows[i]->does == &by_family_int,
                                                         .low = rows[i]->low,
                                                         .high = rows[i]->high,
                                                         .most = by_dtype_max(rows[i]),
                                                         .least = by_dtype_least(rows[i])};
}

const struct baryon_format *baryon_format_at(size_t place)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill_formats);
    return place < format_count ? &formats[place] : NULL;
}

static void replace(char *text, const char *what, const char *with)
{
    char *at = strstr(text, what);
    if (!at)
        return;
    memcpy(at, with, strlen(with));
    memmove(at + strlen(with), at + strlen(what), strlen(at + strlen(what)) + 1);
}

/* "BFloat16", "MXFP4E2M1", "float8e4m3fn" and our own names without what they differ by. */
static void plain_name(const char *name, char out[NAME_SIZE])
{
    size_t used = 0;
    for (; *name && used + 1 < NAME_SIZE; name++)
        if (*name != '_' && *name != '-')
            out[used++] = (char)tolower((unsigned char)*name);
    out[used] = '\0';
    replace(out, "float", out[0] == 'b' ? "f" : "fp");
    used = strlen(out);
    if (used > 2 && !strcmp(out + used - 2, "fn"))
        out[used - 2] = '\0';
}

/* The one that is called so, or the only one that begins so. */
const struct baryon_format *baryon_format_find(const char *name, struct baryon_error *err)
{
    if (BY_NEED(name, err))
        return NULL;
    char wanted[NAME_SIZE], plain[NAME_SIZE], quoted[BY_QUOTE_MAX];
    const char *names[FORMATS_MAX];
    const struct baryon_format *format, *begins = NULL;
    size_t count = 0, beginning = 0;
    plain_name(name, wanted);
    for (; (format = baryon_format_at(count)); count++) {
        plain_name(format->name, plain);
        if (!strcmp(plain, wanted))
            return format;
        if (!strncmp(plain, wanted, strlen(wanted)) && format->block) {
            begins = format;
            beginning++;
        }
        names[count] = format->name;
    }
    if (beginning == 1 && *wanted)
        return begins;
    by_fail(err, BARYON_ERR_USAGE, "unknown format %s", by_quote(quoted, name));
    const char *near = by_nearest(begins ? begins->name : wanted, names, count);
    if (near)
        by_err_hint(err, "did you mean '%s'?", near);
    return NULL;
}

/* --- Rounding --- */

static int find_ties(enum baryon_ties ties, enum by_ties *out, struct baryon_error *err)
{
    static const enum by_ties all[] = {[BARYON_TIES_EVEN] = BY_TIES_EVEN,
                                       [BARYON_TIES_AWAY] = BY_TIES_AWAY,
                                       [BARYON_TIES_UP] = BY_TIES_UP};
    if ((size_t)ties >= sizeof all / sizeof *all)
        return by_fail(err, BARYON_ERR_USAGE, "ties %d, must be 0 to 2", (int)ties);
    *out = all[ties];
    return 0;
}

/* As far as all finite values reach: symmetric for signed integers, from the least value on for
 * others. */
static void choose_scale(const struct by_dtype *dtype, const float *in, size_t count,
                         struct by_cast *cast)
{
    float low = 0, high = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(in[i])) {
            low = fminf(low, in[i]);
            high = fmaxf(high, in[i]);
        }
    const double most = (double)(dtype->low < 0 ? fmaxf(-low, high) : high - low);
    cast->scale = (float)(most / (double)dtype->high);
    if (!(cast->scale > 0))
        cast->scale = 1;
    if (dtype->low >= 0)
        cast->zero = (int64_t)nearbyint(-(double)low / (double)cast->scale);
}

static int round_block(const struct by_dtype *dtype, const float *in, const int64_t *dims,
                       size_t rank, const struct baryon_round_options *options, float *out,
                       struct baryon_error *err)
{
    struct by_block_cast cast = {.dims = dims,
                                 .rank = rank,
                                 .axis = options->axis,
                                 .size = options->block_size,
                                 .tensor_scale = options->scale};
    if (options->zero_point)
        return by_fail(err, BARYON_ERR_USAGE, "%s has no zero point", dtype->name);
    if (options->scale != 0 && !dtype->block.scaled)
        return by_fail(err, BARYON_ERR_USAGE, "%s computes its own scales", dtype->name);
    if (find_ties(options->ties, &cast.ties, err) < 0)
        return -1;
    return by_block_round(dtype, in, &cast, NULL, out, err);
}

static int round_single(const struct by_dtype *dtype, const float *in, size_t count,
                        const struct baryon_round_options *options, float *out,
                        struct baryon_error *err)
{
    struct by_cast cast = by_cast_default;
    const bool integer = dtype->does == &by_family_int;
    if (options->axis || options->block_size)
        return by_fail(err, BARYON_ERR_USAGE, "%s has no blocks, axis and block size are not valid",
                       dtype->name);
    if (options->zero_point && (!integer || options->scale == 0))
        return by_fail(err, BARYON_ERR_USAGE,
                       "a zero point requires an integer format and a scale");
    if (options->scale < 0 || !isfinite(options->scale))
        return by_fail(err, BARYON_ERR_USAGE, "the scale is %g, must be greater than 0",
                       (double)options->scale);
    cast.zero = options->zero_point;
    if (options->scale > 0)
        cast.scale = options->scale;
    else if (integer)
        choose_scale(dtype, in, count, &cast);
    if (find_ties(options->ties, &cast.ties, err) < 0)
        return -1;
    return by_dtype_round(dtype, in, count, &cast, NULL, out, err);
}

int baryon_round(const char *format, const float *in, const int64_t *dims, int rank,
                 const struct baryon_round_options *theirs, float *out, struct baryon_error *err)
{
    if (BY_NEED(format, err) || by_need_dims(dims, rank, err) || BY_NEED(in, err) ||
        BY_NEED(out, err))
        return -1;
    struct baryon_round_options options = {.size = sizeof options};
    const struct baryon_format *found = baryon_format_find(format, err);
    size_t count;
    if (!found || by_api_options(&options, sizeof options, theirs, err) < 0)
        return -1;
    if (by_dims_count(dims, (size_t)rank, &count, err) < 0)
        return -1;
    const struct by_dtype *dtype = by_dtype_find(found->name);
    if (found->block)
        return round_block(dtype, in, dims, (size_t)rank, &options, out, err);
    return round_single(dtype, in, count, &options, out, err);
}

/* --- Lists --- */

const char *baryon_list(const char *list, size_t place, const char **help)
{
    const struct by_registry *registry = list ? by_registry_find(list) : NULL;
    struct by_registry_row row = {0};
    if (!registry || place >= registry->count())
        return NULL;
    registry->row(place, &row);
    if (help)
        *help = row.help;
    return row.name;
}
