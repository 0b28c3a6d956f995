"""Train a small network and export it: ``python train_torch.py`` writes shapes.onnx."""

import torch
from shapes import CLASSES, SIZE, draw
from torch import nn

BATCH, STEPS = 64, 150


def block(inputs: int, outputs: int) -> nn.Sequential:
    """Return a depthwise and a pointwise convolution, which halve the image."""
    return nn.Sequential(
        nn.Conv2d(inputs, inputs, 3, stride=2, padding=1, groups=inputs, bias=False),
        nn.BatchNorm2d(inputs),
        nn.ReLU(),
        nn.Conv2d(inputs, outputs, 1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU6(),
    )


network = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1, bias=False),
    nn.BatchNorm2d(16),
    nn.ReLU(),
    block(16, 32),
    block(32, 64),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(64, len(CLASSES)),
)

torch.manual_seed(0)
optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
for step in range(STEPS):
    pictures, classes = draw(BATCH, seed=step)
    loss = nn.functional.cross_entropy(network(torch.tensor(pictures)), torch.tensor(classes))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

torch.onnx.export(
    network.eval(),
    (torch.zeros(1, 1, SIZE, SIZE),),
    "shapes.onnx",
    input_names=["picture"],
    output_names=["scores"],
    opset_version=17,
    dynamo=False,
)
