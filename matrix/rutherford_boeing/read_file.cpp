#include <krylith/matrix/rutherford_boeing/read_file.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/matrix/compressed/canonical_rows.hpp>
#include <krylith/matrix/conversions.hpp>
#include <krylith/matrix/files/input_checks.hpp>
#include <krylith/matrix/market/diagnosis.hpp>
#include <krylith/matrix/market/mirror.hpp>
#include <krylith/matrix/rutherford_boeing/header.hpp>
#include <krylith/matrix/rutherford_boeing/sections.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith::rutherford_boeing {
namespace {

/// The bytes that the numbers of a file need at least: a digit and a blank, or what the format says
/// where that is less.
double characters(const header& h) {
    double sum = 0;
    for (const section* part : {&h.pointers, &h.indices, &h.values}) {
        sum += static_cast<double>(part->count) * std::min(part->format.fields.front().width, 2);
    }
    return sum;
}

template <class T>
void refuse_skew_diagonal(const std::string& file, const csr_matrix<T>& half) {
    const std::vector<T> diagonal_entries = diagonal(half);
    for (std::size_t k = 0; k < diagonal_entries.size(); ++k) {
        if (diagonal_entries[k] != T(0)) {
            market::refuse(file, "the skew matrix has " + std::to_string(diagonal_entries[k]) +
                                     " on the diagonal, in row " + std::to_string(k + 1) +
                                     ", allowed is 0");
        }
    }
}

/// The matrix from the half that the file has: its columns are rows here.
template <class T>
csr_matrix<T> both_halves(const std::string& file, csr_matrix<T> half, bool skew) {
    if (skew) {
        refuse_skew_diagonal(file, half);
        for (T& value : half.values) {
            value = -value;
        }
    }
    market::mirrored<T> whole = market::mirror(half, skew ? T(-1) : T(1));
    if (whole.given_twice) {
        const auto [row, column] = *whole.given_twice;
        market::refuse(file, "a symmetric file gives both (" + std::to_string(row + 1) + ", " +
                                 std::to_string(column + 1) + ") and (" +
                                 std::to_string(column + 1) + ", " + std::to_string(row + 1) +
                                 "), allowed is one of them");
    }
    return std::move(whole.matrix);
}

void fill_report(const header& h, std::int64_t duplicates, file_report* report) {
    if (report == nullptr) {
        return;
    }
    *report = {};
    report->layout = "Rutherford-Boeing";
    report->field = h.values_are == value_kind::real      ? "real"
                    : h.values_are == value_kind::integer ? "integer"
                                                          : "pattern";
    report->symmetry = h.symmetry == symmetry::symmetric     ? "symmetric"
                       : h.symmetry == symmetry::skew        ? "skew-symmetric"
                       : h.symmetry == symmetry::rectangular ? "rectangular"
                                                             : "unsymmetric";
    report->entries = h.entries;
    report->duplicates = duplicates;
}

} // namespace

template <class T>
csr_matrix<T> read_file(files::input_file& file, const load_options& options) {
    static_cast<void>(file.bytes()); // unpacked, so that the length is known
    market::line_source source = market::line_source::from_input(file);
    const header h = read_header(source);
    const auto left = static_cast<double>(source.expected_bytes_left());
    if (characters(h) > left) {
        market::refuse(file.name(), source.lines_taken(),
                       std::to_string(h.columns) + " columns and " + std::to_string(h.entries) +
                           " entries need " +
                           std::to_string(static_cast<std::int64_t>(characters(h))) +
                           " characters in these formats, allowed are the " +
                           std::to_string(source.expected_bytes_left()) + " that follow");
    }
    const bool half = h.symmetry == symmetry::symmetric || h.symmetry == symmetry::skew;
    files::check_rows(file.name(), h.rows, h.entries, options.memory);
    files::check_memory(file.name(),
                        (half ? 3 : 2) *
                            files::csr_bytes(std::max(h.rows, h.columns), h.entries, sizeof(T)),
                        options.memory);
    csr_matrix<T> columns = read_sections<T>(source, h);
    try {
        validate(csc_view<T>(h.rows, h.columns, columns.row_offsets, columns.column_indices,
                             columns.values));
    } catch (const input_error& offence) {
        market::refuse(file.name(), offence.what());
    }
    const std::int64_t duplicates = make_canonical(columns);
    fill_report(h, duplicates, options.report);
    return half ? both_halves(file.name(), std::move(columns), h.symmetry == symmetry::skew)
                : transpose(columns);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template csr_matrix<T> read_file(files::input_file&, const load_options&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::rutherford_boeing
