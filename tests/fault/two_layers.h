/* A small network that is quantized while calls fail. */
#ifndef BY_TEST_TWO_LAYERS_H
#define BY_TEST_TWO_LAYERS_H

#include "onnx/save.h"
#include "tests/unit/engine_build.h"

#define WIDTH 6

static inline void put_numbers(struct baryon_model *model, const char *name, size_t rank,
                               float factor)
{
    static const int64_t dims[] = {WIDTH, WIDTH};
    float values[WIDTH * WIDTH];
    const size_t count = rank == 1 ? WIDTH : WIDTH * WIDTH;
    for (size_t i = 0; i < count; i++)
        values[i] = factor * (float)((int)(i * 7 % 11) - 5) / 3;
    put_weight(model, name, BY_ELEM_FLOAT, dims, rank, values, count * sizeof *values);
}

/* x [1,6] -> Gemm -> Relu -> MatMul (-> Softmax) -> y, in m.onnx. last: what the weights of the
 * second layer are multiplied with. */
static inline void save_two_layers(float last, bool softmax)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "1,6");
    gives(model, "y", BY_ELEM_FLOAT, "1,6");
    put_numbers(model, "v", 2, 0.5F);
    put_numbers(model, "b", 1, 0.25F);
    put_numbers(model, "w", 2, last);
    put_node(model->graph, "first", "Gemm", "x,v,b", "a");
    put_node(model->graph, "relu", "Relu", "a", "c");
    put_node(model->graph, "second", "MatMul", "c,w", softmax ? "d" : "y");
    if (softmax)
        put_node(model->graph, "last", "Softmax", "d", "y");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_save(model, "m.onnx", NULL, &err));
    by_model_free(model);
}

#endif
