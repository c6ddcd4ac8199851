/* Baryon: models. A part of <baryon.h>. */
#ifndef BARYON_MODEL_H
#define BARYON_MODEL_H

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Models: load, walk, edit, save
 *
 * A loaded model is a tree of graphs; a graph is a list of nodes that read and
 * make values:
 *
 *     model ── graph ─┬─ nodes ──── attributes ── nested graphs (If, Loop, Scan)
 *                     ├─ values: inputs, initializers (weights), what nodes make
 *                     └─ outputs: some of the values
 *
 *  - Everything belongs to the model and goes with baryon_model_free(). What was
 *    removed by an edit stays readable until then, but edits refuse it.
 *  - Weights are not read when a model is loaded: they are views into the file,
 *    which stays mapped and must not be changed while the model is in use.
 *  - Lists are asked for by place, from 0 to the count. A place from which an edit
 *    removed something gives NULL until baryon_model_settle(). Edits append at the
 *    end, so places stay what they are while a loop over them edits.
 *  - Getters never fail. Those that look something up give NULL when it is not there.
 *    Asked of NULL, they give NULL, "", 0 or false, and -1 for sizes and ranks.
 *  - Element types are the numbers of ONNX's TensorProto.DataType, 0 is unknown.
 *
 * For example, which weights the convolutions of a model have:
 *
 *     struct baryon_error err;
 *     struct baryon_model *model;
 *     if (baryon_model_load(&model, "model.onnx", NULL, &err))
 *         return -1;
 *     struct baryon_graph *graph = baryon_model_graph(model);
 *     for (size_t i = 0; i < baryon_graph_node_count(graph); i++) {
 *         struct baryon_node *node = baryon_graph_node(graph, i);
 *         struct baryon_value *weight = baryon_node_input(node, 1);
 *         if (strcmp(baryon_node_op_type(node), "Conv") == 0 && weight)
 *             printf("%s %s\n", baryon_node_name(node), baryon_value_name(weight));
 *     }
 *     baryon_model_free(model);
 */
struct baryon_model;
struct baryon_graph;
struct baryon_node;
struct baryon_value;
struct baryon_tensor;
struct baryon_attribute;

/* A text that comes from a file: size bytes of UTF-8, without a NUL after them. */
struct baryon_text {
    const char *data;
    size_t size;
};

/*
 * Load and save
 *
 * Options are structs whose first member is their size, which lets them grow:
 *     struct baryon_save_options options = {.size = sizeof options, ...};
 * Members that are zero have their default. A pointer to options may be NULL.
 */
struct baryon_load_options {
    size_t size;
    bool without_data; /* leave external data files alone; the model cannot be saved elsewhere */
    bool allow_links;  /* external data may be symbolic or hard links, as in package caches */
};

/*
 * Loads a model and connects its nodes. Refuses what has no meaning (a name that
 * nothing defines, a cycle) with place and byte offset; baryon_check_file() tells
 * all that is wrong with a file, not only the first thing.
 */
BARYON_API int baryon_model_load(struct baryon_model **model, const char *path,
                                 const struct baryon_load_options *options,
                                 struct baryon_error *err);
/* The same from memory. The bytes must outlive the model and stay as they are.
 * folder: where external data files are; NULL: there are none. */
BARYON_API int baryon_model_load_bytes(struct baryon_model **model, const void *bytes, size_t size,
                                       const char *folder,
                                       const struct baryon_load_options *options,
                                       struct baryon_error *err);
/* A model with an empty graph, to be filled by edits. Versions are those that baryon_model_check()
 * knows. */
BARYON_API int baryon_model_new(struct baryon_model **model, int64_t ir_version, int64_t opset,
                                struct baryon_error *err);
BARYON_API void baryon_model_free(struct baryon_model *model);

/* Where the payload of tensors goes. */
enum baryon_save_data {
    BARYON_SAVE_KEEP = 0,     /* where it was; to a data file if the model would exceed 2 GiB */
    BARYON_SAVE_EXTERNAL = 1, /* tensors of at least external_min bytes go to one data file */
    BARYON_SAVE_INLINE = 2,   /* everything into the model */
};

struct baryon_save_options {
    size_t size;
    enum baryon_save_data data;
    const char *external_file; /* name of the data file, default: the model's + ".data" */
    uint64_t external_min;     /* default: 1024 */
    bool keep_existing;        /* fail when the file is there already */
    bool no_sync;              /* do not wait until the disk has it */
};

/*
 * Writes a model. Readers of path see the old file or the whole new one, also when
 * the process is killed. What was not edited is written as the bytes that it was
 * read from: an untouched model comes out byte for byte. Graphs that were edited
 * are settled first.
 */
BARYON_API int baryon_model_save(struct baryon_model *model, const char *path,
                                 const struct baryon_save_options *options,
                                 struct baryon_error *err);
/* The same into memory, with all data inside; give *bytes to baryon_bytes_free(). */
BARYON_API int baryon_model_save_bytes(struct baryon_model *model, void **bytes, size_t *size,
                                       struct baryon_error *err);
BARYON_API void baryon_bytes_free(void *bytes);

/*
 * Check
 *
 * All rules that a model has to keep. Each finding goes to visit, which returns
 * false to stop; then the call fails with the first error, if there was one.
 */
enum baryon_severity {
    BARYON_NOTICE = 0,
    BARYON_WARNING = 1,
    BARYON_ERROR = 2,
};

struct baryon_finding {
    const char *rule; /* a short name, "topology" */
    enum baryon_severity severity;
    const struct baryon_error *error; /* lives as long as the call of visit */
};

typedef bool baryon_finding_fn(void *context, const struct baryon_finding *finding);

struct baryon_check_options {
    size_t size;
    bool custom_operators; /* operators of unknown domains are no errors */
};

/* visit may be NULL. Settles graphs that were edited. */
BARYON_API int baryon_model_check(struct baryon_model *model,
                                  const struct baryon_check_options *options,
                                  baryon_finding_fn *visit, void *context,
                                  struct baryon_error *err);
/* Loads the file for this alone, also one that baryon_model_load() refuses. */
BARYON_API int baryon_check_file(const char *path, const struct baryon_load_options *load,
                                 const struct baryon_check_options *options,
                                 baryon_finding_fn *visit, void *context, struct baryon_error *err);

/*
 * Works out types and shapes of the values from those of inputs and initializers,
 * operator by operator; baryon_value_type() and its like then tell them. Fails when
 * the model contradicts itself. Edits do not keep the results up to date.
 */
BARYON_API int baryon_model_infer(struct baryon_model *model, struct baryon_error *err);

#ifdef __cplusplus
}
#endif

#endif
