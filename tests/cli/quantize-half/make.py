"""Makes a model that becomes float16 before it is quantized, and a file for that."""

import pathlib

import cli_models

cli_models.net(batch=1)
pathlib.Path("quark.yaml").write_text("""preset: VINT8
extra_options: {QuantizeFP16: true, UseFP32Scale: false, UseRandomData: true}
subgraphs_to_exclude: [[[flat1], [fc1]]]
""")
