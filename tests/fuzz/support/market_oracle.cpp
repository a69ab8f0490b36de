#include <krylith/tests/fuzz/support/market_oracle.hpp>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

#include <omp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/market/reader.hpp>
#include <krylith/matrix/matrix_market.hpp>
#include <krylith/tests/fuzz/support/heap_peak.hpp>
#include <krylith/tests/fuzz/support/require.hpp>

namespace krylith::fuzz {
namespace {

using market::line_source;
using market::source_limits;

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
    file_report report;
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
void require_same_outcome(const outcome<T>& a, const outcome<T>& b, const char* what) {
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

/// The bytes allowed beside the limit: the blocks, with room for an entry a line feed.
std::int64_t blocks_of(std::int64_t text_bytes) {
    return (1 << 17) + 64 * text_bytes;
}

template <class T>
outcome<T> check_text(std::string_view bytes, std::size_t block_bytes) {
    const auto size = static_cast<std::int64_t>(bytes.size());
    const std::int64_t memory = (1 << 16) + 64 * size;
    const auto whole = read<T>(1, memory, blocks_of(size),
                               [&] { return line_source::from_text(bytes, "fuzz.mtx"); });
    const auto parts = read<T>(3, memory, blocks_of(size), [&] {
        return line_source::from_text(bytes, "fuzz.mtx", {.block_bytes = block_bytes});
    });
    omp_set_num_threads(1);
    require_same_outcome(whole, parts, "serial and parallel reading differ:");
    if (whole.matrix) {
        check_matrix(*whole.matrix);
    }
    return whole;
}

/// Checks a plain file, which must agree with text in memory.
template <class T>
void check_file(std::string_view bytes, std::size_t block_bytes, const outcome<T>& text) {
    constexpr std::int64_t unpacked_bytes = 1 << 16; // more of it counts as a bomb
    constexpr std::int64_t buffers = (1 << 20) + 3 * (1 << 19);
    const auto size = static_cast<std::int64_t>(bytes.size());
    const bool packed = bytes.starts_with("\x1f\x8b");
    const std::int64_t unpacked = packed ? unpacked_bytes + 200 * size : size;
    const std::int64_t memory = (1 << 16) + 64 * (packed ? unpacked : size);
    const memory_file file(bytes);
    const auto read_by = [&](int threads, const source_limits& limits) {
        return read<T>(threads, memory, blocks_of(unpacked) + buffers,
                       [&] { return line_source::from_file(file.path(), limits); });
    };
    const auto at_once = read_by(1, {.unpacked_bytes = unpacked_bytes});
    const auto by_blocks =
        read_by(2, {.block_bytes = block_bytes, .unpacked_bytes = unpacked_bytes});
    omp_set_num_threads(1);
    if (!packed) {
        require_same_outcome(text, at_once, "a file and text in memory differ:");
        require_same_outcome(text, by_blocks, "a file by blocks and text in memory differ:");
    } else { // the place where corrupt data are noticed depends on the blocks
        require(at_once.matrix.has_value() == by_blocks.matrix.has_value() &&
                    (!at_once.matrix || same_bits(*at_once.matrix, *by_blocks.matrix)),
                "gzip data read at once and by blocks differ:",
                at_once.refusal + " | " + by_blocks.refusal);
    }
}

template <class T>
void check_as(std::string_view bytes, std::uint64_t choice) {
    const std::size_t block_bytes = 1 + choice % 61;
    const outcome<T> text = check_text<T>(bytes, block_bytes);
    if (bytes.starts_with("\x1f\x8b") || choice % 4 == 0) {
        check_file<T>(bytes, block_bytes + 3, text);
    }
}

} // namespace

void check_market(std::string_view bytes) {
    // The input decides which of the checks are made, which gives more inputs a second.
    const std::uint64_t choice = std::hash<std::string_view>()(bytes) >> 8U;
    choice % 3 == 0 ? check_as<float>(bytes, choice / 3) : check_as<double>(bytes, choice / 3);
    try {
        const load_options options{.memory = 1 << 20};
        static_cast<void>(parse_vector_market<double>(bytes, "fuzz.mtx", options));
    } catch (const input_error&) {
    }
}

} // namespace krylith::fuzz
