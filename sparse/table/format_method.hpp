// The row of a format in the table of formats (sparse/format.hpp): what krylith must know of it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include <krylith/device/tables/required.hpp>
#include <krylith/device/tables/table_choice.hpp>

namespace krylith {

class device;
template <class T>
class device_matrix;
template <class T>
struct local_csr;

/// A function that makes a device's block.
template <class T>
using format_maker = std::unique_ptr<device_matrix<T>> (*)(std::shared_ptr<device>,
                                                           const local_csr<T>&);

/// The functions that make blocks in fp64 and fp32; null where a backend doesn't have the format.
struct format_makers {
    format_maker<double> fp64 = nullptr;
    format_maker<float> fp32 = nullptr;

    template <class T>
    [[nodiscard]] constexpr format_maker<T> of() const noexcept {
        if constexpr (std::is_same_v<T, double>)
            return fp64;
        else
            return fp32;
    }
};

/// The pattern of a block, of which formats say how many bytes they make of it.
struct block_pattern {
    std::span<const std::int64_t> offsets; ///< [rows + 1], the first need not be 0
    std::span<const std::int32_t> columns; ///< [nonzeros], as the operator numbers them
    std::int64_t value_bytes;
};

struct format_method {
    static constexpr std::string_view what = "format";
    static constexpr std::string_view default_name = "auto";

    required_text name;
    name_list aliases = name_list::none(); ///< what other libraries call it, in lower case
    required_text help;                    ///< a clause, such as "equal work for all blocks"
    required<bool> on_host;                ///< whether host devices have it
    required<bool> on_cuda;                ///< whether CUDA devices have it
    /// Whether the rounding of a row depends on the block that it is in, so that copies of a row in
    /// two blocks may differ.
    bool rounds_by_block = false;
    /// Whether it may use arrays in CSR order in place (operator_options::borrow).
    bool borrows = false;
    bool persistent = false; ///< whether persistent CG can take its blocks
    /// The format under whose bytes `krylith info` lists it, since they are about the same; empty:
    /// a column of its own.
    required_text listed_as = "";
    /// Returns the bytes of the matrix that one product reads, padding included.
    required<std::int64_t (*)(const block_pattern&)> matrix_bytes;
    required<format_makers> host;
    required<format_makers> cuda; ///< null in builds without CUDA
};

using format_kind = table_choice<format_method>;

} // namespace krylith
