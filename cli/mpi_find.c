/* Finds out which MPI started the program and loads the library for it. */
#include "cli/mpi_find.h"

#include "base/file.h"
#include "base/format.h"
#include "base/str.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const flavours[] = {"openmpi", "mpich", NULL};
static const char *const only_open[] = {"openmpi", NULL};
static const char *const pmi_first[] = {"mpich", "openmpi", NULL};
static const char *const nobody[] = {NULL};

const char *const *by_mpi_flavours(void)
{
    return flavours;
}

static int64_t number_of(const char *name)
{
    const char *value = getenv(name);
    int64_t number;
    return value && by_parse_i64(value, &number) && number > 0 && number < INT32_MAX ? number : 0;
}

int by_mpi_expected(void)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (number_of(sizes[i]))
            return (int)number_of(sizes[i]);
    return 0;
}

const char *const *by_mpi_wanted(void)
{
    static const char *named[2];
    const char *given = getenv("BARYON_MPI");
    const bool open = getenv("OMPI_COMM_WORLD_SIZE"), pmi = getenv("PMI_SIZE");
    if ((!open && !pmi && !getenv("PMIX_RANK")) || by_mpi_expected() == 1)
        return nobody;
    if (given && !strcmp(given, "none"))
        return nobody;
    if (given && *given) {
        named[0] = given;
        return named;
    }
    return open ? only_open : pmi ? pmi_first : flavours;
}

int by_mpi_strangers(void)
{
    static const char *const starters[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
    const char *given = getenv("BARYON_MPI"), *process = getenv("SLURM_PROCID");
    for (size_t i = 0; i < sizeof starters / sizeof *starters; i++)
        if (getenv(starters[i]))
            return 0;
    const bool first = process && !strcmp(process, "0"), meant = given && !strcmp(given, "none");
    return first && !meant ? (int)number_of("SLURM_STEP_NUM_TASKS") : 0;
}

static bool find_mpi_library(const char *flavour, char *path, size_t size)
{
    static const char *const below[] = {"", "/../lib/baryon"};
    char folder[PATH_MAX];
    if (strchr(flavour, '/'))
        return by_format(path, size, "%s", flavour) < (int)size;
    for (size_t i = 0; by_own_folder(folder, sizeof folder) && i < 2; i++)
        if (by_format(path, size, "%s%s/libbaryon_mpi_%s.so", folder, below[i], flavour) <
                (int)size &&
            by_file_exists(path))
            return true;
    return by_format(path, size, BY_MPI_FOLDER "/libbaryon_mpi_%s.so", flavour) < (int)size &&
           by_file_exists(path);
}

static int open_library(const struct baryon_mpi **mpi, const char *path, int scope,
                        struct baryon_error *err)
{
    dlerror();
    void *handle = dlopen(path, RTLD_NOW | RTLD_NODELETE | scope);
    if (!handle) {
        const char *text = dlerror();
        by_fail(err, BARYON_ERR_DEPENDENCY, "cannot be loaded: %.400s",
                text ? text : "unknown reason");
        return by_err_hint(err, "install the MPI that it was built with, or rebuild it");
    }
    *mpi = dlsym(handle, BARYON_MPI_SYMBOL);
    if (*mpi && (*mpi)->version == BARYON_MPI_VERSION)
        return 0;
    dlclose(handle);
    by_fail(err, BARYON_ERR_DEPENDENCY, "%.300s is from another version of Baryon", path);
    return by_err_hint(err, "rebuild it with 'make'");
}

static int open_flavour(const struct baryon_mpi **mpi, const char *flavour, int scope, char *path,
                        size_t size, struct baryon_error *err)
{
    char found[PATH_MAX];
    if (path)
        *path = '\0';
    if (!find_mpi_library(flavour, found, sizeof found)) {
        by_fail(err, BARYON_ERR_DEPENDENCY, "libbaryon_mpi_%s.so is missing", flavour);
        return by_err_hint(err, "'baryon doctor' shows the commands that install it");
    }
    if (path)
        by_format(path, size, "%s", found);
    return open_library(mpi, found, scope, err);
}

/* MPI libraries load parts of their own that look for the symbols of the rest: RTLD_GLOBAL. */
int by_mpi_load(const struct baryon_mpi **mpi, const char *flavour, struct baryon_error *err)
{
    return open_flavour(mpi, flavour, RTLD_GLOBAL, NULL, 0, err);
}

int by_mpi_look(const char *flavour, struct by_mpi_seen *seen, struct baryon_error *err)
{
    const struct baryon_mpi *mpi;
    *seen = (struct by_mpi_seen){.path = ""};
    if (open_flavour(&mpi, flavour, RTLD_LOCAL, seen->path, sizeof seen->path, err) < 0)
        return -1;
    mpi->library(seen->version, sizeof seen->version);
    return 0;
}
