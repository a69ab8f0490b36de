// The features of a product y = A x, each computed when it is first asked for: some the host knows,
// the entries of x take their count, and the effective nonzeros, which cost a pass over x and a
// wait for the device, are counted only for a tree that asks for them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <krylith/spmspv/csr_csc_pair/matrix_features.hpp>
#include <krylith/spmspv/product.hpp>

namespace krylith::spmspv {

/// A feature_source. It refers to the matrix and to x, whose forms are those at its construction:
/// computing values may add some.
template <class M, class T>
class product_features {
public:
    /// `frontier_nonzeros` is the number of effective nonzeros if it is known, else -1.
    product_features(const csr_csc_pair<M>& a, sparse_vector<T>& x, vector_form wanted,
                     std::int64_t frontier_nonzeros)
        : product_features(a, x, x.forms(), wanted, frontier_nonzeros) {}
    /// `given` are the forms of x, where x has one of them elsewhere.
    product_features(const csr_csc_pair<M>& a, sparse_vector<T>& x, vector_forms given,
                     vector_form wanted, std::int64_t frontier_nonzeros)
        : a_(a),
          x_(x),
          frontier_nonzeros_(frontier_nonzeros),
          entries_(x.known_count().value_or(-1)) {
        vector_features known;
        known.has_pairs = given.has(vector_form::pairs);
        known.has_dense = given.has(vector_form::dense);
        known.has_bits = given.has(vector_form::bits);
        known.wants_pairs = wanted == vector_form::pairs;
        free_ = join(a.features(), known);
    }

    [[nodiscard]] double operator()(feature f) {
        switch (f) {
        case feature::entries: return static_cast<double>(entries());
        case feature::density: return fraction(entries(), a_.columns());
        case feature::effective_nonzeros: return static_cast<double>(frontier_nonzeros());
        case feature::effective_ratio: return fraction(frontier_nonzeros(), a_.nonzeros());
        case feature::expected_nonzeros:
            return fraction(entries(), a_.columns()) * static_cast<double>(a_.nonzeros());
        case feature::most_nonzeros:
            return std::min(static_cast<double>(entries()) * a_.features().longest_row,
                            static_cast<double>(a_.nonzeros()));
        case feature::knows_work: return knows_work() ? 1 : 0;
        default: return free_[static_cast<std::size_t>(f)];
        }
    }

    /// The number of entries of x; -1: not known, and no tree has asked.
    [[nodiscard]] std::int64_t known_entries() const noexcept { return entries_; }
    [[nodiscard]] std::int64_t known_nonzeros() const noexcept { return frontier_nonzeros_; }
    /// Whether effective nonzeros cost nothing: the caller gave them, a tree has asked already, or
    /// x is known to be empty or full.
    [[nodiscard]] bool knows_work() const noexcept {
        return frontier_nonzeros_ >= 0 || entries_ == 0 || entries_ == a_.columns();
    }

    /// The best guess at the effective ratio from what is known; -1 for none.
    [[nodiscard]] double guessed_ratio() const {
        if (frontier_nonzeros_ >= 0) return fraction(frontier_nonzeros_, a_.nonzeros());
        return entries_ >= 0 ? fraction(entries_, a_.columns()) : -1;
    }

private:
    static double fraction(std::int64_t part, std::int64_t of) {
        return of > 0 ? static_cast<double>(part) / static_cast<double>(of) : 0;
    }

    std::int64_t entries() {
        if (entries_ < 0) entries_ = x_.count();
        return entries_;
    }

    std::int64_t frontier_nonzeros() {
        if (frontier_nonzeros_ >= 0) return frontier_nonzeros_;
        if (entries_ == 0)
            frontier_nonzeros_ = 0;
        else if (entries_ == a_.columns())
            frontier_nonzeros_ = a_.nonzeros();
        else
            frontier_nonzeros_ = count_frontier_nonzeros(a_, x_);
        return frontier_nonzeros_;
    }

    const csr_csc_pair<M>& a_;
    sparse_vector<T>& x_;
    feature_values free_{};
    std::int64_t frontier_nonzeros_;
    std::int64_t entries_;
};

} // namespace krylith::spmspv
