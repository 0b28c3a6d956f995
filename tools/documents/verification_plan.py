"""What can go wrong, what catches it, what was found, and what nothing catches yet."""

__all__ = ["FOUND", "HOLES", "PLAN"]

PLAN = (
    (
        "a kernel, the array or the requantizer computes another byte",
        (
            "benches against numpy; layers and models against the interpreters, bit for bit, "
            "on the simulated system"
        ),
    ),
    (
        "the compiler schedules what the engine reads too early, or overwrites",
        "random models and lists; the verifier of Programs; the reference executor",
    ),
    (
        "a read or write of DRAM outside the windows",
        "proof of the windows, of each reader and writer behind them, and of the port",
    ),
    (
        "a word goes to another reader, or a reader gets another's address",
        "proof of the port, which follows any one read; mutants of the port are not proven",
    ),
    (
        "a list ends too early, or goes on after an error",
        "proof of the sequencer; bench with a last stream that is too long",
    ),
    (
        "the windows change while a list runs",
        "proof of the unit for instructions",
    ),
    (
        "a descriptor that is not sound is executed",
        "proofs of the checks of jobs and transfers; benches of every error",
    ),
    (
        "the DRAM controller breaks a time of its chip",
        (
            "in nightly runs every command of simulated inferences is checked, a missing "
            "refresh as well"
        ),
    ),
    (
        "a file that is damaged, or was made to do harm",
        "tests of broken models by rule; mutated files and Programs, in Python and in C",
    ),
    (
        "a job writes wrong bytes that no output shows, or one far from the cause",
        "at night public models run with what every job and transfer writes compared",
    ),
    (
        "synthesis makes something else of a component than its source says",
        (
            "proofs that components are equal to their netlists, first values too, memories and "
            "multipliers aside, below; the netlist of the engine is simulated beside its source"
        ),
    ),
    (
        "a bit flips while a list runs",
        "nothing prevents it; what such upsets come to is counted below",
    ),
    (
        "nothing runs a part of the engine, of the compiler or of a kernel",
        "coverage, below",
    ),
    (
        "tests pass whatever the source says",
        "faults are put into sources, netlists and C, and tests must fail: the scores below",
    ),
)
"""What can go wrong, and what catches it."""

FOUND = (
    (
        (
            "The proof of the port held with the readers' addresses exchanged, and with words "
            "never marked as last: it said only that somebody gets a word"
        ),
        (
            "Prove that each reader of the port gets the words of its addresses, and that mutants "
            "are not proven"
        ),
    ),
    (
        "No fast test saw a list that ends before its last words have come",
        (
            "Prove and test that lists end when they are complete and quiet, and that windows "
            "change between lists"
        ),
    ),
    (
        (
            "Nothing checked the times of the DRAM model's commands: LiteDRAM's checker was off, "
            "has wrong times for two of three memories, and never misses a refresh"
        ),
        "Check in nightly runs that commands to DRAM keep to the times of its chip",
    ),
    (
        "Proofs alone passed readers and ports that never ask for anything",
        "Test readers, writer and port together, cycle by cycle",
    ),
    (
        "No test of its own saw another quotient or another limit of integer operations",
        "Measure what tests see of faults that are put into sources",
    ),
    (
        (
            "No test of its own saw how CONCATENATION rescales its inputs, nor the constants of "
            "logarithms"
        ),
        "Test rescaled inputs, limits and constants by their definitions",
    ),
    (
        (
            "After a reset in the middle of a list the port said that it is idle while DRAM still "
            "owed words, and gave them to the reads that followed"
        ),
        "Let the port wait after a reset until DRAM owes it nothing",
    ),
    (
        (
            "A damaged Program could let an LSTM copy its state onto itself with memcpy, which C "
            "does not define: found by spoilt Programs under sanitizers"
        ),
        "Copy states and pieces rightly where a damaged Program lets them overlap",
    ),
    (
        (
            "A damaged GATHER or SCATTER_ND could ask for an alignment of 0, a division by zero on "
            "a host: found by the 50,000th spoilt Program"
        ),
        "Refuse a number of words of an index before its alignment is computed",
    ),
    (
        "A damaged COPY could copy pieces onto themselves: found likewise",
        "Copy pieces rightly where a damaged Program lets them overlap, in COPY as well",
    ),
    (
        "No list of random jobs showed faults of the instructions for counters and the scratchpad",
        "Ask the engine beside random lists: its state, counters and scratchpad",
    ),
    (
        (
            "An ONNX model whose input has a scale of 0, or a pool with a stride of 0, ended in a "
            "traceback; the fuzzer's own end hid both, and counted none"
        ),
        (
            "Give hostile answers of boards and files of pages; refuse ONNX scales and strides "
            "that are none"
        ),
    ),
    (
        (
            "The proof that a netlist equals its source could hold for one that inverts an output: "
            "Yosys' `equiv_make` takes all that shares a net for the same thing. No netlist that "
            "was compared anew is wrong"
        ),
        "Prove nothing from what is computed from itself",
    ),
    (
        (
            "Lists of tests that end in a bad descriptor could be refused for another reason than "
            "the one that was meant: their weights were not moved with them"
        ),
        (
            "Let lists of tests lie anywhere in DRAM, reset the engine in their middle, and stop "
            "bad ones for one reason"
        ),
    ),
    (
        (
            "Nightly tests of small netlists ended in an error of the mapper, which names bits "
            "like elements of arrays; one of them looked for a fault that changes nothing"
        ),
        "Synthesize netlists whose wires have names of elements; see an inverted LUT",
    ),
    (
        (
            "The proof that a netlist equals its source took clocks for granted: it held for "
            "registers that a board's cell clocks at the other edge. No netlist has any"
        ),
        ("Prove netlists equal by ABC where the induction has no answer, and refuse other clocks"),
    ),
    (
        (
            "No test showed faults in upper bits of cycle counters, which lists do not reach, nor "
            "that ends of jobs beyond the memory for them are not kept"
        ),
        "Let tests of components see faults of netlists, and prove the counters",
    ),
    (
        (
            "Answers to instructions were tested beside one count, and watchdogs with small limits "
            "only: faults in other bits did not show"
        ),
        "Test answers and watchdogs of any size",
    ),
    (
        (
            "No test was of the controller of groups alone: half of its faults that survived lists "
            "show there"
        ),
        "Test the controller of groups against a model",
    ),
)
"""Faults of gateware, tests and tools, and the subject of the commit that mended each."""

HOLES = (
    (
        "Netlists are compared as a board's synthesis makes them of a component or of the engine "
        "alone; that of a whole system is not. Memories and multipliers are compared by replays "
        "only, of some thousand cycles, of the configurations and families that have a row there."
    ),
    (
        "That nothing waits for the windows when a list is complete, and that jobs and weights "
        "ask for words in the way that the windows' proof assumes, is tested and not proven."
    ),
    (
        "Of hostile input, readers in Python are followed by what they cover; the C runtime and "
        "the loader get what is drawn at random. What the page in a browser does with pictures "
        "and raw tensors, in JavaScript, is tested and not fuzzed."
    ),
    (
        "Coverage of the engine is of one configuration, by few random lists. Benches count for "
        "the parts of it that they simulate on Verilator; what tests in Amaranth's simulator meet "
        "is not counted, and toggles that nothing met are not listed. Of Python it is measured "
        "what the quick tests of the same folders meet, not what others do; of C, what Programs "
        "meet on the host. What starts the engine, and applications' calls, are tested elsewhere "
        "and not counted."
    ),
    (
        "Upsets are of the engine alone, with random lists; of the CPU, of firmware and of weights "
        "in DRAM they are not simulated. An upset in the port that loses or adds a command or a "
        "word, in its count of writes, its wait after a reset or the command that waits, leaves "
        "the engine without an answer: the halt behind the watchdog's error waits until DRAM owes "
        "nothing, as nothing else keeps old words from the next list, and the port never says so "
        "then. A reset helps. Another watchdog would change every netlist. Power that fails is "
        "simulated for writings of images, and by resets of the engine; voltages, and flash memory "
        "that forgets later, are not."
    ),
    (
        "There is no soak of a day's length: simulation takes hours for a second of the engine. "
        "What was run is above, with the cycles that it reached. The master that competes there "
        "takes cycles of the port; LiteDRAM's own choice between its ports is simulated with the "
        "system, and not at full rate."
    ),
    (
        "Of modules without a row above, such as most of the compiler, and of components of "
        "frames of sound and of the depthwise unit's path, nobody has measured what "
        "their tests see. Units that are tested in Amaranth's simulator have faults in their "
        "sources, most of them 12, and those of the engine's netlist that no list shows; a "
        "component on Verilator has about 24 in its netlist. In C, what starts the engine has no "
        "faults; of the others some were drawn of each file, and of checks of parameters in 38 "
        "files only."
    ),
    (
        "Faults of the engine's netlist that nothing has seen are listed with their table. That "
        "ABC has no proof for them does not say that they change anything: a proof of the whole "
        "engine has all of its registers, and memories in which anything may be. Not all tests "
        "of parts were tried with each of them, and night tests of parts not at all."
    ),
)
"""What nothing catches."""
