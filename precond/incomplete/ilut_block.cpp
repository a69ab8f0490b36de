#include <krylith/precond/incomplete/ilut_block.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/distributed/products/product_kernels.hpp>
#include <krylith/precond/incomplete/threshold_factors.hpp>
#include <krylith/precond/matrix/memory_item.hpp>

namespace krylith::detail {

namespace {

/// A diagonal entry below this fraction of the largest of its row asks for a matching.
constexpr double weak_diagonal = 0.01;

bool has_weak_diagonal(const csr_view<double>& a) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i) {
        double largest = 0;
        double diagonal = 0;
        for (auto k = static_cast<std::size_t>(a.row_offsets[i]);
             k < static_cast<std::size_t>(a.row_offsets[i + 1]); ++k) {
            largest = std::max(largest, std::fabs(a.values[k]));
            if (a.column_indices[k] == static_cast<std::int32_t>(i)) diagonal += a.values[k];
        }
        if (!(std::fabs(diagonal) > weak_diagonal * largest)) return true;
    }
    return false;
}

/// The factor with values in T. Throws where T can't hold its diagonal, or what is beside it.
template <class T>
csr_matrix<T> stored(csr_matrix<double> factor, const row_matching& matching,
                     const std::function<std::int64_t(std::int64_t)>& number_of) {
    csr_matrix<T> result;
    result.rows = factor.rows;
    result.columns = factor.columns;
    result.values.resize(factor.values.size());
    for (std::size_t i = 0; i < static_cast<std::size_t>(factor.rows); ++i)
        for (auto k = static_cast<std::size_t>(factor.row_offsets[i]);
             k < static_cast<std::size_t>(factor.row_offsets[i + 1]); ++k) {
            const T value = static_cast<T>(factor.values[k]);
            result.values[k] = value;
            const bool diagonal = factor.column_indices[k] == static_cast<std::int32_t>(i);
            if (std::isfinite(value) && !(diagonal && value == 0)) continue;
            throw input_error("ilut: the factors of row " +
                              std::to_string(number_of(matching.row_at[i])) +
                              " (counted from 0) have " + std::to_string(factor.values[k]) +
                              (diagonal ? " on the diagonal" : "") +
                              ", which can't be used: scale the matrix, or take a larger drop");
        }
    result.row_offsets = std::move(factor.row_offsets);
    result.column_indices = std::move(factor.column_indices);
    return result;
}

} // namespace

template <class T>
ilut_block<T>::ilut_block(std::shared_ptr<device> device, const csr_view<T>& block,
                          const std::function<std::int64_t(std::int64_t)>& number_of,
                          const ilut_options& options)
    : device_(std::move(device)) {
    const std::vector<double> values(block.values.begin(), block.values.end());
    csr_view<double> a;
    a.rows = block.rows;
    a.columns = block.columns;
    a.row_offsets = block.row_offsets;
    a.column_indices = block.column_indices;
    a.values = values;
    const bool matched = options.matching == row_matching_use::on ||
                         (options.matching == row_matching_use::automatic && has_weak_diagonal(a));
    const row_matching matching = matched ? match_rows(a) : rows_as_they_are(a.rows);
    threshold_factors factors = factor_by_threshold(a, matching, {options.drop, options.fill});
    replaced_ = factors.replaced;
    if (matching.moves())
        row_at_ = {device_, std::span<const std::int32_t>(matching.row_at), precond_item};
    const auto upload = [&](csr_matrix<double> factor) {
        return device_csr<T>(device_,
                             csr_view<T>(stored<T>(std::move(factor), matching, number_of)));
    };
    lower_ = upload(std::move(factors.lower));
    upper_ = upload(std::move(factors.upper));
    forward_.emplace(lower_, triangular_options{.part = triangle_part::lower});
    backward_.emplace(upper_, triangular_options{.part = triangle_part::upper});
}

template <class T>
void ilut_block<T>::solve(const T* r, T* z) {
    if (row_at_.size() != 0) {
        run_items(*device_, gather_items<T, std::int32_t>{{row_at_.data()}, r, z}, lower_.rows());
        forward_->solve(z, z);
    } else {
        forward_->solve(r, z);
    }
    backward_->solve(z, z);
}

template <class T>
std::int64_t ilut_block<T>::bytes() const {
    return static_cast<std::int64_t>(row_at_.size() * sizeof(std::int32_t)) + lower_.bytes() +
           upper_.bytes() + forward_->bytes() + backward_->bytes();
}

template <class T>
std::int64_t ilut_block<T>::nonzeros() const {
    return lower_.nonzeros() - lower_.rows() + upper_.nonzeros();
}

#define KRYLITH_INSTANTIATE(T) template class ilut_block<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
