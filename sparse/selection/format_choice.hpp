// The choice of formats::automatic on CUDA devices, from the lengths of rows alone.
#pragma once

#include <krylith/sparse/format.hpp>
#include <krylith/sparse/pattern/block_lengths.hpp>

namespace krylith {

/// The use of the results of a device's block.
enum class result_use {
    own,     ///< only this device has them, or they are copied when all are computed
    sent,    ///< they are stored into other devices' memory as they are computed
    repeated ///< sent, and others compute some of the rows too: their bits must be the same there
};

/// Chooses a format other than cusparse.
///
/// - merge where the tiles of csr are uneven: rows that exceed a tile of csr have a tenth of the
/// nonzeros, or one
///   row has more than 1 / 132 of them (what each multiprocessor of an H200 has). Only from a
///   million nonzeros, and not for repeated rows: with merge the rounding of a row depends on its
///   place.
/// - sell up to 10% padding: above, the bytes saved by unit stride are lost again.
/// - csr otherwise, and where sell has to sort the rows and they are sent (single words leave the
///   device, not whole cache lines), or have a mean of 4 nonzeros or more, which fill csr's tiles.
///
/// Measured on H200s, fp64 (docs/benchmarks.md, "Products on one GPU").
[[nodiscard]] format_kind choose_format(const block_lengths& rows, result_use use);

/// Of two results of choose_format() the one for less regular rows: merge before csr before sell;
/// automatic stands for none.
[[nodiscard]] format_kind least_regular(format_kind one, format_kind other);

} // namespace krylith
