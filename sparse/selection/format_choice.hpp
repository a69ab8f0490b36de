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

/// Chooses sell, csr5 or csr.
///
/// - csr5 where the tiles of csr are uneven: rows that exceed a tile of csr have a tenth of the
///   nonzeros, or one row has more than 1 / 132 of them (what each multiprocessor of an H200 has).
///   Only from a million nonzeros.
/// - sell up to 10% padding if it needn't sort the rows: above, the bytes saved by unit stride are
///   lost again.
/// - csr5 otherwise for results that stay on the device, from 10 million nonzeros, which fill its
///   tiles for all warps several times. Where results are sent csr takes less, although its product
///   alone takes more: its rows end sooner (kmer on four GPUs by nz 526 us, csr5 657).
/// - sell, sorted, for results that stay on the device, with a mean below 4 nonzeros, which don't
///   fill csr's tiles. Sent results would leave the device in single words, not in cache lines.
/// - csr for all else, and in place of csr5 for repeated rows: with csr5 the rounding of a row
///   depends on its place.
///
/// Measured on H200s, fp64 (docs/measured.md, "CSR5").
[[nodiscard]] format_kind choose_format(const block_lengths& rows, result_use use);

/// The same among formats that use the caller's arrays in place: merge where the tiles of csr are
/// uneven, else csr.
[[nodiscard]] format_kind choose_borrowing_format(const block_lengths& rows, result_use use);

/// Returns the one of two results of choose_format() that suits less regular rows: csr5 before csr
/// before sell. automatic stands for none.
[[nodiscard]] format_kind least_regular(format_kind one, format_kind other);

} // namespace krylith
