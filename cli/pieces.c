/* Has a row for each piece that the program uses where it is there. */
#include "cli/pieces.h"

#include "base/file.h"
#include "base/format.h"
#include "base/gemm.h"
#include "cli/mpi_find.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void look_ort(const struct by_versions *versions, struct by_piece_seen *seen)
{
    seen->found = versions->has_ort;
    seen->error = versions->ort_error;
    if (!seen->found)
        return;
    by_format(seen->version, sizeof seen->version, "%s", versions->ort_version);
    by_format(seen->path, sizeof seen->path, "%s", versions->ort_path);
}

static void look_blas(const struct by_versions *versions, struct by_piece_seen *seen)
{
    const struct by_blas *blas = versions->blas;
    seen->error = versions->blas_error;
    seen->found = blas && blas->sgemm != by_sgemm;
    if (blas && !seen->found)
        by_fail(&seen->error, BARYON_ERR_DEPENDENCY, "own loops multiply in its place");
    if (!seen->found)
        return;
    by_format(seen->version, sizeof seen->version, "%s", blas->name);
    by_format(seen->path, sizeof seen->path, "%s", blas->path);
}

static void look_ops(const struct by_versions *versions, struct by_piece_seen *seen)
{
    seen->found = versions->has_ops;
    if (seen->found)
        by_format(seen->path, sizeof seen->path, "%s", versions->ops_path);
}

static void look_pictures(const struct by_versions *versions, struct by_piece_seen *seen)
{
    (void)versions;
    seen->found = true;
    by_format(seen->version, sizeof seen->version, "built in");
}

/* Where $PATH and programs are written otherwise, the build says so. */
#ifndef BY_PATH_SEPARATOR
#define BY_PATH_SEPARATOR ":"
#define BY_PYTHON_NAMES   "python3", "python"
#endif

/* The first of the names in a folder of $PATH that may be run. */
static bool find_program(const char *const *names, char *path, size_t size)
{
    const char *at = getenv("PATH");
    while (at && *at) {
        const size_t length = strcspn(at, BY_PATH_SEPARATOR);
        for (const char *const *name = names; *name; name++)
            if (by_format(path, size, "%.*s/%s", (int)length, at, *name) < (int)size &&
                by_file_exists(path) && !access(path, X_OK))
                return true;
        at += length + (at[length] != '\0');
    }
    return false;
}

static void look_python(const struct by_versions *versions, struct by_piece_seen *seen)
{
    static const char *const names[] = {BY_PYTHON_NAMES, NULL};
    char path[sizeof seen->path];
    (void)versions;
    seen->found = find_program(names, path, sizeof path);
    if (seen->found)
        by_format(seen->path, sizeof seen->path, "%s", path);
}

static void look_mpi(const char *flavour, struct by_piece_seen *seen)
{
    struct by_mpi_seen mpi;
    seen->found = by_mpi_look(flavour, &mpi, &seen->error) == 0;
    by_format(seen->path, sizeof seen->path, "%s", mpi.path);
    by_format(seen->version, sizeof seen->version, "%s", mpi.version);
}

static void look_openmpi(const struct by_versions *versions, struct by_piece_seen *seen)
{
    (void)versions;
    look_mpi("openmpi", seen);
}

static void look_mpich(const struct by_versions *versions, struct by_piece_seen *seen)
{
    (void)versions;
    look_mpi("mpich", seen);
}

static const struct by_piece pieces[] = {
    {
        .name = "ONNX Runtime",
        .gives = "models run: auto, calibrate, evaluate, run, and quantize with samples",
        .look = look_ort,
        .any = {{"python3 -m pip install --no-deps --target \"$HOME/onnxruntime\" onnxruntime",
                 "export BARYON_ONNXRUNTIME=\"$HOME/onnxruntime/onnxruntime/capi\""}},
        .on[BY_WINDOWS] = {{"py -m pip install --no-deps --target "
                            "\"%USERPROFILE%\\onnxruntime\" onnxruntime",
                            "setx BARYON_ONNXRUNTIME "
                            "\"%USERPROFILE%\\onnxruntime\\onnxruntime\\capi\""}},
    },
    {
        .name = "BLAS",
        .gives = "rounding reconstruction and statistics of layers multiply several times faster",
        .look = look_blas,
        .on[BY_DEBIAN] = {{"sudo apt-get install libopenblas0-pthread"}},
        .on[BY_FEDORA] = {{"sudo dnf install openblas-threads"}},
        .on[BY_ARCH] = {{"sudo pacman -S openblas"}},
        .on[BY_ALPINE] = {{"sudo apk add openblas"}},
        .on[BY_SUSE] = {{"sudo zypper install libopenblas_pthreads0"}},
        .on[BY_MACOS] = {{"brew install openblas"}},
    },
    {
        .name = "operators",
        .gives = "ONNX Runtime runs models with Quark's operators and with formats that ONNX lacks",
        .look = look_ops,
        .any = {{"make install"}},
        .on[BY_WINDOWS] = {{"py -m pip install --force-reinstall baryon"}},
    },
    {
        .name = "JPEG, PNG",
        .gives = "samples may be pictures",
        .look = look_pictures,
    },
    {
        .name = "Python",
        .gives = "the Python package, and scripts that were written for Quark",
        .look = look_python,
        .on[BY_DEBIAN] = {{"sudo apt-get install python3 python3-venv"}},
        .on[BY_FEDORA] = {{"sudo dnf install python3"}},
        .on[BY_ARCH] = {{"sudo pacman -S python"}},
        .on[BY_ALPINE] = {{"sudo apk add python3"}},
        .on[BY_SUSE] = {{"sudo zypper install python3"}},
        .on[BY_MACOS] = {{"brew install python"}},
        .on[BY_WINDOWS] = {{"winget install Python.Python.3.12"}},
    },
    {
        .name = "Open MPI",
        .gives = "one calibration by several ranks under its mpirun",
        .look = look_openmpi,
        .on[BY_DEBIAN] = {{"sudo apt-get install libopenmpi-dev openmpi-bin", "make install"}},
        .on[BY_FEDORA] = {{"sudo dnf install openmpi-devel", "make install"}},
        .on[BY_ARCH] = {{"sudo pacman -S openmpi", "make install"}},
        .on[BY_ALPINE] = {{"sudo apk add openmpi-dev", "make install"}},
        .on[BY_SUSE] = {{"sudo zypper install openmpi4-devel", "make install"}},
        .on[BY_MACOS] = {{"brew install open-mpi", "make install"}},
    },
    {
        .name = "MPICH",
        .gives = "one calibration by several ranks under its mpirun",
        .look = look_mpich,
        .on[BY_DEBIAN] = {{"sudo apt-get install libmpich-dev mpich", "make install"}},
        .on[BY_FEDORA] = {{"sudo dnf install mpich-devel", "make install"}},
        .on[BY_ARCH] = {{"sudo pacman -S mpich", "make install"}},
        .on[BY_ALPINE] = {{"sudo apk add mpich-dev", "make install"}},
        .on[BY_SUSE] = {{"sudo zypper install mpich-devel", "make install"}},
        .on[BY_MACOS] = {{"brew install mpich", "make install"}},
    },
};

const struct by_piece *by_pieces(size_t *count)
{
    *count = sizeof pieces / sizeof *pieces;
    return pieces;
}

const char *const *by_piece_install(const struct by_piece *piece, enum by_system system)
{
    const struct by_piece_recipe *own = &piece->on[system];
    return own->commands[0] ? own->commands : piece->any.commands;
}
