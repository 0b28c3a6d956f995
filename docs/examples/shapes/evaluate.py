"""Say how often a quantized network is right: ``python evaluate.py MODEL``.

It stores one of the pictures as picture.bin, as the network takes it.
"""

import sys

import numpy as np
from shapes import draw

from kiwicha import Interpreter

interpreter = Interpreter(model_path=sys.argv[1])
interpreter.allocate_tensors()
(source,) = interpreter.get_input_details()
(scores,) = interpreter.get_output_details()

pictures, classes = draw(200, seed=2000)
if source["dtype"] == np.int8:
    scale, zero_point = source["quantization"]
    pictures = np.rint(pictures / scale + zero_point).clip(-128, 127).astype(np.int8)
pictures = pictures.reshape(len(pictures), *source["shape"])
right = 0
for picture, number in zip(pictures, classes, strict=True):
    interpreter.set_tensor(source["index"], picture)
    interpreter.invoke()
    right += int(interpreter.get_tensor(scores["index"]).argmax()) == number
sys.stdout.write(f"{right} of {len(pictures)} are right\n")
pictures[:1].tofile("picture.bin")
