// All kernels over all semirings, with vectors in all forms: against Eigen and plain loops. One y
// goes through all products with a matrix, so that each product finds what the one before left.
#include <cstdint>
#include <string>
#include <vector>

#include <krylith/spmspv/kernels/host_ranges.hpp>
#include <krylith/spmspv/product.hpp>

#include <krylith/tests/spmspv/one_device.hpp>
#include <krylith/tests/spmspv/product_cases.hpp>
#include <krylith/tests/spmspv/product_reference.hpp>

namespace krylith::spmspv {

using testing::entry_list;
using testing::random_numbers;
using testing::row_pattern;

namespace {

enum class given { ascending, shuffled, dense, dense_and_bits };
constexpr given all_given[] = {given::ascending, given::shuffled, given::dense,
                               given::dense_and_bits};

template <class S, class M>
class product_tester {
    using T = typename S::value_type;

public:
    product_tester(const std::shared_ptr<device>& device, const row_pattern& p)
        : device_(device),
          pattern_(p),
          host_(testing::with_values_for<S, M>(p, 11)),
          numbers_(testing::as_read<S>(host_)),
          a_(device, host_),
          x_(device, p.columns, S::absent()),
          y_(device, host_.rows, S::absent()),
          scratch_(device),
          random_(12) {}

    /// Checks one product; options that aren't given are random.
    void run(kernel k, given form, vector_form wanted, int kind) {
        CAPTURE(std::string(to_string(k)));
        CAPTURE(static_cast<int>(form));
        CAPTURE(static_cast<int>(wanted));
        CAPTURE(kind);
        const entry_list<T> x = draw_entries(kind);
        give(x, form);
        product_options<T> options = {.wanted = wanted};
        std::vector<T> before;
        std::vector<bool> skipped(as_size(host_.rows), false);
        const bool updates = scales<S> && wanted == vector_form::dense && random_.below(3) == 0;
        if (scales<S> && random_.flip()) options.alpha = T(-0.5);
        if (updates) {
            options.beta = T(0.25);
            before = y_.download_dense();
        }
        buffer<std::uint32_t> skip;
        if (!updates && random_.flip()) {
            skip = draw_skipped(skipped);
            options.skip_rows = skip.data();
        }
        CAPTURE(options.alpha);
        CAPTURE(options.beta);
        CAPTURE(options.skip_rows == nullptr);
        const std::int64_t frontier_nonzeros = nonzeros_of(x);
        if (random_.flip()) CHECK(count_frontier_nonzeros(a_, x_) == frontier_nonzeros);
        multiply<S>(k, a_, x_, y_, scratch_, options, told(frontier_nonzeros));

        CHECK(testing::flaw_of_forms(x_, x) == "");
        CHECK(y_.forms().has(wanted));
        check(k, x, options, before, skipped);
    }

private:
    /// The number of frontier nonzeros that a product is given: none, the right one, or a bound,
    /// which may be far above all.
    std::int64_t told(std::int64_t frontier_nonzeros) {
        switch (random_.below(4)) {
        case 0: return -1;
        case 1: return frontier_nonzeros;
        case 2: return frontier_nonzeros + random_.below(5000);
        default: return std::int64_t{1} << 40;
        }
    }

    entry_list<T> draw_entries(int kind) {
        entry_list<T> x;
        x.indices = testing::indices_of_kind(kind, pattern_, 13 + static_cast<unsigned>(kind));
        for (std::size_t i = 0; i < x.indices.size(); ++i)
            x.values.push_back(static_cast<T>(S::exact ? 1 + random_.below(9) : random_.real()));
        return x;
    }

    void give(const entry_list<T>& x, given form) {
        if (form == given::ascending || form == given::shuffled) {
            entry_list<T> list = x;
            if (form == given::shuffled) {
                random_numbers same = random_;
                testing::shuffle(list.indices, random_);
                testing::shuffle(list.values, same);
            }
            x_.assign(list.indices, list.values);
            return;
        }
        std::vector<T> dense(as_size(pattern_.columns), S::absent());
        for (std::size_t k = 0; k < x.indices.size(); ++k)
            dense[as_size(x.indices[k])] = x.values[k];
        x_.assign(dense);
        if (form == given::dense_and_bits) x_.require(vector_form::bits);
    }

    buffer<std::uint32_t> draw_skipped(std::vector<bool>& skipped) {
        std::vector<std::uint32_t> words((skipped.size() + 31) / 32, 0);
        for (std::size_t row = 0; row < skipped.size(); ++row) {
            skipped[row] = random_.below(4) == 0;
            if (skipped[row]) words[row / 32] |= std::uint32_t{1} << (row % 32);
        }
        if (words.empty()) words.push_back(0); // not null
        return {device_, std::span<const std::uint32_t>(words), "test"};
    }

    [[nodiscard]] std::int64_t nonzeros_of(const entry_list<T>& x) const {
        std::vector<bool> there(as_size(host_.columns), false);
        for (const std::int32_t i : x.indices) there[as_size(i)] = true;
        std::int64_t frontier_nonzeros = 0;
        for (const std::int32_t column : host_.column_indices)
            frontier_nonzeros += there[as_size(column)];
        return frontier_nonzeros;
    }

    void check(kernel k, const entry_list<T>& x, const product_options<T>& options,
               const std::vector<T>& before, const std::vector<bool>& skipped) {
        const auto reached = testing::reached_rows(host_, x.indices, skipped);
        const entry_list<T> y = y_.download_pairs();
        const std::vector<T> dense = y_.download_dense();
        CHECK(testing::flaw_of_forms(y_, y) == "");
        CHECK(y_.count() == static_cast<std::int64_t>(y.indices.size()));
        std::vector<bool> there(as_size(host_.rows), false);
        for (const std::int32_t i : y.indices) there[as_size(i)] = true;
        // Without bits or pairs an entry that equals absent() is lost.
        const bool by_value = direction_of(k) == direction::dense ||
                              (options.wanted == vector_form::dense &&
                               (direction_of(k) == direction::push || options.beta != 0));
        bool places = true;
        for (std::size_t row = 0; row < there.size(); ++row)
            places =
                places && there[row] == (by_value ? dense[row] != S::absent() : bool(reached[row]));
        CHECK(places);

        bool values = true;
        if constexpr (!S::exact) {
            const auto expected = numbers_.product(x, options.alpha, options.beta, before);
            for (std::size_t row = 0; row < dense.size(); ++row)
                values = values &&
                         (skipped[row]
                              ? dense[row] == S::absent()
                              : expected[row].template allows<T>(static_cast<double>(dense[row])));
        } else {
            const auto expected = testing::exact_reference<S>(host_, x);
            for (std::size_t row = 0; row < dense.size(); ++row)
                values = values && dense[row] == (skipped[row] ? S::absent() : expected[row]);
        }
        CHECK(values);
    }

    std::shared_ptr<device> device_;
    row_pattern pattern_;
    csr_matrix<M> host_;
    testing::number_reference<T> numbers_;
    csr_csc_pair<M> a_;
    sparse_vector<T> x_;
    sparse_vector<T> y_;
    product_scratch scratch_;
    random_numbers random_;
};

template <class S, class M>
void check_small(const std::shared_ptr<device>& device) {
    const host::mocked_thread_worth worth(16); // several threads, if the device has them
    int round = 0;                             // all kinds of vectors get their round
    for (const auto& p : testing::small_patterns()) {
        CAPTURE(p.name);
        product_tester<S, M> tester(device, p);
        for (const vector_form wanted : {vector_form::dense, vector_form::pairs})
            for (const given form : all_given)
                for (int k = 0; k < kernel_count; ++k, ++round)
                    tester.run(static_cast<kernel>(k), form, wanted,
                               (round + round / kernel_count) % testing::vector_kinds);
        for (int k = 0; k < kernel_count; ++k) // every kernel leads to every other
            for (int after = 0; after < kernel_count; ++after)
                for (const int number : {k, after})
                    tester.run(static_cast<kernel>(number), given::shuffled, vector_form::pairs, 5);
    }
}

/// Checks products that are large enough for several threads and blocks, with rows and columns that
/// many of them have a part of. Each kernel and form gets one of three kinds of x; three semirings
/// after each other have all.
template <class S, class M>
void check_large(const std::shared_ptr<device>& device, int& round) {
    product_tester<S, M> tester(device, testing::with_giants(3001, 2500, 40, 21));
    static_assert(2 * kernel_count % 3 != 0);
    for (int k = 0; k < kernel_count; ++k)
        for (const vector_form wanted : {vector_form::dense, vector_form::pairs}) {
            const int kind = 4 + round++ % 3;
            tester.run(static_cast<kernel>(k), all_given[kind % 4], wanted, kind);
        }
}

/// Checks rows so long that balanced products cut them into many chunks.
template <class S, class M>
void check_long_rows(const std::shared_ptr<device>& device) {
    product_tester<S, M> tester(device, testing::with_giants(75, 20000, 12, 5));
    for (const kernel k : {kernel::spmv, kernel::spmv_balanced, kernel::row, kernel::row_balanced})
        for (const int kind : {4, 6}) tester.run(k, all_given[kind % 4], vector_form::dense, kind);
}

} // namespace

KRYLITH_DEVICE_TEST("sparse products: rows in many chunks") {
    check_long_rows<plus_times<double>, double>(device);
    check_long_rows<plus_second<float>, float>(device);
    check_long_rows<or_and<double>, float>(device);
    check_long_rows<min_plus<double>, double>(device);
    check_long_rows<min_column, float>(device);
}
KRYLITH_DEVICE_TEST("sparse products: plus-times, small") {
    check_small<plus_times<double>, double>(device);
    check_small<plus_times<float>, float>(device);
}
KRYLITH_DEVICE_TEST("sparse products: plus-second, small") {
    check_small<plus_second<double>, double>(device);
    check_small<plus_second<float>, float>(device);
}
KRYLITH_DEVICE_TEST("sparse products: plus-second, values of another type") {
    check_small<plus_second<double>, float>(device);
    check_small<plus_second<float>, double>(device);
}
KRYLITH_DEVICE_TEST("sparse products: or-and, small") {
    check_small<or_and<double>, double>(device);
    check_small<or_and<float>, float>(device);
}
KRYLITH_DEVICE_TEST("sparse products: or-and, values of another type") {
    check_small<or_and<double>, float>(device);
    check_small<or_and<float>, double>(device);
}
KRYLITH_DEVICE_TEST("sparse products: min-plus, small") {
    check_small<min_plus<double>, double>(device);
    check_small<min_plus<float>, float>(device);
}
KRYLITH_DEVICE_TEST("sparse products: min-column, small") {
    check_small<min_column, double>(device);
    check_small<min_column, float>(device);
}
KRYLITH_DEVICE_TEST("sparse products: all semirings, large") {
    int round = 0;
    check_large<plus_times<double>, double>(device, round);
    check_large<plus_times<float>, float>(device, round);
    check_large<plus_second<double>, double>(device, round);
    check_large<plus_second<float>, float>(device, round);
    check_large<or_and<float>, float>(device, round);
    check_large<min_plus<float>, float>(device, round);
    check_large<min_column, double>(device, round);
}

} // namespace krylith::spmspv
