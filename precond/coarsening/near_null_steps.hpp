// Steps that make the tentative prolongation T of several near-null vectors: V = T R for the block
// V of the vectors on each aggregate, by Cholesky factors of V'V taken twice (Yamamoto,
// Nakatsukasa, Yanagisawa, Fukaya, Roundoff error analysis of the CholeskyQR2 algorithm, ETNA 44,
// 2015).
//
// Inner products are added up as integers, in units of a power of two, so that R has the same bits
// however rows lie on devices. A vector that depends on those before it, as all do beyond the rows
// of a small aggregate, gets a column of zeros in T and a row of zeros in R.
#pragma once

#include <cmath>
#include <cstdint>

#include <krylith/precond/coarsening/node_rows.hpp>
#include <krylith/precond/coarsening/tentative_steps.hpp>

namespace krylith::aggregation {

/// The numbers of all aggregates: arrays that every rank has whole.
struct aggregate_factors {
    int vectors;
    double unit;     ///< of inner products
    double dropped;  ///< what is left of a vector's square when it counts as dependent
    wide* largest;   ///< [aggregates][vectors] magnitudes, as bits
    wide* products;  ///< [aggregates][products_of(vectors)] of vectors over their largest entries
    double* factors; ///< [aggregates][vectors][vectors] R for such vectors, by rows

    [[nodiscard]] KRYLITH_HD static constexpr int products_of(int vectors) {
        return vectors * (vectors + 1) / 2;
    }

    /// Row t of T, where v is one of V: t R = v. Nothing of R before `factors` are there.
    template <class T>
    KRYLITH_HD void solve(std::int32_t g, const T* v, bool factored, double* t) const {
        const double* const r = factors + std::int64_t{g} * vectors * vectors;
        for (int c = 0; c < vectors; ++c) {
            const double most = number_of_bits(largest[std::int64_t{g} * vectors + c]);
            double x = most > 0 ? static_cast<double>(v[c]) / most : 0.0;
            if (factored) {
                for (int q = 0; q < c; ++q) x = minus_product(x, t[q], r[q * vectors + c]);
                const double pivot = r[c * vectors + c];
                x = pivot > 0 ? x / pivot : 0.0;
            }
            t[c] = x;
        }
    }
};

/// The largest magnitudes; 0 before.
template <class T>
struct magnitudes_step : writes_only {
    const std::int32_t* aggregate; ///< of the rank's nodes
    const T* v;                    ///< [rows][vectors]
    int block;
    aggregate_factors all;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t node) const { return aggregate[node] >= 0; }
    KRYLITH_HD bool finish(std::int64_t node, std::uint32_t) const {
        wide* const to = all.largest + std::int64_t{aggregate[node]} * all.vectors;
        for (int c = 0; c < all.vectors; ++c) {
            double most = 0;
            for (int i = 0; i < block; ++i) {
                const auto x =
                    static_cast<double>(std::fabs(v[(node * block + i) * all.vectors + c]));
                most = x > most ? x : most;
            }
            const wide bits = ordered_bits(most);
            if (bits > load_shared(to + c)) raise_shared(to + c, bits);
        }
        return false;
    }
};

/// The inner products of columns of T so far; 0 before.
template <class T>
struct products_step : writes_only {
    const std::int32_t* aggregate;
    const T* v;
    int block;
    bool factored;
    aggregate_factors all;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t node) const { return aggregate[node] >= 0; }
    KRYLITH_HD bool finish(std::int64_t node, std::uint32_t) const {
        const std::int32_t g = aggregate[node];
        double t[most_of_node][most_of_node];
        for (int i = 0; i < block; ++i)
            all.solve(g, v + (node * block + i) * all.vectors, factored, t[i]);
        wide* to = all.products + std::int64_t{g} * aggregate_factors::products_of(all.vectors);
        const double units = 1 / all.unit;
        for (int c = 0; c < all.vectors; ++c)
            for (int q = 0; q <= c; ++q, ++to) {
                long long sum = 0;
                for (int i = 0; i < block; ++i)
                    sum += static_cast<long long>(t[i][q] * t[i][c] * units);
                if (sum != 0) add_shared(to, static_cast<wide>(sum));
            }
        return false;
    }
};

/// R of the rank's own aggregates, or what the second factor makes of it.
struct factor_step : writes_only {
    bool factored;
    aggregate_factors all;
    std::int64_t first; ///< aggregate of the rank

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t own, std::uint32_t) const {
        const int k = all.vectors;
        const wide* const products =
            all.products + (first + own) * aggregate_factors::products_of(k);
        double* const r = all.factors + (first + own) * k * k;
        double next[most_of_node][most_of_node];
        for (int c = 0; c < k; ++c) {
            for (int q = 0; q <= c; ++q) {
                const double product =
                    static_cast<double>(static_cast<long long>(products[c * (c + 1) / 2 + q])) *
                    all.unit;
                double rest = product;
                for (int p = 0; p < q; ++p) rest = minus_product(rest, next[p][q], next[p][c]);
                if (q < c)
                    next[q][c] = next[q][q] > 0 ? rest / next[q][q] : 0.0;
                else
                    next[c][c] = rest > all.dropped * product ? std::sqrt(rest) : 0.0;
            }
        }
        for (int q = 0; q < k; ++q)
            for (int c = 0; c < k; ++c) {
                double sum = 0;
                if (c >= q && !factored) sum = next[q][c];
                for (int p = q; factored && p <= c; ++p)
                    sum = plus_product(sum, next[q][p], r[p * k + c]);
                r[q * k + c] = sum; // rows below still need none of it
            }
        return false;
    }
};

/// The coarse near-null vectors, which are R.
template <class T>
struct coarse_vectors_step : writes_only {
    std::int64_t first; ///< the rank's first aggregate
    aggregate_factors all;
    T* coarse; ///< [aggregates][vectors][vectors]

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t i, std::uint32_t) const {
        const std::int64_t g = first + i;
        const int k = all.vectors;
        for (int q = 0; q < k; ++q)
            for (int c = 0; c < k; ++c)
                coarse[(g * k + q) * k + c] = static_cast<T>(
                    all.factors[(g * k + q) * k + c] * number_of_bits(all.largest[g * k + c]));
        return false;
    }
};

/// Rows of T.
template <class T>
struct tentative_rows_step : writes_only {
    const std::int32_t* aggregate; ///< of the rank's nodes
    const T* v;                    ///< [rows][vectors]
    int block;
    aggregate_factors all;
    T* tentative; ///< [rows][vectors]

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        const std::int32_t g = aggregate[row / block];
        double t[most_of_node] = {};
        if (g >= 0) all.solve(g, v + row * all.vectors, true, t);
        for (int c = 0; c < all.vectors; ++c)
            tentative[row * all.vectors + c] = static_cast<T>(t[c]);
        return false;
    }
};

/// Puts 1 on the diagonal of a coarse matrix where a vector was dropped: its row and column are 0.
template <class T>
struct fill_dropped_step : writes_only {
    rank_rows a;     ///< of the coarse matrix
    const T* coarse; ///< [rows][vectors] the near-null vectors on its rows
    int vectors;
    T* values;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t row) const {
        return coarse[row * vectors + row % vectors] == T(0);
    }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        for (std::int64_t k = a.offsets[row]; k < a.offsets[row + 1]; ++k)
            if (a.indices[k] == a.own(row)) values[k] = T(1);
        return false;
    }
};

/// Brings near-null vectors into the variables of S A S: to = factor S^-1 v. Rows with nothing but
/// a diagonal entry, as Dirichlet conditions leave them, get 0 where `a` is given.
template <class T>
struct scale_vectors_step : writes_only {
    const T* v; ///< [rows][vectors]
    const double* scale;
    double factor;
    int vectors;
    rank_rows a; ///< without offsets: not given
    const T* values;
    T* to; ///< [rows][vectors]

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        bool alone = a.offsets != nullptr;
        if (alone)
            for (std::int64_t k = a.offsets[row]; alone && k < a.offsets[row + 1]; ++k)
                alone = a.indices[k] == a.own(row) || values[k] == T(0);
        for (int c = 0; c < vectors; ++c) {
            const auto x = static_cast<double>(v[row * vectors + c]);
            to[row * vectors + c] = alone ? T(0) : static_cast<T>(factor * x / scale[row]);
        }
        return false;
    }
};

} // namespace krylith::aggregation
