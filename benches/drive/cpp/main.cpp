// The hand-written main for the comparison with Rust, in two styles; compiled in one file with the model.
//   drive-cpp ports|pointers CYCLES   prints CPU nanoseconds and a hash of all outputs
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

static inline uint64_t next(uint64_t& state) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

// Saturated one-word packets to random outputs. `clk` and the rest are references or pointers to the model's ports.
template <class Eval, class Byte, class Wide>
static uint64_t drive(uint64_t cycles, Eval eval, Byte& clk, Byte& rst, Byte& in_valid, const Byte& in_ready,
                      Wide& in_data, Byte& in_last, const Byte& out_valid, Byte& out_ready, const Wide& out_data) {
    rst = 1;
    for (int i = 0; i < 4; ++i) {
        clk = 1;
        eval();
        clk = 0;
        eval();
    }
    rst = 0;
    in_valid = 0xf;
    in_last = 0xf;
    out_ready = 0xf;
    uint64_t random = 0x9e3779b97f4a7c15, hash = 0;
    uint8_t taken = 0xf;
    for (uint64_t cycle = 0; cycle < cycles; ++cycle) {
        for (int i = 0; i < 4; ++i) {
            if (taken >> i & 1) {
                const uint64_t word = next(random);
                std::memcpy(&in_data[2 * i], &word, 8);
            }
        }
        taken = in_ready;
        const uint8_t valid = out_valid;
        for (int i = 0; i < 4; ++i) {
            if (valid >> i & 1) {
                uint64_t word;
                std::memcpy(&word, &out_data[2 * i], 8);
                hash = (hash << 5 | hash >> 59) ^ word;
            }
        }
        clk = 1;
        eval();
        clk = 0;
        eval();
    }
    return hash;
}

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const uint64_t cycles = std::strtoull(argv[2], nullptr, 10);
    VerilatedContext context;
    Vcrossbar* const top = new Vcrossbar{&context};
    const std::clock_t start = std::clock();
    uint64_t hash;
    if (!std::strcmp(argv[1], "ports")) {
        hash = drive(cycles, [=] { top->eval(); }, top->clk_i, top->rst_i, top->in_valid_i, top->in_ready_o,
                     top->in_data_i, top->in_last_i, top->out_valid_o, top->out_ready_i, top->out_data_o);
    } else {
        Vcrossbar___024root& root = *top->rootp;
        hash = drive(cycles, [=] { top->eval(); }, root.clk_i, root.rst_i, root.in_valid_i, root.in_ready_o,
                     root.in_data_i, root.in_last_i, root.out_valid_o, root.out_ready_i, root.out_data_o);
    }
    const double spent = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    std::printf("%.0f %016llx\n", spent * 1e9, static_cast<unsigned long long>(hash));
    delete top;
    return 0;
}
