/*
 * Baryon: a quantizer for trained models.
 *
 * This is the only public header. Names that begin with baryon_ are the
 * interface; whatever is not written here may change.
 *
 * Rules that hold everywhere:
 *  - Functions that can fail return 0, or -1 and fill the caller's struct
 *    baryon_error (which may be NULL). Nothing is printed, no signal handler is
 *    set, the process is never ended.
 *  - A pointer that a getter returns belongs to the object it was asked of and
 *    lives as long as that object does. Strings end with NUL.
 *  - Different objects may be used by different threads at once; one object by
 *    one thread at a time.
 *  - free and release functions accept NULL.
 */
#ifndef BARYON_H
#define BARYON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BARYON_VERSION_MAJOR 0
#define BARYON_VERSION_MINOR 1
#define BARYON_VERSION_PATCH 0

#if defined(__GNUC__)
#define BARYON_API                 __attribute__((visibility("default")))
#define BARYON_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define BARYON_API
#define BARYON_PRINTF(text, first)
#endif

/* Version of the library that runs, as "0.1.0". */
BARYON_API const char *baryon_version(void);

/*
 * Errors
 *
 * The struct is the caller's, usually on the stack; reporting an error never
 * allocates. The parts are kept apart so that a program can use them:
 * baryon_error_format() joins them to
 *     FILE[@OFFSET]: PLACE: MESSAGE[; HINT]
 * Control characters, as names in a file may have them, are \xNN in the text it makes
 * and in all parts but the file.
 * Code values are pinned: a program may store them.
 */
enum baryon_code {
    BARYON_OK = 0,
    BARYON_ERR_INTERNAL = 10,    /* a defect of Baryon itself */
    BARYON_ERR_USAGE = 20,       /* options or arguments that make no sense */
    BARYON_ERR_INPUT = 30,       /* a damaged or wrong file */
    BARYON_ERR_CHANGED = 32,     /* a file changed while it was in use */
    BARYON_ERR_UNSUPPORTED = 40, /* well formed, but not something Baryon does */
    BARYON_ERR_NOMEM = 50,       /* out of memory, or over the limit set for it */
    BARYON_ERR_IO = 52,          /* reading or writing failed: disk full, permission */
    BARYON_ERR_DEPENDENCY = 60,  /* ONNX Runtime or another library is missing */
    BARYON_ERR_ENGINE = 62,      /* ONNX Runtime refused or failed */
    BARYON_ERR_GOAL = 70,        /* a goal was missed; the output is saved */
    BARYON_ERR_CANCELLED = 80,   /* the caller asked to stop */
};

struct baryon_error {
    enum baryon_code code;
    int64_t offset;    /* byte in the file, -1 when there is none */
    char file[256];    /* as it was given, "" when there is none */
    char place[256];   /* where in the file: "graph.node[12].attribute[0]" */
    char message[512]; /* what was found, with the value and the rule */
    char hint[256];    /* what to do about it, may be "" */
};

/* Joins the parts into buf (always ended with NUL); returns the length it wanted. */
BARYON_API int baryon_error_format(const struct baryon_error *err, char *buf, size_t size);
/* The short name of a code: "input", "unsupported", ... */
BARYON_API const char *baryon_code_name(enum baryon_code code);
/* The exit status that the command line tool gives for a code. */
BARYON_API int baryon_code_exit(enum baryon_code code);

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
 *  - Getters never fail and do not accept NULL, unless it says so. Those that look
 *    something up give NULL when it is not there.
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

/* A text that comes from a file: size bytes of UTF-8, without a NUL behind them. */
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
/* A model with an empty graph, to be filled by edits. */
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

/*
 * Walk: the model
 *
 * Imports say in which version the operators of a domain are meant; "" is ONNX's
 * own domain, also written "ai.onnx".
 */
BARYON_API struct baryon_graph *baryon_model_graph(const struct baryon_model *model);
BARYON_API int64_t baryon_model_ir_version(const struct baryon_model *model);
/* Version imported for a domain, 0 when it is not. */
BARYON_API int64_t baryon_model_opset(const struct baryon_model *model, const char *domain);
BARYON_API size_t baryon_model_import_count(const struct baryon_model *model);
BARYON_API const char *baryon_model_import_domain(const struct baryon_model *model, size_t place);
BARYON_API struct baryon_text baryon_model_producer(const struct baryon_model *model);
BARYON_API struct baryon_text baryon_model_producer_version(const struct baryon_model *model);
/* Metadata: pairs of texts that any program may add. */
BARYON_API size_t baryon_model_metadata_count(const struct baryon_model *model);
BARYON_API const char *baryon_model_metadata_key(const struct baryon_model *model, size_t place);
BARYON_API struct baryon_text baryon_model_metadata_value(const struct baryon_model *model,
                                                          size_t place);

/*
 * Walk: graphs
 *
 * The nodes of a graph stand in an order in which they can be computed, unless the
 * file had them in another or edits were not settled. The values of a graph are
 * those that it defines itself; a nested graph also sees those around it.
 */
BARYON_API const char *baryon_graph_name(const struct baryon_graph *graph);
/* The node that the graph is nested in; NULL for the graph of the model. */
BARYON_API struct baryon_node *baryon_graph_owner(const struct baryon_graph *graph);
BARYON_API size_t baryon_graph_node_count(const struct baryon_graph *graph);
BARYON_API struct baryon_node *baryon_graph_node(const struct baryon_graph *graph, size_t place);
BARYON_API size_t baryon_graph_value_count(const struct baryon_graph *graph);
BARYON_API struct baryon_value *baryon_graph_value(const struct baryon_graph *graph, size_t place);
BARYON_API size_t baryon_graph_input_count(const struct baryon_graph *graph);
BARYON_API struct baryon_value *baryon_graph_input(const struct baryon_graph *graph, size_t place);
BARYON_API size_t baryon_graph_output_count(const struct baryon_graph *graph);
BARYON_API struct baryon_value *baryon_graph_output(const struct baryon_graph *graph, size_t place);
/* The value that a name means inside the graph, at once; graphs around it included. */
BARYON_API struct baryon_value *baryon_graph_find_value(const struct baryon_graph *graph,
                                                        const char *name);
/* The first node of that name, by looking at them one by one: names of nodes are optional
 * and need not be different. */
BARYON_API struct baryon_node *baryon_graph_find_node(const struct baryon_graph *graph,
                                                      const char *name);
/*
 * Marks the nodes on the paths from any start to any end, both included: marks has
 * room for baryon_graph_node_count() and is filled by place. Starts and ends are
 * nodes of that graph itself.
 */
BARYON_API int baryon_graph_between(struct baryon_graph *graph, struct baryon_node *const *starts,
                                    size_t start_count, struct baryon_node *const *ends,
                                    size_t end_count, bool *marks, struct baryon_error *err);

/*
 * Walk: nodes
 *
 * An optional input or output that is left out has a place and no value: NULL.
 */
BARYON_API const char *baryon_node_op_type(const struct baryon_node *node);
/* "" is ONNX's own domain, however the file writes it. */
BARYON_API const char *baryon_node_domain(const struct baryon_node *node);
/* "" when it has none. */
BARYON_API const char *baryon_node_name(const struct baryon_node *node);
/* The graph that it is part of, NULL when it was removed. */
BARYON_API struct baryon_graph *baryon_node_graph(const struct baryon_node *node);
BARYON_API size_t baryon_node_place(const struct baryon_node *node);
BARYON_API size_t baryon_node_input_count(const struct baryon_node *node);
BARYON_API struct baryon_value *baryon_node_input(const struct baryon_node *node, size_t slot);
BARYON_API size_t baryon_node_output_count(const struct baryon_node *node);
BARYON_API struct baryon_value *baryon_node_output(const struct baryon_node *node, size_t slot);
BARYON_API size_t baryon_node_attribute_count(const struct baryon_node *node);
BARYON_API struct baryon_attribute *baryon_node_attribute(const struct baryon_node *node,
                                                          size_t place);
BARYON_API struct baryon_attribute *baryon_node_find_attribute(const struct baryon_node *node,
                                                               const char *name);

/*
 * Walk: attributes
 *
 * Kinds have ONNX's numbers. A getter of another kind than the attribute's gives
 * zero, NULL or no elements.
 */
enum baryon_attribute_kind {
    BARYON_ATTRIBUTE_UNKNOWN = 0, /* also: a reference to an attribute of a function */
    BARYON_ATTRIBUTE_FLOAT = 1,
    BARYON_ATTRIBUTE_INT = 2,
    BARYON_ATTRIBUTE_TEXT = 3,
    BARYON_ATTRIBUTE_TENSOR = 4,
    BARYON_ATTRIBUTE_GRAPH = 5,
    BARYON_ATTRIBUTE_FLOATS = 6,
    BARYON_ATTRIBUTE_INTS = 7,
    BARYON_ATTRIBUTE_TEXTS = 8,
    BARYON_ATTRIBUTE_TENSORS = 9,
    BARYON_ATTRIBUTE_GRAPHS = 10,
};

BARYON_API const char *baryon_attribute_name(const struct baryon_attribute *attribute);
BARYON_API enum baryon_attribute_kind
baryon_attribute_kind(const struct baryon_attribute *attribute);
/* Elements of a list, 1 for a single one, 0 for kinds that are not listed above. */
BARYON_API size_t baryon_attribute_count(const struct baryon_attribute *attribute);
/* Element `place` of a list, or place 0 of a single one. */
BARYON_API int64_t baryon_attribute_int(const struct baryon_attribute *attribute, size_t place);
BARYON_API float baryon_attribute_float(const struct baryon_attribute *attribute, size_t place);
BARYON_API struct baryon_text baryon_attribute_text(const struct baryon_attribute *attribute,
                                                    size_t place);
BARYON_API struct baryon_tensor *baryon_attribute_tensor(const struct baryon_attribute *attribute,
                                                         size_t place);
BARYON_API struct baryon_graph *baryon_attribute_graph(const struct baryon_attribute *attribute,
                                                       size_t place);

/*
 * Walk: values
 *
 * A value comes from one node, or is an input of its graph, or an initializer; an
 * input may have an initializer as its default. It is read at uses: inputs of nodes,
 * nested ones included, and outputs of graphs. Uses are in no particular order,
 * which edits change.
 */
BARYON_API const char *baryon_value_name(const struct baryon_value *value);
/* The graph that defines it, NULL when it was removed. */
BARYON_API struct baryon_graph *baryon_value_graph(const struct baryon_value *value);
/* NULL for inputs and initializers; slot (may be NULL) becomes the output that it is. */
BARYON_API struct baryon_node *baryon_value_producer(const struct baryon_value *value,
                                                     size_t *slot);
BARYON_API bool baryon_value_is_input(const struct baryon_value *value);
BARYON_API bool baryon_value_is_output(const struct baryon_value *value);
/* The initializer's content; NULL when it is none, or a sparse one. */
BARYON_API struct baryon_tensor *baryon_value_tensor(const struct baryon_value *value);
BARYON_API size_t baryon_value_use_count(const struct baryon_value *value);
/* The node that reads it there and the input's slot; NULL: a graph, and the output's. */
BARYON_API struct baryon_node *baryon_value_use(const struct baryon_value *value, size_t place,
                                                size_t *slot);
/* What the model declares, or after baryon_model_infer() what was found: element type (0:
 * unknown) and rank (-1: unknown). */
BARYON_API int baryon_value_type(const struct baryon_value *value);
BARYON_API int baryon_value_rank(const struct baryon_value *value);
/* A dimension, -1 when it is not a number; then symbol (may be NULL) becomes its name or NULL. */
BARYON_API int64_t baryon_value_dim(const struct baryon_value *value, int axis,
                                    const char **symbol);

/*
 * Walk: tensors
 */
BARYON_API const char *baryon_tensor_name(const struct baryon_tensor *tensor);
BARYON_API int baryon_tensor_type(const struct baryon_tensor *tensor);
BARYON_API int baryon_tensor_rank(const struct baryon_tensor *tensor);
BARYON_API int64_t baryon_tensor_dim(const struct baryon_tensor *tensor, int axis);
/*
 * The elements one behind the other, little-endian, 4-bit and 2-bit types packed;
 * not for strings. The bytes may be unaligned. They are those of the file where it
 * stores them like that; other forms are unpacked into memory of the model.
 */
BARYON_API int baryon_tensor_bytes(struct baryon_model *model, const struct baryon_tensor *tensor,
                                   const void **bytes, size_t *size, struct baryon_error *err);
/* "float32", "int4"; "undefined" for 0 and "unknown" for numbers that are no type. */
BARYON_API const char *baryon_type_name(int type);
/* The number of "float32", "FLOAT", "fp32" and so on; -1 when there is none. */
BARYON_API int baryon_type_by_name(const char *name);

/*
 * Edit
 *
 *  - An edit happens or, when it fails, has changed nothing. It costs time in
 *    proportion to what it touches, not to the model.
 *  - Names of new values must be new in their graph, in those around it and those
 *    nested in it. baryon_model_fresh_name() makes one.
 *  - A node can read values of its own graph and of those around it.
 *  - Inputs and outputs of the model's graph keep their names, unless they are
 *    renamed. So where another value becomes an output, the two swap: the new one
 *    takes the name over, the old one gets a fresh one.
 *  - New nodes stand at the end until baryon_model_settle() or saving puts them
 *    before their readers.
 *  - Edits can close a cycle: settling and saving then fail and name it.
 *  - Functions that return a pointer give NULL when they fail.
 *
 * For example, a node behind every value that Relu makes:
 *
 *     size_t count = baryon_graph_node_count(graph);
 *     for (size_t i = 0; i < count; i++) {
 *         struct baryon_node *node = baryon_graph_node(graph, i), *behind;
 *         if (strcmp(baryon_node_op_type(node), "Relu") != 0)
 *             continue;
 *         struct baryon_value *value = baryon_node_output(node, 0);
 *         const char *name = baryon_model_fresh_name(model, "behind_relu", &err);
 *         if (!name || !(behind = baryon_graph_add_node(graph, "Identity", NULL, NULL, &value, 1,
 *                                                       &name, 1, &err)) ||
 *             baryon_value_replace_uses(value, baryon_node_output(behind, 0), behind, &err))
 *             return -1;
 *     }
 *     return baryon_model_save(model, "edited.onnx", NULL, &err);
 */

/* stem, or stem_1, stem_2, ...: a text that no name in the model has. */
BARYON_API const char *baryon_model_fresh_name(struct baryon_model *model, const char *stem,
                                               struct baryon_error *err);
/* Imports a domain in that version, whether it was imported before or not. */
BARYON_API int baryon_model_set_opset(struct baryon_model *model, const char *domain,
                                      int64_t version, struct baryon_error *err);
/* value NULL: removes the pair. */
BARYON_API int baryon_model_set_metadata(struct baryon_model *model, const char *key,
                                         const char *value, struct baryon_error *err);

/*
 * A node with those inputs (NULL: left out) and outputs of those names (NULL: left
 * out). domain NULL: ONNX's own; name NULL: none.
 */
BARYON_API struct baryon_node *
baryon_graph_add_node(struct baryon_graph *graph, const char *op_type, const char *domain,
                      const char *name, struct baryon_value *const *inputs, size_t input_count,
                      const char *const *output_names, size_t output_count,
                      struct baryon_error *err);
/* A node with one output between input `slot` of reader and what that reads now, which
 * becomes its input 0; further inputs as given. Other readers are left alone. */
BARYON_API struct baryon_node *baryon_graph_insert_on_edge(struct baryon_node *reader, size_t slot,
                                                           const char *op_type, const char *domain,
                                                           struct baryon_value *const *more_inputs,
                                                           size_t more_count,
                                                           struct baryon_error *err);
/* The same before output `place` of a graph. */
BARYON_API struct baryon_node *
baryon_graph_insert_before_output(struct baryon_graph *graph, size_t place, const char *op_type,
                                  const char *domain, struct baryon_value *const *more_inputs,
                                  size_t more_count, struct baryon_error *err);
/* What the node makes must have no uses left. Graphs nested in it go too. */
BARYON_API int baryon_node_remove(struct baryon_node *node, struct baryon_error *err);
/* Input `slot` reads another value; NULL leaves it out; a slot behind the last one appends. */
BARYON_API int baryon_node_set_input(struct baryon_node *node, size_t slot,
                                     struct baryon_value *value, struct baryon_error *err);

/* Attributes of a node, an older one of the name is replaced. What is given is copied,
 * tensors are not. */
BARYON_API int baryon_node_set_int(struct baryon_node *node, const char *name, int64_t value,
                                   struct baryon_error *err);
BARYON_API int baryon_node_set_float(struct baryon_node *node, const char *name, float value,
                                     struct baryon_error *err);
BARYON_API int baryon_node_set_text(struct baryon_node *node, const char *name, const char *value,
                                    struct baryon_error *err);
BARYON_API int baryon_node_set_ints(struct baryon_node *node, const char *name,
                                    const int64_t *values, size_t count, struct baryon_error *err);
BARYON_API int baryon_node_set_floats(struct baryon_node *node, const char *name,
                                      const float *values, size_t count, struct baryon_error *err);
BARYON_API int baryon_node_set_tensor(struct baryon_node *node, const char *name,
                                      struct baryon_tensor *tensor, struct baryon_error *err);
/* False when there was none. Graphs in it go too. */
BARYON_API bool baryon_node_remove_attribute(struct baryon_node *node, const char *name);

/* Every use of old reads new_value instead, but for those inside `except` (may be NULL).
 * Cannot be where an output of the model would have to take the name of an input or of
 * another output. */
BARYON_API int baryon_value_replace_uses(struct baryon_value *old, struct baryon_value *new_value,
                                         const struct baryon_node *except,
                                         struct baryon_error *err);
/* A new name, at its definition and all uses. */
BARYON_API int baryon_value_rename(struct baryon_value *value, const char *name,
                                   struct baryon_error *err);

/* A tensor of the model, not yet part of a graph, with a copy of the bytes (NULL: zeros). */
BARYON_API struct baryon_tensor *baryon_tensor_new(struct baryon_model *model, const char *name,
                                                   int type, const int64_t *dims, size_t rank,
                                                   const void *bytes, size_t size,
                                                   struct baryon_error *err);
/* The tensor's name is the value's. Raises the IR version to 4 when it is lower. */
BARYON_API struct baryon_value *baryon_graph_add_initializer(struct baryon_graph *graph,
                                                             struct baryon_tensor *tensor,
                                                             struct baryon_error *err);
/* A second one with the same content, which is not copied, under a fresh name. */
BARYON_API struct baryon_value *baryon_value_duplicate_initializer(struct baryon_value *value,
                                                                   struct baryon_error *err);
/* It must have no uses left. If it is an input as well, that goes too. */
BARYON_API int baryon_value_remove_initializer(struct baryon_value *value,
                                               struct baryon_error *err);

/* A new input of a graph. rank -1: unknown; a dimension of -1 is called symbols[i], or unknown
 * when that or symbols is NULL. */
BARYON_API struct baryon_value *baryon_graph_add_input(struct baryon_graph *graph, const char *name,
                                                       int type, const int64_t *dims,
                                                       const char *const *symbols, int rank,
                                                       struct baryon_error *err);
/* Makes a value an output of its graph, behind those that are there. */
BARYON_API int baryon_value_make_output(struct baryon_value *value, int type, const int64_t *dims,
                                        const char *const *symbols, int rank,
                                        struct baryon_error *err);

/* Removes nodes none of whose outputs is read, and initializers that nothing reads, in nested
 * graphs too; removed (may be NULL) becomes their number. */
BARYON_API int baryon_model_prune(struct baryon_model *model, size_t *removed,
                                  struct baryon_error *err);
/*
 * Puts every node before its readers, moving no more than needed, and closes the
 * gaps that removals left. Only graphs that were edited are looked at; with all,
 * the others too, which sorts a file whose nodes stand in a wrong order.
 */
BARYON_API int baryon_model_settle(struct baryon_model *model, bool all, struct baryon_error *err);

/*
 * Run
 *
 * A session is a model made ready by ONNX Runtime, whose library is opened when the
 * first session is. It is looked for where options or the environment variable
 * BARYON_ONNXRUNTIME say (the library or its folder), then where building or
 * installing Baryon put it, then in the system's library path; version 1.17 or newer.
 *
 *  - A session needs nothing of what it was made from: bytes may be freed, and a
 *    model may be edited or freed. External data files must stay as they are.
 *  - Values are arrays in host memory, in C order and native byte order. Types under
 *    a byte are packed, the first element in the low bits. Strings are an array of
 *    const char *.
 *  - Inputs are read where they are, and may be freed after the run. What a run
 *    gives belongs to the run, which is freed before its session.
 *  - Several threads may run one session at once. Everything else is for one thread
 *    at a time, but for baryon_session_cancel().
 *
 * For example:
 *
 *     const int64_t dims[] = {1, 3};
 *     const float data[] = {1, 2, 3};
 *     const struct baryon_array x = {"x", 1, 2, dims, data, sizeof data};
 *     if (baryon_session_open(&session, "model.onnx", NULL, &err) ||
 *         baryon_session_run(session, &x, 1, NULL, 0, &run, &err))
 *         return -1;
 *     const struct baryon_array *y = baryon_run_output(run, 0);
 */
struct baryon_session;
struct baryon_run;

/* How far ONNX Runtime may rewrite the model before it runs. */
enum baryon_optimization {
    BARYON_OPTIMIZE_ALL = 0,
    BARYON_OPTIMIZE_NONE = 1,
    BARYON_OPTIMIZE_BASIC = 2,    /* what any hardware gains from */
    BARYON_OPTIMIZE_EXTENDED = 3, /* and fusions of nodes */
};

/* May be called from any thread, for as long as the session is open. */
typedef void baryon_log_fn(void *context, const char *text);

struct baryon_session_options {
    size_t size;
    const char *onnxruntime; /* its library, or the folder with it */
    unsigned threads;        /* inside a node; default: as many as the process may use */
    unsigned branches;       /* nodes that may run at once; default: 1 */
    enum baryon_optimization optimization;
    /*
     * Execution providers in order of preference, "cpu" by default; settings of the
     * provider's own may follow: "cuda:device_id=1". One that is not there is an error,
     * and so is a node that none of them takes: end the list with "cpu" for those.
     */
    const char *const *providers;
    size_t provider_count;
    const char *const *operator_libraries; /* with custom operators; their code is run */
    size_t operator_library_count;
    bool deterministic; /* only kernels that give the same bits in every run */
    bool low_memory;    /* give memory back after every run; slower */
    bool allow_links;   /* as in struct baryon_load_options */
    baryon_log_fn *log; /* for what ONNX Runtime has to say; default: nobody */
    void *log_context;
};

BARYON_API int baryon_session_open(struct baryon_session **session, const char *path,
                                   const struct baryon_session_options *options,
                                   struct baryon_error *err);
/* The same from memory, without external data. */
BARYON_API int baryon_session_open_bytes(struct baryon_session **session, const void *bytes,
                                         size_t size, const struct baryon_session_options *options,
                                         struct baryon_error *err);
/* A model as it is now, edits and all; of any size, and without a file. */
BARYON_API int baryon_session_open_model(struct baryon_session **session,
                                         struct baryon_model *model,
                                         const struct baryon_session_options *options,
                                         struct baryon_error *err);
BARYON_API void baryon_session_close(struct baryon_session *session);
/* The version of ONNX Runtime, "1.31.1". */
BARYON_API const char *baryon_session_runtime(const struct baryon_session *session);

/* An input or output. More members may follow in later versions. */
struct baryon_port {
    const char *name;
    const char *kind;           /* "tensor", "sequence", "map", "optional", ... */
    int type;                   /* of elements; 0 when it is no tensor */
    int rank;                   /* -1: any */
    const int64_t *dims;        /* -1 when it is not a number */
    const char *const *symbols; /* then its name, or NULL */
};

BARYON_API size_t baryon_session_input_count(const struct baryon_session *session);
BARYON_API const struct baryon_port *baryon_session_input(const struct baryon_session *session,
                                                          size_t place);
/* Inputs with a default value, which need not be given. */
BARYON_API size_t baryon_session_optional_count(const struct baryon_session *session);
BARYON_API const struct baryon_port *baryon_session_optional(const struct baryon_session *session,
                                                             size_t place);
BARYON_API size_t baryon_session_output_count(const struct baryon_session *session);
BARYON_API const struct baryon_port *baryon_session_output(const struct baryon_session *session,
                                                           size_t place);

struct baryon_array {
    const char *name;
    int type;
    int rank;
    const int64_t *dims; /* may be NULL when rank is 0 */
    const void *data;    /* may be NULL when size is 0 */
    size_t size;         /* of data, in bytes */
};

/*
 * Runs the model once. Inputs are matched by name; what is missing, unknown, or has
 * another type or shape than the model takes is refused, and so are inputs and
 * outputs that are no tensors. outputs are the names of those wanted, in that order;
 * NULL: all.
 */
BARYON_API int baryon_session_run(struct baryon_session *session, const struct baryon_array *inputs,
                                  size_t input_count, const char *const *outputs,
                                  size_t output_count, struct baryon_run **run,
                                  struct baryon_error *err);
BARYON_API size_t baryon_run_output_count(const struct baryon_run *run);
BARYON_API const struct baryon_array *baryon_run_output(const struct baryon_run *run, size_t place);
/* NULL when the run has no output of that name. */
BARYON_API const struct baryon_array *baryon_run_find_output(const struct baryon_run *run,
                                                             const char *name);
BARYON_API void baryon_run_free(struct baryon_run *run);

/* Runs in progress end after the node they are at, and no new ones begin: they fail with
 * BARYON_ERR_CANCELLED. May be called from another thread or a signal handler. */
BARYON_API void baryon_session_cancel(struct baryon_session *session);
/* Runs may begin again. */
BARYON_API void baryon_session_resume(struct baryon_session *session);

/*
 * Asks ONNX Runtime for the types and shapes that baryon_model_infer(), which comes
 * first, did not find: by opening the model, and unless inputs is NULL by running
 * that sample. Sizes that another sample could change stay unknown.
 */
BARYON_API int baryon_model_trace(struct baryon_model *model, const struct baryon_array *inputs,
                                  size_t input_count, const struct baryon_session_options *options,
                                  struct baryon_error *err);

/*
 * Settings
 *
 * What the command line tool takes as --NAME VALUE, a program gives as pairs: the same
 * names ('-' or '_'), values, ranges, defaults and messages; docs/commands.md lists them.
 * Of a setting that stands twice the last one counts; lists collect. "config" names a
 * YAML or JSON file, whose values are taken where no pair gives one.
 */
struct baryon_setting {
    const char *name;  /* "per-channel" */
    const char *value; /* "32"; NULL: a flag that is set */
};

/*
 * Calibrate
 *
 * Runs a model on samples, once, and gives statistics of its tensors: all that any
 * method needs to choose a range. Settings are those of `baryon calibrate`; out, the
 * file that the statistics go to, need not be given. With it, all is as on the command
 * line: OUT.part keeps what was done so far and is taken up by the next call; a file that
 * is up to date is loaded, and nothing runs; another one is refused unless "force" is set.
 * Without it everything is kept in memory, and settings that speak of files or of memory
 * for moments (max-memory, checkpoint-seconds, restart, force) are refused.
 *
 * For example:
 *
 *     const struct baryon_setting settings[] = {{"data", "photos"}, {"prep", "imagenet"}};
 *     struct baryon_range range = {.size = sizeof range};
 *     if (baryon_calibrate_file(&statistics, "model.onnx", settings, 2, NULL, &err) ||
 *         baryon_statistics_range(statistics, "x", "percentile", "int8", NULL, &range, &err))
 *         return -1;
 *     printf("scale %g, zero point %lld\n", range.scale, (long long)range.zero_point);
 */
struct baryon_statistics;

/*
 * Samples that the caller makes, each what the model takes at once. Calls come from one
 * thread at a time, not always the same one, and one sample ahead of the model.
 */
struct baryon_samples {
    size_t size;
    /*
     * Gives the next sample: 0 and its arrays, by the names of the inputs or, with names
     * NULL, in their order; *arrays, which is NULL before, stays so behind the last one.
     * name is the sample's, for messages, and may stay NULL. Or -1, which ends everything
     * with the error that was filled in. What the pointers lead to has to stay until the next
     * call.
     */
    int (*next)(void *context, const struct baryon_array **arrays, size_t *count, const char **name,
                struct baryon_error *err);
    /* The next call gives the first sample again: for counting, and for further passes over
     * the samples. NULL: they come only once. */
    int (*rewind)(void *context, struct baryon_error *err);
    void *context;
    uint64_t count;   /* of samples; 0: they are counted first, which reads all of them */
    const char *name; /* of the source; statistics of other sources are told by it. May be NULL */
};

struct baryon_progress {
    const char *stage;    /* "calibrate", "calibrate, pass 2 of 3" */
    uint64_t done, total; /* samples of this stage */
    const char *sample;   /* the last one's name, NULL at the beginning of a stage */
    double seconds;       /* since the stage began */
};

/* Returns false to stop: after the samples in hand what was done is kept, and the call ends with
 * BARYON_ERR_CANCELLED. */
typedef bool baryon_progress_fn(void *context, const struct baryon_progress *progress);

struct baryon_calibrate_options {
    size_t size;
    const struct baryon_samples *samples; /* instead of the settings data and random */
    baryon_progress_fn *progress;         /* when a stage begins, and after every sample */
    baryon_log_fn *log;                   /* for notices and warnings; default: nobody */
    void *context;                        /* of both */
};

/* Types and shapes of the model's values are found as by baryon_model_infer(). statistics may be
 * NULL when "out" is given. */
BARYON_API int baryon_calibrate(struct baryon_statistics **statistics, struct baryon_model *model,
                                const struct baryon_setting *settings, size_t count,
                                const struct baryon_calibrate_options *options,
                                struct baryon_error *err);
/* Loads the file for this alone. */
BARYON_API int baryon_calibrate_file(struct baryon_statistics **statistics, const char *path,
                                     const struct baryon_setting *settings, size_t count,
                                     const struct baryon_calibrate_options *options,
                                     struct baryon_error *err);

/*
 * Statistics
 *
 * Of a model's tensors on some samples; files of them are called .stats. They are a function
 * of the model, the samples and the settings: threads, memory and the way in which the samples
 * were split change no bit. Files stay mapped while they are in use and must not be changed.
 */
BARYON_API int baryon_statistics_load(struct baryon_statistics **statistics, const char *path,
                                      struct baryon_error *err);
BARYON_API void baryon_statistics_free(struct baryon_statistics *statistics);
/* Readers of path see the old file or the whole new one. It may be one of those read. */
BARYON_API int baryon_statistics_save(const struct baryon_statistics *statistics, const char *path,
                                      struct baryon_error *err);
/*
 * Adds those of other samples of the same model, data and settings, as parts made with
 * the setting "shard" are. Others are BARYON_ERR_CHANGED, samples that both have are
 * BARYON_ERR_INPUT, and then nothing was added. Any other failure leaves
 * `statistics` good for nothing but being freed.
 */
BARYON_API int baryon_statistics_merge(struct baryon_statistics *statistics,
                                       const struct baryon_statistics *other,
                                       struct baryon_error *err);
/* BARYON_ERR_CHANGED unless the statistics are of this model, as it is now. */
BARYON_API int baryon_statistics_check_model(const struct baryon_statistics *statistics,
                                             struct baryon_model *model, struct baryon_error *err);

/* Samples that there are, those that the statistics cover, and of them those that were bad. */
BARYON_API uint64_t baryon_statistics_total(const struct baryon_statistics *statistics);
BARYON_API uint64_t baryon_statistics_covered(const struct baryon_statistics *statistics);
BARYON_API uint64_t baryon_statistics_skipped(const struct baryon_statistics *statistics);

/*
 * What is known of a tensor. NaN and infinities are counted, and kept out of the rest;
 * where there are no finite values, the numbers from min to rms are 0. More members may
 * follow in later versions.
 */
struct baryon_tensor_statistics {
    const char *name;
    int type;
    int rank;            /* -1: there was no value, or samples differ */
    const int64_t *dims; /* -1 where samples differ */
    uint64_t samples;    /* that had values */
    uint64_t values, zeros, nans, infinities;
    int64_t nonfinite_sample;      /* the first with NaN or infinity, -1: none */
    const char *nonfinite_name;    /* its name, NULL when there is none */
    double min, max;               /* exact */
    double moving_min, moving_max; /* means over samples of their least and greatest value */
    double mean, rms;              /* of the values; of their squares, the root */
    int channel_axis;              /* -1: unknown */
    size_t channels; /* 0 without the setting "per-channel", or when the size varies */
    const float *channel_min, *channel_max; /* exact; 0 where no value was finite */
};

/* In the order of the model; NULL behind the last one. Pointers live as long as the statistics,
 * merging brings what they point to up to date. */
BARYON_API size_t baryon_statistics_tensor_count(const struct baryon_statistics *statistics);
BARYON_API const struct baryon_tensor_statistics *
baryon_statistics_tensor(const struct baryon_statistics *statistics, size_t place);
/* NULL when no tensor has that name. */
BARYON_API const struct baryon_tensor_statistics *
baryon_statistics_find(const struct baryon_statistics *statistics, const char *name);

/* Values from low (included) to high, in the direction of their magnitude. */
struct baryon_bin {
    double low, high;
    uint64_t count;
};

/* The histogram of a tensor: bins with something in them from the least value to the greatest,
 * zeros as a bin with low and high 0. Give *bins to baryon_bytes_free(). */
BARYON_API int baryon_statistics_histogram(const struct baryon_statistics *statistics,
                                           const char *tensor, struct baryon_bin **bins,
                                           size_t *count, struct baryon_error *err);

/* Where the zero point is. */
enum baryon_symmetry {
    BARYON_SYMMETRY_OF_TYPE = 0, /* signed and float types: symmetric; unsigned ones: not */
    BARYON_SYMMETRIC = 1,        /* in the middle */
    BARYON_ASYMMETRIC = 2,       /* where the range says */
};

struct baryon_range_options {
    size_t size;
    enum baryon_symmetry symmetry;
    bool power_of_two; /* scales are powers of two */
};

struct baryon_range {
    size_t size;      /* set by the caller, as in options */
    double low, high; /* as the method says; low <= 0 <= high */
    double scale;
    int64_t zero_point;
    int position;                     /* of power-of-two scales: scale = 2^-position */
    double reached_low, reached_high; /* by the first and the last level */
    double clipped;                   /* share of the finite values beyond them */
    double error; /* what the method minimised, mean a value; NaN when it minimises nothing */
};

/*
 * What a calibration method, with its defaults, chooses for a tensor in a number format:
 * "minmax", "percentile", ... (`baryon list methods`), for "int4", "uint4", "int8", "uint8",
 * "int16", "uint16", "float8e4m3fn", "float8e5m2". Names of methods and types that quark.onnx
 * and ONNX use are known too.
 */
BARYON_API int baryon_statistics_range(const struct baryon_statistics *statistics,
                                       const char *tensor, const char *method, const char *type,
                                       const struct baryon_range_options *options,
                                       struct baryon_range *range, struct baryon_error *err);
/* The methods that there are, by place; NULL behind the last one. */
BARYON_API const char *baryon_calibration_method(size_t place);

/*
 * Quantize
 *
 * Makes numbers of smaller types out of a model's floats. Settings are those of `baryon
 * quantize` that say what is done, not where things are written: a preset, samples or
 * statistics, types, exclusions, rules. Rules of whole maps (nodes, op_types, tensors) are told
 * as "node", "op-type" and "tensor", or in a file that "config" names. Of "exclude-between"
 * the starts and the ends have a blank between them.
 *
 * For example:
 *
 *     const struct baryon_setting settings[] = {
 *         {"preset", "XINT8"}, {"data", "photos"}, {"prep", "imagenet"}, {"exclude", "head"}};
 *     if (baryon_model_load(&model, "model.onnx", NULL, &err) ||
 *         baryon_quantize(model, settings, 4, NULL, NULL, &err) ||
 *         baryon_model_save(model, "model_int8.onnx", NULL, &err))
 *         return -1;
 */
struct baryon_quantize_options {
    size_t size;
    const struct baryon_samples *samples; /* instead of the settings data and random; with rewind */
    baryon_progress_fn *progress;         /* of samples: when a stage begins, and after each */
    baryon_log_fn *log;                   /* for notices and warnings; default: nobody */
    void *context;                        /* of both */
};

/* What was done. Nodes that have nothing to quantize, such as Shape, count as neither. */
struct baryon_quantize_summary {
    size_t size; /* set by the caller, as in options */
    uint64_t quantized_nodes, float_nodes;
    /* With the mean sizes of the samples; what stays open counts as 1. */
    double multiply_adds, quantized_multiply_adds;
    uint64_t samples; /* that ranges were taken from */
    double seconds;
};

/* The model becomes the quantized one; what was asked of it before (nodes, values) may be gone.
 * One that it failed on is good for nothing but being freed. summary may be NULL. */
BARYON_API int baryon_quantize(struct baryon_model *model, const struct baryon_setting *settings,
                               size_t count, const struct baryon_quantize_options *options,
                               struct baryon_quantize_summary *summary, struct baryon_error *err);
/* Loads the file for this alone, and writes the result to out as baryon_model_save() does. */
BARYON_API int baryon_quantize_file(const char *path, const char *out,
                                    const struct baryon_setting *settings, size_t count,
                                    const struct baryon_quantize_options *options,
                                    struct baryon_quantize_summary *summary,
                                    struct baryon_error *err);

#ifdef __cplusplus
}
#endif

#endif
