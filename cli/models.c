#include "cli/models.h"

#include "onnx/wire.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define FIRST_ROOM (1u << 20)

static int read_all(struct by_loaded *loaded, struct baryon_error *err)
{
    size_t room = 0;
    for (;;) {
        if (loaded->size == room) {
            size_t more = room ? room * 2 : FIRST_ROOM;
            char *grown = by_realloc(loaded->bytes, more, 1, err);
            if (!grown)
                return -1;
            loaded->bytes = grown;
            room = more;
        }
        ssize_t got = read(STDIN_FILENO, loaded->bytes + loaded->size, room - loaded->size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return by_fail_errno(err, BARYON_ERR_IO, "reading failed");
        if (got == 0)
            return 0;
        loaded->size += (size_t)got;
        if (loaded->size > BY_WIRE_BYTES_MAX)
            return by_fail(err, BARYON_ERR_INPUT, "more than %u bytes, the format allows no more",
                           BY_WIRE_BYTES_MAX);
    }
}

int by_loaded_open(struct by_loaded *loaded, const struct by_cli *cli, const char *path,
                   struct baryon_error *err)
{
    const struct by_load_options options = {.log = &cli->log};
    *loaded = (struct by_loaded){.name = path};
    if (strcmp(path, "-") != 0)
        return by_model_load(&loaded->model, path, &options, err);
    loaded->name = "<stdin>";
    if (read_all(loaded, err) < 0 ||
        by_model_load_bytes(&loaded->model, loaded->bytes, loaded->size, NULL, &options, err) < 0) {
        by_free(loaded->bytes);
        return by_err_file(err, loaded->name);
    }
    return 0;
}

void by_loaded_close(struct by_loaded *loaded)
{
    by_model_free(loaded->model);
    by_free(loaded->bytes);
    loaded->model = NULL;
    loaded->bytes = NULL;
}

uint64_t by_loaded_size(const struct by_loaded *loaded)
{
    return loaded->bytes ? loaded->size : loaded->model->file.size;
}
