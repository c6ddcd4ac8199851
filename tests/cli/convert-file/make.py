"""Makes a model and files of conversions in Quark's form."""

import pathlib

import cli_models

cli_models.net()


def write(name, text):
    pathlib.Path(name).write_text(text)


write("half.yaml", "input_model_path: model.onnx\npasses:\n  fp32_to_fp16: {keep_io: true, exclude_op_types: [Gemm]}\noutput_model_path: half.onnx\n")
# As yaml.dump of the seed's dictionary writes it.
write("part.yaml", """input_model_path: half.onnx
passes:
  onnx_convert_fp16_to_fp32:
    convert_fp16_to_fp32: true
    subgraphs_to_include:
    - - - conv1
      - - relu1
        - pool1
output_model_path: part.onnx
""")
write("more.yaml", """input_model_config: {model_type: onnx, input_model_path: model.onnx}
engine: {}
passes:
  onnx_fix_shapes: {input_output_name_shapes: {image: [1, 3, 8, 8]}}
  onnx_convert_opset_version: {target_opset_version: 21}
  onnx_simplify: {simplify: true, options: {}}
  onnx_fold_batch_norm: {fold_batch_norm: false}
  onnx_fuse_gelu:
  onnx_convert_nchw_to_nhwc: {convert_nchw_to_nhwc: [image]}
  onnx_copy_bias_init: {shared_bias_op_types: [Conv]}
  clip-to-relu: true
  fold_pad: {}
  nchw_to_nhwc: {inputs: false}
  fp32_to_bf16: {subgraphs_to_exclude: [[[conv1], [relu1]]], exclude: fc1, clamp: false}
""")
write("whole.json", '{"input_model_path": "half.onnx", "passes": {"onnx_convert_fp16_to_fp32": {"convert_fp16_to_fp32": true, "subgraphs_to_include": null}}, "output_model_path": "whole.onnx"}')
