// Runs the simulated system on chip: `--help` lists the options.
//
// Standard output carries the UART's bytes (unless --uart-output is given); standard error carries
// one JSON object per line: {"event": "progress", ...} a few times a second, {"event": "end", ...}.

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <memory>

#include "Vsoc.h"
#include "activity.h"
#include "drain.h"
#include "images.h"
#include "memory.h"
#include "options.h"
#include "uart.h"
#include "verilated.h"
#if VM_TRACE
#include "verilated_fst_c.h"
#endif

namespace {

using Clock = std::chrono::steady_clock;

// Exit status of this process; what the firmware reports is in the last JSON line.
constexpr int kFinished = 0;
constexpr int kUsage = 2;
constexpr int kCycleLimit = 3;

// The clock is looked at once per this many cycles: twice a second at the slowest.
constexpr uint64_t kCyclesPerReport = 1 << 17;
constexpr double kSecondsPerReport = 0.2;

constexpr uint64_t kPicosecondsPerCycle = 10000;

class Trace {
   public:
    Trace(const Options& options, VerilatedContext& context, Vsoc& top)
        : start_(options.trace_start), stop_(options.trace_stop) {
        if (options.trace_path.empty()) return;
#if VM_TRACE
        context.traceEverOn(true);
        file_ = std::make_unique<VerilatedFstC>();
        top.trace(file_.get(), 99);
        file_->open(options.trace_path.c_str());
#else
        (void)context;
        (void)top;
        throw UsageError("this simulator was built without --trace");
#endif
    }

    ~Trace() {
#if VM_TRACE
        if (file_) file_->close();
#endif
    }

    void dump(uint64_t cycle, uint64_t picoseconds) {
#if VM_TRACE
        if (file_ && cycle >= start_ && cycle < stop_) file_->dump(picoseconds);
#else
        (void)cycle;
        (void)picoseconds;
#endif
    }

   private:
    uint64_t start_;
    uint64_t stop_;
#if VM_TRACE
    std::unique_ptr<VerilatedFstC> file_;
#endif
};

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

int simulate(const Options& options) {
    VerilatedContext context;
    Vsoc top{&context};
    Memory memory{top};
    Uart uart{options.uart_output, options.uart_input};
    Trace trace{options, context, top};
    Activity activity{options.activity_path, memory};

    // The model's initial values are set by the first evaluation; images go in after that.
    top.sys_clk = 0;
    top.serial_source_ready = 1;
    top.serial_sink_valid = 0;
    top.eval();
    for (const Image& image : options.loads) load_image(memory, image);

    const Clock::time_point start = Clock::now();
    double next_report = kSecondsPerReport;
    uint64_t cycle = 0;
    bool has_finished = false;
    uint32_t code = 0;
    uint64_t end = options.max_cycles;
    for (; cycle < end; ++cycle) {
        uart.before_edge(top);
        top.sys_clk = 1;
        top.eval();
        trace.dump(cycle, cycle * kPicosecondsPerCycle);
        activity.sample(top, cycle);
        uart.after_edge(top);
        top.sys_clk = 0;
        top.eval();
        trace.dump(cycle, cycle * kPicosecondsPerCycle + kPicosecondsPerCycle / 2);

        if (top.simulation_finish && !has_finished) {
            has_finished = true;
            code = top.simulation_code;
            end = cycle + kDrainCycles;
        }
        if (cycle % kCyclesPerReport == 0 && seconds_since(start) >= next_report) {
            next_report = seconds_since(start) + kSecondsPerReport;
            std::fprintf(stderr,
                         "{\"event\": \"progress\", \"cycles\": %" PRIu64 ", \"steps\": %" PRIu32
                         "}\n",
                         cycle, memory.progress());
            std::fflush(stderr);
        }
    }
    const double seconds = seconds_since(start);
    uart.flush();
    activity.finish(cycle);
    for (const Image& image : options.dumps) dump_image(memory, image);
    const uint64_t cycles = has_finished ? cycle - kDrainCycles : cycle;
    std::fprintf(stderr,
                 "{\"event\": \"end\", \"finished\": %s, \"code\": %" PRIu32
                 ", \"cycles\": %" PRIu64 ", \"steps\": %" PRIu32 ", \"wall_seconds\": %.6f}\n",
                 has_finished ? "true" : "false", code, cycles, memory.progress(), seconds);
    if (has_finished) return kFinished;
    std::fprintf(stderr, "the cycle limit of %" PRIu64 " was reached\n", options.max_cycles);
    return kCycleLimit;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return simulate(parse_options(argc, argv));
    } catch (const UsageError& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return kUsage;
    }
}
