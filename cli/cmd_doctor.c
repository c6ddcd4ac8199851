/* baryon doctor: what this machine offers and which limits hold. */
#include "base/json.h"
#include "base/par.h"
#include "cli/cmd.h"
#include "cli/mpi_find.h"
#include "cli/pieces.h"
#include "input/image.h"
#include "input/npy.h"
#include "ir/graph.h"
#include "onnx/schema.h"
#include "settings/settings.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

struct limit {
    const char *name, *what;
    uint64_t most;
};

static const struct limit limits[] = {
    {"model", "bytes of a .onnx file, external data not counted", BY_WIRE_BYTES_MAX},
    {"message depth", "nested messages", BY_WIRE_DEPTH_MAX},
    {"message count", "nodes, values, tensors and attributes together", BY_WIRE_PARTS_MAX},
    {"graph depth", "nested graphs", BY_GRAPH_DEPTH_MAX},
    {"name", "bytes of a name in a model", BY_WIRE_NAME_MAX},
    {"rank", "dimensions of a tensor", BY_RANK_MAX},
    {"elements", "elements of a tensor", BY_ELEMENTS_MAX},
    {"npy header", "bytes of the header of a .npy file", BY_NPY_HEADER_MAX},
    {"npz members", "files in a .npz archive", BY_NPZ_MEMBERS_MAX},
    {"npz ratio", "unpacked size over packed size of a member", BY_NPZ_RATIO_MAX},
    {"image side", "pixels of a side of a picture", BY_IMAGE_SIDE_MAX},
    {"image area", "pixels of a picture", BY_IMAGE_PIXELS_MAX},
    {"image scans", "scans of a progressive JPEG", BY_IMAGE_SCANS_MAX},
    {"configuration", "bytes of a YAML or JSON file", BY_DOC_BYTES_MAX},
    {"configuration depth", "nested lists and maps", BY_DOC_DEPTH_MAX},
};

#define LIMIT_COUNT (sizeof limits / sizeof *limits)

enum { THIS_SYSTEM = BY_SYSTEMS };

struct settings {
    int system;
    struct by_runtime_settings runtime;
};

struct system_seen {
    char name[128]; /* "Debian GNU/Linux 12 (bookworm)" */
    enum by_system commands_for;
    bool every; /* commands of every piece, found or not */
    char folder[PATH_MAX];
    const char *package; /* of by_piece_package() */
};

/* Names of the processor's vector instructions that matter here, each after a blank. */
static void add_features(struct by_str *str)
{
#define FEATURE(name)                                                                              \
    if (__builtin_cpu_supports(name))                                                              \
    by_str_puts(str, " " name)
#if defined(__x86_64__)
    FEATURE("sse4.2");
    FEATURE("avx");
    FEATURE("avx2");
    FEATURE("fma");
    FEATURE("avx512f");
    FEATURE("avx512bw");
    FEATURE("avx512vnni");
#elif defined(__aarch64__)
    by_str_puts(str, " neon");
#endif
#undef FEATURE
}

static void ort_json(struct by_json *json, const struct by_versions *versions)
{
    by_json_open(json, "onnxruntime", '{');
    by_json_bool(json, "found", versions->has_ort);
    if (versions->has_ort) {
        by_json_text(json, "version", versions->ort_version);
        by_json_text(json, "path", versions->ort_path);
    } else {
        by_json_text(json, "message", versions->ort_error.message);
        by_json_text(json, "hint", versions->ort_error.hint);
    }
    by_json_close(json, '}');
}

static void blas_json(struct by_json *json, const struct by_versions *versions)
{
    by_json_open(json, "blas", '{');
    by_json_bool(json, "found", versions->blas);
    if (versions->blas) {
        by_json_text(json, "name", versions->blas->name);
        by_json_text(json, "path", versions->blas->path);
    } else {
        by_json_text(json, "message", versions->blas_error.message);
        by_json_text(json, "hint", versions->blas_error.hint);
    }
    by_json_close(json, '}');
}

static void mpi_json(struct by_json *json)
{
    by_json_open(json, "mpi", '[');
    for (const char *const *flavour = by_mpi_flavours(); *flavour; flavour++) {
        struct by_mpi_seen seen;
        struct baryon_error error = {.offset = -1};
        const bool found = by_mpi_look(*flavour, &seen, &error) == 0;
        by_json_open(json, NULL, '{');
        by_json_text(json, "flavour", *flavour);
        by_json_bool(json, "built", seen.path[0]);
        by_json_bool(json, "found", found);
        if (seen.path[0])
            by_json_text(json, "path", seen.path);
        if (found) {
            by_json_text(json, "version", seen.version);
        } else {
            by_json_text(json, "message", error.message);
            by_json_text(json, "hint", error.hint);
        }
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

static void install_json(struct by_json *json, const struct by_piece *piece,
                         const struct system_seen *system)
{
    struct by_str commands;
    by_str_init(&commands);
    by_json_open(json, "install", '[');
    size_t left = by_piece_install(piece, system->commands_for, system->package, &commands);
    const char *at = by_str_text(&commands);
    for (; left-- && !commands.failed; at += strlen(at) + 1)
        by_json_text(json, NULL, at);
    by_json_close(json, ']');
    by_str_release(&commands);
}

static void piece_json(struct by_json *json, const struct by_piece *piece,
                       const struct system_seen *system, const struct by_piece_seen *seen)
{
    by_json_open(json, NULL, '{');
    by_json_text(json, "name", piece->name);
    by_json_text(json, "gives", piece->gives);
    by_json_bool(json, "found", seen->found);
    if (seen->found && seen->version[0])
        by_json_text(json, "version", seen->version);
    if (seen->path[0])
        by_json_text(json, "path", seen->path);
    if (!seen->found && seen->error.message[0])
        by_json_text(json, "message", seen->error.message);
    install_json(json, piece, system);
    by_json_close(json, '}');
}

static void pieces_json(struct by_json *json, const struct by_versions *versions,
                        const struct system_seen *system)
{
    size_t count;
    const struct by_piece *pieces = by_pieces(&count);
    by_json_open(json, "pieces", '[');
    for (size_t i = 0; i < count; i++) {
        struct by_piece_seen seen = {.error.offset = -1};
        pieces[i].look(versions, &seen);
        piece_json(json, &pieces[i], system, &seen);
    }
    by_json_close(json, ']');
}

static void write_doctor_json(struct by_out *out, const struct by_versions *versions,
                              const char *features, const struct system_seen *system)
{
    struct by_json json;
    by_json_init(&json, &out->text, false);
    by_json_open(&json, NULL, '{');
    by_json_text(&json, "baryon", baryon_version());
    by_json_text(&json, "system", system->name);
    by_json_text(&json, "processor", features);
    by_json_text(&json, "vectors", versions->vectors);
    by_json_int(&json, "threads", by_cpu_count());
    ort_json(&json, versions);
    blas_json(&json, versions);
    mpi_json(&json);
    pieces_json(&json, versions, system);
    by_json_open(&json, "limits", '{');
    for (size_t i = 0; i < LIMIT_COUNT; i++)
        by_json_int(&json, limits[i].name, (int64_t)limits[i].most);
    by_json_close(&json, '}');
    by_json_close(&json, '}');
    by_str_puts(&out->text, "\n");
}

static int show_machine(struct by_out *out, const struct by_versions *versions,
                        const char *features, const struct system_seen *system,
                        struct baryon_error *err)
{
    struct by_table table;
    by_out_printf(out, BY_BOLD, "Machine\n");
    by_table_init(&table, out);
    by_table_column(&table, "", BY_LEFT, BY_DIM);
    by_table_column(&table, "", BY_LEFT, BY_PLAIN);
    by_table_cell(&table, "system");
    by_table_cell(&table, "%s", system->name[0] ? system->name : "unknown");
    by_table_cell(&table, "processor");
    by_table_cell(&table, "%s", features);
    by_table_cell(&table, "vector path");
    by_table_cell(&table, "%s", versions->vectors);
    by_table_cell(&table, "threads");
    by_table_cell(&table, "%u", by_cpu_count());
    return by_table_print(&table, 2, err);
}

static void show_piece(struct by_out *out, const struct by_piece *piece,
                       const struct by_piece_seen *seen)
{
    by_str_printf(&out->text, "  %-13s ", piece->name);
    by_out_printf(out, seen->found ? BY_GREEN : BY_YELLOW, seen->found ? "found  " : "missing");
    if (seen->found || seen->error.message[0])
        by_str_puts(&out->text, "  ");
    if (!seen->found)
        by_clean(&out->text, seen->error.message);
    else if (seen->version[0] && seen->path[0])
        by_str_printf(&out->text, "%s  %s", seen->version, seen->path);
    else
        by_str_puts(&out->text, seen->version[0] ? seen->version : seen->path);
    by_str_puts(&out->text, "\n");
}

static void show_install(struct by_out *out, const struct by_piece *piece,
                         const struct system_seen *system)
{
    struct by_str commands;
    by_str_init(&commands);
    size_t left = by_piece_install(piece, system->commands_for, system->package, &commands);
    by_str_printf(&out->text, "  %s: %s\n", piece->name, piece->gives);
    if (!left)
        by_str_printf(&out->text, "    no command is known for this system%s%s\n",
                      piece->else_there ? "; " : "", piece->else_there ? piece->else_there : "");
    const char *at = by_str_text(&commands);
    for (; left-- && !commands.failed; at += strlen(at) + 1)
        by_out_printf(out, BY_CYAN, "    %s\n", at);
    by_str_release(&commands);
}

static bool is_installable(const struct by_piece *piece)
{
    struct by_str commands;
    size_t known = 0;
    by_str_init(&commands);
    for (int system = 0; system < BY_SYSTEMS; system++)
        known += by_piece_install(piece, (enum by_system)system, NULL, &commands);
    by_str_release(&commands);
    return known;
}

static void show_pieces(struct by_out *out, const struct by_versions *versions,
                        const struct system_seen *system)
{
    size_t count, wanted = 0;
    const struct by_piece *pieces = by_pieces(&count);
    const struct by_piece *install[32];
    by_out_printf(out, BY_BOLD, "\nPieces\n");
    for (size_t i = 0; i < count; i++) {
        struct by_piece_seen seen = {.error.offset = -1};
        pieces[i].look(versions, &seen);
        show_piece(out, &pieces[i], &seen);
        if ((!seen.found || system->every) && is_installable(&pieces[i]) &&
            wanted < sizeof install / sizeof *install)
            install[wanted++] = &pieces[i];
    }
    if (wanted)
        by_out_printf(out, BY_BOLD, "\nWith what else works, and what installs it\n");
    for (size_t i = 0; i < wanted; i++)
        show_install(out, install[i], system);
}

static int show_limits(struct by_out *out, struct baryon_error *err)
{
    struct by_table table;
    by_out_printf(out, BY_BOLD, "\nLimits\n");
    by_table_init(&table, out);
    by_table_column(&table, "", BY_LEFT, BY_DIM);
    by_table_column(&table, "", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "", BY_LEFT, BY_PLAIN);
    for (size_t i = 0; i < LIMIT_COUNT; i++) {
        by_table_cell(&table, "%s", limits[i].name);
        by_table_count(&table, limits[i].most);
        by_table_cell(&table, "%s", limits[i].what);
    }
    return by_table_print(&table, 2, err);
}

static int print_doctor(struct by_cli *cli, const struct by_versions *versions,
                        const char *features, const struct system_seen *system,
                        struct baryon_error *err)
{
    if (cli->common.json) {
        write_doctor_json(&cli->out, versions, features, system);
        return 0;
    }
    if (show_machine(&cli->out, versions, features, system, err) < 0)
        return -1;
    show_pieces(&cli->out, versions, system);
    return show_limits(&cli->out, err);
}

static int run_doctor(struct by_cli *cli, const void *data, struct baryon_error *err)
{
    const struct settings *settings = data;
    struct by_versions versions;
    struct by_str features;
    struct system_seen system = {.every = settings->system != THIS_SYSTEM};
    system.commands_for = by_system_find(system.name, sizeof system.name);
    if (system.every)
        system.commands_for = (enum by_system)settings->system;
    if (by_piece_package(system.folder, sizeof system.folder))
        system.package = system.folder;
    by_str_init(&features);
    add_features(&features);
    by_versions_find(&versions, settings->runtime.onnxruntime);
    int status = print_doctor(cli, &versions, features.size ? by_str_text(&features) + 1 : "plain",
                              &system, err);
    by_str_release(&features);
    if (status < 0 || versions.has_ort)
        return status;
    if (by_out_flush(&cli->out, err) < 0)
        return -1;
    return by_fail(err, BARYON_ERR_DEPENDENCY, "%s", "");
}

static const struct by_choice systems[] = {
    {"this", THIS_SYSTEM, "this one, and only what is missing"},
    {"debian", BY_DEBIAN, "Debian, Ubuntu"},
    {"fedora", BY_FEDORA, "Fedora, Red Hat Enterprise Linux"},
    {"arch", BY_ARCH, "Arch Linux"},
    {"alpine", BY_ALPINE, "Alpine Linux"},
    {"suse", BY_SUSE, "SUSE, openSUSE"},
    {"macos", BY_MACOS, "macOS with Homebrew"},
    {"windows", BY_WINDOWS, "Windows"},
    {"other", BY_OTHER_SYSTEM, "any other"},
    {0},
};

static const struct by_option rows[] = {
    {.name = "system",
     .type = BY_OPT_CHOICE,
     .arg = "SYSTEM",
     .choices = systems,
     .fallback = "this",
     .offset = offsetof(struct settings, system),
     .help = "System whose commands are shown, for every piece"},
};

static const struct by_option_group group = BY_OPTION_GROUP("Doctor", rows);

static const struct by_example examples[] = {
    {"baryon doctor --system fedora", "Show what installs each piece on Fedora"},
    {"baryon doctor --onnxruntime ~/onnxruntime/lib", "Test another ONNX Runtime library"},
    {0},
};

const struct by_command by_cmd_doctor = {
    .name = "doctor",
    .operands = "",
    .summary = "Show processor, libraries and limits of this machine",
    .text =
        "Show the processor and the pieces that this machine has, what the missing ones would give "
        "and the commands that install them, and the limits for files. The limits reject damaged "
        "or "
        "hostile files before they cost memory or time. The exit status is 6 if there is no usable "
        "ONNX Runtime; commands that run no model work without it. BLAS is needed only for "
        "statistics of layers and rounding reconstruction, and MPI only for several ranks under "
        "mpirun. Each MPI flavour is a library beside the program, built if its mpicc was found; "
        "for a program that pip installed, the commands shown build it there.",
    .examples = examples,
    .settings_size = sizeof(struct settings),
    .groups = {{&group, 0}, {&by_runtime_group, offsetof(struct settings, runtime)}},
    .run = run_doctor,
};
