/* Every tensor of a model, wherever it stands, with its place for messages. */
#include "onnx/external.h"

struct tensor_walk {
    const struct baryon_model *model;
    by_tensor_fn *visit;
    void *context;
};

static int walk_graph(const struct tensor_walk *walk, struct baryon_graph *graph,
                      struct baryon_error *err);

static int walk_tensor(const struct tensor_walk *walk, struct baryon_tensor *tensor,
                       struct baryon_error *err)
{
    if (!tensor || walk->visit(walk->context, tensor, err) == 0)
        return 0;
    if (tensor->msg.src && walk->model->msg.src)
        by_err_offset(err, (uint64_t)(tensor->msg.src - walk->model->msg.src));
    return -1;
}

static int walk_tensors(const struct tensor_walk *walk, const struct by_ptrs *list,
                        const char *name, struct baryon_error *err)
{
    for (size_t i = 0; i < list->count; i++)
        if (walk_tensor(walk, list->at[i], err))
            return by_err_in(err, "%s[%zu]", name, i);
    return 0;
}

static int walk_sparse(const struct tensor_walk *walk, struct by_sparse_tensor *sparse,
                       struct baryon_error *err)
{
    if (!sparse)
        return 0;
    if (walk_tensor(walk, sparse->values, err))
        return by_err_in(err, "values");
    if (walk_tensor(walk, sparse->indices, err))
        return by_err_in(err, "indices");
    return 0;
}

static int walk_sparse_list(const struct tensor_walk *walk, const struct by_ptrs *list,
                            const char *name, struct baryon_error *err)
{
    for (size_t i = 0; i < list->count; i++)
        if (walk_sparse(walk, list->at[i], err))
            return by_err_in(err, "%s[%zu]", name, i);
    return 0;
}

static int walk_attribute(const struct tensor_walk *walk, struct baryon_attribute *attr,
                          struct baryon_error *err)
{
    if (walk_tensor(walk, attr->t, err))
        return by_err_in(err, "t");
    if (attr->g && walk_graph(walk, attr->g, err))
        return by_err_in(err, "g");
    if (walk_sparse(walk, attr->sparse_tensor, err))
        return by_err_in(err, "sparse_tensor");
    if (walk_tensors(walk, &attr->tensors, "tensors", err) ||
        walk_sparse_list(walk, &attr->sparse_tensors, "sparse_tensors", err))
        return -1;
    for (size_t i = 0; i < attr->graphs.count; i++)
        if (attr->graphs.at[i] && walk_graph(walk, attr->graphs.at[i], err))
            return by_err_in(err, "graphs[%zu]", i);
    return 0;
}

static int walk_attributes(const struct tensor_walk *walk, const struct by_ptrs *list,
                           const char *name, struct baryon_error *err)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->at[i] && walk_attribute(walk, list->at[i], err))
            return by_err_in(err, "%s[%zu]", name, i);
    return 0;
}

static int walk_nodes(const struct tensor_walk *walk, const struct by_ptrs *list,
                      struct baryon_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        struct baryon_node *node = list->at[i];
        if (node && walk_attributes(walk, &node->attribute, "attribute", err))
            return by_err_in(err, "node[%zu]", i);
    }
    return 0;
}

static int walk_graph(const struct tensor_walk *walk, struct baryon_graph *graph,
                      struct baryon_error *err)
{
    if (walk_tensors(walk, &graph->initializer, "initializer", err) ||
        walk_sparse_list(walk, &graph->sparse_initializer, "sparse_initializer", err))
        return -1;
    return walk_nodes(walk, &graph->node, err);
}

static int walk_training(const struct tensor_walk *walk, struct by_training_info *training,
                         struct baryon_error *err)
{
    if (training->initialization && walk_graph(walk, training->initialization, err))
        return by_err_in(err, "initialization");
    if (training->algorithm && walk_graph(walk, training->algorithm, err))
        return by_err_in(err, "algorithm");
    return 0;
}

static int walk_function(const struct tensor_walk *walk, struct by_function *function,
                         struct baryon_error *err)
{
    if (walk_attributes(walk, &function->attribute_proto, "attribute_proto", err))
        return -1;
    return walk_nodes(walk, &function->node, err);
}

int by_model_each_tensor(struct baryon_model *model, by_tensor_fn *visit, void *context,
                         struct baryon_error *err)
{
    const struct tensor_walk walk = {model, visit, context};
    if (model->graph && walk_graph(&walk, model->graph, err))
        return by_err_in(err, "graph");
    for (size_t i = 0; i < model->training_info.count; i++)
        if (model->training_info.at[i] && walk_training(&walk, model->training_info.at[i], err))
            return by_err_in(err, "training_info[%zu]", i);
    for (size_t i = 0; i < model->functions.count; i++)
        if (model->functions.at[i] && walk_function(&walk, model->functions.at[i], err))
            return by_err_in(err, "functions[%zu]", i);
    return 0;
}
