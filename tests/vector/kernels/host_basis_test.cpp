// Products with a basis on host devices against plain loops.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <krylith/tests/vector/host_ranks.hpp>
#include <krylith/vector/kernels/kernels.hpp>

namespace krylith {

using testing::host_ranks;

namespace {

template <class T>
struct basis_data {
    std::vector<std::vector<T>> vectors;
    std::vector<T*> table;
    std::vector<T> w;

    basis_data(int count, std::int64_t size) {
        std::mt19937 random(3);
        std::uniform_real_distribution<double> values(-1, 1);
        const auto fill = [&](std::vector<T>& v) {
            v.resize(static_cast<std::size_t>(size));
            for (auto& x : v) x = static_cast<T>(values(random));
        };
        vectors.resize(static_cast<std::size_t>(count));
        for (auto& v : vectors) {
            fill(v);
            table.push_back(v.data());
        }
        fill(w);
    }
};

template <class T>
basis_arguments<T> basis_arguments_of(host_ranks& ranks, basis_data<T>& data, bool norm) {
    basis_arguments<T> a{};
    a.common = ranks.make_context(0);
    a.basis = data.table.data();
    a.w = data.w.data();
    a.count = static_cast<std::int32_t>(data.table.size());
    a.norm = norm;
    a.size = static_cast<std::int64_t>(data.w.size());
    a.last_owned = a.size;
    return a;
}

/// Takes the batch into the array, from its start.
std::vector<double> array_sums(host_ranks& ranks, int count) {
    kernel_context context = ranks.make_context(0);
    context.batch = count;
    context.batch_array = 0;
    ranks.scalars(0, context);
    ranks.synchronize();
    return {ranks.array(0), ranks.array(0) + count};
}

template <class T>
void check_sum(double found, const std::vector<T>& x, const std::vector<T>& y, std::int64_t first,
               std::int64_t last) {
    long double sum = 0;
    long double size_of_sum = 0;
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
        const long double part = static_cast<long double>(x[i]) * y[i];
        sum += part;
        size_of_sum += std::abs(part);
    }
    CHECK(std::abs(static_cast<double>(found - sum)) <= 1e-14 * static_cast<double>(size_of_sum));
}

constexpr int counts[] = {0, 1, 2, 3, 4, 5, 9, 30};
constexpr std::int64_t basis_sizes[] = {0, 1, 17, 2049, 13'001};

} // namespace

TEST_CASE_TEMPLATE("host multi_dot", T, double, float) {
    for (const int count : counts)
        for (const std::int64_t size : basis_sizes)
            for (const bool norm : {false, true}) {
                CAPTURE(count);
                CAPTURE(size);
                CAPTURE(norm);
                host_ranks ranks(1, size > 10'000 ? 2 : 1);
                basis_data<T> data(count, size);
                auto a = basis_arguments_of(ranks, data, norm);
                a.first_owned = size / 7;
                a.last_owned = size - size / 9;
                const int values = count + (norm ? 1 : 0);
                a.reduce = ranks.into(0, values);
                host::multi_dot(ranks[0], a);
                const auto found = array_sums(ranks, values);
                for (std::size_t j = 0; j < data.vectors.size(); ++j)
                    check_sum(found[j], data.vectors[j], data.w, a.first_owned, a.last_owned);
                if (norm) check_sum(found.back(), data.w, data.w, a.first_owned, a.last_owned);
            }
}

TEST_CASE_TEMPLATE("host multi_axpy", T, double, float) {
    for (const int count : counts)
        for (const std::int64_t size : basis_sizes)
            for (const bool norm : {false, true}) {
                CAPTURE(count);
                CAPTURE(size);
                CAPTURE(norm);
                host_ranks ranks(1, size > 10'000 ? 2 : 1);
                basis_data<T> data(count, size);
                auto a = basis_arguments_of(ranks, data, norm);
                a.first = 7;
                a.first_owned = size / 7;
                a.last_owned = size - size / 9;
                a.reduce = ranks.into(0, norm ? 1 : 0);
                for (int j = 0; j < count; ++j) ranks.array(0)[7 + j] = 0.25 * (j - 3);
                std::vector<double> expected(data.w.begin(), data.w.end());
                for (std::size_t j = 0; j < data.vectors.size(); ++j)
                    for (std::size_t i = 0; i < expected.size(); ++i)
                        expected[i] -=
                            ranks.array(0)[7 + j] * static_cast<double>(data.vectors[j][i]);
                host::multi_axpy(ranks[0], a);
                const auto found = array_sums(ranks, norm ? 1 : 0);
                const double eps = static_cast<double>(std::numeric_limits<T>::epsilon());
                int wrong = 0;
                for (std::size_t i = 0; i < expected.size(); ++i)
                    if (!(std::abs(static_cast<double>(data.w[i]) - expected[i]) <= 500 * eps))
                        ++wrong;
                CHECK(wrong == 0);
                if (norm) check_sum(found.front(), data.w, data.w, a.first_owned, a.last_owned);
            }
}

TEST_CASE("host multi_dot and multi_axpy: the same bits with any team") {
    std::vector<double> first_sums;
    std::vector<double> first_w;
    for (const int threads : {1, 2, 3, 5}) {
        host_ranks ranks(1, threads);
        basis_data<double> data(7, 50'001);
        auto a = basis_arguments_of(ranks, data, true);
        a.reduce = ranks.into(0, 8);
        host::multi_dot(ranks[0], a);
        const auto found =
            array_sums(ranks, 8); // they are also the coefficients of the update below
        a.reduce = ranks.into(0, 1);
        host::multi_axpy(ranks[0], a);
        ranks.synchronize();
        if (threads == 1) {
            first_sums = found;
            first_w = data.w;
        }
        CHECK(found == first_sums);
        CHECK(data.w == first_w);
    }
}

} // namespace krylith
