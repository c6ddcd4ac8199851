/* Samples from bare values: little-endian, of the input's type, in its shape. */
#include "input/input.h"
#include "input/match.h"

#include <string.h>

static int check_raw_port(const struct by_port *ports, size_t port_count,
                          const struct by_input_options *options, struct baryon_error *err)
{
    char shape[BY_SHAPE_TEXT_MAX], quoted[BY_QUOTE_MAX];
    (void)options;
    if (port_count != 1) {
        by_fail(err, BARYON_ERR_USAGE, "a .raw file contains one input, the model has %zu",
                port_count);
        return by_err_hint(err, "give a folder with one subfolder per input");
    }
    bool open = ports->any_rank;
    for (size_t i = 0; i < ports->rank; i++)
        open |= ports->dims[i] < 0;
    if (!open)
        return 0;
    by_fail(err, BARYON_ERR_USAGE, "the input is %s, a .raw file does not contain its sizes",
            by_port_text(ports, shape, sizeof shape));
    if (!ports->any_rank)
        by_err_hint(err, "give the sizes with --shape NAME=SIZE");
    return by_err_in(err, "input %s", by_quote(quoted, ports->name));
}

static bool host_is_big(void)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 0;
}

static int read_raw(const struct by_reading *reading, struct by_stored **arrays, size_t *count,
                    struct baryon_error *err)
{
    const struct by_port *port = reading->ports;
    char shape[BY_SHAPE_TEXT_MAX];
    size_t values, bytes;
    if (by_dims_count(port->dims, port->rank, &values, err) < 0 ||
        by_elem_bytes(port->elem, values, &bytes, err) < 0)
        return -1;
    const bool batch_of_one = port->rank > 0 && port->dims[0] == 1;
    const size_t samples = bytes ? reading->size / bytes : 0;
    if (reading->size == 0 || bytes == 0 || reading->size % bytes || (samples > 1 && !batch_of_one))
        return by_fail(err, BARYON_ERR_INPUT, "%zu bytes, but %s requires %zu%s", reading->size,
                       by_port_text(port, shape, sizeof shape), bytes,
                       batch_of_one ? " or a multiple of it" : "");
    *arrays = BY_ARENA_NEW(reading->arena, struct by_stored, err);
    if (!*arrays)
        return -1;
    *count = 1;
    **arrays = (struct by_stored){
        .elem = port->elem,
        .swap = host_is_big(),
        .rank = port->rank,
        .bytes = reading->header_only ? NULL : reading->bytes,
        .size = reading->size,
    };
    memcpy((*arrays)->dims, port->dims, port->rank * sizeof *port->dims);
    if (batch_of_one)
        (*arrays)->dims[0] = (int64_t)samples;
    return 0;
}

const struct by_reader by_read_raw = {
    .name = "raw",
    .suffixes = ".raw .bin",
    .help = "little-endian values with type and shape of the input, without a header",
    .untrusted_ok = true,
    .check = check_raw_port,
    .read = read_raw,
};
