// Coarse spaces of matrices of the host, for tests of coarsenings.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <krylith/matrix/conversions.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/coarsening/smoothed_aggregation.hpp>

#include <krylith/tests/support/matrices.hpp>

namespace krylith::testing {

/// A vector on the devices of a group, by rows.
template <class T>
class spread_vector {
public:
    spread_vector(const device_group& group, const row_partition& rows, const std::vector<T>& v) {
        for (int rank = 0; rank < group.size(); ++rank) {
            const row_range own = rows.owned(rank);
            parts_.emplace_back(group.handle(rank),
                                std::span<const T>(v).subspan(static_cast<std::size_t>(own.begin),
                                                              static_cast<std::size_t>(own.size())),
                                "a vector");
            pointers_.push_back(parts_.back().data());
        }
    }
    [[nodiscard]] std::span<const T* const> pointers() const { return pointers_; }

private:
    std::vector<buffer<T>> parts_;
    std::vector<const T*> pointers_;
};

/// What a coarsening makes of a matrix.
template <class T>
struct coarse_space {
    row_partition coarse;
    csr_matrix<T> p;
    std::vector<T> near_null; ///< the coarse one

    friend bool operator==(const coarse_space& one, const coarse_space& other) {
        return one.coarse.rows() == other.coarse.rows() && one.p == other.p &&
               one.near_null == other.near_null;
    }
};

template <class T>
[[nodiscard]] coarse_space<T> space_of(const device_group& group, const coarsening<T>& to_next,
                                       const distributed_csr<T>& p) {
    coarse_space<T> space{to_next.coarse(), p.download(), {}};
    for (int rank = 0; rank < group.size(); ++rank) {
        std::vector<T> part(static_cast<std::size_t>(space.coarse.owned(rank).size()));
        if (!part.empty())
            group[rank].download(part.data(), to_next.coarse_near_null(rank),
                                 part.size() * sizeof(T));
        space.near_null.insert(space.near_null.end(), part.begin(), part.end());
    }
    return space;
}

template <class T>
[[nodiscard]] coarse_space<T> make_space(const device_group& group, const csr_matrix<T>& a,
                                         const aggregation_options& options,
                                         const std::vector<T>& near_null) {
    const row_partition rows = equal_rows(a.rows, group.size());
    const distributed_csr<T> matrix(group, a, rows, rows);
    const spread_vector<T> v(group, rows, near_null);
    smoothed_aggregation<T> aggregates(matrix, options);
    const distributed_csr<T> p = aggregates.prolongation(matrix, v.pointers());
    return space_of(group, aggregates, p);
}

/// A vector without zeros, whose entries differ.
template <class T>
[[nodiscard]] std::vector<T> uneven_vector(std::int64_t rows) {
    std::vector<T> v;
    for (std::int64_t i = 0; i < rows; ++i)
        v.push_back((i % 3 == 1 ? T(-1) : T(1)) + static_cast<T>(i % 11) / T(32));
    return v;
}

/// Two hubs that are joined, each with leaves on a ring.
[[nodiscard]] inline csr_matrix<double> two_hubs(std::int64_t leaves) {
    const std::int64_t n = 2 * leaves + 2;
    triplets entries;
    std::vector<double> sum(static_cast<std::size_t>(n), 1e-3);
    const auto join = [&](std::int64_t i, std::int64_t j, double weight) {
        entries.emplace_back(i, j, -weight);
        entries.emplace_back(j, i, -weight);
        sum[static_cast<std::size_t>(i)] += weight;
        sum[static_cast<std::size_t>(j)] += weight;
    };
    join(0, 1, 1);
    for (std::int64_t k = 0; k < 2 * leaves; ++k) {
        join(k % 2, k + 2, 1);
        join(k + 2, (k + 2) % (2 * leaves) + 2, k % 4 < 2 ? 1 : 0.12);
    }
    for (std::int64_t i = 0; i < n; ++i)
        entries.emplace_back(i, i, sum[static_cast<std::size_t>(i)]);
    return from_triplets(n, entries);
}

struct named_matrix {
    std::string name;
    csr_matrix<double> a;
};

/// Matrices with a positive diagonal, each with what it is there for in its name.
[[nodiscard]] inline std::vector<named_matrix> coarsened_matrices() {
    std::vector<named_matrix> all;
    for (const char* spec : {"poisson3d:7:6:5", "poisson2d:19:13", "poisson3d_27point:6",
                             "jump_diffusion:8:1e6:seed=1"})
        all.push_back({spec, make_gallery<double>(spec)});
    all.push_back({"a chain", laplace_1d(40)});
    all.push_back({"one row", diagonal_matrix({3})});
    all.push_back({"no entries off the diagonal", diagonal_matrix({1, 2, 3, 4, 5})});
    all.push_back({"no rows", csr_matrix<double>{0, 0, {0}, {}, {}}});
    all.push_back({"two rows: less than ranks", laplace_1d(2)});

    triplets strips; // strong along one direction only
    for (std::int64_t y = 0; y < 12; ++y)
        for (std::int64_t x = 0; x < 15; ++x) {
            const std::int64_t i = y * 15 + x;
            strips.emplace_back(i, i, 2.01);
            for (const std::int64_t dx : {-1, 1})
                if (x + dx >= 0 && x + dx < 15) strips.emplace_back(i, i + dx, -1.0);
            for (const std::int64_t dy : {-1, 1})
                if (y + dy >= 0 && y + dy < 12) strips.emplace_back(i, i + 15 * dy, -0.005);
        }
    all.push_back({"anisotropic", from_triplets(12 * 15, strips)});

    triplets fixed; // rows of a boundary to which others still refer
    for (std::int64_t i = 0; i < 30; ++i) {
        fixed.emplace_back(i, i, 2.0);
        if (i % 9 == 4) continue;
        if (i > 0) fixed.emplace_back(i, i - 1, -1.0);
        if (i < 29) fixed.emplace_back(i, i + 1, -1.0);
    }
    all.push_back({"Dirichlet rows", from_triplets(30, fixed)});

    triplets star; // one row with all others, and many aggregates beside it
    for (std::int64_t i = 0; i < 120; ++i) {
        star.emplace_back(i, i, i == 0 ? 200.0 : 4.0);
        if (i == 0) continue;
        if (i % 3 == 0) {
            star.emplace_back(0, i, -1.0);
            star.emplace_back(i, 0, -1.0);
        }
        for (const std::int64_t j : {i - 1, i + 1})
            if (j > 0 && j < 120) star.emplace_back(i, j, -1.0);
    }
    all.push_back({"a hub", from_triplets(120, star)});
    return all;
}

} // namespace krylith::testing
