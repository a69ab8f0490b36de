#include <krylith/bench/read/read_files.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>

namespace krylith::bench {
namespace {

struct entry {
    std::int32_t row;
    std::int32_t column;
    double value;
};

std::vector<entry> entries_of(const csr_matrix<double>& matrix, entry_order order) {
    std::vector<entry> entries;
    entries.reserve(matrix.values.size());
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
        const auto end =
            static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(row + 1)]);
        for (auto k = static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(row)]);
             k < end; ++k) {
            if (order != entry_order::symmetric || matrix.column_indices[k] <= row) {
                entries.push_back(
                    {static_cast<std::int32_t>(row), matrix.column_indices[k], matrix.values[k]});
            }
        }
    }
    if (order == entry_order::symmetric) {
        std::ranges::stable_sort(entries, {}, &entry::column);
    }
    if (order == entry_order::shuffled) {
        constexpr std::uint64_t seed = 77;
        for (std::size_t k = entries.size(); k > 1; --k) {
            std::swap(entries[k - 1], entries[counter_hash(seed, k) % k]);
        }
    }
    return entries;
}

struct closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

} // namespace

std::string_view name_of(entry_order order) {
    constexpr std::array<std::string_view, 3> names{"sorted", "shuffled", "symmetric"};
    return names.at(static_cast<std::size_t>(order));
}

std::int64_t write_for_reading(const std::filesystem::path& path, const csr_matrix<double>& matrix,
                               entry_order order) {
    const std::vector<entry> entries = entries_of(matrix, order);
    const std::unique_ptr<std::FILE, closer> file(std::fopen(path.c_str(), "wb"));
    std::int64_t bytes = 0;
    bool written = file != nullptr;
    const auto put = [&](std::string_view text) {
        written = written && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
        bytes += static_cast<std::int64_t>(text.size());
    };
    put(std::string("%%MatrixMarket matrix coordinate real ") +
        (order == entry_order::symmetric ? "symmetric" : "general") + "\n" +
        std::to_string(matrix.rows) + " " + std::to_string(matrix.columns) + " " +
        std::to_string(entries.size()) + "\n");
    fmt::memory_buffer line;
    for (const entry& e : entries) {
        line.clear();
        fmt::format_to(std::back_inserter(line), "{} {} {}\n", e.row + 1, e.column + 1, e.value);
        put({line.data(), line.size()});
    }
    if (!written || std::fflush(file.get()) != 0) {
        throw input_error(path.string() + ": can't be written");
    }
    return bytes;
}

} // namespace krylith::bench
