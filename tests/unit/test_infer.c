/* Tests type and shape inference on whole graphs. */
#include "infer_case.h"

#include "ir/infer_internal.h"

#define assert_found(graph, name, wanted) assert_string_equal(found_text((graph), (name)), (wanted))

static void infer(struct baryon_model *model)
{
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
}

static struct baryon_node *with_int(struct baryon_node *node, struct baryon_model *model,
                                    const char *name, int64_t value)
{
    put_attr(model, node, name, BY_ATTR_INT)->i = value;
    return node;
}

/* Views of a picture as exporters write them: x.view(x.size(0), -1). */
static void shape_gather_concat_reshape(void **state)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    (void)state;
    put_value(graph, "x", "float32[N,3,H,W]");
    put_value(graph, "zero", "int64=0");
    put_value(graph, "axis", "int64{0}");
    put_value(graph, "rest", "int64{3,-1}");
    put_node(graph, "a", "Shape", "x", "shape");
    put_node(graph, "b", "Gather", "shape,zero", "batch");
    put_node(graph, "c", "Unsqueeze", "batch,axis", "batch1");
    with_int(put_node(graph, "d", "Concat", "batch1,rest", "wanted"), model, "axis", 0);
    put_node(graph, "e", "Reshape", "x,wanted", "y");
    infer(model);
    assert_found(graph, "shape", "int64[4]");
    assert_found(graph, "batch", "int64[]");
    assert_found(graph, "wanted", "int64[3]");
    assert_found(graph, "y", "float32[N,3,?]");
    by_model_free(model);
}

/* A symbol survives casts to float and back, and multiplications by 1. */
static void values_follow_arithmetic(void **state)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    (void)state;
    put_value(graph, "x", "float32[N,3,20,30]");
    put_value(graph, "factors", "float32{1,1,2,1.5}");
    put_node(graph, "a", "Shape", "x", "shape");
    with_int(put_node(graph, "b", "Cast", "shape", "real"), model, "to", BY_ELEM_FLOAT);
    put_node(graph, "c", "Mul", "real,factors", "scaled");
    put_node(graph, "d", "Floor", "scaled", "whole");
    with_int(put_node(graph, "e", "Cast", "whole", "sizes"), model, "to", BY_ELEM_INT64);
    put_node(graph, "f", "Resize", "x,,,sizes", "y");
    infer(model);
    assert_found(graph, "y", "float32[N,3,40,45]");
    by_model_free(model);
}

/* Pads as exporters write them: a list, made two columns, turned round, flattened. */
static void values_follow_rank_two(void **state)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    (void)state;
    put_value(graph, "x", "float32[N,3,20,30]");
    put_value(graph, "list", "int64{1,2,3,4,0,0,0,0}");
    put_value(graph, "columns", "int64{-1,2}");
    put_value(graph, "last", "int64{-1}");
    put_value(graph, "least", "int64{-9223372036854775807}");
    put_value(graph, "first", "int64{0}");
    put_node(graph, "a", "Reshape", "list,columns", "pairs");
    put_node(graph, "b", "Slice", "pairs,last,least,first,last", "turned");
    put_node(graph, "c", "Transpose", "turned", "across");
    put_node(graph, "d", "Reshape", "across,last", "pads");
    put_node(graph, "e", "Pad", "x,pads", "y");
    infer(model);
    assert_found(graph, "across", "int64[2,4]");
    assert_found(graph, "y", "float32[N,3,27,33]");
    by_model_free(model);
}

static void where_picks_what_to_expand_to(void **state)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    (void)state;
    put_value(graph, "x", "float32[N,1,8]");
    put_value(graph, "asked", "int64{-1,4,-1}");
    put_value(graph, "minus", "int64=-1");
    put_node(graph, "a", "Shape", "x", "shape");
    put_node(graph, "b", "Equal", "asked,minus", "keep");
    put_node(graph, "c", "Where", "keep,shape,asked", "sizes");
    put_node(graph, "d", "Expand", "x,sizes", "y");
    infer(model);
    assert_found(graph, "y", "float32[N,4,8]");
    by_model_free(model);
}

static void declared(struct baryon_graph *graph, struct by_ptrs *list, const char *name,
                     int64_t elem, const char *dims)
{
    push(graph->model, list, new_info(graph->model, name, elem, dims));
}

static void declarations_fill_what_rules_leave(void **state)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    struct by_infer_result result;
    (void)state;
    put_value(graph, "x", "float32[N,?,4]");
    declared(graph, &graph->output, "y", BY_ELEM_FLOAT, "M,5,?");
    declared(graph, &graph->value_info, "z", BY_ELEM_INT8, "7]");
    put_node(graph, "a", "Relu", "x", "y");
    put_node(graph, "b", "Mystery", "x", "z");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, &result, &err));
    assert_found(graph, "y", "float32[N,5,4]");
    assert_found(graph, "z", "int8[7]");
    assert_int_equal(result.values, 3);
    assert_int_equal(result.typed, 3);
    assert_int_equal(result.shaped, 3);
    assert_int_equal(result.ruleless, 1);
    assert_int_equal(result.conflicts, 0);
    by_model_free(model);
}

static void a_wrong_declared_type_is_an_error(void **state)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    (void)state;
    put_value(graph, "x", "float32[N]");
    declared(graph, &graph->output, "y", BY_ELEM_INT64, "N");
    put_node(graph, "a", "Relu", "x", "y");
    assert_ok(by_model_link(model, &err));
    assert_err(by_model_infer(model, NULL, &err), BARYON_ERR_INPUT,
               "graph.node[0]: value 'y' is declared int64 (7) but is float32");
    by_model_free(model);
}

static void a_wrong_declared_shape_is_counted(void **state)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    struct by_infer_result result;
    (void)state;
    put_value(graph, "x", "float32[2,3]");
    declared(graph, &graph->output, "y", BY_ELEM_FLOAT, "5,3");
    declared(graph, &graph->output, "z", BY_ELEM_FLOAT, "3");
    put_node(graph, "a", "Relu", "x", "y");
    put_node(graph, "b", "Relu", "x", "z");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, &result, &err));
    assert_found(graph, "y", "float32[2,3]");
    assert_found(graph, "z", "float32[2,3]");
    assert_int_equal(result.conflicts, 2);
    by_model_free(model);
}

/* An initializer that is an input too may be given another value, but not before IR 4. */
static void defaults_of_inputs_are_not_followed(void **state)
{
    (void)state;
    for (int64_t version = 3; version <= 10; version += 7) {
        struct baryon_model *model = new_model();
        struct baryon_graph *graph = model->graph;
        model->ir_version = version;
        put_value(graph, "x", "float32[6]");
        put_value(graph, "wanted", "int64{2,3}");
        declared(graph, &graph->input, "wanted", BY_ELEM_INT64, "2");
        put_node(graph, "a", "Reshape", "x,wanted", "y");
        infer(model);
        assert_found(graph, "y", version == 3 ? "float32[2,3]" : "float32[?,?]");
        by_model_free(model);
    }
}

static void nodes_in_the_wrong_order(void **state)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    (void)state;
    put_value(graph, "x", "float32[N,3]");
    put_node(graph, "b", "Relu", "a", "b");
    put_node(graph, "a", "Relu", "x", "a");
    infer(model);
    assert_found(graph, "b", "float32[N,3]");
    assert_string_equal(order_of(graph), "b a");
    by_model_free(model);
}

/* An If whose branches make one output of `x` each; returns the node. */
static struct baryon_node *put_if(struct baryon_graph *graph, const char *then_op,
                                  const char *else_op, const char *then_in, const char *else_in)
{
    struct baryon_model *model = graph->model;
    struct baryon_node *node = put_node(graph, "if", "If", "c", "y");
    struct baryon_graph *yes = put_nested(model, node, "then_branch");
    struct baryon_graph *no = put_nested(model, node, "else_branch");
    put_node(yes, "t", then_op, then_in, "t");
    put_node(no, "e", else_op, else_in, "e");
    push(model, &yes->output, BY_ARENA_NEW(&model->arena, struct by_value_info, &err));
    push(model, &no->output, BY_ARENA_NEW(&model->arena, struct by_value_info, &err));
    ((struct by_value_info *)yes->output.at[0])->name = name_of(model, "t");
    ((struct by_value_info *)no->output.at[0])->name = name_of(model, "e");
    return node;
}

static void branches_merge(void **state)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    (void)state;
    put_value(graph, "c", "bool[]");
    put_value(graph, "x", "float32[N,3,4]");
    put_value(graph, "z", "float32[N,5,4]");
    put_if(graph, "Relu", "Identity", "x", "z");
    infer(model);
    assert_found(graph, "y", "float32[N,?,4]");
    by_model_free(model);
}

static void branches_of_two_types_are_refused(void **state)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    (void)state;
    put_value(graph, "c", "bool[]");
    put_value(graph, "x", "float32[N]");
    put_value(graph, "z", "int8[N]");
    put_if(graph, "Relu", "Identity", "x", "z");
    assert_ok(by_model_link(model, &err));
    assert_err(by_model_infer(model, NULL, &err), BARYON_ERR_INPUT,
               "graph.node[0]: node 'if' (If): output 0 is float32 or int8, must be one type");
    by_model_free(model);
}

/* Exported squeeze: only the branch that is taken has to make sense. */
static void a_certain_condition_chooses(void **state)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    (void)state;
    put_value(graph, "x", "float32[N,3]");
    put_value(graph, "one", "int64{1}");
    put_value(graph, "at", "int64=1");
    put_value(graph, "wanted", "int64=1");
    put_node(graph, "a", "Shape", "x", "shape");
    put_node(graph, "b", "Gather", "shape,at", "size");
    put_node(graph, "d", "Equal", "size,wanted", "c");
    put_if(graph, "Squeeze", "Identity", "x,one", "x");
    infer(model);
    assert_found(graph, "y", "float32[N,3]");
    by_model_free(model);
}

static void put_body_io(struct baryon_graph *body, struct by_ptrs *list, const char *name)
{
    struct by_value_info *info = BY_ARENA_NEW(&body->model->arena, struct by_value_info, &err);
    assert_non_null(info);
    info->name = name_of(body->model, name);
    push(body->model, list, info);
}

static void loops_carry_and_stack(void **state)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    (void)state;
    put_value(graph, "m", "int64[]");
    put_value(graph, "c", "bool[]");
    put_value(graph, "x", "float32[N,3]");
    put_value(graph, "w", "float32[3,5]");
    struct baryon_node *node = put_node(graph, "loop", "Loop", "m,c,x", "last,all");
    struct baryon_graph *body = put_nested(model, node, "body");
    put_body_io(body, &body->input, "i");
    put_body_io(body, &body->input, "go");
    put_body_io(body, &body->input, "v");
    put_node(body, "a", "Identity", "go", "go_out");
    put_node(body, "b", "Relu", "x", "v_out");
    put_node(body, "d", "MatMul", "x,w", "each");
    put_node(body, "e", "Identity", "v", "copy");
    put_body_io(body, &body->output, "go_out");
    put_body_io(body, &body->output, "v_out");
    put_body_io(body, &body->output, "each");
    infer(model);
    assert_found(graph, "last", "float32[N,3]");
    assert_found(graph, "all", "float32[?,N,5]");
    assert_found(body, "i", "int64[...]");
    assert_found(body, "go_out", "bool[...]");
    assert_found(body, "copy", "float32[...]");
    by_model_free(model);
}

static void scans_slice_and_stack(void **state)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    (void)state;
    put_value(graph, "s", "float32[4]");
    put_value(graph, "x", "float32[T,4]");
    struct baryon_node *node =
        with_int(put_node(graph, "scan", "Scan", "s,x", "last,all"), model, "num_scan_inputs", 1);
    struct baryon_graph *body = put_nested(model, node, "body");
    put_body_io(body, &body->input, "state");
    put_body_io(body, &body->input, "row");
    put_node(body, "a", "Add", "state,row", "sum");
    put_node(body, "b", "Identity", "sum", "out");
    put_body_io(body, &body->output, "sum");
    put_body_io(body, &body->output, "out");
    infer(model);
    assert_found(body, "row", "float32[4]");
    assert_found(graph, "last", "float32[4]");
    assert_found(graph, "all", "float32[T,4]");
    by_model_free(model);
}

static void sequences_remember_their_tensors(void **state)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    (void)state;
    put_value(graph, "x", "float16[N,3]");
    put_value(graph, "z", "float16[N,4]");
    put_value(graph, "at", "int64=0");
    put_node(graph, "a", "SequenceConstruct", "x,z", "seq");
    put_node(graph, "b", "SequenceAt", "seq,at", "y");
    put_node(graph, "c", "SequenceLength", "seq", "n");
    with_int(put_node(graph, "d", "ConcatFromSequence", "seq", "joined"), model, "axis", 1);
    infer(model);
    assert_found(graph, "seq", "0[...]");
    assert_found(graph, "y", "float16[N,?]");
    assert_found(graph, "n", "int64[]");
    assert_found(graph, "joined", "float16[N,?]");
    by_model_free(model);
}

/* A function of the domain "local" whose nodes are those put into `body`. */
static void put_function(struct baryon_model *model, const char *name, const char *inputs,
                         const char *outputs, const struct baryon_graph *body)
{
    struct by_function *function = BY_ARENA_NEW(&model->arena, struct by_function, &err);
    push(model, &model->functions, function);
    function->name = name_of(model, name);
    function->domain = name_of(model, "local");
    push_names(model, &function->input, inputs);
    push_names(model, &function->output, outputs);
    function->node = body->node;
    function->opset_import = model->opset_import;
}

static struct baryon_node *put_call(struct baryon_graph *graph, const char *function,
                                    const char *inputs, const char *outputs)
{
    struct baryon_node *node = put_node(graph, "call", function, inputs, outputs);
    node->domain = name_of(graph->model, "local");
    return node;
}

/* The body sees the attributes of the call, and inputs that are left out as left out. */
static void functions_are_walked_per_call(void **state)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph, body = {.model = model};
    (void)state;
    put_value(graph, "x", "float32[N,3,8]");
    put_value(graph, "w", "float32[4,3,3]");
    put_node(&body, "c", "Conv", "a,b,bias", "t");
    struct baryon_node *joined = put_node(&body, "j", "Concat", "t,t", "r");
    put_attr(model, joined, "axis", BY_ATTR_INT)->ref_attr_name = name_of(model, "where");
    put_function(model, "block", "a,b,bias", "r", &body);
    with_int(put_call(graph, "block", "x,w", "y"), model, "where", 1);
    with_int(put_call(graph, "block", "x,w", "z"), model, "where", 2);
    infer(model);
    assert_found(graph, "y", "float32[N,8,6]");
    assert_found(graph, "z", "float32[N,4,12]");
    by_model_free(model);
}

/* Contradictions in a body are not the caller's. */
static void a_function_that_makes_no_sense_gives_nothing(void **state)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph, body = {.model = model};
    (void)state;
    put_value(graph, "x", "float32[N,3]");
    put_node(&body, "a", "Relu", "nowhere", "r");
    put_function(model, "bad", "a", "r", &body);
    put_call(graph, "bad", "x", "y");
    put_call(graph, "missing", "x", "z");
    infer(model);
    assert_found(graph, "y", "0[...]");
    assert_found(graph, "z", "0[...]");
    by_model_free(model);
}

/* Each calls the next twice: 2^30 calls, if nobody counted. */
static void calls_of_calls_are_limited(void **state)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    char name[16], next[16];
    (void)state;
    put_value(graph, "x", "float32[N]");
    for (int i = 0; i < 30; i++) {
        struct baryon_graph body = {.model = model};
        snprintf(name, sizeof name, "f%d", i);
        snprintf(next, sizeof next, "f%d", i + 1);
        put_call(&body, next, "a", "b");
        put_call(&body, next, "b", "c");
        put_function(model, name, "a", "c", &body);
    }
    put_call(graph, "f0", "x", "y");
    infer(model);
    assert_found(graph, "y", "0[...]");
    by_model_free(model);
}

/* What cannot be told is left open, and asking twice gives the same. */
static void inference_can_be_repeated(void **state)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    struct by_infer_result first, second;
    (void)state;
    put_value(graph, "x", "float32[N,3,8,8]");
    put_value(graph, "w", "float32[4,3,3,3]");
    put_node(graph, "a", "Conv", "x,w", "y");
    put_node(graph, "b", "Relu", "y", "z");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, &first, &err));
    assert_ok(by_model_infer(model, &second, &err));
    assert_memory_equal(&first, &second, sizeof first);
    assert_found(graph, "z", "float32[N,4,6,6]");
    by_model_free(model);
}

static void shape_text_is_cut_to_fit(void **state)
{
    struct by_arena arena;
    char text[16];
    (void)state;
    by_arena_init(&arena, 0);
    struct by_shape *shape = by_shape_new(&arena, 3, &err);
    assert_non_null(shape);
    shape->dims[0] = by_extent_of(1234567);
    shape->dims[1].symbol = "a_long_symbol";
    assert_string_equal(by_shape_text(shape, text, sizeof text), "[1234567,a_long");
    assert_string_equal(by_shape_text(shape, text, 1), "");
    assert_string_equal(by_shape_text(NULL, text, sizeof text), "[...]");
    assert_null(by_shape_new(&arena, BY_RANK_MAX + 1, &err));
    assert_int_equal(err.code, BARYON_ERR_UNSUPPORTED);
    by_arena_release(&arena);
}

static void equal_extents(void **state)
{
    static const char n[] = "N", m[] = "M";
    const struct by_extent symbol_n = {-1, n}, symbol_m = {-1, m};
    int64_t count;
    (void)state;
    assert_true(by_extent_equal(by_extent_of(3), by_extent_of(3)));
    assert_false(by_extent_equal(by_extent_of(3), by_extent_of(4)));
    assert_false(by_extent_equal(by_extent_of(3), symbol_n));
    assert_true(by_extent_equal(symbol_n, symbol_n));
    assert_false(by_extent_equal(symbol_n, symbol_m));
    assert_false(by_extent_equal(by_extent_unknown(), by_extent_unknown()));
    assert_false(by_extent_is_known(by_extent_of(-5)));
    assert_false(by_shape_count(NULL, &count));
}

/* More elements than can be: nothing overflows, nothing is followed. */
static void absurd_sizes(void **state)
{
    static const struct infer_case cases[] = {
        {"Flatten", "float32[4611686018427387904,4611686018427387904,8]", "axis:2", "float32[?,8]"},
        {"Reshape", "float32[4611686018427387904,4] int64{-1}", NULL, "float32[?]"},
        {"Concat", "float32[4611686018427387904] float32[4611686018427387904]", "axis:0",
         "float32[?]"},
        {"Size", "float32[4611686018427387904,4]", NULL, "int64[]"},
        {"Conv", "float32[1,3,4611686018427387904] float32[1,3,3]", NULL, "float32[1,1,?]"},
        {"ConvTranspose", "float32[1,1,4611686018427387904] float32[1,1,3]", "strides=[9]",
         "float32[1,1,?]"},
        {"MaxUnpool", "float32[1,1,4611686018427387904] int64[1,1,1]",
         "kernel_shape=[2] strides=[9]", "float32[1,1,?]"},
        {"DepthToSpace", "float32[1,4,4611686018427387904,1]", "blocksize:2", "float32[1,1,?,2]"},
        {"DepthToSpace", "float32[1,4,1,1]", "blocksize:4611686018427387904", "!blocksize is"},
        {"Range", "int64=-9e18 int64=9e18 int64=1", NULL, "int64[?]"},
        {"OneHot", "int64[2] int64=-5 float32[2]", NULL, "float32[2,?]"},
        {"Resize", "float32[4611686018427387904] - float32{1e8}", NULL, "float32[?]"},
        {"Resize", "float32[4] - float32{1e30}", NULL, "!scale 0 is"},
        {"Unsqueeze", "float32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1] int64{0}", NULL,
         "!the rank becomes 17, must be at most 16"},
        {"Gather", "float32[1,1,1,1,1,1,1,1,1,1] int64[1,1,1,1,1,1,1,1,1]", NULL,
         "!rank is 18, must be at most 16"},
    };
    (void)state;
    check_cases(cases, 21);
}

/* A split whose last size is a symbol: the sizes before it may not reach beyond the end. */
static void splits_stay_inside(void **state)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    (void)state;
    put_value(graph, "x", "float32[N]");
    put_value(graph, "five", "int64{5}");
    put_value(graph, "list", "int64{1,2,3}");
    put_node(graph, "a", "Shape", "x", "shape");
    with_int(put_node(graph, "b", "Concat", "five,shape", "sizes"), model, "axis", 0);
    put_node(graph, "c", "Split", "list,sizes", "y,z");
    assert_ok(by_model_link(model, &err));
    assert_err(by_model_infer(model, NULL, &err), BARYON_ERR_INPUT,
               "graph.node[2]: node 'c' (Split): the sizes in split sum to 5 at least, but the "
               "axis has 3");
    by_model_free(model);
}

static void sizes_of_splits_do_not_overflow(void **state)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    (void)state;
    put_value(graph, "x", "float32[N]");
    put_value(graph, "sizes", "int64{9e18,9e18}");
    put_node(graph, "a", "Split", "x,sizes", "y,z");
    assert_ok(by_model_link(model, &err));
    assert_err(by_model_infer(model, NULL, &err), BARYON_ERR_INPUT,
               "graph.node[0]: node 'a' (Split): the sizes in split overflow at split[1]");
    by_model_free(model);
}

/* Dimensions beside one of 0 may be anything: their product is never needed. */
static void empty_constants_have_any_size(void **state)
{
    const int64_t dims[] = {0, INT64_C(1) << 47, INT64_C(1) << 47};
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    (void)state;
    struct baryon_tensor *tensor = by_tensor_new(model, "w", BY_ELEM_INT64, dims, 3, NULL, 0, &err);
    push(model, &graph->initializer, tensor);
    put_value(graph, "start", "int64{1,1}");
    put_value(graph, "end", "int64{-1,-1}");
    put_value(graph, "axes", "int64{1,2}");
    put_node(graph, "a", "Transpose", "w", "turned");
    put_node(graph, "b", "Slice", "w,start,end,axes", "cut");
    put_node(graph, "c", "Split", "w", "left,right");
    infer(model);
    assert_found(graph, "turned", "int64[140737488355328,140737488355328,0]");
    assert_found(graph, "cut", "int64[0,140737488355326,140737488355326]");
    assert_found(graph, "left", "int64[0,140737488355328,140737488355328]");
    by_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_stay_inside),
        cmocka_unit_test(sizes_of_splits_do_not_overflow),
        cmocka_unit_test(empty_constants_have_any_size),
        cmocka_unit_test(shape_gather_concat_reshape),
        cmocka_unit_test(values_follow_arithmetic),
        cmocka_unit_test(values_follow_rank_two),
        cmocka_unit_test(where_picks_what_to_expand_to),
        cmocka_unit_test(declarations_fill_what_rules_leave),
        cmocka_unit_test(a_wrong_declared_type_is_an_error),
        cmocka_unit_test(a_wrong_declared_shape_is_counted),
        cmocka_unit_test(defaults_of_inputs_are_not_followed),
        cmocka_unit_test(nodes_in_the_wrong_order),
        cmocka_unit_test(branches_merge),
        cmocka_unit_test(branches_of_two_types_are_refused),
        cmocka_unit_test(a_certain_condition_chooses),
        cmocka_unit_test(loops_carry_and_stack),
        cmocka_unit_test(scans_slice_and_stack),
        cmocka_unit_test(sequences_remember_their_tensors),
        cmocka_unit_test(functions_are_walked_per_call),
        cmocka_unit_test(a_function_that_makes_no_sense_gives_nothing),
        cmocka_unit_test(calls_of_calls_are_limited),
        cmocka_unit_test(inference_can_be_repeated),
        cmocka_unit_test(shape_text_is_cut_to_fit),
        cmocka_unit_test(equal_extents),
        cmocka_unit_test(absurd_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
