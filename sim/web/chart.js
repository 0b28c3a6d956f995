// The timeline of an inference on a canvas: wheel or pinch zooms, dragging moves.
"use strict";

const ROW_PIXELS = 26;
const AXIS_PIXELS = 22;
const LABEL_PIXELS = 96;
const LEAST_CYCLES = 50;
const COLOURS = ["#0072b2", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#e69f00"];

class Chart {
  constructor(canvas, legend) {
    this.canvas = canvas;
    this.legend = legend;
    this.slices = [];
    this.all = [0, 1];
    this.shown = [0, 1];
    this.pointers = new Map();
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, event.offsetX);
    });
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(name, (event) => this.pointers.delete(event.pointerId));
    }
    canvas.addEventListener("dblclick", () => this.show(...this.all));
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  set(slices) {
    const start = Math.min(...slices.map((slice) => slice.start));
    const end = Math.max(...slices.map((slice) => slice.end));
    this.slices = slices.map((slice) => ({
      ...slice, start: slice.start - start, end: slice.end - start,
    }));
    this.all = [0, end - start];
    this.show(...this.all);
  }

  get scale() {
    return (this.canvas.clientWidth - LABEL_PIXELS) / (this.shown[1] - this.shown[0]);
  }

  show(start, end) {
    const length = Math.min(Math.max(end - start, LEAST_CYCLES), this.all[1]);
    const first = Math.min(Math.max(0, start), this.all[1] - length);
    this.shown = [first, first + length];
    this.draw();
  }

  zoom(pixel, factor) {
    const at = this.shown[0] + (pixel - LABEL_PIXELS) / this.scale;
    this.show(at - (at - this.shown[0]) * factor, at + (this.shown[1] - at) * factor);
  }

  wheel(event) {
    event.preventDefault();
    this.zoom(event.offsetX, 1.002 ** event.deltaY);
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (before === undefined) {
      this.tell(event);
      return;
    }
    const [other] = [...this.pointers].filter(([id]) => id !== event.pointerId);
    if (other) {
      const [near, far] = [Math.abs(event.offsetX - other[1]), Math.abs(before - other[1])];
      if (near > 0) this.zoom(other[1], far / near);
    } else {
      const by = (before - event.offsetX) / this.scale;
      this.show(this.shown[0] + by, this.shown[1] + by);
    }
    this.pointers.set(event.pointerId, event.offsetX);
  }

  tell(event) {
    const at = this.shown[0] + (event.offsetX - LABEL_PIXELS) / this.scale;
    const track = TRACKS[Math.floor((event.offsetY - AXIS_PIXELS) / ROW_PIXELS)];
    const margin = 2 / this.scale;
    const found = this.slices.find(
      (slice) => slice.track === track && slice.start - margin <= at && at < slice.end + margin,
    );
    this.legend.textContent = found
      ? `${found.track}: ${found.name}, ${(found.end - found.start).toLocaleString("en-US")} ` +
        `cycles from ${found.start.toLocaleString("en-US")} on` +
        (found.details && ` (${found.details})`)
      : "";
  }

  draw() {
    const { canvas } = this;
    const [width, height] = [canvas.clientWidth, AXIS_PIXELS + ROW_PIXELS * TRACKS.length];
    const ratio = window.devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d");
    const style = getComputedStyle(canvas);
    context.scale(ratio, ratio);
    context.font = `12px ${style.fontFamily}`;
    context.textBaseline = "middle";
    this.drawAxis(context, width, height, style);
    for (const slice of this.slices) this.drawSlice(context, width, slice);
    context.fillStyle = style.backgroundColor;
    context.fillRect(0, 0, LABEL_PIXELS - 2, height);
    context.fillStyle = style.color;
    TRACKS.forEach((track, row) => {
      context.fillText(track, 0, AXIS_PIXELS + ROW_PIXELS * (row + 0.5));
    });
  }

  drawAxis(context, width, height, style) {
    const rough = (this.shown[1] - this.shown[0]) / Math.max(2, (width - LABEL_PIXELS) / 90);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
    for (let at = Math.ceil(this.shown[0] / step) * step; at <= this.shown[1]; at += step) {
      const x = LABEL_PIXELS + (at - this.shown[0]) * this.scale;
      context.fillStyle = style.borderColor;
      context.fillRect(x, 0, 1, height);
      context.fillStyle = style.color;
      context.fillText(Math.round(at).toLocaleString("en-US"), x + 3, AXIS_PIXELS / 2);
    }
  }

  drawSlice(context, width, slice) {
    const row = TRACKS.indexOf(slice.track);
    const left = LABEL_PIXELS + (slice.start - this.shown[0]) * this.scale;
    const size = Math.max(0.5, (slice.end - slice.start) * this.scale);
    if (left > width || left + size < LABEL_PIXELS) return;
    const top = AXIS_PIXELS + ROW_PIXELS * row + 3;
    const isWide = size > 4;
    context.fillStyle = COLOURS[row];
    context.fillRect(left, top, isWide ? size - 1 : size, ROW_PIXELS - 6);
    const room = Math.min(left + size, width) - Math.max(left, LABEL_PIXELS) - 8;
    if (context.measureText(slice.name).width > room) return;
    context.fillStyle = "#ffffff";
    context.fillText(slice.name, Math.max(left, LABEL_PIXELS) + 4, top + ROW_PIXELS / 2 - 3);
  }
}
