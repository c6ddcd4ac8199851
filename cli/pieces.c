/* Has a row for each piece that the program uses where it is there. */
#include "cli/pieces.h"

#include "baryon.h"
#include "base/file.h"
#include "base/format.h"
#include "base/gemm.h"
#include "cli/mpi_find.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_OF(number)      #number
#define VERSION_PART(number) TEXT_OF(number)
#define VERSION                                                                                    \
    VERSION_PART(BARYON_VERSION_MAJOR)                                                             \
    "." VERSION_PART(BARYON_VERSION_MINOR) "." VERSION_PART(BARYON_VERSION_PATCH)

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

#define REINSTALL_ON_WINDOWS                                                                       \
    "py -m pip install --force-reinstall --no-deps baryon-" VERSION "-py3-none-win_amd64.whl"

/* Of a program that pip installed: the package has the source of what MPI's own compiler makes. */
#define IN_PACKAGE(flavour, mpicc)                                                                 \
    "cd \"%s\" && " mpicc " -O2 -shared -fPIC -I. -DBARYON_MPI_FLAVOUR=" flavour                   \
    " -o lib/libbaryon_mpi_" flavour ".so mpi/baryon_mpi.c"
#define PACKAGED(flavour, install, mpicc)                                                          \
    {                                                                                              \
        {                                                                                          \
            install, IN_PACKAGE(flavour, mpicc)                                                    \
        }                                                                                          \
    }
#define SHARDS "--shard of 'baryon calibrate' and 'baryon merge' do the same without MPI"

static const struct by_piece pieces[] = {
    {
        .name = "ONNX Runtime",
        .gives = "models run: auto, calibrate, evaluate, run, and quantize with samples",
        .look = look_ort,
        .any = {{"python3 -m pip install --no-deps --target \"$HOME/onnxruntime\" onnxruntime",
                 "export BARYON_ONNXRUNTIME=\"$HOME/onnxruntime/onnxruntime/capi\""}},
        .on[BY_ALPINE] = {{"sudo apk add onnxruntime"}}, /* PyPI has none for its C library */
        .on[BY_WINDOWS] = {{"py -m pip install --no-deps --target "
                            "\"%USERPROFILE%\\onnxruntime\" onnxruntime",
                            "setx BARYON_ONNXRUNTIME "
                            "\"%USERPROFILE%\\onnxruntime\\onnxruntime\\capi\""}},
        .package_any = {{"python3 -m pip install onnxruntime"}},
        .package_on[BY_ALPINE] = {{"sudo apk add onnxruntime"}},
        .package_on[BY_WINDOWS] = {{"py -m pip install onnxruntime"}},
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
        .else_there = "BARYON_CBLAS=FILE names a library with cblas_sgemm() and cblas_ssyrk()",
    },
    {
        .name = "operators",
        .gives = "ONNX Runtime runs models with Quark's operators and with formats that ONNX lacks",
        .look = look_ops,
        .any = {{"make install"}},
        .on[BY_WINDOWS] = {{REINSTALL_ON_WINDOWS}},
        .package_any = {{"python3 -m pip install --force-reinstall --no-deps baryon-" VERSION
                         "-*.whl"}},
        .package_on[BY_WINDOWS] = {{REINSTALL_ON_WINDOWS}},
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
        .on[BY_DEBIAN] = {{"sudo apt-get install python3 python3-pip python3-venv"}},
        .on[BY_FEDORA] = {{"sudo dnf install python3 python3-pip"}},
        .on[BY_ARCH] = {{"sudo pacman -S python python-pip"}},
        .on[BY_ALPINE] = {{"sudo apk add python3 py3-pip"}},
        .on[BY_SUSE] = {{"sudo zypper install python3 python3-pip"}},
        .on[BY_MACOS] = {{"brew install python"}},
        .on[BY_WINDOWS] = {{"winget install Python.Python.3.12"}},
        .else_there = "any Python from 3.9 on, with pip",
    },
    {
        .name = "Open MPI",
        .gives = "one calibration by several ranks under its mpirun",
        .look = look_openmpi,
        .on[BY_DEBIAN] = {{"sudo apt-get install libopenmpi-dev openmpi-bin", "make install"}},
        .on[BY_FEDORA] = {{"sudo dnf install openmpi-devel",
                           "make install MPICC_openmpi=/usr/lib64/openmpi/bin/mpicc"}},
        .on[BY_ARCH] = {{"sudo pacman -S openmpi", "make install MPICC_openmpi=mpicc"}},
        .on[BY_ALPINE] = {{"sudo apk add openmpi-dev", "make install MPICC_openmpi=mpicc"}},
        .on[BY_SUSE] = {{"sudo zypper install openmpi4-devel",
                         "make install MPICC_openmpi=/usr/lib64/mpi/gcc/openmpi4/bin/mpicc"}},
        .on[BY_MACOS] = {{"brew install open-mpi", "make install MPICC_openmpi=mpicc"}},
        .package_on[BY_DEBIAN] =
            PACKAGED("openmpi", "sudo apt-get install libopenmpi-dev openmpi-bin", "mpicc.openmpi"),
        .package_on[BY_FEDORA] = PACKAGED("openmpi", "sudo dnf install openmpi-devel gcc",
                                          "/usr/lib64/openmpi/bin/mpicc"),
        .package_on[BY_ARCH] = PACKAGED("openmpi", "sudo pacman -S openmpi gcc", "mpicc"),
        .package_on[BY_ALPINE] =
            PACKAGED("openmpi", "sudo apk add openmpi-dev gcc musl-dev", "mpicc"),
        .package_on[BY_SUSE] = PACKAGED("openmpi", "sudo zypper install openmpi4-devel gcc",
                                        "/usr/lib64/mpi/gcc/openmpi4/bin/mpicc"),
        .package_on[BY_MACOS] = PACKAGED("openmpi", "brew install open-mpi", "mpicc"),
        .else_there = SHARDS,
    },
    {
        .name = "MPICH",
        .gives = "one calibration by several ranks under its mpirun",
        .look = look_mpich,
        .on[BY_DEBIAN] = {{"sudo apt-get install libmpich-dev mpich", "make install"}},
        .on[BY_FEDORA] = {{"sudo dnf install mpich-devel",
                           "make install MPICC_mpich=/usr/lib64/mpich/bin/mpicc"}},
        .on[BY_ARCH] = {{"sudo pacman -S mpich", "make install MPICC_mpich=mpicc"}},
        .on[BY_ALPINE] = {{"sudo apk add mpich-dev", "make install MPICC_mpich=mpicc"}},
        .on[BY_SUSE] = {{"sudo zypper install mpich-devel",
                         "make install MPICC_mpich=/usr/lib64/mpi/gcc/mpich/bin/mpicc"}},
        .on[BY_MACOS] = {{"brew install mpich", "make install MPICC_mpich=mpicc"}},
        .package_on[BY_DEBIAN] =
            PACKAGED("mpich", "sudo apt-get install libmpich-dev mpich", "mpicc.mpich"),
        .package_on[BY_FEDORA] =
            PACKAGED("mpich", "sudo dnf install mpich-devel gcc", "/usr/lib64/mpich/bin/mpicc"),
        .package_on[BY_ARCH] = PACKAGED("mpich", "sudo pacman -S mpich gcc", "mpicc"),
        .package_on[BY_ALPINE] = PACKAGED("mpich", "sudo apk add mpich-dev gcc musl-dev", "mpicc"),
        .package_on[BY_SUSE] = PACKAGED("mpich", "sudo zypper install mpich-devel gcc",
                                        "/usr/lib64/mpi/gcc/mpich/bin/mpicc"),
        .package_on[BY_MACOS] = PACKAGED("mpich", "brew install mpich", "mpicc"),
        .else_there = SHARDS,
    },
};

const struct by_piece *by_pieces(size_t *count)
{
    *count = sizeof pieces / sizeof *pieces;
    return pieces;
}

bool by_piece_package(char *folder, size_t size)
{
    char own[PATH_MAX], starter[PATH_MAX];
    return by_own_folder(own, sizeof own) && by_folder_of(own, folder, size) &&
           by_format(starter, sizeof starter, "%s/_command.py", folder) < (int)sizeof starter &&
           by_file_exists(starter);
}

static const struct by_piece_recipe *recipe_of(const struct by_piece *piece, enum by_system system,
                                               const char *package)
{
    const struct by_piece_recipe *ranked[] = {&piece->package_on[system], &piece->package_any,
                                              &piece->on[system], &piece->any};
    size_t i = package ? 0 : 2;
    while (i < 3 && !ranked[i]->commands[0])
        i++;
    return ranked[i];
}

size_t by_piece_install(const struct by_piece *piece, enum by_system system, const char *package,
                        struct by_str *commands)
{
    const struct by_piece_recipe *recipe = recipe_of(piece, system, package);
    size_t count = 0;
    while (count < BY_PIECE_COMMANDS && recipe->commands[count]) {
        const char *command = recipe->commands[count++], *place = strstr(command, "%s");
        const size_t before = place ? (size_t)(place - command) : strlen(command);
        by_str_add(commands, command, before);
        if (place) {
            by_str_puts(commands, package ? package : ".");
            by_str_puts(commands, place + 2);
        }
        by_str_add(commands, "", 1);
    }
    return count;
}
