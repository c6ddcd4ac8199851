/* Device configurations of the model, and what nodes say by them. Nothing refuses them. */
#include "onnx/check_rule.h"

struct devices {
    struct by_map by_name; /* by_device */
};

static int check_device(struct by_check *check, const struct by_device *device, size_t index,
                        struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const char *name = device->name ? device->name : "";
    if (device->num_devices < 1)
        by_fail(err, BARYON_ERR_INPUT, "configuration %s has %lld devices, must have at least 1",
                by_quote(quoted, name), (long long)device->num_devices);
    else if (device->device.count && (int64_t)device->device.count != device->num_devices)
        by_fail(err, BARYON_ERR_INPUT,
                "configuration %s has %lld devices and %zu names, must be as many",
                by_quote(quoted, name), (long long)device->num_devices, device->device.count);
    else
        return 0;
    by_err_in(err, "configuration[%zu]", index);
    return by_report(check, BY_FINDING_WARNING, &device->msg, err);
}

static int add_device(struct by_check *check, struct by_device *device, size_t index,
                      struct baryon_error *err)
{
    struct devices *devices = check->state;
    char quoted[BY_QUOTE_MAX];
    const char *name = device->name ? device->name : "";
    if (*name && !by_map_get(&devices->by_name, name))
        return by_map_put(&devices->by_name, name, device, err);
    if (*name)
        by_fail(err, BARYON_ERR_INPUT, "a second configuration %s, names must be unique",
                by_quote(quoted, name));
    else
        by_fail(err, BARYON_ERR_INPUT, "the configuration has no name, must have one");
    by_err_in(err, "configuration[%zu]", index);
    return by_report(check, BY_FINDING_WARNING, &device->msg, err);
}

static int check_configurations(struct by_check *check, struct baryon_error *err)
{
    struct devices *devices = check->state;
    by_map_init(&devices->by_name);
    for (size_t i = 0; i < check->model->configuration.count; i++) {
        struct by_device *device = check->model->configuration.at[i];
        if (device && (add_device(check, device, i, err) || check_device(check, device, i, err)))
            return -1;
    }
    return 0;
}

static int put_names(struct by_map *map, const struct by_names *list, struct baryon_error *err)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->at[i] && by_map_put(map, list->at[i], map, err))
            return -1;
    return 0;
}

static int check_shards(const struct by_sharded_dim *dim, struct baryon_error *err)
{
    for (size_t i = 0; i < dim->simple_sharding.count; i++) {
        const struct by_simple_sharded_dim *simple = dim->simple_sharding.at[i];
        if (!simple || simple->num_shards >= 1)
            continue;
        by_fail(err, BARYON_ERR_INPUT, "%lld shards, must be at least 1",
                (long long)simple->num_shards);
        return by_err_in(err, "simple_sharding[%zu]", i);
    }
    return 0;
}

/* tensors: the names of the node's inputs and outputs. */
static int check_spec(const struct by_map *tensors, const struct by_sharding_spec *spec,
                      struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const char *name = spec->tensor_name ? spec->tensor_name : "";
    if (!by_map_get(tensors, name))
        return by_fail(err, BARYON_ERR_INPUT,
                       "%s is sharded, must be an input or output of the node",
                       by_quote(quoted, name));
    for (size_t i = 0; i < spec->sharded_dim.count; i++)
        if (spec->sharded_dim.at[i] && check_shards(spec->sharded_dim.at[i], err))
            return by_err_in(err, "sharded_dim[%zu]", i);
    return 0;
}

static int check_node_device(struct by_check *check, const struct by_map *tensors,
                             const struct by_node_device *device, struct baryon_error *err)
{
    const struct devices *devices = check->state;
    char quoted[BY_QUOTE_MAX];
    const char *id = device->configuration_id ? device->configuration_id : "";
    if (!by_map_get(&devices->by_name, id))
        return by_fail(err, BARYON_ERR_INPUT, "configuration %s does not exist in the model",
                       by_quote(quoted, id));
    for (size_t i = 0; i < device->sharding_spec.count; i++)
        if (device->sharding_spec.at[i] && check_spec(tensors, device->sharding_spec.at[i], err))
            return by_err_in(err, "sharding_spec[%zu]", i);
    return 0;
}

static int check_node_devices(struct by_check *check, const struct baryon_node *node,
                              const struct by_map *tensors, struct baryon_error *err)
{
    for (size_t i = 0; i < node->device_configurations.count; i++) {
        const struct by_node_device *device = node->device_configurations.at[i];
        if (!device || !check_node_device(check, tensors, device, err))
            continue;
        by_err_in(err, "device_configurations[%zu]", i);
        if (by_report(check, BY_FINDING_WARNING, &device->msg, err))
            return -1;
    }
    return 0;
}

static int check_node(struct by_check *check, const struct baryon_node *node,
                      struct baryon_error *err)
{
    struct by_map tensors;
    if (!node->device_configurations.count)
        return 0;
    by_map_init(&tensors);
    int result = put_names(&tensors, &node->input, err) ||
                 put_names(&tensors, &node->output, err) ||
                 check_node_devices(check, node, &tensors, err);
    by_map_release(&tensors);
    return result ? -1 : 0;
}

static void forget_devices(void *state)
{
    by_map_release(&((struct devices *)state)->by_name);
}

const struct by_model_rule by_rule_devices = {
    .worst = BY_FINDING_WARNING,
    .state_size = sizeof(struct devices),
    .start = check_configurations,
    .node = check_node,
    .release = forget_devices,
};
