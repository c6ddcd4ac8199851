/* Opens the model that a command line names, from a file or standard input. */
#include "cli/models.h"

#include "cli/term.h"
#include "onnx/wire.h"

#include <errno.h>
#include <inttypes.h>
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
            return by_fail(err, BARYON_ERR_INPUT, "more than %u bytes, the limit of the format",
                           BY_WIRE_BYTES_MAX);
    }
}

static int open_stdin(struct by_loaded *loaded, const struct by_load_options *options,
                      struct baryon_error *err)
{
    loaded->name = "<stdin>";
    if (read_all(loaded, err) == 0 &&
        by_model_load_bytes(&loaded->model, loaded->bytes, loaded->size, NULL, options, err) == 0)
        return 0;
    by_free(loaded->bytes);
    loaded->bytes = NULL;
    return by_err_file(err, loaded->name);
}

int by_loaded_open(struct by_loaded *loaded, const struct by_cli *cli,
                   const struct by_model_settings *settings, const char *path,
                   struct baryon_error *err)
{
    const struct by_load_options options = {.allow_links = settings->allow_links, .log = &cli->log};
    double start = by_term_seconds();
    *loaded = (struct by_loaded){.name = path};
    int status = strcmp(path, "-") != 0 ? by_model_load(&loaded->model, path, &options, err)
                                        : open_stdin(loaded, &options, err);
    if (status == 0)
        by_log(&cli->log, BY_LOG_INFO, "%s: %" PRIu64 " bytes read in %.3f s", loaded->name,
               by_loaded_size(loaded), by_term_seconds() - start);
    return status;
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
