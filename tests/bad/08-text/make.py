from lib.proto import model

with open("model.onnx", "w", encoding="ascii") as file:
    file.write("404: Not Found")
