// The page: inputs in, a simulation in a worker, answers and cycles out.
"use strict";

const TOP = 5;

const element = (id) => document.getElementById(id);
const facts = JSON.parse(element("facts").textContent);
const number = (value) => value.toLocaleString("en-US");

const made = (tag, text, name) => {
  const found = document.createElement(tag);
  if (text !== undefined) found.textContent = text;
  if (name) found.className = name;
  return found;
};

const unpacked = async (text) => {
  const raw = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
};

const contents = async (id) => unpacked(element(id).textContent);

const tensors = facts.inputs.map(() => null);
const chart = new Chart(element("timeline"), element("slice"));

const refuse = (text) => {
  element("problem").textContent = text;
};

const take = (at, tensor, name) => {
  const input = facts.inputs[at];
  tensors[at] = tensor;
  const shown = document.querySelector(`[data-input="${at}"]`);
  shown.querySelector(".name").textContent = name;
  if (input.picture) drawTensor(shown.querySelector("canvas"), tensor, input);
  element("run").disabled = tensors.includes(null);
  refuse("");
};

// A file of the tensor's size that is named otherwise than a picture is the tensor itself.
const takeFile = async (at, file) => {
  const input = facts.inputs[at];
  const isNamedPicture = file.type.startsWith("image/");
  if (!isNamedPicture && file.size === input.bytes) {
    take(at, new Uint8Array(await file.arrayBuffer()), file.name);
    return;
  }
  const wanted = `${input.dtype} ${input.shape.join("x")}, ${input.bytes} bytes`;
  if (!input.picture) {
    refuse(`${file.name} must be the raw tensor (${wanted}), not ${file.size} bytes`);
    return;
  }
  try {
    take(at, pictureTensor(await pixelsOfFile(file), input), file.name);
  } catch (error) {
    refuse(`${file.name} must be a picture or the raw tensor (${wanted}): ${error.message}`);
  }
};

const camera = { stream: null };

const stopCamera = (video) => {
  for (const track of camera.stream?.getTracks() ?? []) track.stop();
  camera.stream = null;
  video.hidden = true;
};

// The first press starts the camera, the second takes its picture.
const useCamera = async (at, video, button) => {
  if (camera.stream) {
    const size = facts.inputs[at].picture;
    const image = pixelsOf(video, video.videoWidth, video.videoHeight, size);
    stopCamera(video);
    button.textContent = "Camera";
    take(at, pictureTensor(image, facts.inputs[at]), "camera");
    return;
  }
  try {
    camera.stream = await navigator.mediaDevices.getUserMedia({ video: true });
  } catch (error) {
    refuse(`the camera gives no picture: ${error.message}`);
    return;
  }
  video.srcObject = camera.stream;
  video.hidden = false;
  await video.play();
  button.textContent = "Take the picture";
};

const inputControls = (input, at) => {
  const place = made("section", undefined, "input");
  place.dataset.input = at;
  const file = made("input");
  file.type = "file";
  file.setAttribute("aria-label", `File for input ${at}`);
  file.addEventListener("change", () => file.files[0] && takeFile(at, file.files[0]));
  place.append(made("b", `${input.name} `), made("span", "nothing chosen", "name soft"), file);
  if (input.picture) {
    const button = made("button", "Camera");
    const video = made("video");
    video.hidden = true;
    video.muted = true;
    video.playsInline = true;
    button.addEventListener("click", () => useCamera(at, video, button));
    const seen = made("canvas");
    seen.setAttribute("role", "img");
    seen.setAttribute("aria-label", "What the model sees");
    place.append(button, video, seen);
  } else {
    const button = made("button", "Random bytes");
    button.addEventListener("click", () => {
      take(at, crypto.getRandomValues(new Uint8Array(input.bytes)), "random bytes");
    });
    place.append(button);
  }
  return place;
};

const showAnswer = (results) => {
  const list = element("answer");
  list.replaceChildren();
  for (const [label, value] of largest(facts.outputs[0], results.outputs[0], facts.labels, TOP)) {
    const item = made("li", label);
    item.append(made("span", value.toFixed(4), "number"));
    list.append(item);
  }
};

const showLayers = (results) => {
  const rows = facts.layers.map((layer, at) => {
    const cycles = results.layers[at];
    const share = (100 * cycles) / results.cycles;
    const used = layer.macs / (Math.max(1, cycles) * facts.macs_per_cycle);
    const row = made("tr");
    const cells = [
      [layer.index, "number"], [layer.operator], [layer.shape.join("x"), "shape"],
      [number(cycles), "number"], [`${share.toFixed(1)} %`, "number"],
      [layer.predicted === null ? "" : number(layer.predicted), "number"],
      [layer.macs ? `${(100 * used).toFixed(0)} %` : "", "number"],
      [layer.where], [layer.why, "why"],
    ];
    row.append(...cells.map(([text, name]) => made("td", text, name)));
    return row;
  });
  element("layers").tBodies[0].replaceChildren(...rows);
  element("total").textContent = number(results.layers.reduce((sum, cycles) => sum + cycles, 0));
};

const show = (results) => {
  const milliseconds = (1e3 * results.cycles) / facts.clock_hz;
  element("cycles").textContent = number(results.cycles);
  element("time").textContent = `${milliseconds.toFixed(2)} ms`;
  element("first").textContent = number(results.first);
  element("speed").textContent =
    `${number(results.simulated)} cycles in ${results.seconds.toFixed(1)} s`;
  showAnswer(results);
  showLayers(results);
  element("results").hidden = false;
  chart.set(results.slices[results.slices.length - 1]);
};

const traceEvents = (inferences) => ({
  traceEvents: [
    ...TRACKS.map((name, tid) => ({ ph: "M", pid: 1, tid, name: "thread_name", args: { name } })),
    ...inferences.flatMap((slices, inference) =>
      slices.map(({ track, name, start, end, details }) => ({
        ph: "X", pid: 1, tid: TRACKS.indexOf(track), ts: start, dur: end - start, name, cat: track,
        args: { inference, cycles: end - start, details },
      })),
    ),
  ],
  otherData: { "1 us": "1 cycle" },
});

const save = (name, value) => {
  const link = made("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(value)], { type: "application/json" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
};

const system = (async () => {
  const images = await Promise.all(facts.loads.map((_, at) => contents(`load${at}`)));
  return {
    module: await WebAssembly.compile(await contents("module")),
    loads: facts.loads.map((address, at) => [address, images[at]]),
  };
})();

const simulated = async (inputs) => {
  const { module, loads } = await system;
  const places = facts.inputs.flatMap((input, at) => input.places.map((to) => [to, inputs[at]]));
  const source = new Blob([element("worker").textContent], { type: "text/javascript" });
  const address = URL.createObjectURL(source);
  const worker = new Worker(address);
  const steps = facts.inferences * facts.steps.length;
  try {
    return await new Promise((resolve, reject) => {
      worker.onerror = (event) => reject(new Error(event.message));
      worker.onmessage = ({ data }) => {
        if (data.event === "end") resolve(data);
        else if (data.event === "failure") reject(new Error(data.text));
        else element("progress").value = data.steps / steps;
      };
      worker.postMessage({ module, loads: [...loads, ...places], dumps: facts.dumps });
    });
  } finally {
    worker.terminate();
    URL.revokeObjectURL(address);
  }
};

const run = async () => {
  const button = element("run");
  button.disabled = true;
  element("progress").value = 0;
  element("progress").hidden = false;
  delete document.body.dataset.results;
  try {
    window.results = resultsOf(facts, await simulated(tensors));
    show(window.results);
    document.body.dataset.results = "shown";
  } catch (error) {
    refuse(`the simulation failed: ${error.message}`);
  }
  element("progress").hidden = true;
  button.disabled = false;
};

element("inputs").append(...facts.inputs.map(inputControls));
element("run").addEventListener("click", run);
element("trace").addEventListener("click", () => {
  save(`${facts.model}.trace.json`, traceEvents(window.results.slices));
});
element("json").addEventListener("click", () => {
  const { cycles, first, layers } = window.results;
  save(`${facts.model}.json`, { model: facts.model, config: facts.config, cycles, first, layers });
});
(async () => {
  for (const [at, name] of facts.examples.entries()) {
    take(at, await contents(`example${at}`), name);
  }
  await system;
  document.body.dataset.loaded = "yes";
})().catch((error) => refuse(`the page cannot be loaded: ${error.message}`));
