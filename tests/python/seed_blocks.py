"""Blocks of code as documents of Quark have them, without their comments. {names in braces} stand for what
differs from user to user: paths, folders, nodes."""

BLOCKS = {}  # name: (text, what it waits for or None)


def block(name, text, waits=None):
    BLOCKS[name] = (text, waits)


block("000.1 quantize with XINT8", """
from onnxruntime.quantization.calibrate import CalibrationDataReader
from quark.onnx.quantization.config import Config, get_default_config
from quark.onnx import ModelQuantizer

float_model_path = "{model}"
quantized_model_path = "{out}"
calib_data_folder = "{data}"
model_input_name = '{input}'

class CalibDataReader(CalibrationDataReader):
    def __init__(self, calib_data_folder: str, model_input_name: str):
        self.input_name = model_input_name
        self.data = self._load_calibration_data(calib_data_folder)
        self.data_iter = None

    def _load_calibration_data(self, data_folder: str):
        processed_data = load_samples(data_folder)
        return processed_data

    def get_next(self):
        if self.data_iter is None:
            self.data_iter = iter([{{self.input_name: data}} for data in self.data])
        return next(self.data_iter, None)

calib_data_reader = CalibDataReader(calib_data_folder, model_input_name)
quant_config = get_default_config("XINT8")
quantization_config = Config(global_quant_config=quant_config )
quantizer = ModelQuantizer(quantization_config)
quantizer.quantize_model(float_model_path, quantized_model_path, calib_data_reader)
""")
for _name in ("ADAROUND", "ADAQUANT"):
    block(f"000.3 {_name}", f"""
from quark.onnx.quantization.config import Config, get_default_config
from quark.onnx import ModelQuantizer
quant_config = get_default_config("XINT8_{_name}_CONFIG")
config = Config(global_quant_config=quant_config)

quantizer = ModelQuantizer(config)

quantizer.quantize_model(input_model_path, output_model_path, data_reader)
""")
block("001.1 VINT8, random data", """
from quark.onnx import ModelQuantizer, QConfig
quant_config = QConfig.get_default_config("VINT8")
quant_config.global_quant_config.extra_options["Int32Bias"] = False
quant_config.global_quant_config.enable_npu_cnn = True
quant_config.global_quant_config.extra_options["DedicatedQDQPair"] = True
quant_config.global_quant_config.extra_options["QuantizeAllOpTypes"] = True
quantizer = ModelQuantizer(quant_config)
quant_config.global_quant_config.extra_options["UseRandomData"] = True
quantizer.quantize_model(
    model_input="{model}",
    model_output="{out}",
    calibration_data_reader=None,
)
""")
block("001.2 VINT8, a reader", """
from quark.onnx import ModelQuantizer, QConfig
quant_config = QConfig.get_default_config("VINT8")
quant_config.global_quant_config.extra_options["Int32Bias"] = False
quant_config.global_quant_config.enable_npu_cnn = True
quant_config.global_quant_config.extra_options["DedicatedQDQPair"] = True
quant_config.global_quant_config.extra_options["QuantizeAllOpTypes"] = True
quantizer = ModelQuantizer(quant_config)
from onnxruntime.quantization.calibrate import CalibrationDataReader
class ImageDataReader(CalibrationDataReader):
    def __init__(self, calibration_image_folder, input_name,
                 input_height, input_width):
        self.enum_data = None
        self.input_name = input_name
        self.data_list = self._preprocess_images(
            calibration_image_folder, input_height, input_width)
    def _preprocess_images(self, image_folder, input_height,
                           input_width, batch_size=1):
        data_list = load_samples(image_folder)
        return data_list
    def get_next(self):
        if self.enum_data is None:
            self.enum_data = iter(
                [{{self.input_name: data}} for data in self.data_list])
        return next(self.enum_data, None)
    def rewind(self):
        self.enum_data = None
calib_data_reader = ImageDataReader(
    calibration_image_folder="{data}",
    input_name="{input}",
    input_height=224,
    input_width=224,
)
quantizer.quantize_model(
    model_input="{model}",
    model_output="{out}",
    calibration_data_reader=calib_data_reader,
)
""")
block("001.3 save results", """
import numpy as np
import onnxruntime as ort
import os
def save_inference_results(model_path, data_reader, output_folder):
    os.makedirs(output_folder, exist_ok=True)
    session = ort.InferenceSession(model_path)
    output_name = session.get_outputs()[0].name
    data_reader.rewind()
    idx = 0
    while True:
        inputs = data_reader.get_next()
        if inputs is None:
            break
        result = session.run([output_name], inputs)[0]
        np.save(os.path.join(output_folder, f"result_{{idx}}.npy"), result)
        idx += 1
save_inference_results("{model}", calib_data_reader, "output_fp32")
save_inference_results("{quantized}", calib_data_reader, "output_int8")
""")
block("001.4 names of nodes", """
import onnx
model = onnx.load("{model}")
for node in model.graph.node:
    print(node.op_type, node.name)
""")
block("001.5 leave a subgraph out", """
from quark.onnx import ModelQuantizer, QConfig
quant_config = QConfig.get_default_config("VINT8")
quant_config.global_quant_config.extra_options["Int32Bias"] = False
quant_config.global_quant_config.extra_options["DedicatedQDQPair"] = True
quant_config.global_quant_config.extra_options["QuantizeAllOpTypes"] = True
quant_config.global_quant_config.enable_npu_cnn = True
quant_config.global_quant_config.subgraphs_to_exclude = [
    (["{start}"], ["{end}"])
]
quantizer = ModelQuantizer(quant_config)
quantizer.quantize_model(
    model_input="{model}",
    model_output="{out}",
    calibration_data_reader=calib_data_reader,
)
""")
block("001.6 Shapeshifter", """
import yaml
from quark.shapeshifter import Engine, LoadConfigFromFileOrDict
subgraphs_to_include = [
    [['{start}'], ['{end}']]
]
def generate_yaml(input_model, output_model, subgraphs_to_include):
    yaml_path = "convert_fp16_to_fp32.yaml"
    config = {{
        "input_model_path": input_model,
        "passes": {{
            "onnx_convert_fp16_to_fp32": {{
                "convert_fp16_to_fp32": True,
                "subgraphs_to_include": subgraphs_to_include
            }}
        }},
        "output_model_path": output_model,
    }}
    with open(yaml_path, "w", encoding="utf-8") as f:
        yaml.dump(config, f, allow_unicode=True, sort_keys=False)
    return yaml_path
input_model = "{half}"
converted_model = "{out}"
yaml_file = generate_yaml(input_model, converted_model, subgraphs_to_include)
engine_config = LoadConfigFromFileOrDict(yaml_file).data
engine = Engine(config=engine_config)
engine.initialize()
engine.run()
""")
block("001.7 VINT8 of a mixed model", """
from quark.onnx import ModelQuantizer, QConfig
quant_config = QConfig.get_default_config("VINT8")
quant_config.global_quant_config.extra_options["Int32Bias"] = False
quant_config.global_quant_config.enable_npu_cnn = True
TAIL_SUBGRAPHS = [
    (['{start}'], ['{end}'])
]
quant_config.global_quant_config.subgraphs_to_exclude = TAIL_SUBGRAPHS
quant_config.global_quant_config.extra_options["QuantizeFP16"] = True
quant_config.global_quant_config.extra_options["UseFP32Scale"] = False
quant_config.global_quant_config.extra_options["UseRandomData"] = True
quantizer = ModelQuantizer(quant_config)
quantizer.quantize_model(
    model_input="{mixed}",
    model_output="{out}",
    calibration_data_reader=None,
)
""")
block("001.8 BF16 with casts", """
from quark.onnx import ModelQuantizer, QConfig
quant_config = QConfig.get_default_config("BF16")
quant_config.global_quant_config.extra_options["BF16QDQToCast"] = True
quantizer = ModelQuantizer(quant_config)
quantizer.quantize_model(
    model_input="{model}",
    model_output="{out}",
    calibration_data_reader=calibration_dataset,
)
""")
block("004.1 specifications", """
from quark.onnx import CalibMethod, QConfig, QLayerConfig, ModelQuantizer, Int8
class Int8Spec(QTensorConfig):
    def __init__(
        self,
        symmetric: bool = True,
        scale_type: ScaleType = ScaleType.Float32,
        calibration_method: CalibMethod = CalibMethod.Percentile,
        quant_granularity: QuantGranularity = QuantGranularity.Tensor,
        data_type: type[BaseDataType] = Int8,
    ):
        super().__init__(symmetric, scale_type, calibration_method, quant_granularity, data_type)
input_tensors_spec = Int8Spec(calibration_method=CalibMethod.MinMax)
weight_spec = Int8Spec(calibration_method=CalibMethod.MinMax)
config = QConfig(
    global_config=QLayerConfig(input_tensors=input_tensors_spec, weight=weight_spec)
)
quantizer = ModelQuantizer(config)
""")
