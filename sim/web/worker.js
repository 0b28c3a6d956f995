// Simulates one run in a thread of its own: from reset to the firmware's exit.
"use strict";

const CYCLES_PER_REPORT = 10000;
const NOT_SUPPORTED = 58;

// What C's library asks a system for. A simulation needs nothing of it, but must be told that its
// environment is empty.
const imports = (module, instance) => {
  const found = {};
  for (const item of WebAssembly.Module.imports(module)) {
    found[item.module] ??= {};
    found[item.module][item.name] = () => NOT_SUPPORTED;
  }
  found.wasi_snapshot_preview1.environ_sizes_get = (count, size) => {
    const view = new DataView(instance.exports.memory.buffer);
    view.setUint32(count, 0, true);
    view.setUint32(size, 0, true);
    return 0;
  };
  return found;
};

const bytesAt = (system, at, size) => new Uint8Array(system.memory.buffer, at, size);

const load = (system, address, raw) => {
  bytesAt(system, system.buffer(raw.length), raw.length).set(raw);
  if (!system.load(address, raw.length)) {
    throw new Error(`${raw.length} bytes at ${address} do not fit into the simulated memory`);
  }
};

const dump = (system, [address, size]) => {
  if (!system.dump(address, size)) {
    throw new Error(`the simulated memory has no ${size} bytes at ${address}`);
  }
  return bytesAt(system, system.buffer(size), size).slice();
};

const simulate = async ({ module, loads, dumps }) => {
  const start = performance.now();
  const instance = {};
  instance.exports = (await WebAssembly.instantiate(module, imports(module, instance))).exports;
  const system = instance.exports;
  system._initialize();
  for (const [address, raw] of loads) load(system, address, raw);
  while (!system.run(CYCLES_PER_REPORT)) {
    postMessage({ event: "progress", cycles: system.cycles(), steps: system.steps() });
  }
  postMessage({
    event: "end",
    code: system.code(),
    cycles: system.cycles(),
    seconds: (performance.now() - start) / 1e3,
    uart: new TextDecoder().decode(bytesAt(system, system.uart(), system.uart_bytes())),
    activity: bytesAt(system, system.activity(), system.activity_bytes()).slice(),
    dumps: dumps.map((range) => dump(system, range)),
  });
};

onmessage = (message) =>
  simulate(message.data).catch((error) =>
    postMessage({ event: "failure", text: String(error.message ?? error) }),
  );
