"""Makes one network three times: an open batch, open sides, all fixed."""

import cli_models

cli_models.net("batch.onnx")
cli_models.net("sides.onnx", sides=("H", "W"))
cli_models.net("fixed.onnx", batch=1)
