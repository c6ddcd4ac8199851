/*
 * The model in memory: one struct a message of the ONNX schema.
 *
 * Every struct begins with struct by_msg, which remembers the bytes it was read
 * from and a hash of what they said. A message that still says the same is
 * written as those bytes; one that was changed is written anew, its fields in
 * their old order and with the fields we do not know between them. Nobody has to
 * mark anything as changed. (onnx/schema.c maps fields to members.)
 *
 * Names are interned in the model: equal names are equal pointers, NULL means
 * that the field is absent. Text and bytes are views, usually into the mapped
 * file. Everything lives in the model's arena.
 */
#ifndef BY_MODEL_H
#define BY_MODEL_H

#include "base/constant.h"
#include "base/file.h"
#include "base/map.h"
#include "base/spill.h"

struct by_msg {
    const uint8_t *src; /* NULL: made by us */
    size_t src_size;
    uint64_t hash;    /* of the content as it was read */
    uint64_t now;     /* of the content as it is; set while saving */
    uint64_t encoded; /* bytes; set while saving */
    uint32_t has;     /* bit i: field i of the schema was present, even if zero */
};

/* Bits of by_msg.has that say that a number is given even when it is 0. */
#define BY_HAS_DIM_VALUE (1u << 0)
#define BY_HAS_ATTR_F    (1u << 1)
#define BY_HAS_ATTR_I    (1u << 2)

struct by_span {
    const uint8_t *data;
    size_t size;
};

/* Lists in the layout of struct by_list. A NULL in by_ptrs is a hole left by an edit. */
struct by_ptrs {
    void **at;
    size_t count, cap;
};
struct by_names {
    const char **at;
    size_t count, cap;
};
struct by_spans {
    struct by_span *at;
    size_t count, cap;
};
struct by_ints {
    int64_t *at;
    size_t count, cap;
};
struct by_floats {
    float *at;
    size_t count, cap;
};

struct by_pair { /* StringStringEntryProto */
    struct by_msg msg;
    const char *key;
    struct by_span value;
};

struct by_opset {
    struct by_msg msg;
    const char *domain;
    int64_t version;
};

struct by_dim {
    struct by_msg msg;
    int64_t value; /* when has says so; else param, else unknown */
    const char *param;
    struct by_span denotation;
};

static inline bool by_dim_is_number(const struct by_dim *dim)
{
    return (dim->msg.has & BY_HAS_DIM_VALUE) || dim->value;
}

/* Some exporters write -1 for a size that is open. */
static inline bool by_dim_is_open(const struct by_dim *dim)
{
    return !by_dim_is_number(dim) || dim->value < 0;
}

struct by_shape_msg { /* TensorShapeProto */
    struct by_msg msg;
    struct by_ptrs dims; /* by_dim */
};

struct by_tensor_type { /* TypeProto.Tensor and TypeProto.SparseTensor */
    struct by_msg msg;
    int64_t elem_type;
    struct by_shape_msg *shape;
};

struct by_type;

struct by_sequence_type { /* TypeProto.Sequence and TypeProto.Optional */
    struct by_msg msg;
    struct by_type *elem_type;
};

struct by_map_type {
    struct by_msg msg;
    int64_t key_type;
    struct by_type *value_type;
};

struct by_opaque_type {
    struct by_msg msg;
    const char *domain, *name;
};

struct by_type { /* TypeProto: at most one is set */
    struct by_msg msg;
    struct by_tensor_type *tensor, *sparse_tensor;
    struct by_sequence_type *sequence, *optional;
    struct by_map_type *map;
    struct by_opaque_type *opaque;
    struct by_span denotation;
};

struct by_value_info {
    struct by_msg msg;
    const char *name;
    struct by_type *type;
    struct by_span doc_string;
    struct by_ptrs metadata; /* by_pair */
};

struct by_segment {
    struct by_msg msg;
    int64_t begin, end;
};

/*
 * Typed payloads stay in their wire form: the elements one after the other, as
 * varints, 4 or 8 bytes. tensor.h reads them, raw and external data alike.
 */
struct baryon_tensor {
    struct by_msg msg;
    struct by_ints dims;
    int64_t data_type;
    const char *name;
    struct by_span raw_data;
    struct by_span float_data, int32_data, int64_data, double_data, uint64_data;
    struct by_spans string_data;
    struct by_ptrs external_data; /* by_pair */
    int64_t data_location;        /* 1: external */
    struct by_segment *segment;
    struct by_span doc_string;
    struct by_ptrs metadata;

    /* Not in the schema: the range of the mapped data file, once it is resolved. */
    struct by_span external;
};

struct by_sparse_tensor {
    struct by_msg msg;
    struct baryon_tensor *values, *indices;
    struct by_ints dims;
};

enum by_attr_type {
    BY_ATTR_UNDEFINED = 0,
    BY_ATTR_FLOAT = 1,
    BY_ATTR_INT = 2,
    BY_ATTR_STRING = 3,
    BY_ATTR_TENSOR = 4,
    BY_ATTR_GRAPH = 5,
    BY_ATTR_FLOATS = 6,
    BY_ATTR_INTS = 7,
    BY_ATTR_STRINGS = 8,
    BY_ATTR_TENSORS = 9,
    BY_ATTR_GRAPHS = 10,
    BY_ATTR_SPARSE_TENSOR = 11,
    BY_ATTR_SPARSE_TENSORS = 12,
    BY_ATTR_TYPE_PROTO = 13,
    BY_ATTR_TYPE_PROTOS = 14,
};

struct baryon_attribute {
    struct by_msg msg;
    const char *name, *ref_attr_name;
    struct by_span doc_string;
    int64_t type; /* enum by_attr_type */
    float f;
    int64_t i;
    struct by_span s;
    struct baryon_tensor *t;
    struct baryon_graph *g;
    struct by_sparse_tensor *sparse_tensor;
    struct by_type *tp;
    struct by_floats floats;
    struct by_ints ints;
    struct by_spans strings;
    struct by_ptrs tensors, graphs, sparse_tensors, type_protos;
};

struct by_simple_sharded_dim {
    struct by_msg msg;
    int64_t value;
    const char *param;
    int64_t num_shards;
};

struct by_sharded_dim {
    struct by_msg msg;
    int64_t axis;
    struct by_ptrs simple_sharding; /* by_simple_sharded_dim */
};

struct by_int_list_entry { /* IntIntListEntryProto */
    struct by_msg msg;
    int64_t key;
    struct by_ints value;
};

struct by_sharding_spec {
    struct by_msg msg;
    const char *tensor_name;
    struct by_ints device;
    struct by_ptrs index_to_device_group_map; /* by_int_list_entry */
    struct by_ptrs sharded_dim;               /* by_sharded_dim */
};

struct by_node_device { /* NodeDeviceConfigurationProto */
    struct by_msg msg;
    const char *configuration_id;
    struct by_ptrs sharding_spec; /* by_sharding_spec */
    int64_t pipeline_stage;
};

struct by_device { /* DeviceConfigurationProto */
    struct by_msg msg;
    const char *name;
    int64_t num_devices;
    struct by_names device;
};

struct baryon_node {
    struct by_msg msg;
    struct by_names input, output; /* "" is an optional one that is left out */
    const char *name, *op_type, *domain, *overload;
    struct by_ptrs attribute; /* baryon_attribute */
    struct by_span doc_string;
    struct by_ptrs metadata;
    struct by_ptrs device_configurations; /* by_node_device */

    /* Not in the schema: kept by ir/graph. */
    struct baryon_graph *graph;
    size_t index;          /* place in graph->node.at */
    struct by_link *links; /* one an input */
    size_t links_cap;
    struct baryon_value **outs; /* one an output, NULL for "" */
};

struct by_annotation { /* TensorAnnotation */
    struct by_msg msg;
    const char *tensor_name;
    struct by_ptrs names; /* by_pair */
};

struct baryon_graph {
    struct by_msg msg;
    struct by_ptrs node; /* baryon_node */
    const char *name;
    struct by_ptrs initializer;        /* baryon_tensor */
    struct by_ptrs sparse_initializer; /* by_sparse_tensor */
    struct by_span doc_string;
    struct by_ptrs input, output, value_info; /* by_value_info */
    struct by_ptrs annotation;                /* by_annotation */
    struct by_ptrs metadata;

    /* Not in the schema: kept by ir/graph. */
    struct baryon_model *model;
    struct baryon_node *owner; /* the node whose attribute this graph is */
    struct by_map values;      /* name -> baryon_value, of this graph alone */
    struct by_ptrs all_values; /* baryon_value, in order of definition; holes allowed */
    struct by_link *out_links; /* one an output */
    size_t out_links_cap;
    size_t loose_infos; /* entries of value_info that say nothing about a value of the graph */
    bool linked, unsettled;
};

struct by_function {
    struct by_msg msg;
    const char *name, *domain, *overload;
    struct by_names input, output, attribute;
    struct by_ptrs attribute_proto; /* baryon_attribute */
    struct by_ptrs node;            /* baryon_node */
    struct by_span doc_string;
    struct by_ptrs opset_import; /* by_opset */
    struct by_ptrs value_info;
    struct by_ptrs metadata;
};

struct by_training_info {
    struct by_msg msg;
    struct baryon_graph *initialization, *algorithm;
    struct by_ptrs initialization_binding, update_binding; /* by_pair */
};

struct baryon_model {
    struct by_msg msg;
    int64_t ir_version;
    struct by_ptrs opset_import; /* by_opset */
    struct by_span producer_name, producer_version;
    const char *domain;
    int64_t model_version;
    struct by_span doc_string;
    struct baryon_graph *graph;
    struct by_ptrs metadata;
    struct by_ptrs training_info; /* by_training_info */
    struct by_ptrs functions;     /* by_function */
    struct by_ptrs configuration; /* by_device */

    /* Not in the schema. */
    struct by_arena arena;
    struct by_names_table names;
    struct by_mapped file;         /* fd -1 when it came from memory */
    struct by_ptrs data_files;     /* by_data_file, the external data in use */
    char *path;                    /* as the caller gave it, NULL from memory */
    char *folder;                  /* where external data is looked for */
    struct by_spill spill;         /* where big new payloads go, once by_model_spill() was called */
    struct by_constants constants; /* payloads of its tensors */

    /* Kept by ir/graph. */
    struct by_ptrs linked; /* baryon_graph, outer before inner; some may be gone from the model */
    struct by_map stems;   /* stem -> the number that its next fresh name tries */
};

/* Version imported for a domain ("" and "ai.onnx" are one), 0 when there is none. */
int64_t by_model_opset(const struct baryon_model *model, const char *domain);
#define BY_NAME_MAX 4096

/* Interns in the model's table; refuses what a loader would: names over BY_NAME_MAX bytes, and
 * what is no UTF-8. */
const char *by_model_name(struct baryon_model *model, const char *text, struct baryon_error *err);
/* NULL when the node has no attribute of that name. */
struct baryon_attribute *by_node_attr(const struct baryon_node *node, const char *name);
/* The value, or fallback when it is absent or of another type. */
int64_t by_node_int(const struct baryon_node *node, const char *name, int64_t fallback);
float by_node_float(const struct baryon_node *node, const char *name, float fallback);
/* True when the node is the operator of the default domain. */
bool by_node_is(const struct baryon_node *node, const char *op_type);
/* One of several; NULL ends them. */
bool by_node_is_one_of(const struct baryon_node *node, const char *const *op_types);
/* Whether a node of the graph itself has the type, of any domain. */
bool by_graph_has_operator(const struct baryon_graph *graph, const char *op_type);
/* QuantizeLinear and DequantizeLinear, of the default domain or com.microsoft. */
bool by_node_quantizes(const struct baryon_node *node);
bool by_node_dequantizes(const struct baryon_node *node);
/* The domain with NULL and "ai.onnx" as "". */
const char *by_domain(const char *domain);
/* "node 'Conv_3' (Conv)" or "node #17 (Conv)" for messages; returns buf. */
const char *by_node_label(const struct baryon_node *node, char *buf, size_t size);

/* Walks all graphs: the main one, nested ones (depth first, outer before inner). */
typedef int by_graph_fn(void *context, struct baryon_graph *graph, unsigned depth,
                        struct baryon_error *err);
int by_model_each_graph(struct baryon_model *model, by_graph_fn *visit, void *context,
                        struct baryon_error *err);

#endif
