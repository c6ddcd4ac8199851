/* Tests the shape rules of single operators. */
#include "infer_case.h"

static void elementwise(void **state)
{
    static const struct infer_case cases[] = {
        {"Relu", "float32[N,3]", NULL, "float32[N,3]"},
        {"Relu", "float16", NULL, "float16[...]"},
        {"Add", "float32[N,3,1] float32[4]", NULL, "float32[N,3,4]"},
        {"Add", "float32[N] float32[1]", NULL, "float32[N]"},
        {"Add", "float32[N] float32[N]", NULL, "float32[N]"},
        {"Add", "float32[N] float32[M]", NULL, "float32[?]"},
        {"Add", "float32[N] float32[?]", NULL, "float32[?]"},
        {"Add", "float32[N] float32[5]", NULL, "float32[5]"},
        {"Add", "float32[?] float32[1]", NULL, "float32[?]"},
        {"Add", "float32[0] float32[1]", NULL, "float32[0]"},
        {"Add", "float32[2] float32", NULL, "float32[...]"},
        {"Add", "float32[2,3] float32[4]", NULL, "!dimension 1 is 3 and 4"},
        {"Sum", "float32[2,1] float32[3] float32[4,1,1]", NULL, "float32[4,2,3]"},
        {"Less", "int64[N] int64[N]", NULL, "bool[N]"},
        {"Where", "bool[2,1] float32[3] float32[]", NULL, "float32[2,3]"},
        {"Cast", "float32[N]", "to:7", "int64[N]"},
        {"Cast", "float32[N]", "to:99", "!to is 99, must be an element type"},
        {"CastLike", "float32[N] int8[1]", NULL, "int8[N]"},
        {"Dropout", "float32[N]", NULL, "float32[N] bool[N]"},
        {"PRelu", "float32[N,3,4] float32[3,1]", NULL, "float32[N,3,4]"},
        {"com.microsoft/BiasGelu", "float16[N,8] float16[8]", NULL, "float16[N,8]"},
        {"com.microsoft/QLinearAdd",
         "uint8[2,1] float32[] uint8[] uint8[3] float32[] uint8[] float32[] uint8[]", NULL,
         "uint8[2,3]"},
        {"com.example/Relu", "float32[N]", NULL, "0[...]"},
    };
    (void)state;
    check_cases(cases, 21);
}

static void convolutions(void **state)
{
    static const struct infer_case cases[] = {
        {"Conv", "float32[N,3,224,224] float32[64,3,7,7]", "strides=[2,2] pads=[3,3,3,3]",
         "float32[N,64,112,112]"},
        {"Conv", "float32[N,3,H,W] float32[8,3,3,3]", "pads=[1,1,1,1]", "float32[N,8,H,W]"},
        {"Conv", "float32[N,3,H,W] float32[8,3,3,3]", "strides=[2,1] pads=[1,1,1,1]",
         "float32[N,8,?,W]"},
        {"Conv", "float32[1,4,9] float32[6,2,3]", "group:2 dilations=[2]", "float32[1,6,5]"},
        {"Conv", "float32[1,3,9,9] float32[6,3,3,3]", "auto_pad=SAME_UPPER strides=[2,2]",
         "float32[1,6,5,5]"},
        {"Conv", "float32[1,3,9,9] float32[6,3,3,3]", "auto_pad=VALID strides=[2,2]",
         "float32[1,6,4,4]"},
        {"Conv", "float32[1,3,9,9] float32", "kernel_shape=[3,3]", "float32[1,?,7,7]"},
        {"Conv", "float32 float32[6,3,3,3]", NULL, "float32[...]"},
        {"Conv", "float32[1,4,9,9] float32[6,3,3,3]", NULL,
         "!the input has 4 channels, but weight and group require 3"},
        {"Conv", "float32[1,3,9,9] float32[6,3,3]", NULL, "!the weight has rank 3"},
        {"Conv", "float32[1,3] float32[6,3]", NULL, "!the input has rank 2, must be at least 3"},
        {"Conv", "float32[1,3,9,9] float32[5,1,3,3]", "group:3",
         "!the weight has 5 output channels in 3 groups"},
        {"Conv", "float32[1,3,9,9] float32[6,3,3,3]", "group:0", "!group is 0"},
        {"Conv", "float32[1,3,9,9] float32[6,3,3,3]", "group:-1", "!group is -1"},
        {"Conv", "float32[1,3,9,9] float32[6,3,3,3]", "strides=[0,1]",
         "!strides[0] is 0, must be at least 1"},
        {"Conv", "float32[1,3,9,9] float32[6,3,3,3]", "strides=[1]",
         "!strides has 1 numbers, must have 2"},
        {"Conv", "float32[1,3,9,9] float32[6,3,3,3]", "pads=[1,1]", "!pads has 2 numbers"},
        {"Conv", "float32[1,3,9,9] float32[6,3,3,3]", "kernel_shape=[3,-5]",
         "!kernel_shape[1] is -5, must be at least 1"},
        {"Conv", "float32[1,3,9,9] float32[6,3,3,3]", "kernel_shape=[5,5]",
         "!kernel_shape[0] is 5, but the weight has 3"},
        {"Conv", "float32[1,3,1,1] float32[6,3,3,3]", NULL, "!the window spans 3 elements"},
        {"Conv", "float32[1,3,2,2] float32[6,3,3,3]", NULL, "float32[1,6,0,0]"},
        {"Conv", "float32[1,3,2,2] float32[6,3,0,3]", NULL, "!axis 2 of the weight is 0"},
        {"Conv", "float32[1,3,9,9] float32[6,3,3,3]", "pads=[9e18,0,0,0]", "!pads[0] is"},
        {"Conv", "float32[1,3,9,9] float32[6,3,3,3]", "dilations=[1e14,1e14]", "!the window spans"},
        {"ConvTranspose", "float32[N,8,7,7] float32[8,2,3,3]",
         "group:2 strides=[2,2] pads=[1,1,1,1] output_padding=[1,1]", "float32[N,4,14,14]"},
        {"ConvTranspose", "float32[N,8,7,7] float32[8,2,3,3]", "output_shape=[10,11]",
         "float32[N,2,10,11]"},
        {"ConvTranspose", "float32[N,8,7,7] float32[8,2,3,3]", "auto_pad=SAME_UPPER strides=[2,3]",
         "float32[N,2,14,21]"},
        {"ConvTranspose", "float32[N,8,7,7] float32[4,2,3,3]", NULL, "!the input has 8 channels"},
        {"QLinearConv",
         "uint8[N,3,8,8] float32[] uint8[] int8[4,3,1,1] float32[4] int8[4] float32[] uint8[]",
         NULL, "uint8[N,4,8,8]"},
        {"com.microsoft/NhwcFusedConv", "float32[N,8,8,3] float32[4,3,3,3]", "activation=Relu",
         "float32[N,6,6,4]"},
        {"com.microsoft/FusedConv", "float32[N,3,8,8] float32[4,3,3,3]", "activation=Relu",
         "float32[N,4,6,6]"},
    };
    (void)state;
    check_cases(cases, 21);
}

static void pools(void **state)
{
    static const struct infer_case cases[] = {
        {"MaxPool", "float32[N,3,8,8]", "kernel_shape=[2,2] strides=[2,2]",
         "float32[N,3,4,4] int64[N,3,4,4]"},
        {"MaxPool", "float32[N,3,7,7]", "kernel_shape=[2,2] strides=[2,2] ceil_mode:1",
         "float32[N,3,4,4]"},
        {"MaxPool", "float32[N,3,2]", "kernel_shape=[1] strides=[2] ceil_mode:1", "float32[N,3,1]"},
        {"AveragePool", "float32[N,3,W]", "kernel_shape=[3] pads=[1,1]", "float32[N,3,W]"},
        {"MaxPool", "float32[N,3,8,8]", "kernel_shape=[10,9]", "!the window spans 10 elements"},
        {"MaxPool", "float32[N,3,4]", "kernel_shape=[5] strides=[2] ceil_mode:1", "float32[N,3,1]"},
        {"MaxPool", "float32[N,3]", "kernel_shape=[1]", "!the input has rank 2"},
        {"GlobalAveragePool", "float32[N,3,H,W]", NULL, "float32[N,3,1,1]"},
        {"com.microsoft/QLinearGlobalAveragePool",
         "uint8[N,4,5,3] float32[] uint8[] float32[] uint8[]", "channels_last:1", "uint8[N,1,1,3]"},
        {"com.microsoft/NhwcMaxPool", "int8[N,8,8,3]", "kernel_shape=[2,2]", "int8[N,7,7,3]"},
        {"MaxUnpool", "float32[1,1,2,2] int64[1,1,2,2]", "kernel_shape=[2,2] strides=[2,2]",
         "float32[1,1,4,4]"},
        {"MaxUnpool", "float32[1,1,2,2] int64[1,1,2,2] int64{1,1,5,5}",
         "kernel_shape=[2,2] strides=[2,2]", "float32[1,1,5,5]"},
        {"RoiAlign", "float32[N,3,H,W] float32[K,4] int64[K]", "output_height:5 output_width:6",
         "float32[K,3,5,6]"},
        {"RoiAlign", "float32[N,3,H,W] float32[K,4] int64[K]", "output_height:0",
         "!the output is 0 by 1"},
        {"MaxRoiPool", "float32[N,3,H,W] float32[K,5]", "pooled_shape=[2,3]", "float32[K,3,2,3]"},
    };
    (void)state;
    check_cases(cases, 21);
}

static void products(void **state)
{
    static const struct infer_case cases[] = {
        {"MatMul", "float32[N,4] float32[4,5]", NULL, "float32[N,5]"},
        {"MatMul", "float32[B,S,4] float32[4,5]", NULL, "float32[B,S,5]"},
        {"MatMul", "float32[2,1,3,4] float32[5,4,6]", NULL, "float32[2,5,3,6]"},
        {"MatMul", "float32[4] float32[4,5]", NULL, "float32[5]"},
        {"MatMul", "float32[3,4] float32[4]", NULL, "float32[3]"},
        {"MatMul", "float32[4] float32[4]", NULL, "float32[]"},
        {"MatMul", "float32[3,4] float32[5,6]", NULL,
         "!matrices of 4 columns and 5 rows cannot be multiplied"},
        {"MatMul", "float32[] float32[5,6]", NULL, "!an operand is a scalar"},
        {"MatMulInteger", "uint8[N,4] int8[4,5]", NULL, "int32[N,5]"},
        {"Gemm", "float32[N,4] float32[5,4] float32[5]", "transB:1", "float32[N,5]"},
        {"Gemm", "float32[4,N] float32[4,5]", "transA:1", "float32[N,5]"},
        {"Gemm", "float32[2,3] float32[5,4]", NULL, "!matrices of 3 columns and 5 rows"},
        {"Gemm", "float32[2,3,4] float32[5,4]", NULL, "!a matrix has rank 3, must be 2"},
        {"com.microsoft/FusedMatMul", "float32[2,3,4] float32[2,5,4]", "transB:1",
         "float32[2,3,5]"},
        {"com.microsoft/MatMulNBits", "float32[B,S,64] uint8[32,2,16] float32[64]",
         "K:64 N:32 bits:4 block_size:32", "float32[B,S,32]"},
        {"com.microsoft/MatMulNBits", "float32[B,S,60] uint8[32,2,16] float32[64]", "K:64 N:32",
         "!matrices of 60 columns and 64 rows"},
        {"Einsum", "float32[B,S,4] float32[4,H]", "equation=bsd,dh->bsh", "float32[B,S,H]"},
        {"Einsum", "float32[2,3] float32[3,4]", "equation=ij,jk", "float32[2,4]"},
        {"Einsum", "float32[7,2,3]", "equation=...ij->...ji", "float32[7,3,2]"},
        {"Einsum", "float32[3,3]", "equation=ii->", "float32[]"},
        {"Einsum", "float32[2,3] float32[4,5]", "equation=ij,jk->ik", "!dimension 'j' is 3 and 4"},
        {"Einsum", "float32[2,3]", "equation=i->i", "!an input has rank 2"},
        {"Einsum", "float32[2,3]", "equation=ij->k", "!the equation must consist"},
        {"Einsum", "float32[2,3]", "equation=ij,jk->ik", "!the equation must consist"},
        {"Einsum", "float32[2,3]", "equation=i7->i", "!the equation must consist"},
        {"Einsum", "float32[2,3]", "equation=ij-", "!the equation must consist"},
    };
    (void)state;
    check_cases(cases, 21);
}

static void reductions(void **state)
{
    static const struct infer_case cases[] = {
        {"ReduceMean", "float32[N,3,4]", NULL, "float32[1,1,1]"},
        {"ReduceMean", "float32[N,3,4] int64{-1}", "keepdims:0", "float32[N,3]"},
        {"ReduceMean", "float32[N,3,4]", "axes=[1]", "float32[N,1,4]"},
        {"ReduceMean", "float32[N,3,4] -", "noop_with_empty_axes:1", "float32[N,3,4]"},
        {"ReduceSum", "float32[N,3,4] int64[2]", "keepdims:0", "float32[?]"},
        {"ReduceSum", "float32[N,3,4] int64[2]", NULL, "float32[?,?,?]"},
        {"ReduceSum", "float32[N,3,4] int64{5}", NULL, "!axis is 5, must be in [-3, 2]"},
        {"ReduceSum", "float32[N,3,4] int64{1,1}", NULL, "float32[N,1,4]"},
        {"ArgMax", "float32[N,10]", "axis:1 keepdims:0", "int64[N]"},
        {"ArgMax", "float32[N,10]", "axis:-3", "!axis is -3, must be in [-2, 1]"},
        {"TopK", "float32[N,10] int64{3}", NULL, "float32[N,3] int64[N,3]"},
        {"TopK", "float32[N,10] int64{30}", NULL, "!k is 30, but axis 1 has 10 elements"},
        {"TopK", "float32[N,10] int64{-3}", NULL, "!k is -3"},
        {"CumSum", "float32[N,10] int64=0", NULL, "float32[N,10]"},
    };
    (void)state;
    check_cases(cases, 21);
}

static void moves(void **state)
{
    static const struct infer_case cases[] = {
        {"Reshape", "float32[2,3,4] int64{0,-1}", NULL, "float32[2,12]"},
        {"Reshape", "float32[N,3,4] int64{0,12}", NULL, "float32[N,12]"},
        {"Reshape", "float32[N,3,4] int64{0,-1}", NULL, "float32[N,12]"},
        {"Reshape", "float32[N,3,4] int64{-1,12}", NULL, "float32[N,12]"},
        {"Reshape", "float32[N,3,H] int64{-1,3}", NULL, "float32[?,3]"},
        {"Reshape", "float32[2,3,4] int64[2]", NULL, "float32[?,?]"},
        {"Reshape", "float32[0,3] int64{0,7}", "allowzero:1", "float32[0,7]"},
        {"Reshape", "float32[2,3,4] int64{5,5}", NULL, "!24 elements cannot have a shape of 25"},
        {"Reshape", "float32[2,3,4] int64{-1,-1}", NULL, "!dimension 1 of the shape is -1"},
        {"Reshape", "float32[2,3,4] int64{-7}", NULL, "!dimension 0 of the shape is -7"},
        {"Reshape", "float32[2] int64{1,2,0}", NULL, "!dimension 2 is copied"},
        {"Reshape", "float32[1] int64{1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1}", NULL,
         "!the shape has 17 dimensions"},
        {"Transpose", "float32[2,3,N]", NULL, "float32[N,3,2]"},
        {"Transpose", "float32[2,3,N]", "perm=[1,0,2]", "float32[3,2,N]"},
        {"Transpose", "float32[2,3,N]", "perm=[1,1,2]", "!perm contains axis 1 twice"},
        {"Transpose", "float32[2,3,N]", "perm=[1,0]", "!perm has 2 axes"},
        {"Transpose", "float32[2,3,N]", "perm=[1,0,9]", "!axis is 9"},
        {"Flatten", "float32[N,3,4]", NULL, "float32[N,12]"},
        {"Flatten", "float32[N,3,4]", "axis:-1", "float32[?,4]"},
        {"Flatten", "float32[N,3,4]", "axis:4", "!axis is 4, must be in [-3, 3]"},
        {"Squeeze", "float32[1,3,1]", NULL, "float32[3]"},
        {"Squeeze", "float32[N,3,1] int64{2}", NULL, "float32[N,3]"},
        {"Squeeze", "float32[N,3,1]", NULL, "float32[...]"},
        {"Squeeze", "float32[N,3,1] int64{1}", NULL, "!axis 1 has 3 elements, must have 1"},
        {"Unsqueeze", "float32[N,3] int64{0,-1}", NULL, "float32[1,N,3,1]"},
        {"Unsqueeze", "float32[N,3]", "axes=[1]", "float32[N,1,3]"},
        {"Unsqueeze", "float32[N,3] int64{7}", NULL, "!axis is 7"},
        {"Unsqueeze", "float32[N,3] int64{1,1}", NULL, "!an axis is given twice"},
        {"Expand", "float32[N,1] int64{2,1,4}", NULL, "float32[2,N,4]"},
        {"Expand", "float32[3] int64{2}", NULL, "!dimension 0 is 3 and 2"},
        {"Expand", "float32[3] int64{-4}", NULL, "!dimension 0 of the shape is -4"},
        {"Tile", "float32[N,3] int64{1,2}", NULL, "float32[N,6]"},
        {"Tile", "float32[N,3] int64{1}", NULL, "!there are 1 repeats"},
        {"Tile", "float32[3] int64{4e18}", NULL, "float32[?]"},
        {"DepthToSpace", "float32[N,8,2,3]", "blocksize:2", "float32[N,2,4,6]"},
        {"SpaceToDepth", "float32[N,2,4,6]", "blocksize:2", "float32[N,8,2,3]"},
        {"SpaceToDepth", "float32[N,2,5,6]", "blocksize:2", "!axis 2 has 5 elements"},
        {"DepthToSpace", "float32[N,8,2,3]", "blocksize:0", "!blocksize is 0"},
    };
    (void)state;
    check_cases(cases, 21);
}

static void joins(void **state)
{
    static const struct infer_case cases[] = {
        {"Concat", "float32[N,3,4] float32[N,5,4]", "axis:1", "float32[N,8,4]"},
        {"Concat", "float32[N,3] float32[M,3]", "axis:0", "float32[?,3]"},
        {"Concat", "float32[N,3] float32[2,?]", "axis:0", "float32[?,3]"},
        {"Concat", "float32[2,3] float32[2,4]", "axis:0", "!axis 1 has 3 and 4 elements"},
        {"Concat", "float32[2,3] float32[2]", "axis:0", "!inputs have ranks 2 and 1"},
        {"Concat", "float32[2,3] float32[2,3]", "axis:2", "!axis is 2"},
        {"Split", "float32[N,7]", "axis:1 num_outputs:3", "float32[N,3] float32[N,3] float32[N,1]"},
        {"Split", "float32[N,7] int64{3,4}", "axis:1", "float32[N,3] float32[N,4]"},
        {"Split", "float32[N,7] int64[2]", "axis:1", "float32[N,?] float32[N,?]"},
        {"Split", "float32[N,7] int64{3,3}", "axis:1", "!split has 2 sizes for 1 outputs"},
        {"Split", "float32[N,7] int64{3}", "axis:1", "!the sizes in split sum to 3"},
        {"Pad", "float32[N,3] int64{0,1,0,2}", NULL, "float32[N,6]"},
        {"Pad", "float32[N,3] int64{1,1} - int64{1}", NULL, "float32[N,5]"},
        {"Pad", "float32[N,3]", "pads=[0,1,0,2]", "float32[N,6]"},
        {"Pad", "float32[N,3] int64[4]", NULL, "float32[?,?]"},
        {"Pad", "float32[N,3] int64{0,-2,0,-2}", NULL, "!axis 1 of 3 elements is padded by -2"},
        {"Pad", "float32[N,3] int64{0,1}", NULL, "!there are 2 pads, must be 4"},
        {"Pad", "float32[3] int64{9e18,9e18}", NULL, "float32[?]"},
        {"Gather", "float32[V,8] int64[N,S]", NULL, "float32[N,S,8]"},
        {"Gather", "float32[2,3] int64=1", "axis:1", "float32[2]"},
        {"Gather", "float32[2,3] int64=7", "axis:1", "!index 7 is outside an axis of 3 elements"},
        {"GatherElements", "float32[2,3] int64[2,N]", "axis:1", "float32[2,N]"},
        {"GatherND", "float32[2,3,4] int64[N,2]", NULL, "float32[N,4]"},
        {"GatherND", "float32[2,3,4] int64[2,1]", "batch_dims:1", "float32[2,4]"},
        {"GatherND", "float32[2,3,4] int64[2,4]", NULL, "!indices have 4 parts"},
        {"GatherND", "float32[2,3,4] int64[2,1]", "batch_dims:5", "!batch_dims is 5"},
        {"ScatterND", "float32[2,3] int64[1,1] float32[1,3]", NULL, "float32[2,3]"},
        {"Compress", "float32[2,3] bool[3]", "axis:1", "float32[2,?]"},
        {"Slice", "float32[N,10] int64{2} int64{8} int64{1} int64{3}", NULL, "float32[N,2]"},
        {"Slice", "float32[N,10] int64{-1} int64{-9e18} int64{1} int64{-1}", NULL, "float32[N,10]"},
        {"Slice", "float32[N,10] int64{0} int64{9e18} int64{0}", NULL, "float32[N,10]"},
        {"Slice", "float32[N,10] int64{1} int64{9e18} int64{0}", NULL, "float32[?,10]"},
        {"Slice", "float32[N,10] int64[1] int64[1]", NULL, "float32[?,10]"},
        {"Slice", "float32[N,10] int64[1] int64[1] int64[1]", NULL, "float32[?,?]"},
        {"Slice", "float32[10] int64{20} int64{30}", NULL, "float32[0]"},
        {"Slice", "float32[N,10] int64{0} int64{1} int64{2}", NULL, "!axis is 2"},
        {"Slice", "float32[10] int64{0} int64{1} int64{0} int64{0}", NULL, "!the step is 0"},
        {"Slice", "float32[10] int64{0,0} int64{1,1}", NULL, "!2 axes are sliced"},
        {"Slice", "float32[10] int64{0} int64{1,1}", NULL, "!ends has 2 numbers"},
        {"com.microsoft/GatherBlockQuantized", "uint8[V,16] int64[N] float32[V,1]",
         "bits:4 block_size:32", "float32[N,32]"},
    };
    (void)state;
    check_cases(cases, 21);
}

static void old_forms(void **state)
{
    static const struct infer_case at_9[] = {
        {"Upsample", "float32[N,3,4,5] float32{1,1,2,2}", NULL, "float32[N,3,8,10]"},
        {"Slice", "float32[N,10]", "starts=[2] ends=[5] axes=[1]", "float32[N,3]"},
        {"Squeeze", "float32[N,1]", "axes=[1]", "float32[N]"},
        {"Dropout", "float32[N]", "ratio~0.5", "float32[N] float32[N]"},
        {"TopK", "float32[N,10]", "k:4", "float32[N,4] int64[N,4]"},
    };
    static const struct infer_case at_10[] = {
        {"Resize", "float32[N,3,4,5] float32{1,1,2,2}", NULL, "float32[N,3,8,10]"},
    };
    (void)state;
    check_cases(at_9, 9);
    check_cases(at_10, 10);
}

static void sizes(void **state)
{
    static const struct infer_case cases[] = {
        {"Resize", "float32[N,3,4,5] - float32{1,1,2,1.5}", NULL, "float32[N,3,8,7]"},
        {"Resize", "float32[N,3,H,5] - float32{1,1,1,2}", NULL, "float32[N,3,H,10]"},
        {"Resize", "float32[N,3,4,5] - - int64{1,3,9,9}", NULL, "float32[1,3,9,9]"},
        {"Resize", "float32[N,3,4,5] - - int64{9,9}", "axes=[2,3]", "float32[N,3,9,9]"},
        {"Resize", "float32[N,3,4,8] - - int64{8,8}",
         "axes=[2,3] keep_aspect_ratio_policy=not_larger", "float32[N,3,4,8]"},
        {"Resize", "float32[N,3,4,8] - - int64{8,8}",
         "axes=[2,3] keep_aspect_ratio_policy=not_smaller", "float32[N,3,8,16]"},
        {"Resize", "float32[N,3,8,8] - - int64{4,-9e18}",
         "axes=[2,3] keep_aspect_ratio_policy=not_larger", "!size 1 is -9000000000000000000"},
        {"Resize", "float32[N,3,4,5] - float32[4]", NULL, "float32[?,?,?,?]"},
        {"Resize", "float32[N,3,4,5] - float32{1,1,2}", NULL, "!there are 3 scales, must be 4"},
        {"Resize", "float32[N,3,4,5] - float32{1,1,-2,1}", NULL, "!scale 2 is -2"},
        {"Resize", "float32[N,3,4,5] - - int64{1,3,-9,9}", NULL, "!size 2 is -9"},
        {"GridSample", "float32[N,3,H,W] float32[N,7,8,2]", NULL, "float32[N,3,7,8]"},
        {"AffineGrid", "float32[N,2,3] int64{2,3,4,5}", NULL, "float32[2,4,5,2]"},
        {"CenterCropPad", "float32[9,9,3] int64{5,6}", "axes=[0,1]", "float32[5,6,3]"},
        {"Col2Im", "float32[N,12,L] int64{8,9} int64{2,3}", NULL, "float32[N,2,8,9]"},
    };
    (void)state;
    check_cases(cases, 21);
}

static void sources(void **state)
{
    static const struct infer_case cases[] = {
        {"Shape", "float32[N,3]", NULL, "int64[2]"},
        {"Shape", "float32[N,3,4,5]", "start:1 end:-1", "int64[2]"},
        {"Size", "float32[N,3]", NULL, "int64[]"},
        {"ConstantOfShape", "int64{2,3}", NULL, "float32[2,3]"},
        {"ConstantOfShape", "int64{2,-3}", NULL, "!dimension 1 of the shape is -3"},
        {"ConstantOfShape", "int64[3]", NULL, "float32[?,?,?]"},
        {"Range", "int64=0 int64=10 int64=3", NULL, "int64[4]"},
        {"Range", "int64=10 int64=0 int64=-3", NULL, "int64[4]"},
        {"Range", "int64=0 int64=10 int64=-3", NULL, "int64[0]"},
        {"Range", "int64=0 int64=10 int64=0", NULL, "int64[?]"},
        {"Range", "float32=0 float32=1 float32=0.3", NULL, "float32[4]"},
        {"Constant", "", "value_ints=[1,2,3]", "int64[3]"},
        {"Constant", "", "value_float~1.5", "float32[]"},
        {"RandomNormal", "", "shape=[2,3]", "float32[2,3]"},
        {"RandomNormal", "", "shape=[2,-3]", "!shape[1] is -3"},
        {"RandomNormalLike", "float16[N]", NULL, "float16[N]"},
        {"RandomNormalLike", "float16[N]", "dtype:1", "float32[N]"},
        {"EyeLike", "int32[3,3]", "dtype:11", "float64[3,3]"},
        {"OneHot", "int64[N] int64=5 float32[2]", NULL, "float32[N,5]"},
        {"OneHot", "int64[N] int64=5 float32[2]", "axis:0", "float32[5,N]"},
        {"OneHot", "int64[N] int64=5 float32[2]", "axis:4", "!axis is 4"},
        {"NonZero", "float32[N,3]", NULL, "int64[2,?]"},
        {"NonMaxSuppression", "float32[1,N,4] float32[1,2,N]", NULL, "int64[?,3]"},
    };
    (void)state;
    check_cases(cases, 21);
}

static void layers(void **state)
{
    static const struct infer_case cases[] = {
        {"BatchNormalization", "float32[N,3,H] float32[3] float32[3] float32[3] float32[3]", NULL,
         "float32[N,3,H]"},
        {"BatchNormalization", "float32[N,3,H] float32[4] float32[4] float32[4] float32[4]", NULL,
         "!the input has 3 channels, but the scale has 4"},
        {"LayerNormalization", "float16[B,S,8] float16[8]", "axis:-1",
         "float16[B,S,8] float32[B,S,1] float32[B,S,1]"},
        {"LSTM", "float32[S,B,4] float32[2,32,4] float32[2,32,8]",
         "direction=bidirectional hidden_size:8", "float32[S,2,B,8] float32[2,B,8] float32[2,B,8]"},
        {"GRU", "float32[B,S,4] float32[1,24,4] float32[1,24,8]", "layout:1",
         "float32[B,S,1,8] float32[B,1,8]"},
        {"RNN", "float32[S,B,4] float32[1,8,4] float32[1,8,8]", "hidden_size:9",
         "!hidden_size is 9, but the recurrent weight has 8"},
        {"RNN", "float32[S,B,4] float32[1,8,4] float32[1,8,8]", "hidden_size:-9",
         "!hidden_size is -9"},
        {"LSTM", "float32[S,4] float32 float32", "hidden_size:8", "!the input has rank 2"},
        {"QuantizeLinear", "float32[N,3] float32[] int8[]", NULL, "int8[N,3]"},
        {"QuantizeLinear", "float32[N,3] float32[]", NULL, "uint8[N,3]"},
        {"QuantizeLinear", "float32[N,3] float32[]", "output_dtype:5", "int16[N,3]"},
        {"DequantizeLinear", "int8[N,3] float16[] int8[]", NULL, "float16[N,3]"},
        {"DynamicQuantizeLinear", "float32[N,3]", NULL, "uint8[N,3] float32[] uint8[]"},
        {"com.amd.quark/ExtendedQuantizeLinear", "float32[N] float32[] int16[]", NULL, "int16[N]"},
        {"com.vai.quantize/VitisDequantizeLinear", "int16[N] float32[] int16[]", NULL,
         "float32[N]"},
        {"com.amd.quark/BFPQuantizeDequantize", "float32[N,3]", NULL, "float32[N,3]"},
        {"Attention", "float32[B,4,S,8] float32[B,2,T,8] float32[B,2,T,16]", NULL,
         "float32[B,4,S,16] float32[B,2,T,8] float32[B,2,T,16]"},
        {"Attention", "float32[B,S,32] float32[B,T,16] float32[B,T,32]",
         "q_num_heads:4 kv_num_heads:2", "float32[B,S,64]"},
        {"com.microsoft/Attention", "float32[B,S,8] float32[8,24] float32[24]", "num_heads:2",
         "float32[B,S,8] float32[2,B,2,S,4]"},
        {"com.microsoft/MultiHeadAttention", "float32[B,S,8] float32[B,T,8] float32[B,T,16]",
         "num_heads:2", "float32[B,S,16]"},
        {"com.microsoft/GroupQueryAttention",
         "float16[B,S,64] - - float16[B,2,P,8] float16[B,2,P,8] int32[B] int32[]",
         "num_heads:4 kv_num_heads:2", "float16[B,S,32] float16[B,2,?,8] float16[B,2,?,8]"},
        {"com.microsoft/SkipLayerNormalization", "float32[B,S,8] float32[B,S,8] float32[8]", NULL,
         "float32[B,S,8] float32[B,S,1] float32[B,S,1] float32[B,S,8]"},
        {"com.microsoft/EmbedLayerNormalization",
         "int32[B,S] int32[B,S] float32[V,8] float32[P,8] float32[2,8] float32[8] float32[8]", NULL,
         "float32[B,S,8] int32[B] float32[B,S,8]"},
        {"DFT", "float32[B,64,1]", "onesided:1", "float32[B,33,2]"},
        {"STFT", "float32[B,100] int64=10 - int64=20", NULL, "float32[B,9,11,2]"},
        {"HannWindow", "int64=16", NULL, "float32[16]"},
        {"HannWindow", "int64=-16", NULL, "!input 0 is -16"},
        {"SoftmaxCrossEntropyLoss", "float32[N,5] int64[N]", NULL, "float32[] float32[N,5]"},
        {"NegativeLogLikelihoodLoss", "float32[N,5] int64[N]", "reduction=none", "float32[N]"},
        {"ai.onnx.ml/LinearRegressor", "float32[N,5]", "targets:3", "float32[N,3]"},
        {"ai.onnx.ml/LabelEncoder", "string[N]", "values_int64s=[1,2]", "int64[N]"},
    };
    (void)state;
    check_cases(cases, 21);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elementwise), cmocka_unit_test(convolutions), cmocka_unit_test(pools),
        cmocka_unit_test(products),    cmocka_unit_test(reductions),   cmocka_unit_test(moves),
        cmocka_unit_test(joins),       cmocka_unit_test(old_forms),    cmocka_unit_test(sizes),
        cmocka_unit_test(sources),     cmocka_unit_test(layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
