// A circuit with a few nets that reach everywhere.
#include <krylith/matrix/gallery/graphs.hpp>

#include <array>
#include <cmath>
#include <cstddef>

#include <krylith/matrix/compressed/row_builder.hpp>
#include <krylith/matrix/gallery/argument_check.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/matrix/gallery/edge_weight.hpp>
#include <krylith/matrix/gallery/neighbours.hpp>
#include <krylith/matrix/gallery/random_pairing.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {
namespace {

class circuit {
public:
    circuit(std::int64_t n, std::uint64_t seed)
        : n_(n),
          seed_(seed),
          width_(static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)))),
          far_{random_pairing(n, counter_hash(seed, 1)), random_pairing(n, counter_hash(seed, 2))} {
        for (std::size_t k = 0; k < nets_.size(); ++k) {
            nets_[k].node = n * static_cast<std::int64_t>(2 * k + 1) /
                            static_cast<std::int64_t>(2 * nets_.size());
        }
    }

    /// Calls act(j) for the nodes that node i is connected to and for i itself, ascending.
    template <class Act>
    void for_connected(std::int64_t i, const Act& act) const {
        const auto close = close_to(i);
        const net* const own = net_at(i);
        if (own == nullptr) {
            for (const std::int32_t j : close) {
                act(j);
            }
            return;
        }
        const auto* next = close.begin();
        for (std::int64_t j = 0; j < n_; ++j) {
            const bool is_close = next != close.end() && *next == j;
            next += is_close ? 1 : 0;
            if (is_close || reaches(*own, j)) {
                act(j);
            }
        }
    }

private:
    struct net {
        std::int64_t twentieths; ///< of all nodes: those that the net reaches
        std::int64_t node = 0;
    };

    [[nodiscard]] const net* net_at(std::int64_t i) const {
        for (const net& candidate : nets_) {
            if (candidate.node == i) {
                return &candidate;
            }
        }
        return nullptr;
    }

    [[nodiscard]] bool reaches(const net& from, std::int64_t node) const {
        return below(20, counter_hash(seed_ ^ 0xf0c, static_cast<std::uint64_t>(from.node),
                                      static_cast<std::uint64_t>(node))) < from.twentieths;
    }

    /// The nodes close to i, without those that i itself reaches if it is a net.
    [[nodiscard]] neighbours<10> close_to(std::int64_t i) const {
        neighbours<10> found;
        for (const std::int64_t j : {i - width_, i - 1, i, i + 1, i + width_}) {
            if (j >= 0 && j < n_) {
                found.add(j);
            }
        }
        for (const random_pairing& pairing : far_) {
            found.add(pairing.partner(i));
        }
        for (const net& candidate : nets_) {
            if (reaches(candidate, i)) {
                found.add(candidate.node);
            }
        }
        return found;
    }

    std::int64_t n_;
    std::uint64_t seed_;
    std::int64_t width_; ///< the width of a row of cells
    std::array<random_pairing, 2> far_;
    std::array<net, 3> nets_{{{15}, {5}, {2}}};
};

} // namespace

template <class T>
csr_matrix<T> fullchip(std::int64_t n, std::uint64_t seed) {
    check_argument<std::int64_t>("fullchip", "n", n, 16, index_limit);
    const circuit nodes(n, seed);
    const auto length = [&](std::int64_t row) {
        std::int64_t count = 0;
        nodes.for_connected(row, [&](std::int64_t) { ++count; });
        return count;
    };
    const auto fill = [&](std::int64_t row, std::int32_t* columns, T* values) {
        double sum = 0;
        T* centre = nullptr;
        nodes.for_connected(row, [&](std::int64_t column) {
            *columns++ = static_cast<std::int32_t>(column);
            if (column == row) {
                centre = values;
            } else {
                *values = static_cast<T>(-edge_weight(seed, row, column));
                sum -= static_cast<double>(*values);
            }
            ++values;
        });
        *centre = static_cast<T>(sum + sum * 0x1p-10);
    };
    return build_by_rows<T>(n, n, length, fill);
}

#define KRYLITH_INSTANTIATE(T) template csr_matrix<T> fullchip(std::int64_t, std::uint64_t);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
