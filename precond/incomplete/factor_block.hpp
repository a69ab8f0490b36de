// The factors without fill of one rank's block, and their solves.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/precond/colouring/row_colours.hpp>
#include <krylith/precond/incomplete/row_elimination.hpp>
#include <krylith/sparse/triangular_solver.hpp>

namespace krylith::incomplete {

/// What is asked of factors.
struct factor_rule {
    bool symmetric = false; ///< factor_rows says what that means
    double shift = 0;       ///< times the largest magnitude of a row, added to its diagonal
};

/// The rows and columns that a rank owns, by place in the order of elimination.
template <class T>
struct placed_block {
    buffer<std::int64_t> offsets;   ///< [rows + 1]
    buffer<std::int32_t> columns;   ///< [nonzeros]
    buffer<std::int32_t> diagonals; ///< [rows] entries before the diagonal
    buffer<T> values;               ///< [nonzeros]
    buffer<failure_words> failures; ///< [1]

    [[nodiscard]] factor_rows<T> view(bool symmetric) const;
};

/// What was found wrong, as messages need it.
struct factor_failure {
    enum class kind { none, entry, unmirrored, pivot };
    kind what = kind::none;
    std::int64_t row = 0; ///< of the block
    double pivot = 0;
};

template <class T>
class factor_block {
public:
    /// Lays the block out in the order of colours, or of rows where `colours` is null. Columns of
    /// `a` ascend strictly in each row. Waits for the device.
    factor_block(const distributed_csr<T>& a, int rank, const row_colours* colours,
                 const factor_rule& rule);

    /// Lays the values of `a` out, which has the rows of before. Returns whether it has the pattern
    /// too. Waits for the device.
    [[nodiscard]] bool take(const distributed_csr<T>& a, int rank, const factor_rule& rule);
    /// The levels of the lower triangle of what was laid out last. Waits for the device.
    [[nodiscard]] std::int64_t count_levels() const;
    /// Eliminates the rows laid out last, and analyses their pattern the first time. Waits for the
    /// device.
    [[nodiscard]] factor_failure factor();
    /// Makes solves use what factor() made last, which didn't fail.
    void accept();
    /// Forgets what take() laid out.
    void forget() { next_ = {}; }

    /// Enqueues z = (L U)^-1 r; both are [rows] on the device, and not the same.
    void solve(const T* r, T* z);

    [[nodiscard]] std::int64_t rows() const { return factors_.rows(); }
    [[nodiscard]] std::int64_t nonzeros() const { return factors_.nonzeros(); }
    [[nodiscard]] std::int64_t bytes() const;
    /// Of the lower triangle; 0 where the solves didn't need them.
    [[nodiscard]] std::int64_t levels() const { return forward_ ? forward_->levels() : 0; }
    /// How the solves go, in words.
    [[nodiscard]] std::string reason() const { return forward_ ? forward_->reason() : ""; }
    /// The factors by place, for tests.
    [[nodiscard]] const device_csr<T>& factors() const { return factors_; }

private:
    [[nodiscard]] placed_block<T> lay_out(const distributed_csr<T>& a, int rank, T shift) const;
    [[nodiscard]] std::int64_t row_at(std::int64_t place) const;

    std::shared_ptr<device> device_;
    bool symmetric_ = false;
    buffer<std::int32_t> places_;       ///< the place of a row; empty where places are rows
    std::vector<std::int64_t> colours_; ///< the first place of each colour, and the rows
    buffer<T> work_;                    ///< [rows] by place, where these are not rows
    placed_block<T> next_;              ///< while new values are taken
    std::unique_ptr<row_elimination<T>> elimination_;
    device_csr<T> factors_;
    std::optional<triangular_solver<T>> forward_;
    std::optional<triangular_solver<T>> backward_;
};

/// The levels of the lower triangle of a rank's block in natural order. Waits for the device.
template <class T>
[[nodiscard]] std::int64_t count_natural_levels(const distributed_csr<T>& a, int rank);

} // namespace krylith::incomplete
