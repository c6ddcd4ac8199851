/* Lists the passes in the order in which they run. */
#include "pass/passes.h"
#include "base/str.h"

#include <string.h>

/* A row without a remark would share its line: say why it stands where it stands. */
static const struct by_pass *const passes[] = {
    /* --- what the model is: version, types, layout --- */
    &by_pass_convert_opset, /* before anything looks at attributes */
    &by_pass_fp16_to_fp32,  /* before anything is computed */
    &by_pass_bf16_to_fp32,  /* the same */
    &by_pass_fix_shapes,    /* what follows knows more sizes */
    &by_pass_nchw_to_nhwc,  /* inputs are what samples are from here on */
    /* --- cleaning up --- */
    &by_pass_remove_input_init, /* default values are constants from here on */
    &by_pass_lift_constants,    /* one kind of constants for all that follow */
    &by_pass_fold_shapes,       /* leaves less to compute */
    &by_pass_fold_reshape,      /* the rest of what shapes are computed for */
    &by_pass_fold_constants,    /* weights that are computed are weights for what follows */
    &by_pass_remove_noops,      /* nothing between neighbours */
    &by_pass_merge_moves,       /* often becomes nothing, in the next round */
    &by_pass_merge_activations, /* the same */
    &by_pass_remove_dead,       /* what was unread from the beginning */
    /* --- folding into weights --- */
    &by_pass_fold_scale,             /* clears the way to a normalization */
    &by_pass_fold_batch_norm,        /* the commonest */
    &by_pass_fold_batch_norm_concat, /* of those whose layers are not its neighbours */
    &by_pass_matmul_add_to_gemm,     /* a normalization has been folded by now */
    &by_pass_fold_pad,               /* a normalization after the Conv does not mind */
    &by_pass_fold_div_matmul,        /* the layers are what they will be */
    &by_pass_split_weight_rows,      /* weights are what they will be */
    /* --- copies: each reader its own initializer --- */
    &by_pass_copy_shared_init, /* of given operators */
    &by_pass_copy_bias_init,   /* of layers */
    /* --- fusing several nodes into one --- */
    &by_pass_fuse_instance_norm, /* before the next, which may look the same */
    &by_pass_fuse_l2_norm,       /* a norm without a mean */
    &by_pass_fuse_layer_norm,    /* from opset 17 on */
    &by_pass_fuse_gelu,          /* from opset 20 on */
    &by_pass_open_clip_to_relu,  /* with nothing to cut above */
    /* --- what NPUs want --- */
    &by_pass_mean_to_pool,       /* before pools are looked at */
    &by_pass_split_large_pool,   /* what they can add up */
    &by_pass_split_to_slice,     /* there is no Split */
    &by_pass_batch_norm_to_conv, /* what no layer took in */
    &by_pass_clip_to_relu,       /* if asked to */
    /* --- the arithmetic of DPUs; HardSigmoid after Sigmoid --- */
    &by_pass_leaky_relu_dpu,          /* slopes */
    &by_pass_sigmoid_to_hard_sigmoid, /* before HardSigmoid is looked at */
    &by_pass_hard_sigmoid_dpu,        /* 1/6 */
    &by_pass_average_pool_dpu,        /* factors of kernels */
    &by_pass_reduce_mean_dpu,         /* factors of counts */
    &by_pass_softmax_dpu,             /* bfloat16 */
    &by_pass_clip_dpu,                /* bounds */
    /* --- what the result computes in, when all is as it will be --- */
    &by_pass_fp32_to_fp16, /* of all that is left */
    &by_pass_fp32_to_bf16, /* the same */
};

#define COUNT (sizeof passes / sizeof *passes)

const struct by_pass *const *by_passes(size_t *count)
{
    *count = COUNT;
    return passes;
}

const struct by_pass *by_pass_find(const char *name)
{
    for (size_t i = 0; i < COUNT; i++)
        if (strcmp(passes[i]->name, name) == 0 ||
            (passes[i]->alias && strcmp(passes[i]->alias, name) == 0))
            return passes[i];
    return NULL;
}

static int unknown_pass(const char *name, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const char *names[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        names[i] = passes[i]->name;
    by_fail(err, BARYON_ERR_USAGE, "unknown pass %s", by_quote(quoted, name));
    const char *near = by_nearest(name, names, COUNT);
    return near ? by_err_hint(err, "did you mean '%s'?", near) : -1;
}

int by_pass_switch(bool *on, const char *name, bool to, struct baryon_error *err)
{
    const struct by_pass *wanted = by_pass_find(name);
    for (size_t i = 0; i < COUNT; i++)
        if (passes[i] == wanted)
            on[i] = to;
    return wanted ? 0 : unknown_pass(name, err);
}

void by_passes_defaults(bool *on, bool npu, bool dpu)
{
    for (size_t i = 0; i < COUNT; i++)
        on[i] = passes[i]->fallback == BY_PASS_ON || (npu && passes[i]->fallback == BY_PASS_NPU) ||
                (dpu && passes[i]->fallback == BY_PASS_DPU);
}
