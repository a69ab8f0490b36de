// What a format of files gives: one row of the table of formats (matrix/files/file_formats.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include <krylith/device/tables/required.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/files/file_report.hpp>
#include <krylith/matrix/files/input_file.hpp>
#include <krylith/matrix/types/dense_columns.hpp>
#include <krylith/matrix/types/vector_pieces.hpp>

namespace krylith {

/// The options of a reader of vectors.
struct vector_options {
    /// The number of entries that the vector must have; without, any.
    std::optional<std::int64_t> entries;
};

/// The functions for values of T; null where the format has no such thing.
template <class T>
struct file_functions {
    /// Returns a canonical matrix. Throws input_error for what isn't one.
    csr_matrix<T> (*read_matrix)(files::input_file&, const load_options&) = nullptr;
    /// Returns a vector of any length, whatever is asked for: that only tells forms apart.
    std::vector<T> (*read_vector)(files::input_file&, const vector_options&) = nullptr;
    /// Write to a file, which is replaced whole, or to a stream. The matrix is valid.
    void (*write_matrix)(const std::filesystem::path&, const csr_view<T>&,
                         std::string_view comment) = nullptr;
    void (*write_vector)(const std::filesystem::path&, const vector_pieces<T>&,
                         std::string_view comment) = nullptr;
    /// Read and write several vectors of one length; null where a file holds one.
    dense_columns<T> (*read_columns)(files::input_file&, const vector_options&) = nullptr;
    void (*write_columns)(const std::filesystem::path&, const dense_columns<T>&,
                          std::string_view comment) = nullptr;
};

struct file_format {
    required_text name; ///< "Rutherford-Boeing"
    /// The ends of names, in small letters: the first is for help. They say what to write, and what
    /// an input is whose bytes don't tell.
    required<name_list> endings;
    required<bool> gzipped; ///< is written gzipped where ".gz" follows the ending
    /// Whether a file starts so, unpacked: at most 4096 bytes.
    required<bool (*)(std::string_view beginning)> recognises;
    required<file_functions<double>> fp64;
    required<file_functions<float>> fp32;

    template <class T>
    [[nodiscard]] constexpr const file_functions<T>& functions() const noexcept {
        if constexpr (std::is_same_v<T, double>) {
            return fp64.get();
        } else {
            return fp32.get();
        }
    }
};

} // namespace krylith
