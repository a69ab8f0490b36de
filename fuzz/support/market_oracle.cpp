#include <krylith/fuzz/support/market_oracle.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include <omp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <krylith/device/error.hpp>
#include <krylith/fuzz/support/heap_peak.hpp>
#include <krylith/matrix/market/reader.hpp>
#include <krylith/matrix/matrix_market.hpp>

namespace krylith::fuzz {
namespace {

using market::line_source;
using market::source_limits;

void require(bool holds, const char* what, const std::string& detail = {}) {
    if (!holds) {
        std::fprintf(stderr, "ORACLE: %s %s\n", what, detail.c_str());
        std::abort();
    }
}

/// A file without a name on any disk.
class memory_file {
public:
    explicit memory_file(std::string_view bytes) : descriptor_(memfd_create("fuzz.mtx", 0)) {
        require(descriptor_ >= 0, "memfd_create failed");
        require(write(descriptor_, bytes.data(), bytes.size()) ==
                    static_cast<ssize_t>(bytes.size()),
                "the memory file can't be written");
    }
    ~memory_file() { close(descriptor_); }
    memory_file(const memory_file&) = delete;
    memory_file& operator=(const memory_file&) = delete;

    [[nodiscard]] std::string path() const {
        return "/proc/self/fd/" + std::to_string(descriptor_);
    }

private:
    int descriptor_;
};

template <class T>
struct outcome {
    std::optional<csr_matrix<T>> matrix;
    market_report report;
    std::string refusal; ///< without the source's name
};

/// Reads with that many threads and at most `memory` bytes, which it verifies.
template <class T, class Source>
outcome<T> read(int threads, std::int64_t memory, std::int64_t slack, const Source& source) {
    outcome<T> result;
    omp_set_num_threads(threads);
    const std::int64_t before = heap_bytes();
    forget_heap_peak();
    std::string name;
    try {
        line_source lines = source();
        name = lines.name();
        result.matrix =
            market::read_matrix<T>(std::move(lines), {.memory = memory, .report = &result.report});
    } catch (const input_error& e) {
        result.refusal = e.what();
        require(result.refusal.starts_with(name + ":"),
                "a refusal without its file:", result.refusal);
        result.refusal.erase(0, name.size());
        require(std::strtol(result.refusal.c_str() + 1, nullptr, 10) > 0,
                "a refusal without its line:", result.refusal);
        require(result.refusal.find("allowed") != std::string::npos,
                "a refusal that doesn't say what is allowed:", result.refusal);
        require(result.refusal.size() < 600, "a long refusal:", result.refusal);
    }
    const std::int64_t peak = heap_peak() - before;
    require(peak <= memory + slack, "reading took too much memory:",
            std::to_string(peak) + " bytes, allowed are " + std::to_string(memory + slack));
    return result;
}

template <class T>
bool same_bits(const csr_matrix<T>& a, const csr_matrix<T>& b) {
    if (!(a.rows == b.rows && a.columns == b.columns && a.row_offsets == b.row_offsets &&
          a.column_indices == b.column_indices && a.values.size() == b.values.size())) {
        return false;
    }
    for (std::size_t k = 0; k < a.values.size(); ++k) {
        if (a.values[k] != b.values[k] || std::signbit(a.values[k]) != std::signbit(b.values[k])) {
            return false;
        }
    }
    return true;
}

template <class T>
void require_same(const outcome<T>& a, const outcome<T>& b, const char* what) {
    require(a.refusal == b.refusal, what, a.refusal + " | " + b.refusal);
    require(a.matrix.has_value() == b.matrix.has_value() &&
                (!a.matrix || same_bits(*a.matrix, *b.matrix)),
            what, "(matrices)");
    require(!a.matrix || a.report == b.report, what, "(reports)");
}

template <class T>
void check_matrix(const csr_matrix<T>& matrix) {
    validate(matrix);
    require(canonical(matrix), "the matrix isn't canonical");
    for (const T value : matrix.values) {
        require(std::isfinite(value), "the matrix has a value that isn't finite");
    }
    const memory_file file({});
    write_matrix_market(file.path(), matrix);
    require(same_bits(read_matrix_market<T>(file.path()), matrix),
            "the matrix written reads back as another");
}

template <class T>
void check_as(std::string_view bytes) {
    const auto size = static_cast<std::int64_t>(bytes.size());
    const std::int64_t memory = (1 << 16) + 64 * size;
    const std::int64_t slack = (1 << 16) + 64 * size; // the blocks: an entry a line feed
    const source_limits small{.block_bytes = 1 + bytes.size() % 61};
    const auto whole =
        read<T>(1, memory, slack, [&] { return line_source::from_text(bytes, "fuzz.mtx"); });
    const auto parts = read<T>(3, memory, slack + (1 << 16),
                               [&] { return line_source::from_text(bytes, "fuzz.mtx", small); });
    require_same(whole, parts, "serial and parallel reading differ:");
    if (whole.matrix) {
        check_matrix(*whole.matrix);
    }
    const bool packed = bytes.starts_with("\x1f\x8b");
    if (packed || bytes.size() % 4 == 0) {
        constexpr std::int64_t zlib = 1 << 20; // its buffers and window
        constexpr source_limits usual{.unpacked_bytes = 1 << 16};
        const source_limits cut{.block_bytes = small.block_bytes + 3, .unpacked_bytes = 1 << 16};
        const memory_file file(bytes);
        const std::int64_t unpacked = packed ? (1 << 16) + 200 * size : size;
        const std::int64_t room = (1 << 16) + 64 * unpacked;
        const auto at_once = read<T>(1, room, room + zlib + 3 * (1 << 19),
                                     [&] { return line_source::from_file(file.path(), usual); });
        const auto by_blocks =
            read<T>(2, room, room + zlib, [&] { return line_source::from_file(file.path(), cut); });
        if (!packed) {
            require_same(whole, at_once, "a file and text in memory differ:");
            require_same(whole, by_blocks, "a file by blocks and text in memory differ:");
        } else { // where corrupt data are noticed depends on the blocks
            require(at_once.matrix.has_value() == by_blocks.matrix.has_value() &&
                        (!at_once.matrix || same_bits(*at_once.matrix, *by_blocks.matrix)),
                    "gzip data read at once and by blocks differ");
        }
    }
}

} // namespace

void check_market(std::string_view bytes) {
    check_as<double>(bytes);
    check_as<float>(bytes);
    try {
        const market_options options{.memory = 1 << 20};
        static_cast<void>(parse_vector_market<double>(bytes, "fuzz.mtx", options));
    } catch (const input_error&) {
    }
}

} // namespace krylith::fuzz
