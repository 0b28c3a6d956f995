"""Say how often the quantized network is right: ``python evaluate.py``."""

import sys

from shapes import draw

from kiwicha import Interpreter

interpreter = Interpreter(model_path="shapes_int8.onnx")
interpreter.allocate_tensors()
source = interpreter.get_input_details()[0]["index"]
scores = interpreter.get_output_details()[0]["index"]

pictures, classes = draw(200, seed=2000)
right = 0
for picture, number in zip(pictures, classes, strict=True):
    interpreter.set_tensor(source, picture[None])
    interpreter.invoke()
    right += int(interpreter.get_tensor(scores).argmax()) == number
sys.stdout.write(f"{right} of {len(pictures)} are right\n")
pictures[:1].tofile("picture.bin")
