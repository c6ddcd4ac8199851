/* baryon doctor: what this machine offers and which limits hold. */
#include "base/json.h"
#include "base/par.h"
#include "cli/cmd.h"
#include "cli/mpi_find.h"
#include "cli/versions.h"
#include "input/image.h"
#include "input/npy.h"
#include "ir/graph.h"
#include "onnx/schema.h"
#include "settings/settings.h"

#include <inttypes.h>

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
    {"npz ratio", "times that a member may grow when unpacked", BY_NPZ_RATIO_MAX},
    {"image side", "pixels of a side of a picture", BY_IMAGE_SIDE_MAX},
    {"image area", "pixels of a picture", BY_IMAGE_PIXELS_MAX},
    {"image scans", "scans of a progressive JPEG", BY_IMAGE_SCANS_MAX},
    {"configuration", "bytes of a YAML or JSON file", BY_DOC_BYTES_MAX},
    {"configuration depth", "nested lists and maps", BY_DOC_DEPTH_MAX},
};

#define LIMIT_COUNT (sizeof limits / sizeof *limits)

struct settings {
    struct by_runtime_settings runtime;
};

/* Names of the processor's vector instructions that matter here, each behind a blank. */
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

static void show_json(struct by_out *out, const struct by_versions *versions, const char *features)
{
    struct by_json json;
    by_json_init(&json, &out->text, false);
    by_json_open(&json, NULL, '{');
    by_json_text(&json, "baryon", baryon_version());
    by_json_text(&json, "processor", features);
    by_json_text(&json, "vectors", versions->vectors);
    by_json_int(&json, "threads", by_cpu_count());
    ort_json(&json, versions);
    blas_json(&json, versions);
    mpi_json(&json);
    by_json_open(&json, "limits", '{');
    for (size_t i = 0; i < LIMIT_COUNT; i++)
        by_json_int(&json, limits[i].name, (int64_t)limits[i].most);
    by_json_close(&json, '}');
    by_json_close(&json, '}');
    by_str_puts(&out->text, "\n");
}

static int show_machine(struct by_out *out, const struct by_versions *versions,
                        const char *features, struct baryon_error *err)
{
    struct by_table table;
    by_out_printf(out, BY_BOLD, "Machine\n");
    by_table_init(&table, out);
    by_table_column(&table, "", BY_LEFT, BY_DIM);
    by_table_column(&table, "", BY_LEFT, BY_PLAIN);
    by_table_cell(&table, "processor");
    by_table_cell(&table, "%s", features);
    by_table_cell(&table, "vector path");
    by_table_cell(&table, "%s", versions->vectors);
    by_table_cell(&table, "threads");
    by_table_cell(&table, "%u", by_cpu_count());
    return by_table_print(&table, 2, err);
}

/* version NULL: there is none, error says why. */
static void show_library(struct by_out *out, const char *title, const char *version,
                         const char *path, const struct baryon_error *error)
{
    by_out_printf(out, BY_BOLD, "\n%s\n", title);
    if (version) {
        by_out_printf(out, BY_GREEN, "  found");
        by_str_printf(&out->text, "  %s  %s\n", version, path);
        return;
    }
    by_out_printf(out, BY_RED, "  missing");
    by_str_puts(&out->text, "  ");
    by_clean(&out->text, error->message);
    by_str_puts(&out->text, "\n");
    if (error->hint[0])
        by_str_printf(&out->text, "  %s\n", error->hint);
}

static void show_libraries(struct by_out *out, const struct by_versions *versions)
{
    const struct by_blas *blas = versions->blas;
    show_library(out, "ONNX Runtime", versions->has_ort ? versions->ort_version : NULL,
                 versions->ort_path, &versions->ort_error);
    show_library(out, "BLAS (for statistics of layers)", blas ? blas->name : NULL,
                 blas ? blas->path : NULL, &versions->blas_error);
}

/* A flavour that was not built in is nothing to worry about. */
static void show_mpi(struct by_out *out)
{
    by_out_printf(out, BY_BOLD, "\nMPI (for one calibration by several ranks)\n");
    for (const char *const *flavour = by_mpi_flavours(); *flavour; flavour++) {
        struct by_mpi_seen seen;
        struct baryon_error error = {.offset = -1};
        const bool found = by_mpi_look(*flavour, &seen, &error) == 0;
        by_str_printf(&out->text, "  %-7s  ", *flavour);
        by_out_printf(out,
                      found          ? BY_GREEN
                      : seen.path[0] ? BY_RED
                                     : BY_DIM,
                      "%s",
                      found          ? "found"
                      : seen.path[0] ? "broken"
                                     : "not built");
        by_str_puts(&out->text, "  ");
        by_clean(&out->text, found ? seen.version : error.message);
        by_str_printf(&out->text, found ? "  %s" : "; %s", found ? seen.path : error.hint);
        by_str_puts(&out->text, "\n");
    }
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

static int show(struct by_cli *cli, const struct by_versions *versions, const char *features,
                struct baryon_error *err)
{
    if (cli->common.json) {
        show_json(&cli->out, versions, features);
        return 0;
    }
    if (show_machine(&cli->out, versions, features, err) < 0)
        return -1;
    show_libraries(&cli->out, versions);
    show_mpi(&cli->out);
    return show_limits(&cli->out, err);
}

static int run(struct by_cli *cli, const void *data, struct baryon_error *err)
{
    const struct settings *settings = data;
    struct by_versions versions;
    struct by_str features;
    by_str_init(&features);
    add_features(&features);
    by_versions_find(&versions, settings->runtime.onnxruntime);
    int status = show(cli, &versions, features.size ? by_str_text(&features) + 1 : "plain", err);
    by_str_release(&features);
    if (status < 0 || versions.has_ort)
        return status;
    if (by_out_flush(&cli->out, err) < 0)
        return -1;
    return by_fail(err, BARYON_ERR_DEPENDENCY, "%s", "");
}

static const struct by_example examples[] = {
    {"baryon doctor --onnxruntime ~/onnxruntime/lib", "Would this library do?"},
    {0},
};

const struct by_command by_cmd_doctor = {
    .name = "doctor",
    .operands = "",
    .summary = "Look at this machine: processor, libraries, limits",
    .text =
        "Shows what Baryon found here and the limits that files have to keep. They are there so "
        "that a damaged or hostile file is refused before it costs memory or time. Ends with "
        "status 6 when there is no ONNX Runtime to use; commands that run no model work "
        "without it. BLAS is needed only to gather statistics of layers, MPI only where mpirun "
        "starts several ranks; its flavours are libraries beside the program, built where their "
        "mpicc was.",
    .examples = examples,
    .settings_size = sizeof(struct settings),
    .groups = {{&by_runtime_group, offsetof(struct settings, runtime)}},
    .run = run,
};
