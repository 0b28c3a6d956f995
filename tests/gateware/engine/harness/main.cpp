// Executes lists on the engine alone, with DRAM and a CPU that stall as they are told to.
//
// Arguments: seed, latency_cycles, jitter_cycles, stall, refresh_every_cycles, refresh_cycles (see
// `Timing`), the share of cycles in which the CPU's side does not move, the cycles in which an
// instruction must be answered, and those between reset and first instruction. Standard input has
// rounds: a RoundHeader, its instructions, the Program's range and the arena's. Standard output
// gets the answers of each, and the arena as it is with the last one. What must not happen ends
// the process with a line on standard error. Further arguments are Verilator's, and plusargs.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "dram.h"
#include "verilated.h"
#if VM_COVERAGE
#include "verilated_cov.h"
#endif

namespace {

struct RoundHeader {
    uint32_t first_byte;
    uint32_t program_bytes;
    uint32_t arena_bytes;
    uint32_t instructions;
};

/// An `EngineOp` with its index and operands. With kTakesAnswer the answer to the instruction
/// before is inputs_0.
struct Instruction {
    uint32_t op, index, inputs_0, inputs_1;
};
constexpr uint32_t kTakesAnswer = 1u << 31;
/// Asks for the cycles from START to the answer of WAIT, and nothing of the engine.
constexpr uint32_t kElapsed = 1u << 30;
/// Resets the engine, but not DRAM, after inputs_0 cycles, for inputs_1.
constexpr uint32_t kReset = 1u << 29;
constexpr uint32_t kStart = 1, kWait = 2;

constexpr int kResetCycles = 3;

class Host {
   public:
    Host(Vengine& top, Dram& dram, Random& random, double stall, uint64_t limit)
        : top_(top), dram_(dram), random_(random), stall_(stall), limit_(limit) {
        top_.commands___05Fvalid = 0;
        top_.responses___05Fready = 0;
        // Inputs have random values where registers have.
        top_.reset = 0;
        top_.rst = 1;
        for (int k = 0; k < kResetCycles; ++k) {
            top_.clk = 0;
            top_.eval();
            tick();
        }
        top_.rst = 0;
    }

    void rest(uint64_t cycles) {
        for (uint64_t cycle = 0; cycle < cycles; ++cycle) {
            settle();
            tick();
        }
    }

    void reset(uint64_t after, uint64_t cycles) {
        rest(after);
        top_.reset = 1;
        rest(cycles);
        top_.reset = 0;
    }

    /// Cycles from START to the answer of WAIT.
    uint32_t elapsed() const { return waited_ - started_; }

    uint32_t ask(const Instruction& wanted) {
        const uint64_t low = wanted.op | wanted.index << 3 |
                             static_cast<uint64_t>(wanted.inputs_0) << 7 |
                             static_cast<uint64_t>(wanted.inputs_1) << 39;
        bool is_offered = false, is_taken = false, has_answered = false;
        for (uint64_t cycle = 0; cycle < limit_; ++cycle) {
            const bool moves = !happens(random_, stall_);
            is_offered = !is_taken && (is_offered || moves);
            const uint64_t payload = is_offered ? low : random_();
            top_.commands___05Fvalid = is_offered;
            top_.commands___05Fpayload[0] = static_cast<uint32_t>(payload);
            top_.commands___05Fpayload[1] = static_cast<uint32_t>(payload >> 32);
            top_.commands___05Fpayload[2] = is_offered ? wanted.inputs_1 >> 25 : 0;
            top_.responses___05Fready = moves;
            settle();
            const bool has_response = top_.responses___05Fvalid;
            const uint32_t response = top_.responses___05Fpayload;
            const bool takes = is_offered && top_.commands___05Fready;
            if (has_response && !is_taken) throw Failure("a response without an instruction");
            if (is_taken && top_.commands___05Fready)
                throw Failure("an instruction must wait for the answer to the one before");
            if (takes) taken_ = cycle_;
            if (has_response && wanted.op == kStart && response == 0) started_ = taken_;
            if (has_response && !has_answered && wanted.op == kWait) waited_ = cycle_;
            has_answered |= has_response;
            tick();
            if (has_response && moves) return response;
            is_taken |= takes;
        }
        throw Failure("op " + std::to_string(wanted.op) + " must be answered");
    }

   private:
    void settle() {
        dram_.drive();
        top_.clk = 0;
        top_.eval();
        dram_.sample();
    }

    void tick() {
        ++cycle_;
        top_.clk = 1;
        top_.eval();
    }

    Vengine& top_;
    Dram& dram_;
    Random& random_;
    double stall_;
    uint64_t limit_;
    uint32_t cycle_ = 0, taken_ = 0, started_ = 0, waited_ = 0;
};

bool read(void* bytes, size_t size) { return std::fread(bytes, 1, size, stdin) == size; }

void run(int argc, char** argv) {
    char** arguments = argv + 1;
    Random random{std::strtoull(arguments[0], nullptr, 10)};
    const Timing timing{std::strtoull(arguments[1], nullptr, 10),
                        std::strtoull(arguments[2], nullptr, 10), std::atof(arguments[3]),
                        std::strtoull(arguments[4], nullptr, 10),
                        std::strtoull(arguments[5], nullptr, 10)};
    VerilatedContext context;
    context.commandArgs(argc, argv);
    Vengine top{&context};
    Dram dram{top, timing, random};
    Host host{top, dram, random, std::atof(arguments[6]), std::strtoull(arguments[7], nullptr, 10)};
    host.rest(std::strtoull(arguments[8], nullptr, 10));
    RoundHeader round{};
    for (int number = 0; read(&round, sizeof round); ++number) {
        const std::string name = "round " + std::to_string(number);
        std::vector<Instruction> instructions(round.instructions);
        Contents& contents = dram.contents;
        contents = {round.first_byte, round.program_bytes, {}};
        contents.bytes.resize(round.program_bytes + round.arena_bytes);
        if (!read(instructions.data(), sizeof(Instruction) * instructions.size()) ||
            !read(contents.bytes.data(), contents.bytes.size()))
            throw Failure(name + " must be complete");
        try {
            uint32_t answer = 0;
            for (Instruction instruction : instructions) {
                if (instruction.op & kTakesAnswer) instruction.inputs_0 = answer;
                instruction.op &= ~kTakesAnswer;
                if (instruction.op == kReset) {
                    host.reset(instruction.inputs_0, instruction.inputs_1);
                    answer = 0;
                } else {
                    answer = instruction.op == kElapsed ? host.elapsed() : host.ask(instruction);
                }
                std::fwrite(&answer, sizeof answer, 1, stdout);
            }
            if (!dram.is_idle()) throw Failure("DRAM must be idle when a list has ended");
        } catch (const Failure& failure) {
            throw Failure(name + ": " + failure.what());
        }
        std::fwrite(contents.bytes.data() + round.program_bytes, 1, round.arena_bytes, stdout);
    }
#if VM_COVERAGE
    context.coveragep()->write("coverage.dat");
#endif
}

}  // namespace

int main(int argc, char** argv) {
    constexpr int kArguments = 9;
    try {
        if (argc < 1 + kArguments) throw Failure("wants " + std::to_string(kArguments) + " values");
        run(argc, argv);
    } catch (const Failure& failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return 1;
    }
    return 0;
}
