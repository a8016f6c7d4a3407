// The mutants of models from mutated sources (`verilated-build`, VERILATED_MUTANTS). VERILATED_MUTANT is the number of
// the one that counts. VERILATED_MUTANTS_SEEN names a file: at its end the process adds, line by line, the numbers of
// all mutants with another value than the source's, at any time.
#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace {
struct Mutants final {
    static constexpr unsigned most = 1 << 16;
    const unsigned chosen;
    const char* const path;
    std::atomic<bool> seen[most];

    Mutants()
        : chosen{number(std::getenv("VERILATED_MUTANT"))}
        , path{std::getenv("VERILATED_MUTANTS_SEEN")} {}
    ~Mutants() {
        std::FILE* const file = path ? std::fopen(path, "a") : nullptr;
        if (!file) return;
        for (unsigned i = 0; i < most; ++i) {
            if (seen[i].load(std::memory_order_relaxed)) std::fprintf(file, "%u\n", i);
        }
        std::fclose(file);
    }
    static unsigned number(const char* text) { return text ? std::atoi(text) : most; }
};
Mutants mutants;
}  // namespace

// Called for a mutant at each evaluation; whether it counts.
extern "C" unsigned char verilated_mutant(int number, unsigned char differs) {
    const unsigned at = number;
    if (differs && at < Mutants::most && !mutants.seen[at].load(std::memory_order_relaxed)) {
        mutants.seen[at].store(true, std::memory_order_relaxed);
    }
    return at == mutants.chosen;
}
