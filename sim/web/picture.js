// Pictures as input tensors, within a count of what the command line makes of them.
"use strict";

const PRECISION_BITS = 22;

// For each place of a resized line: the first place it is made of, and integer weights.
const resizeWeights = (from, to) => {
  const scale = from / to;
  const reach = Math.max(scale, 1);
  return Array.from({ length: to }, (_, place) => {
    const center = (place + 0.5) * scale;
    const first = Math.max(0, Math.trunc(center - reach + 0.5));
    const end = Math.min(from, Math.trunc(center + reach + 0.5));
    const weights = [];
    let sum = 0;
    for (let at = first; at < end; at += 1) {
      const distance = Math.abs((at - center + 0.5) * (1 / reach));
      const weight = distance < 1 ? 1 - distance : 0;
      weights.push(weight);
      sum += weight;
    }
    const one = 2 ** PRECISION_BITS;
    return { first, weights: weights.map((weight) => Math.trunc(0.5 + (weight / sum) * one)) };
  });
};

// Resizes one dimension: `stride` is between its elements, `others` are where its lines begin.
const resizeLines = (pixels, lines, from, to, stride, lineStart, outStart, outStride, out) => {
  const places = resizeWeights(from, to);
  for (let line = 0; line < lines; line += 1) {
    places.forEach(({ first, weights }, place) => {
      let sum = 2 ** (PRECISION_BITS - 1);
      weights.forEach((weight, k) => {
        sum += pixels[lineStart(line) + (first + k) * stride] * weight;
      });
      const value = Math.floor(sum / 2 ** PRECISION_BITS);
      out[outStart(line) + place * outStride] = Math.min(255, Math.max(0, value));
    });
  }
  return out;
};

// Resizes a plane bilinearly: its rows, rounded, then its columns, as Pillow does for most shapes.
const resizePlane = (plane, width, height, toWidth, toHeight) => {
  let found = plane;
  if (toWidth !== width) {
    found = resizeLines(
      found, height, width, toWidth, 1, (y) => y * width, (y) => y * toWidth, 1,
      new Uint8Array(toWidth * height),
    );
  }
  if (toHeight !== height) {
    found = resizeLines(
      found, toWidth, height, toHeight, toWidth, (x) => x, (x) => x, toWidth,
      new Uint8Array(toWidth * toHeight),
    );
  }
  return found;
};

const planesOf = ({ data }, channels) => {
  const count = data.length / 4;
  const planes = Array.from({ length: channels }, () => new Uint8Array(count));
  for (let at = 0; at < count; at += 1) {
    const [red, green, blue] = data.subarray(4 * at, 4 * at + 3);
    if (channels === 1) {
      planes[0][at] = (19595 * red + 38470 * green + 7471 * blue + 32768) >> 16;
    } else {
      planes[0][at] = red;
      planes[1][at] = green;
      planes[2][at] = blue;
    }
  }
  return planes;
};

// Returns the tensor of pixels, as the canvas gives them.
const pictureTensor = (image, input) => {
  const { channels, height, width, is_planar: isPlanar } = input.picture;
  const planes = planesOf(image, channels).map((plane) =>
    resizePlane(plane, image.width, image.height, width, height),
  );
  const tensor = new Uint8Array(input.bytes);
  const sign = input.dtype === "int8" ? 0x80 : 0;
  planes.forEach((plane, channel) => {
    plane.forEach((value, at) => {
      tensor[isPlanar ? channel * plane.length + at : at * channels + channel] = value ^ sign;
    });
  });
  return tensor;
};

// Returns the pixels of what can be drawn; of a camera's picture the middle, in the tensor's shape.
const pixelsOf = (source, width, height, crop) => {
  const canvas = document.createElement("canvas");
  const part = crop
    ? { x: Math.min(width, (height * crop.width) / crop.height),
        y: Math.min(height, (width * crop.height) / crop.width) }
    : { x: width, y: height };
  canvas.width = Math.round(part.x);
  canvas.height = Math.round(part.y);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(
    source, Math.round((width - canvas.width) / 2), Math.round((height - canvas.height) / 2),
    canvas.width, canvas.height, 0, 0, canvas.width, canvas.height,
  );
  return context.getImageData(0, 0, canvas.width, canvas.height);
};

const pixelsOfFile = async (file) => {
  const bitmap = await createImageBitmap(file, { colorSpaceConversion: "none" });
  return pixelsOf(bitmap, bitmap.width, bitmap.height);
};

// Shows a tensor as the model sees it.
const drawTensor = (canvas, tensor, input) => {
  const { channels, height, width, is_planar: isPlanar } = input.picture;
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const count = width * height;
  const sign = input.dtype === "int8" ? 0x80 : 0;
  for (let at = 0; at < count; at += 1) {
    for (let k = 0; k < 3; k += 1) {
      const channel = channels === 1 ? 0 : k;
      image.data[4 * at + k] =
        tensor[isPlanar ? channel * count + at : at * channels + channel] ^ sign;
    }
    image.data[4 * at + 3] = 255;
  }
  context.putImageData(image, 0, 0);
};
