/* Sizes that random samples have where the model leaves them open. */
#include "input/ports.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

/* Quark's: one sample, three channels of pictures, few pixels, features or tokens. */
static int64_t usual_size(size_t rank, size_t axis)
{
    if (axis == 1)
        return rank == 2 ? 16 : rank == 4 ? 3 : 1;
    return (axis == 2 || axis == 3) && rank == 4 ? 32 : 1;
}

static const char *symbol_at(const struct by_port *port, size_t axis)
{
    const char *symbol = port->symbols ? port->symbols[axis] : NULL;
    return symbol && symbol[0] ? symbol : NULL;
}

/* A symbol stands for one size, wherever it is. */
static void spread(const struct by_port *ports, size_t count, int64_t *const *dims,
                   const char *symbol, int64_t size)
{
    for (size_t i = 0; i < count; i++)
        for (size_t axis = 0; axis < ports[i].rank; axis++) {
            const char *other = symbol_at(&ports[i], axis);
            if (dims[i][axis] < 0 && other && !strcmp(other, symbol))
                dims[i][axis] = size;
        }
}

static void name_size(const struct by_port *port, size_t axis, int64_t size, struct by_text *text)
{
    char quoted[BY_QUOTE_MAX];
    const char *symbol = symbol_at(port, axis);
    by_text_add(text, "%s", text->used ? ", " : "");
    if (symbol)
        by_text_add(text, "%s=%" PRId64, by_quote(quoted, symbol), size);
    else
        by_text_add(text, "'%s:%zu'=%" PRId64, port->name, axis, size);
}

void by_random_sizes(const struct by_port *ports, size_t count, int64_t *const *dims,
                     const struct by_log *log)
{
    char chosen[512];
    struct by_text text;
    by_text_init(&text, chosen, sizeof chosen);
    for (size_t i = 0; i < count; i++)
        for (size_t axis = 0; axis < ports[i].rank; axis++) {
            const char *symbol = symbol_at(&ports[i], axis);
            if (dims[i][axis] >= 0)
                continue;
            dims[i][axis] = usual_size(ports[i].rank, axis);
            name_size(&ports[i], axis, dims[i][axis], &text);
            if (symbol)
                spread(ports, count, dims, symbol, dims[i][axis]);
        }
    if (text.used)
        by_log(
            log, BY_LOG_NOTICE,
            "symbolic dimensions are chosen for random samples: %s; set other sizes with --shape "
            "NAME=SIZE",
            chosen);
}
