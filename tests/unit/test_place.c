/* What is quantized, for whom, with whose parameters, and why the rest is not. */
#include "place_case.h"

#include <math.h>

/* --- Models --- */

/* x -> Conv(w, b) -> c; 2 channels become 4. */
static struct baryon_model *conv_model(void)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "N,2,4,4");
    put_floats(model, "w", "4,2,1,1", 0.5f);
    put_floats(model, "b", "4", 1);
    put_node(model->graph, "conv", "Conv", "x,w,b", "c");
    return model;
}

static void set_recipe(void)
{
    set_int8_recipe();
    recipe.fuse_relu = recipe.fuse_clip = true;
}

static int prepare(void **state)
{
    (void)state;
    set_recipe();
    return 0;
}

/* --- Plans as text --- */

/* "x:conv w:conv y:out"; after "=" the row that it shares with. */
static const char *rows_text(void)
{
    static char text[2048];
    text[0] = '\0';
    for (size_t i = 0; i < plan->rows.count; i++) {
        const struct by_quant_row *row = &plan->rows.at[i];
        size_t used = strlen(text);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "",
                                 row->value->name);
        if (row->shares != BY_NO_ROW)
            used += (size_t)snprintf(text + used, sizeof text - used, "=%s",
                                     plan->rows.at[row->shares].value->name);
        for (size_t k = 0; k < row->readers.count; k++)
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "%s%s", k ? "," : ":",
                                 row->readers.at[k].node ? row->readers.at[k].node->name : "out");
    }
    return text;
}

#define assert_rows(model, wanted)                                                                 \
    do {                                                                                           \
        place((model), NULL);                                                                      \
        assert_string_equal(rows_text(), (wanted));                                                \
        close_plan();                                                                              \
    } while (0)

/* --- Layers --- */

static void a_layer_and_its_activation_are_one(void **state)
{
    (void)state;
    struct baryon_model *model = conv_model();
    put_node(model->graph, "relu", "Relu", "c", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    assert_rows(model, "x:conv w:conv b:conv y:out");

    recipe.fuse_relu = false;
    model = conv_model();
    put_node(model->graph, "relu", "Relu", "c", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    assert_rows(model, "x:conv w:conv b:conv c:relu y:out");
}

static void two_readers_keep_the_pair(void **state)
{
    (void)state;
    struct baryon_model *model = conv_model();
    put_node(model->graph, "relu", "Relu", "c", "y");
    put_node(model->graph, "sum", "Add", "c,y", "z");
    gives(model, "z", BY_ELEM_FLOAT, NULL);
    assert_rows(model, "x:conv w:conv b:conv c:relu,sum y:sum z:out");
}

static void a_product_and_its_bias_have_one_pair(void **state)
{
    (void)state;
    static const struct {
        const char *bias, *rows;
        enum by_format format;
    } cases[] = {{"1,4", "x:mat w:mat b:sum y:out", BY_FORMAT_QDQ},
                 {"4", "x:mat w:mat m:sum b:sum y:out", BY_FORMAT_QOPERATOR},
                 {"3,4", "x:mat w:mat m:sum b:sum y:out", BY_FORMAT_QDQ}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct baryon_model *model = new_model();
        recipe.format = cases[i].format;
        takes(model, "x", BY_ELEM_FLOAT, "N,3,2");
        put_floats(model, "w", "2,4", 0.5f);
        put_floats(model, "b", cases[i].bias, 1);
        put_node(model->graph, "mat", "MatMul", "x,w", "m");
        put_node(model->graph, "sum", "Add", "b,m", "y");
        gives(model, "y", BY_ELEM_FLOAT, NULL);
        assert_rows(model, cases[i].rows);
    }
}

static void only_clips_that_hardware_has_are_fused(void **state)
{
    (void)state;
    for (int high = 6; high < 8; high++) {
        struct baryon_model *model = conv_model();
        put_floats(model, "low", "", 0);
        put_floats(model, "high", "", (float)high);
        put_node(model->graph, "clip", "Clip", "c,low,high", "y");
        gives(model, "y", BY_ELEM_FLOAT, NULL);
        assert_rows(model,
                    high == 6 ? "x:conv w:conv b:conv y:out" : "x:conv w:conv b:conv c:clip y:out");
    }
}

static void a_range_does_the_work_of_relu(void **state)
{
    (void)state;
    recipe.fold_relu = true;
    recipe.activation = (struct by_tensor_spec){.elem = BY_ELEM_UINT8};
    struct baryon_model *model = conv_model();
    put_node(model->graph, "relu", "Relu", "c", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    place(model, NULL);
    assert_string_equal(rows_text(), "x:conv w:conv b:conv y:out");
    assert_true(plan_node("relu")->folded);
    close_plan();
}

static void biases_count_in_units_of_the_product(void **state)
{
    (void)state;
    struct baryon_model *model = conv_model();
    gives(model, "c", BY_ELEM_FLOAT, NULL);
    place(model, NULL);
    assert_int_equal(row_of("b")->spec.elem, BY_ELEM_INT32);
    assert_ptr_equal(&plan->rows.at[row_of("b")->input_row], row_of("x"));
    assert_ptr_equal(&plan->rows.at[row_of("b")->weight_row], row_of("w"));
    close_plan();

    recipe.bias_kind = BY_BIAS_OWN;
    model = conv_model();
    gives(model, "c", BY_ELEM_FLOAT, NULL);
    place(model, NULL);
    assert_int_equal(row_of("b")->spec.elem, BY_ELEM_INT8);
    assert_int_equal(row_of("b")->input_row, BY_NO_ROW);
    close_plan();

    recipe.bias_kind = BY_BIAS_FLOAT;
    model = conv_model();
    gives(model, "c", BY_ELEM_FLOAT, NULL);
    assert_rows(model, "x:conv w:conv c:out");
}

static void gemm_counts_alpha_and_beta(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "N,2");
    put_floats(model, "w", "2,3", 1);
    put_floats(model, "b", "3", 1);
    struct baryon_node *gemm = put_node(model->graph, "gemm", "Gemm", "x,w,b", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    assert_ok(by_model_link(model, &err));
    assert_ok(by_node_set_float(gemm, "alpha", 3, &err));
    assert_ok(by_node_set_float(gemm, "beta", 2, &err));
    recipe.weight.granularity = BY_PER_CHANNEL;
    place(model, NULL);
    assert_true(row_of("b")->beta == 1.5);
    assert_int_equal(row_of("w")->params.axis, 1);
    assert_int_equal(row_of("b")->params.axis, 0);
    assert_true(plan_node("gemm")->macs == 6);
    close_plan();
}

static void shared_biases_are_copied(void **state)
{
    (void)state;
    struct baryon_model *model = conv_model();
    put_node(model->graph, "other", "Conv", "x,w,b", "d");
    gives(model, "c", BY_ELEM_FLOAT, NULL);
    gives(model, "d", BY_ELEM_FLOAT, NULL);
    place(model, NULL);
    assert_string_equal(rows_text(), "x:conv,other w:conv,other b:conv c:out b_1:other d:out");
    assert_sound(model);
    close_plan();
}

static void weights_with_other_axes_are_copied(void **state)
{
    (void)state;
    recipe.weight.granularity = BY_PER_CHANNEL;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "N,2");
    put_floats(model, "w", "2,2", 1);
    put_node(model->graph, "one", "Gemm", "x,w", "y");
    struct baryon_node *two = put_node(model->graph, "two", "Gemm", "y,w", "z");
    gives(model, "z", BY_ELEM_FLOAT, NULL);
    assert_ok(by_model_link(model, &err));
    assert_ok(by_node_set_int(two, "transB", 1, &err));
    place(model, NULL);
    assert_string_equal(rows_text(), "x:one w:one y:two w_1:two z:out");
    assert_int_equal(row_of("w")->params.axis, 1);
    assert_int_equal(row_of("w_1")->params.axis, 0);
    close_plan();
}

/* --- What is moved --- */

static void moved_tensors_share_parameters(void **state)
{
    (void)state;
    struct baryon_model *model = conv_model();
    const int64_t shape[2] = {0, -1};
    put_weight(model, "shape", BY_ELEM_INT64, (const int64_t[]){2}, 1, shape, sizeof shape);
    put_node(model->graph, "move", "Reshape", "c,shape", "r");
    put_node(model->graph, "turn", "Transpose", "r", "t");
    gives(model, "t", BY_ELEM_FLOAT, NULL);
    assert_rows(model, "x:conv w:conv b:conv c:move r=c:turn t=r:out");
}

static void chains_may_be_quantized_only_behind_others(void **state)
{
    (void)state;
    for (int only = 0; only < 2; only++) {
        recipe.keep_unquantized_chains = only;
        struct baryon_model *model = new_model();
        takes(model, "x", BY_ELEM_FLOAT, "2,2");
        put_floats(model, "w", "2,2", 1);
        put_node(model->graph, "turn", "Transpose", "x", "t");
        put_node(model->graph, "root", "Sqrt", "t", "s");
        put_node(model->graph, "mat", "MatMul", "s,w", "y");
        gives(model, "y", BY_ELEM_FLOAT, NULL);
        assert_rows(model, only ? "s:mat w:mat y:out" : "x:turn t=x:root s:mat w:mat y:out");
    }
}

/* Between two layers, x - mean over its deviation, times v, plus v: m is the mean that is taken
 * off, s the mean of squares or what is left of it. */
static struct baryon_model *norm_model(bool flax)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "2,4");
    put_floats(model, "w", "4,4", 1);
    put_floats(model, "v", "4", 1);
    put_floats(model, "k", "1", 1e-5f);
    put_node(model->graph, "one", "MatMul", "x,w", "h");
    put_node(model->graph, "mean", "ReduceMean", "h", "m");
    put_node(model->graph, "sub", "Sub", "h,m", "d");
    put_node(model->graph, "square", "Mul", flax ? "h,h" : "d,d", "q");
    put_node(model->graph, "squares", "ReduceMean", "q", flax ? "p" : "s");
    if (flax) {
        put_node(model->graph, "again", "Mul", "m,m", "o");
        put_node(model->graph, "less", "Sub", "p,o", "s");
    }
    put_node(model->graph, "eps", "Add", "s,k", "t");
    put_node(model->graph, "root", "Sqrt", "t", "r");
    if (flax) {
        put_node(model->graph, "inverse", "Reciprocal", "r", "i");
        put_node(model->graph, "gain", "Mul", "i,v", "j");
        put_node(model->graph, "norm", "Mul", "d,j", "n");
    } else {
        put_node(model->graph, "div", "Div", "d,r", "u");
        put_node(model->graph, "gain", "Mul", "u,v", "n");
    }
    put_node(model->graph, "shift", "Add", "n,v", "e");
    put_node(model->graph, "two", "MatMul", "e,w", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    return model;
}

static void normalizations_written_out_stay_float_as_a_whole(void **state)
{
    (void)state;
    for (int flax = 0; flax < 2; flax++)
        assert_rows(norm_model(flax), flax ? "x:one w:one,two h:mean,sub,square,square e:two y:out"
                                           : "x:one w:one,two h:mean,sub e:two y:out");
    recipe.compat = true;
    place(norm_model(false), NULL);
    assert_non_null(strstr(rows_text(), "u:gain"));
    assert_non_null(strstr(rows_text(), "n:shift"));
    close_plan();
}

/* scores + what is given as "k", then Softmax and a product. */
static struct baryon_model *attention_model(const char *joins)
{
    struct baryon_model *model = new_model();
    struct baryon_node *cast = NULL;
    takes(model, "x", BY_ELEM_FLOAT, "2,4");
    put_floats(model, "w", "4,4", 1);
    put_floats(model, "block", "1", -10000);
    put_floats(model, "one", "1", 1);
    if (!strcmp(joins, "input"))
        takes(model, "k", BY_ELEM_FLOAT, "2,4");
    else if (!strcmp(joins, "bias"))
        put_floats(model, "k", "4", -3);
    else
        takes(model, "keeps", strcmp(joins, "where") ? BY_ELEM_INT64 : BY_ELEM_BOOL, "2,4");
    put_node(model->graph, "scores", "MatMul", "x,w", "h");
    put_node(model->graph, "scale", "Mul", "h,one", "s");
    if (!strcmp(joins, "product")) { /* (1 - mask) * -10000, as BERT has it */
        cast = put_node(model->graph, "cast", "Cast", "keeps", "f");
        put_node(model->graph, "turn", "Sub", "one,f", "g");
        put_node(model->graph, "great", "Mul", "g,block", "k");
    }
    if (!strcmp(joins, "where"))
        put_node(model->graph, "join", "Where", "keeps,s,block", "m");
    else
        put_node(model->graph, "join", "Add", "s,k", "m");
    put_node(model->graph, "soft", "Softmax", "m", "p");
    put_node(model->graph, "out", "MatMul", "p,w", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    assert_ok(by_model_link(model, &err));
    if (cast)
        assert_ok(by_node_set_int(cast, "to", BY_ELEM_FLOAT, &err));
    return model;
}

static void masks_of_attention_have_no_range(void **state)
{
    (void)state;
    static const char *const masks[] = {"product", "where", "input"};
    static const char without[] = "x:scores w:scores,out h:scale one:scale s:join p:out y:out";
    for (size_t i = 0; i < 3; i++) {
        place(attention_model(masks[i]), NULL);
        assert_string_equal(rows_text(), without);
        assert_true(row_of("p")->has_range && row_of("p")->range.high == 1);
        close_plan();
    }
    assert_rows(attention_model("bias"),
                "x:scores w:scores,out h:scale one:scale s:join k:join m:soft p:out y:out");
    recipe.compat = true;
    place(attention_model("where"), NULL);
    assert_non_null(strstr(rows_text(), "m:soft"));
    close_plan();
}

/* Floats of 16 bits lose what a difference of means leaves, blocks also small roots. */
static void floats_and_blocks_keep_what_they_lose(void **state)
{
    (void)state;
    static const char masked[] = "x:scores w:scores,out h:scale one:scale s:join p:out y:out";
    for (int block = 0; block < 2; block++) {
        by_spec_set_type(&recipe.activation, block ? BY_TYPE_MX4 : BY_ELEM_BFLOAT16);
        assert_rows(norm_model(true), "x:one w:one,two h:mean,sub,square,square e:two y:out");
        place(norm_model(false), NULL);
        assert_true((strstr(rows_text(), "d:square") == NULL) == block);
        close_plan();
        place(attention_model("where"), NULL);
        assert_true((strcmp(rows_text(), masked) == 0) == block);
        close_plan();
    }
    recipe.compat = true;
    place(norm_model(true), NULL);
    assert_non_null(strstr(rows_text(), "s:eps"));
    close_plan();
}

static void tables_have_the_parameters_of_what_is_gathered(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "i", BY_ELEM_INT64, "N");
    put_floats(model, "table", "8,2", 1);
    put_floats(model, "w", "2,2", 1);
    put_node(model->graph, "look", "Gather", "table,i", "g");
    put_node(model->graph, "mat", "MatMul", "g,w", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    recipe.activation.elem = BY_ELEM_UINT8;
    place(model, NULL);
    assert_string_equal(rows_text(), "table:look g=table:mat w:mat y:out");
    assert_int_equal(row_of("table")->role, BY_ROLE_WEIGHT);
    assert_int_equal(row_of("table")->spec.elem, BY_ELEM_UINT8);
    close_plan();
}

/* --- Ranges --- */

static void known_ranges(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "2,2");
    takes(model, "z", BY_ELEM_FLOAT, "2,2");
    put_node(model->graph, "mul", "Mul", "x,z", "m");
    put_node(model->graph, "relu", "Relu", "m", "r");
    put_node(model->graph, "soft", "Softmax", "r", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    place(model, NULL);
    assert_ptr_equal(&plan->rows.at[row_of("m")->range_of], row_of("r"));
    assert_true(row_of("y")->has_range && row_of("y")->range.low == 0);
    assert_true(row_of("y")->range.high == 1);
    assert_false(row_of("r")->has_range);
    close_plan();
}

/* --- Who stays float --- */

static struct baryon_model *branches(void)
{
    struct baryon_model *model = conv_model();
    put_node(model->graph, "odd", "Sin", "c", "s");
    put_node(model->graph, "input", "Sin", "x", "t");
    put_floats(model, "v", "4,4,1,1", 1);
    put_node(model->graph, "next", "Conv", "s,v", "d");
    put_node(model->graph, "sum", "Add", "d,c", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    gives(model, "t", BY_ELEM_FLOAT, NULL);
    gives(model, "s", BY_ELEM_FLOAT, NULL);
    return model;
}

static void float_readers_of_quantized_producers_read_what_is_left(void **state)
{
    (void)state;
    struct baryon_model *model = branches();
    place(model, NULL);
    /* Sin reads c as it is afterwards, but x and its own output as they were. */
    assert_string_equal(rows_text(), "x:conv w:conv b:conv c:odd,sum s:next v:next d:sum y:out");
    assert_int_equal(plan_node("odd")->state, BY_NODE_FLOAT);
    assert_string_equal(plan_node("odd")->why, "Sin is not one of the operators to quantize");
    close_plan();
    recipe.compat = true;
    model = branches();
    assert_rows(model, "x:conv,input w:conv b:conv c:odd,sum s:next,out v:next d:sum y:out");
}

static struct baryon_model *logarithm(void)
{
    struct baryon_model *model = conv_model();
    put_floats(model, "k", "", 0.001f);
    put_node(model->graph, "move", "Transpose", "c", "m");
    put_node(model->graph, "square", "Mul", "m,m", "s");
    put_node(model->graph, "add", "Add", "s,k", "p");
    put_node(model->graph, "log", "Log", "p", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    return model;
}

static void what_a_logarithm_reads_stays_float(void **state)
{
    (void)state;
    place(logarithm(), NULL);
    assert_string_equal(rows_text(), "x:conv w:conv b:conv c:move");
    for (size_t i = 0; i < 3; i++) {
        const struct by_quant_node *node = plan_node((const char *[]){"move", "square", "add"}[i]);
        assert_int_equal(node->state, BY_NODE_FLOAT);
        assert_string_equal(node->why, "a logarithm follows: small values matter there");
    }
    close_plan();
    recipe.compat = true;
    place(logarithm(), NULL);
    assert_int_equal(plan_node("add")->state, BY_NODE_QUANTIZED);
    close_plan();
}

static void operators_that_take_integers_later_tell_the_opset(void **state)
{
    (void)state;
    for (int64_t opset = 11; opset <= 12; opset++) {
        struct baryon_model *model = conv_model();
        struct baryon_node *pool = put_node(model->graph, "pool", "MaxPool", "c", "y");
        gives(model, "y", BY_ELEM_FLOAT, NULL);
        assert_ok(by_model_link(model, &err));
        assert_ok(by_node_set_ints(pool, "kernel_shape", (int64_t[]){1, 1}, 2, &err));
        assert_ok(by_model_set_opset(model, "", opset, &err));
        place(model, NULL);
        assert_int_equal(plan_node("pool")->state, opset < 12 ? BY_NODE_FLOAT : BY_NODE_QUANTIZED);
        if (opset < 12)
            assert_string_equal(
                plan_node("pool")->why,
                "MaxPool supports integers from opset 12 on; convert the model with --opset 12");
        close_plan();
    }
}

static void infinite_constants_keep_a_node_float(void **state)
{
    (void)state;
    struct baryon_model *model = conv_model();
    put_floats(model, "k", "", INFINITY);
    put_node(model->graph, "add", "Add", "c,k", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    place(model, NULL);
    assert_string_equal(plan_node("add")->why, "its constant 'k' has infinities or NaN");
    assert_string_equal(rows_text(), "x:conv w:conv b:conv c:add");
    close_plan();
}

static void nested_graphs_are_left_whole(void **state)
{
    (void)state;
    struct baryon_model *model = conv_model();
    takes(model, "which", BY_ELEM_BOOL, "");
    struct baryon_node *choose = put_node(model->graph, "if", "If", "which", "z");
    for (int i = 0; i < 2; i++) {
        struct baryon_graph *branch = put_nested(model, choose, i ? "else_branch" : "then_branch");
        put_node(branch, i ? "in1" : "in0", "Sigmoid", "c", i ? "b1" : "b0");
        put_output(branch, i ? "b1" : "b0");
    }
    gives(model, "z", BY_ELEM_FLOAT, NULL);
    place(model, NULL);
    assert_string_equal(rows_text(), "x:conv w:conv b:conv c:in0,in1");
    assert_int_equal(plan_node("in0")->state, BY_NODE_FLOAT);
    assert_string_equal(plan_node("in0")->why, "it is in a nested graph; nested graphs stay float");
    close_plan();
}

static void nothing_to_quantize_is_an_error(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "2");
    put_node(model->graph, "odd", "Sin", "x", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    assert_ok(by_quant_plan_open(&plan, model, &recipe, &err));
    assert_err(by_place(plan, NULL, NULL, &err), BARYON_ERR_USAGE,
               "no node of the model can be quantized with this config; node 'odd' (Sin) stays "
               "float: Sin is not one of the operators to quantize");
    close_plan();
}

/* Of a network of convolutions a preset for transformers leaves all: no node before them tells. */
static void the_reason_is_that_of_the_costliest_node(void **state)
{
    (void)state;
    recipe.operators = BY_OPERATORS_TRANSFORMER;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "1,2,4,4");
    put_floats(model, "w", "2,2,1,1", 4);
    put_node(model->graph, "odd", "Sin", "x", "s");
    put_node(model->graph, "conv", "Conv", "s,w", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    assert_ok(by_quant_plan_open(&plan, model, &recipe, &err));
    assert_err(by_place(plan, NULL, NULL, &err), BARYON_ERR_USAGE,
               "no node of the model can be quantized with this config; node 'conv' (Conv) stays "
               "float: Conv is not one of the operators to quantize");
    close_plan();
}

static void weights_alone(void **state)
{
    (void)state;
    recipe.approach = BY_APPROACH_WEIGHTS;
    struct baryon_model *model = conv_model();
    put_floats(model, "k", "", 2);
    put_node(model->graph, "mul", "Mul", "c,k", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    assert_rows(model, "w:conv");
}

static void pairs_for_each_reader(void **state)
{
    (void)state;
    recipe.dedicated_pairs = true;
    struct baryon_model *model = branches();
    place(model, NULL);
    assert_true(row_of("c")->dedicated);
    assert_false(row_of("x")->dedicated);
    close_plan();
}

/* --- Rules --- */

static struct by_rule rules[4];

static void use_rules(size_t count)
{
    recipe.rules.at = rules;
    recipe.rules.count = count;
}

static struct by_change to(int64_t elem)
{
    return (struct by_change){.spec = {.elem = elem}, .set = BY_CHANGE_ELEM};
}

static int64_t elem_of(const char *name)
{
    return row_of(name)->spec.elem;
}

/* Where the tensor is float, or has levels below zero, nothing else would do what Relu does. */
static void rules_keep_a_relu_that_its_range_cannot_replace(void **state)
{
    (void)state;
    recipe.fold_relu = true;
    recipe.activation = (struct by_tensor_spec){.elem = BY_ELEM_UINT8};
    for (int way = 0; way < 3; way++) {
        struct baryon_model *model = conv_model();
        put_node(model->graph, "relu", "Relu", "c", "y");
        gives(model, "y", BY_ELEM_FLOAT, NULL);
        rules[0] = (struct by_rule){.kind = BY_RULE_TENSOR, .pattern = {"y", NULL}};
        rules[0].keep_float = way == 1;
        rules[0].input = (struct by_change){{.symmetric = way == 2}, BY_CHANGE_SYMMETRIC};
        use_rules(1);
        place(model, NULL);
        assert_int_equal(plan_node("relu")->folded, way == 0);
        close_plan();
    }
}

static void stronger_rules_count(void **state)
{
    (void)state;
    rules[0] = (struct by_rule){.kind = BY_RULE_TENSOR, .pattern = {"d", NULL}};
    rules[0].input = to(BY_ELEM_UINT16);
    rules[1] = (struct by_rule){.kind = BY_RULE_NODE, .pattern = {"sum", NULL}};
    rules[1].input = to(BY_ELEM_INT16);
    rules[2] = (struct by_rule){.kind = BY_RULE_NODE, .pattern = {"conv", NULL}};
    rules[2].output = rules[2].weight = to(BY_ELEM_UINT8);
    rules[3] = (struct by_rule){.kind = BY_RULE_OP_TYPE, .pattern = {"Conv", NULL}};
    rules[3].output = rules[3].input = to(BY_ELEM_UINT8);
    use_rules(4);
    place(branches(), NULL);
    assert_int_equal(elem_of("d"), BY_ELEM_UINT16); /* of the tensor */
    assert_int_equal(elem_of("c"), BY_ELEM_INT16);  /* its reader beats its producer */
    assert_int_equal(elem_of("x"), BY_ELEM_UINT8);  /* of the operator */
    assert_int_equal(elem_of("w"), BY_ELEM_UINT8);
    assert_int_equal(elem_of("v"), BY_ELEM_INT8);
    assert_int_equal(elem_of("y"), BY_ELEM_INT8);
    close_plan();
}

static void readers_that_contradict_are_named(void **state)
{
    (void)state;
    struct baryon_model *model = conv_model();
    put_node(model->graph, "one", "Sigmoid", "c", "s");
    put_node(model->graph, "two", "Tanh", "c", "t");
    gives(model, "s", BY_ELEM_FLOAT, NULL);
    gives(model, "t", BY_ELEM_FLOAT, NULL);
    rules[0] = (struct by_rule){.kind = BY_RULE_NODE, .pattern = {"one", NULL}};
    rules[0].input = to(BY_ELEM_INT16);
    rules[1] = (struct by_rule){.kind = BY_RULE_NODE, .pattern = {"two", NULL}};
    rules[1].input = to(BY_ELEM_UINT8);
    use_rules(2);
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    assert_ok(by_quant_plan_open(&plan, model, &recipe, &err));
    assert_err(by_place(plan, NULL, NULL, &err), BARYON_ERR_USAGE,
               "tensor 'c': the rules for node 'one' (Sigmoid) (int16, symmetric, per tensor, "
               "minmax) and node 'two' (Tanh) (uint8, symmetric, per tensor, minmax) contradict "
               "each other; add a rule for the tensor itself");
    close_plan();
}

static void rules_that_pick_nothing_are_errors(void **state)
{
    (void)state;
    struct baryon_model *model = branches();
    rules[0] = (struct by_rule){.kind = BY_RULE_NODE, .pattern = {"nixt", "--node"}};
    use_rules(1);
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    assert_ok(by_quant_plan_open(&plan, model, &recipe, &err));
    assert_err(by_place(plan, NULL, NULL, &err), BARYON_ERR_USAGE,
               "--node: 'nixt' matches no node of the model; did you mean 'next'?");
    close_plan();
}

static void given_parameters_stand(void **state)
{
    const double scale = 0.25;
    const int64_t zero = 3;
    (void)state;
    rules[0] = (struct by_rule){.kind = BY_RULE_TENSOR,
                                .pattern = {"c", NULL},
                                .scales = &scale,
                                .zeros = &zero,
                                .param_count = 1};
    rules[1] = (struct by_rule){
        .kind = BY_RULE_TENSOR, .pattern = {"y", NULL}, .range = {-2, 3}, .has_range = true};
    rules[2] =
        (struct by_rule){.kind = BY_RULE_NODE, .pattern = {"next", NULL}, .keep_float = true};
    use_rules(3);
    place(branches(), NULL);
    assert_true(row_of("c")->has_params && row_of("c")->params.scales[0] == 0.25f);
    assert_int_equal(row_of("c")->params.zeros[0], 3);
    assert_true(row_of("y")->has_range && row_of("y")->range.low == -2);
    assert_string_equal(plan_node("next")->why, "the rule for 'next' keeps it float");
    close_plan();
}

static size_t count_rows(const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->rows.count; i++)
        count += !strcmp(plan->rows.at[i].value->name, name);
    return count;
}

/* What the node reads: the type, and whether it stands after another pair. */
static void assert_reads(const char *node, size_t slot, int64_t elem, bool second)
{
    const size_t row = by_quant_read(plan, plan_node(node)->node, slot);
    assert_true(row != BY_NO_ROW);
    assert_true(by_quant_reads(&plan->rows.at[row], plan_node(node)->node, slot));
    assert_int_equal(plan->rows.at[row].spec.elem, elem);
    assert_int_equal(plan->rows.at[row].converts != BY_NO_ROW, second);
}

static void rules_convert_for_some_readers(void **state)
{
    (void)state;
    struct by_pattern nodes[] = {{"sum", NULL}};
    rules[0] = (struct by_rule){.kind = BY_RULE_TENSOR,
                                .pattern = {"c", NULL},
                                .input = to(BY_ELEM_INT16),
                                .convert = {true, to(BY_ELEM_UINT8), {nodes, 1, 0}}};
    use_rules(1);
    place(branches(), NULL);
    assert_int_equal(elem_of("c"), BY_ELEM_INT16);
    assert_int_equal(count_rows("c"), 2);
    assert_reads("sum", 1, BY_ELEM_UINT8, true);
    close_plan();
    nodes[0].text = "conv";
    struct baryon_model *model = branches();
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    assert_ok(by_quant_plan_open(&plan, model, &recipe, &err));
    assert_err(by_place(plan, NULL, NULL, &err), BARYON_ERR_USAGE,
               "rule: convert of tensor 'c': 'conv' does not read it");
    close_plan();
}

/* Of what a quantized node gives; the type of an input is that of its reader. */
static void boundaries_of_types_have_two_pairs(void **state)
{
    (void)state;
    rules[0] = (struct by_rule){
        .kind = BY_RULE_NODE, .pattern = {"sum", NULL}, .input = to(BY_ELEM_INT16)};
    rules[1] = (struct by_rule){
        .kind = BY_RULE_NODE, .pattern = {"conv", NULL}, .input = to(BY_ELEM_UINT8)};
    use_rules(2);
    recipe.dual_pairs = true;
    place(branches(), NULL);
    assert_int_equal(elem_of("c"), BY_ELEM_INT8);
    assert_int_equal(count_rows("x"), 1);
    assert_int_equal(elem_of("x"), BY_ELEM_UINT8);
    assert_reads("sum", 1, BY_ELEM_INT16, true);
    close_plan();
    recipe.dual_pairs = false;
    place(branches(), NULL);
    assert_reads("sum", 1, BY_ELEM_INT16, false);
    close_plan();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_layer_and_its_activation_are_one, prepare),
        cmocka_unit_test_setup(two_readers_keep_the_pair, prepare),
        cmocka_unit_test_setup(a_product_and_its_bias_have_one_pair, prepare),
        cmocka_unit_test_setup(only_clips_that_hardware_has_are_fused, prepare),
        cmocka_unit_test_setup(a_range_does_the_work_of_relu, prepare),
        cmocka_unit_test_setup(biases_count_in_units_of_the_product, prepare),
        cmocka_unit_test_setup(gemm_counts_alpha_and_beta, prepare),
        cmocka_unit_test_setup(shared_biases_are_copied, prepare),
        cmocka_unit_test_setup(weights_with_other_axes_are_copied, prepare),
        cmocka_unit_test_setup(moved_tensors_share_parameters, prepare),
        cmocka_unit_test_setup(chains_may_be_quantized_only_behind_others, prepare),
        cmocka_unit_test_setup(normalizations_written_out_stay_float_as_a_whole, prepare),
        cmocka_unit_test_setup(masks_of_attention_have_no_range, prepare),
        cmocka_unit_test_setup(floats_and_blocks_keep_what_they_lose, prepare),
        cmocka_unit_test_setup(tables_have_the_parameters_of_what_is_gathered, prepare),
        cmocka_unit_test_setup(known_ranges, prepare),
        cmocka_unit_test_setup(float_readers_of_quantized_producers_read_what_is_left, prepare),
        cmocka_unit_test_setup(what_a_logarithm_reads_stays_float, prepare),
        cmocka_unit_test_setup(operators_that_take_integers_later_tell_the_opset, prepare),
        cmocka_unit_test_setup(infinite_constants_keep_a_node_float, prepare),
        cmocka_unit_test_setup(nested_graphs_are_left_whole, prepare),
        cmocka_unit_test_setup(nothing_to_quantize_is_an_error, prepare),
        cmocka_unit_test_setup(the_reason_is_that_of_the_costliest_node, prepare),
        cmocka_unit_test_setup(weights_alone, prepare),
        cmocka_unit_test_setup(pairs_for_each_reader, prepare),
        cmocka_unit_test_setup(rules_keep_a_relu_that_its_range_cannot_replace, prepare),
        cmocka_unit_test_setup(stronger_rules_count, prepare),
        cmocka_unit_test_setup(readers_that_contradict_are_named, prepare),
        cmocka_unit_test_setup(rules_that_pick_nothing_are_errors, prepare),
        cmocka_unit_test_setup(given_parameters_stand, prepare),
        cmocka_unit_test_setup(rules_convert_for_some_readers, prepare),
        cmocka_unit_test_setup(boundaries_of_types_have_two_pairs, prepare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
