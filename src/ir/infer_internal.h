/*
 * What the rules in infer_*.c work with.
 *
 * To add a rule: write by_infer_NAME in the file of its family and put NAME into the
 * operator's row. The element types are set before it runs (but for SPECIAL); it
 * sets the shapes that it can tell, and leaves the rest alone. It fails only when
 * inputs and attributes contradict each other, with by_infer_fail(). Shapes come
 * from the arena of the model, contents from infer->scratch.
 */
#ifndef BY_INFER_INTERNAL_H
#define BY_INFER_INTERNAL_H

#include "ir/functions.h"
#include "ir/infer.h"

/* Contents: what is known of the elements of a small tensor. */
enum by_item_kind { BY_ITEM_UNKNOWN, BY_ITEM_INT, BY_ITEM_REAL, BY_ITEM_SYMBOL };

struct by_item {
    enum by_item_kind kind;
    union {
        int64_t i;          /* integers and bool */
        double r;           /* float32 and float64 */
        const char *symbol; /* a number that is a dimension, in any type */
    };
};

/* Only where the value's shape is static; count is the number of its elements. */
struct by_content {
    size_t count;
    struct by_item items[];
};

#define BY_CONTENT_MAX       64   /* elements of a tensor that is computed */
#define BY_CONTENT_CONST_MAX 1024 /* elements of a constant */

enum by_value_kind {
    BY_KIND_TENSOR,
    BY_KIND_SEQUENCE, /* of tensors */
    BY_KIND_OPTIONAL, /* of a tensor */
    BY_KIND_OPTIONAL_SEQUENCE,
    BY_KIND_MAP,
};

/* What is known of a value besides baryon_value's own members. */
struct by_fact {
    const struct by_content *content;
    enum by_value_kind kind;
    int64_t elem;                 /* of the tensors in it, when it is not a tensor */
    const struct by_shape *shape; /* likewise */
};

/* A graph that is being walked; the facts of its values by value->index. */
struct by_infer_frame {
    struct baryon_graph *graph;
    struct by_fact *facts;
    struct by_infer_frame *outer;
    unsigned depth;
};

/* Functions of the model, and how much work is left for calls of them. */
struct by_functions {
    struct by_function_table table;
    size_t budget;
};

struct by_infer {
    struct baryon_model *model; /* or that of a function's body */
    struct by_functions *functions;
    struct by_arena scratch;
    int64_t opset; /* of the default domain */
    struct by_infer_frame *frame;
    unsigned call_depth; /* over 0 in the body of a function */
    by_seen_fn *seen;    /* NULL: nothing was seen */
    void *seen_context;
    struct by_infer_result result;
};

/* Walks a nested graph whose inputs are set; its facts are there until it is left. */
int by_infer_enter(struct by_infer *infer, struct baryon_graph *graph, struct by_infer_frame *frame,
                   struct baryon_error *err);
int by_infer_graph(struct by_infer *infer, struct baryon_error *err);
void by_infer_leave(struct by_infer *infer);

int by_functions_open(struct by_functions *functions, const struct baryon_model *model,
                      struct by_arena *arena, struct baryon_error *err);
void by_functions_close(struct by_functions *functions);
/* NULL when the node is no call of a function. */
const struct by_function *by_function_of(const struct by_infer *infer,
                                         const struct baryon_node *node);
int by_infer_call(struct by_infer *infer, struct baryon_node *node,
                  const struct by_function *function, struct baryon_error *err);

/* "NODE: message", BARYON_ERR_INPUT. */
int by_infer_fail(const struct baryon_node *node, struct baryon_error *err, const char *format, ...)
    BARYON_PRINTF(3, 4);

/* Inputs: all give "nothing known" for a slot that is left out. */
int64_t by_in_elem(const struct baryon_node *node, size_t slot);
const struct by_shape *by_in_shape(const struct baryon_node *node, size_t slot);
const struct by_content *by_in_content(const struct by_infer *infer, const struct baryon_node *node,
                                       size_t slot);
bool by_in_given(const struct baryon_node *node, size_t slot);
/* The single element of an input; UNKNOWN when it is not known to be one. */
struct by_item by_in_item(const struct by_infer *infer, const struct baryon_node *node,
                          size_t slot);
/* Never NULL for a value of a graph being walked. */
struct by_fact *by_fact_of(const struct by_infer *infer, const struct baryon_value *value);
struct by_fact *by_in_fact(const struct by_infer *infer, const struct baryon_node *node,
                           size_t slot);

/* Outputs: nothing happens for a slot that is left out, or for a NULL shape. */
void by_out_elem(struct baryon_node *node, size_t slot, int64_t elem);
void by_out_shape(struct baryon_node *node, size_t slot, const struct by_shape *shape);
void by_out_content(struct by_infer *infer, struct baryon_node *node, size_t slot,
                    const struct by_content *content);
/* A container of tensors of that type. */
void by_out_kind(struct by_infer *infer, struct baryon_node *node, size_t slot,
                 enum by_value_kind kind, int64_t elem, const struct by_shape *shape);
/* Everything that is known of a value, for an output that is the same. */
void by_out_same(struct by_infer *infer, struct baryon_node *node, size_t slot,
                 const struct baryon_value *value);

/* Shapes in the arena of the model; the second gives a shape of given dimensions. */
struct by_shape *by_new_shape(struct by_infer *infer, size_t rank, struct baryon_error *err);
struct by_shape *by_new_copy(struct by_infer *infer, const struct by_shape *shape,
                             struct baryon_error *err);
int by_out_dims(struct by_infer *infer, struct baryon_node *node, size_t slot,
                const struct by_extent *dims, size_t rank, struct baryon_error *err);
int by_out_scalar(struct by_infer *infer, struct baryon_node *node, size_t slot,
                  struct baryon_error *err);

/* Attributes of the right type; NULL or fallback otherwise. */
const struct by_ints *by_attr_ints(const struct baryon_node *node, const char *name);
const struct by_floats *by_attr_floats(const struct baryon_node *node, const char *name);
bool by_attr_text_is(const struct baryon_node *node, const char *name, const char *text);
struct baryon_graph *by_attr_graph(const struct baryon_node *node, const char *name);
/* The attribute, or fallback; fails when it is no element type. */
int by_attr_elem(const struct baryon_node *node, const char *name, int64_t fallback, int64_t *elem,
                 struct baryon_error *err);

/* An axis counted from either end; fails when it is outside [-rank, rank). */
int by_axis(const struct baryon_node *node, int64_t axis, size_t rank, size_t *out,
            struct baryon_error *err);
int by_attr_axis(const struct baryon_node *node, const char *name, int64_t fallback, size_t rank,
                 size_t *out, struct baryon_error *err);

/* Axes as attribute or as constant input. */
struct by_axes {
    bool given; /* the attribute or the input is there */
    bool known; /* and its numbers are */
    size_t count;
    bool count_known;
    bool repeated; /* one is given twice: reductions do not mind */
    bool set[BY_RANK_MAX];
};
int by_read_axes(const struct by_infer *infer, const struct baryon_node *node, size_t slot,
                 size_t rank, struct by_axes *axes, struct baryon_error *err);

/* The shape that the elements of an input are; NULL when not even the rank is known. */
int by_spelled_shape(struct by_infer *infer, const struct baryon_node *node, size_t slot,
                     struct by_shape **shape, struct baryon_error *err);

/* Arithmetic on dimensions: unknown where the result is no number or symbol. */
struct by_extent by_extent_add(struct by_extent a, int64_t b);
struct by_extent by_extent_mul(struct by_extent a, struct by_extent b);
/* Exact division; unknown when it is not. */
struct by_extent by_extent_div(struct by_extent a, int64_t b);
struct by_extent by_extent_product(const struct by_shape *shape, size_t first, size_t last);
/* What two dimensions that have to be equal are; false when they are different numbers. */
bool by_extent_unify(struct by_extent a, struct by_extent b, struct by_extent *out);
struct by_extent by_extent_from_item(struct by_item item);
struct by_item by_item_from_extent(struct by_extent extent);
struct by_item by_item_int(int64_t value);

/* The shape that all of them broadcast to (NULL shapes give NULL). */
int by_broadcast(struct by_infer *infer, const struct baryon_node *node,
                 const struct by_shape *const *shapes, size_t count, const struct by_shape **out,
                 struct baryon_error *err);

/* Elements of the inputs, in order, to one of the output. */
struct by_item_function {
    const char *op_type;
    struct by_item (*apply)(const struct by_item *in);
    bool fold; /* two by two over any number of inputs */
};
/* NULL for an operator that is not followed. */
const struct by_item_function *by_item_function(const struct baryon_node *node);
/* In the precision of the type; an integer out of its range is not followed further. */
struct by_item by_item_settle(struct by_item item, int64_t elem);
struct by_item by_item_cast(struct by_item item, int64_t elem);

struct by_content *by_new_content(struct by_infer *infer, size_t count, struct baryon_error *err);
/* NULL content when the tensor is too big or of a type that is not followed. */
int by_content_of_tensor(struct by_infer *infer, const struct baryon_tensor *tensor,
                         const struct by_content **content, struct baryon_error *err);
/* Elements of a view: out index i_0..i_n stands at offset + sum(i_k * strides[k]). */
int by_content_view(struct by_infer *infer, const struct by_content *from,
                    const struct by_shape *out_shape, int64_t offset, const int64_t *strides,
                    const struct by_content **out, struct baryon_error *err);
/* Row-major strides of a static shape. */
void by_strides(const struct by_shape *shape, int64_t *strides);
bool by_elem_is_followed(int64_t elem);
bool by_elem_is_real(int64_t elem);

/* Every rule that a row names is declared here. */
#define OP(op_type, opsets, in, out, roles, types, rule, attrs) by_infer_fn by_infer_##rule;
#include "ir/opinfo_table.h"
#undef OP

#endif
