// The link matrix of a web crawl.
#include <krylith/matrix/gallery/graphs.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include <krylith/matrix/compressed/row_builder.hpp>
#include <krylith/matrix/gallery/argument_check.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/matrix/gallery/edge_weight.hpp>
#include <krylith/matrix/gallery/scramble.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {
namespace {

constexpr std::int64_t most_links = 8192;
constexpr std::int64_t most_abroad = most_links / 5 + 1;
/// The size of a block of pages; all hosts of a block have one size.
constexpr std::int64_t block_size = 4096;

/// The links of a page, ascending: those to pages before its host, within it, and behind it.
class page_links {
public:
    void add_abroad(std::int64_t page) { abroad_[count_++] = static_cast<std::int32_t>(page); }
    void set_home(std::int64_t first, std::int64_t pages, std::int64_t links, std::int64_t page,
                  std::uint64_t seed) {
        first_ = first;
        others_ = pages - 1;
        links_ = links;
        page_ = page;
        seed_ = seed;
    }
    void sort() {
        auto* const end = abroad_.data() + count_;
        std::sort(abroad_.data(), end);
        count_ = static_cast<std::size_t>(std::unique(abroad_.data(), end) - abroad_.data());
    }
    [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(count_) + links_; }
    /// Calls act(page) for each link.
    template <class Act>
    void for_each(const Act& act) const {
        std::size_t k = 0;
        for (; k < count_ && abroad_[k] < first_; ++k) {
            act(abroad_[k]);
        }
        // One link goes into each of equal ranges of the host: distinct and in order without a
        // search.
        for (std::int64_t link = 0; link < links_; ++link) {
            const std::int64_t begin = link * others_ / links_;
            const std::int64_t end = (link + 1) * others_ / links_;
            const std::int64_t other =
                first_ + begin +
                below(end - begin, counter_hash(seed_, static_cast<std::uint64_t>(page_),
                                                static_cast<std::uint64_t>(link)));
            act(other < page_ ? other : other + 1);
        }
        for (; k < count_; ++k) {
            act(abroad_[k]);
        }
    }

private:
    std::array<std::int32_t, as_size(most_abroad)> abroad_;
    std::size_t count_ = 0;
    std::int64_t first_ = 0;  ///< first page of the host
    std::int64_t others_ = 0; ///< pages of the host but this one
    std::int64_t links_ = 0;  ///< links to them
    std::int64_t page_ = 0;
    std::uint64_t seed_ = 0;
};

class crawl {
public:
    crawl(std::int64_t n, std::int64_t mean, std::uint64_t seed)
        : n_(n),
          seed_(seed),
          least_(static_cast<double>(mean) * 3 / 8),
          blocks_((n + block_size - 1) / block_size),
          popular_(blocks_, counter_hash(seed, 3)) {}

    void find(std::int64_t page, page_links& links) const {
        const std::int64_t all = out_degree(page);
        const auto [first, pages] = host_of(page);
        const std::int64_t at_home = std::min(all - all / 5, pages - 1);
        links.set_home(first, pages, at_home, page, seed_);
        // An odd page without another on its host still has a link.
        const std::int64_t abroad = std::max<std::int64_t>(all / 5, at_home == 0 ? 1 : 0);
        for (std::int64_t k = 0; k < abroad; ++k) {
            const std::int64_t target = popular_page(counter_hash(
                seed_ ^ 0x3eb, static_cast<std::uint64_t>(page), static_cast<std::uint64_t>(k)));
            if (target < first || target >= first + pages) {
                links.add_abroad(target);
            }
        }
        links.sort();
    }

private:
    struct host {
        std::int64_t first;
        std::int64_t pages;
    };

    [[nodiscard]] host host_of(std::int64_t page) const {
        const std::int64_t block = page / block_size;
        const std::int64_t size =
            std::int64_t{32} << below(8, counter_hash(seed_, static_cast<std::uint64_t>(block), 4));
        const std::int64_t first = page / size * size;
        return {first, std::min(size, n_ - first)};
    }

    /// The number of links of a page: least u^(-5/8), a power law whose exponent needs square roots
    /// only.
    [[nodiscard]] std::int64_t out_degree(std::int64_t page) const {
        const double u =
            1 - unit_interval(counter_hash(seed_ ^ 0xdeb, static_cast<std::uint64_t>(page)));
        const double root = std::sqrt(u);
        const double eighth_root = std::sqrt(std::sqrt(root));
        const double degree = least_ / (root * eighth_root);
        return std::max<std::int64_t>(
            1, static_cast<std::int64_t>(std::min(degree, static_cast<double>(most_links))));
    }

    /// A page of a popular host: cubes of uniform numbers prefer popular hosts, and on them the
    /// first pages.
    [[nodiscard]] std::int64_t popular_page(std::uint64_t random) const {
        const auto cube = [](std::uint64_t bits) {
            const double u = static_cast<double>(bits) * 0x1p-32;
            return u * u * u;
        };
        const auto rank =
            static_cast<std::int64_t>(cube(random >> 32) * static_cast<double>(blocks_));
        const auto place =
            static_cast<std::int64_t>(cube(random & 0xffffffff) * static_cast<double>(block_size));
        return std::min(popular_.forward(rank) * block_size + place, n_ - 1);
    }

    std::int64_t n_;
    std::uint64_t seed_;
    double least_; ///< the fewest links
    std::int64_t blocks_;
    scramble popular_;
};

} // namespace

template <class T>
csr_matrix<T> web(std::int64_t n, std::int64_t mean, std::uint64_t seed) {
    check_argument<std::int64_t>("web", "n", n, 2, index_limit);
    check_argument<std::int64_t>("web", "mean", mean, 2, 256);
    const crawl pages(n, mean, seed);
    const auto length = [&](std::int64_t row) {
        page_links links;
        pages.find(row, links);
        return links.size();
    };
    const auto fill = [&](std::int64_t row, std::int32_t* columns, T* values) {
        page_links links;
        pages.find(row, links);
        const auto value =
            static_cast<T>(1 / static_cast<double>(std::max<std::int64_t>(1, links.size())));
        links.for_each([&](std::int64_t column) {
            *columns++ = static_cast<std::int32_t>(column);
            *values++ = value;
        });
    };
    return build_by_rows<T>(n, n, length, fill);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template csr_matrix<T> web(std::int64_t, std::int64_t, std::uint64_t);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
