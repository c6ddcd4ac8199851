"""Makes a file that is no model."""

open('model.onnx', 'wb').write(b'\x0a\x05abc')
