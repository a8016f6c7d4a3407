// The Verilator runtime behind runtime.h: contexts, hooks for $finish and failed assertions, waves, checkpoints.
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "verilated.h"
#include "verilated_fst_c.h"
#include "verilated_save.h"
#include "verilated_vcd_c.h"

extern "C" {
#include "runtime.h"
}

static thread_local rt_status t_status;

static void record(uint32_t kind, const char* file, int line, const char* message) {
    if (t_status.kind) return;  // the first one is the cause
    t_status.kind = kind;
    t_status.line = static_cast<uint32_t>(line);
    std::strncpy(t_status.file, file ? file : "", sizeof(t_status.file) - 1);
    std::strncpy(t_status.message, message ? message : "", sizeof(t_status.message) - 1);
}

// Verilator calls these four instead of its own (VL_USER_*), which would end the process.
void vl_finish(const char* file, int line, const char*) { record(1, file, line, "$finish"); }
void vl_stop(const char* file, int line, const char*) { record(2, file, line, "assertion failed (or $stop)"); }
void vl_warn(const char* file, int line, const char*, const char* message) {
    std::fprintf(stderr, "%s:%d: %s\n", file ? file : "", line, message);
}
// The code after a fatal error expects not to be reached: leave it by an exception, caught
// where the call came from Rust.
void vl_fatal(const char* file, int line, const char*, const char* message) {
    record(3, file, line, message);
    throw 3;
}

// VerilatedContext::randSeed() reseeds every thread of the process, so that one test could disturb another: set the
// seed of this context and of this thread only.
struct rt_context final : VerilatedContext {
    rt_context(int seed, int reset) {
        traceEverOn(true);
        timeunit(-12);
        timeprecision(-12);
        randReset(reset);
        m_s.m_randSeed = seed;
        errorLimit(1);
        Verilated::threadContextp(this);
        VlRNG::vl_thread_rng().srandom(static_cast<uint64_t>(seed));
    }
};

// Keeps the first error: Verilator's own file ends the process. Later output is discarded.
struct rt_file final : VerilatedVcdFile {
    int error = 0;

    ssize_t write(const char* bytes, ssize_t size) override {
        if (error) return size;
        const ssize_t written = VerilatedVcdFile::write(bytes, size);
        if (written >= 0 || errno == EAGAIN || errno == EINTR) return written;
        error = errno;
        return size;
    }
};

struct rt_lane final {
    std::string path;
    uint32_t text[rt_lane_bytes / 4] = {};
};

struct rt_wave final {
    rt_file file;
    VerilatedVcdC* vcd;
    VerilatedFstC* fst;
    std::vector<rt_lane> lanes;
    uint32_t code = 0;  // of the first lane in the file

    explicit rt_wave(bool is_fst)
        : vcd{is_fst ? nullptr : new VerilatedVcdC{&file}}
        , fst{is_fst ? new VerilatedFstC : nullptr} {}
    ~rt_wave() {
        delete vcd;
        delete fst;
    }

    // Works on the file of whichever format; false after a fatal error, which the hook has recorded.
    template <class Body>
    bool with(Body body) {
        try {
            if (fst) {
                body(fst);
            } else {
                body(vcd);
            }
            return true;
        } catch (int) {
            return false;
        }
    }
};

namespace {
struct Saver final : VerilatedSerialize {
    std::vector<uint8_t> out;
    void flush() override {
        out.insert(out.end(), m_bufp, m_cp);
        m_cp = m_bufp;
    }
};

struct Loader final : VerilatedDeserialize {
    const uint8_t* from = nullptr;
    size_t left = 0;
    void start(const uint8_t* bytes, size_t size) {
        from = bytes;
        left = size;
        m_cp = m_endp = m_bufp;
    }
    void fill() override {
        if (!left) return;
        const size_t rest = m_endp - m_cp;
        std::memmove(m_bufp, m_cp, rest);
        const size_t room = bufferSize() - rest;
        const size_t taken = left < room ? left : room;
        std::memcpy(m_bufp + rest, from, taken);
        m_cp = m_bufp;
        m_endp = m_bufp + rest + taken;
        from += taken;
        left -= taken;
    }
};

// One of each per thread: a buffer of 256 kB is not made for every checkpoint.
thread_local Saver t_saver;
thread_local Loader t_loader;
}  // namespace

// What a model's own code does for its signals, for the lanes of a wave.
namespace {
constexpr uint32_t lane_words = rt_lane_bytes / 4;

void declare_lane(VerilatedVcd* tracer, uint32_t code, const char* name) {
    tracer->declWide(code, name, 8 * rt_lane_bytes - 1, 0);
}
void declare_lane(VerilatedFst* tracer, uint32_t code, const char* name) {
    tracer->declWide(code, name, -1, VerilatedTraceSigDirection::NONE, VerilatedTraceSigKind::VAR,
                     VerilatedTraceSigType::LOGIC, 8 * rt_lane_bytes - 1, 0);
}

std::vector<std::string> split(const std::string& path) {
    std::vector<std::string> parts{""};
    for (const char sign : path) {
        if (sign == '.') {
            parts.emplace_back();
        } else {
            parts.back() += sign;
        }
    }
    return parts;
}

template <class Tracer>
void declare_lanes(void* self, Tracer* tracer, uint32_t code) {
    auto* const wave = static_cast<rt_wave*>(self);
    wave->code = code;
    std::vector<std::string> open;
    for (const rt_lane& lane : wave->lanes) {
        std::vector<std::string> scopes = split(lane.path);
        const std::string name = scopes.back();
        scopes.pop_back();
        size_t same = 0;
        while (same < open.size() && same < scopes.size() && open[same] == scopes[same]) ++same;
        for (; open.size() > same; open.pop_back()) tracer->popPrefix();
        for (; open.size() < scopes.size(); open.push_back(scopes[open.size()])) {
            tracer->pushPrefix(scopes[open.size()].c_str(), VerilatedTracePrefixType::SCOPE_MODULE);
        }
        declare_lane(tracer, code, name.c_str());
        code += lane_words;
    }
    for (; !open.empty(); open.pop_back()) tracer->popPrefix();
}

template <class Buffer>
void write_all_lanes(void* self, Buffer* buffer) {
    uint32_t* old = buffer->oldp(static_cast<rt_wave*>(self)->code);
    for (const rt_lane& lane : static_cast<rt_wave*>(self)->lanes) {
        buffer->fullWData(old, lane.text, 8 * rt_lane_bytes);
        old += lane_words;
    }
}

template <class Buffer>
void write_changed_lanes(void* self, Buffer* buffer) {
    uint32_t* old = buffer->oldp(static_cast<rt_wave*>(self)->code);
    for (const rt_lane& lane : static_cast<rt_wave*>(self)->lanes) {
        buffer->chgWData(old, lane.text, 8 * rt_lane_bytes);
        old += lane_words;
    }
}

template <class Tracer>
void add_lanes(rt_wave* wave, Tracer* tracer) {
    using Buffer = typename Tracer::Buffer;
    tracer->addInitCb(&declare_lanes<Tracer>, wave, "lanes", false, lane_words * wave->lanes.size());
    tracer->addFullCb(&write_all_lanes<Buffer>, 0, wave);
    tracer->addChgCb(&write_changed_lanes<Buffer>, 0, wave);
}
}  // namespace

extern "C" {
rt_status* rt_thread_status(void) { return &t_status; }

rt_context* rt_context_new(int32_t seed, int32_t reset) { return new rt_context{seed, reset}; }
void rt_context_free(rt_context* context) { delete context; }
void rt_context_set_time(rt_context* context, uint64_t picoseconds) { context->time(picoseconds); }

rt_wave* rt_wave_new(int fst) { return new rt_wave{fst != 0}; }
void* rt_wave_tracer(rt_wave* wave) {
    return wave->fst ? static_cast<void*>(wave->fst) : static_cast<void*>(wave->vcd);
}
void rt_wave_lane(rt_wave* wave, const char* path) {
    wave->lanes.emplace_back();
    wave->lanes.back().path = path;
}
void rt_wave_text(rt_wave* wave, uint32_t lane, const uint8_t* text, uint32_t size) {
    uint32_t* const words = wave->lanes[lane].text;
    std::memset(words, 0, rt_lane_bytes);
    for (uint32_t at = 0; at < size; ++at) words[at / 4] |= uint32_t{text[size - 1 - at]} << 8 * (at % 4);
}
int rt_wave_open(rt_wave* wave, const char* path) {
    return wave->with([=](auto* file) {
        if (!wave->lanes.empty()) add_lanes(wave, file->spTrace());
        file->set_time_unit("1ps");
        file->set_time_resolution("1ps");
        file->open(path);
    }) && (wave->fst ? wave->fst->isOpen() : wave->vcd->isOpen());
}
void rt_wave_dump(rt_wave* wave, uint64_t picoseconds) {
    wave->with([=](auto* file) { file->dump(picoseconds); });
}
void rt_wave_flush(rt_wave* wave) {
    wave->with([](auto* file) { file->flush(); });
}
int rt_wave_close(rt_wave* wave) {
    wave->with([](auto* file) { file->close(); });
    const int error = wave->file.error;
    delete wave;
    return error;
}

void* rt_saver_begin(void) {
    t_saver.flush();
    t_saver.out.clear();
    return static_cast<VerilatedSerialize*>(&t_saver);
}
const uint8_t* rt_saver_end(uint64_t* size) {
    t_saver.flush();
    *size = t_saver.out.size();
    return t_saver.out.data();
}
void* rt_loader_begin(const uint8_t* bytes, uint64_t size) {
    t_loader.start(bytes, size);
    return static_cast<VerilatedDeserialize*>(&t_loader);
}

static_assert(sizeof(VlRNG) == 16, "the state of the random numbers is two 64-bit words");
void rt_random_save(uint8_t* state) { std::memcpy(state, &VlRNG::vl_thread_rng(), 16); }
void rt_random_restore(const uint8_t* state) { std::memcpy(static_cast<void*>(&VlRNG::vl_thread_rng()), state, 16); }
}
