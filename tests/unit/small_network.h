/* A small network with weights and activations to quantize. On top of engine_build.h. */
#ifndef SMALL_NETWORK_H
#define SMALL_NETWORK_H

#include "engine_build.h"

/* x -> Conv -> Relu -> MaxPool -> Reshape -> Gemm -> y; the pool's output is an output too. */
static inline struct baryon_model *network(int64_t opset)
{
    const int64_t shape[2] = {1, -1};
    struct baryon_model *model = new_model();
    drawn = 0;
    takes(model, "x", BY_ELEM_FLOAT, "1,2,4,4");
    put_random(model, "w", "4,2,3,3");
    put_random(model, "b", "4");
    put_random(model, "v", "64,3");
    put_random(model, "a", "3");
    put_weight(model, "shape", BY_ELEM_INT64, (const int64_t[]){2}, 1, shape, sizeof shape);
    struct baryon_node *conv = put_node(model->graph, "conv", "Conv", "x,w,b", "c");
    put_node(model->graph, "relu", "Relu", "c", "r");
    struct baryon_node *pool = put_node(model->graph, "pool", "MaxPool", "r", "p");
    put_node(model->graph, "move", "Reshape", "p,shape", "f");
    put_node(model->graph, "gemm", "Gemm", "f,v,a", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    gives(model, "p", BY_ELEM_FLOAT, NULL);
    assert_ok(by_model_link(model, &err));
    assert_ok(by_node_set_ints(conv, "pads", (int64_t[]){1, 1, 1, 1}, 4, &err));
    assert_ok(by_node_set_ints(pool, "kernel_shape", (int64_t[]){1, 1}, 2, &err));
    assert_ok(by_model_set_opset(model, "", opset, &err));
    return model;
}

#endif
