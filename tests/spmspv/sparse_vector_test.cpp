// Sparse vectors: every conversion between their forms, and a long random sequence of what writers
// may do with their arrays, after which every array that is said to be valid or clean is checked.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/host/host_device.hpp>
#include <krylith/matrix/types/mocked_index_limit.hpp>
#include <krylith/spmspv/kernels/host_ranges.hpp>
#include <krylith/spmspv/sparse_vector.hpp>

#include <krylith/tests/spmspv/one_device.hpp>
#include <krylith/tests/spmspv/vector_check.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith::spmspv {

using testing::entry_list;
using testing::flaw_of_forms;
using testing::random_numbers;

namespace {

constexpr vector_form all_forms[] = {vector_form::pairs, vector_form::dense, vector_form::bits};

/// The indices of about `percent` of n entries, ascending; values differ from `absent`.
template <class T>
entry_list<T> draw(std::int64_t n, int percent, T absent, random_numbers& random) {
    entry_list<T> entries;
    for (std::int64_t i = 0; i < n; ++i) {
        if (random.below(100) >= percent) continue;
        const auto value = static_cast<T>(random.below(1000));
        entries.indices.push_back(static_cast<std::int32_t>(i));
        entries.values.push_back(value == absent ? T(1001) : value);
    }
    return entries;
}

template <class T>
std::vector<T> dense_of(std::int64_t n, const entry_list<T>& entries, T absent) {
    std::vector<T> dense(as_size(n), absent);
    for (std::size_t k = 0; k < entries.indices.size(); ++k)
        dense[as_size(entries.indices[k])] = entries.values[k];
    return dense;
}

template <class T>
void assign_reversed(sparse_vector<T>& v, entry_list<T> entries) {
    std::reverse(entries.indices.begin(), entries.indices.end());
    std::reverse(entries.values.begin(), entries.values.end());
    v.assign(entries.indices, entries.values);
}

template <class T>
void check_conversions(const std::shared_ptr<device>& device, std::int64_t n, int percent,
                       T absent) {
    CAPTURE(n);
    CAPTURE(percent);
    random_numbers random(31 + static_cast<std::uint64_t>(n));
    sparse_vector<T> v(device, n, absent);
    std::vector<vector_form> order(std::begin(all_forms), std::end(all_forms));
    do {
        for (int given = 0; given < 3; ++given) {
            CAPTURE(given);
            const auto entries = draw<T>(n, percent, absent, random);
            if (given == 0) v.assign(entries.indices, entries.values);
            if (given == 1) assign_reversed(v, entries);
            if (given == 2) v.assign(dense_of(n, entries, absent));
            for (const vector_form form : order) {
                v.require(form);
                CHECK(v.forms().has(form));
                CHECK(flaw_of_forms(v, entries) == "");
            }
            CHECK(v.count() == static_cast<std::int64_t>(entries.indices.size()));
            v.require_ascending_pairs();
            CHECK(v.ascending());
            CHECK(flaw_of_forms(v, entries) == "");
            CHECK(v.download_dense() == dense_of(n, entries, absent));
            CHECK(v.download_pairs().indices == entries.indices);
            CHECK(v.download_pairs().values == entries.values);
        }
    } while (std::next_permutation(order.begin(), order.end()));
}

template <class T>
class random_writer {
public:
    random_writer(const std::shared_ptr<device>& device, std::int64_t n, T absent)
        : v_(device, n, absent), random_(32) {}

    void step() {
        const int action = random_.below(14);
        CAPTURE(action);
        switch (action) {
        case 0: next(), v_.assign(entries_.indices, entries_.values); break;
        case 1: next(), assign_reversed(v_, entries_); break;
        case 2: next(), v_.assign(dense()); break;
        case 3: entries_ = {}, v_.clear(); break;
        case 4: v_.require_ascending_pairs(); break;
        case 5: CHECK(v_.count() == size()); break;
        case 6: drop_some(); break;
        case 7: write_dense(); break;
        case 8: write_everything(); break;
        case 9: write_pairs_and_leave_marks(); break;
        case 10: write_pairs(); break;
        default: v_.require(all_forms[random_.below(3)]); break;
        }
        CHECK(flaw_of_forms(v_, entries_) == "");
    }

private:
    [[nodiscard]] std::int64_t size() const {
        return static_cast<std::int64_t>(entries_.indices.size());
    }
    [[nodiscard]] std::vector<T> dense() const {
        return dense_of(v_.size(), entries_, v_.absent());
    }
    void next() {
        const int percents[] = {0, 1, 3, 50, 100};
        entries_ = draw<T>(v_.size(), percents[random_.below(5)], v_.absent(), random_);
    }
    template <class U>
    void upload(U* to, const std::vector<U>& from) {
        if (!from.empty()) v_.device().upload(to, from.data(), from.size() * sizeof(U));
    }
    [[nodiscard]] std::vector<std::uint32_t> bits() const {
        std::vector<std::uint32_t> words(as_size(v_.arrays().words()), 0);
        for (const std::int32_t i : entries_.indices)
            words[as_size(i / 32)] |= std::uint32_t{1} << (i % 32);
        return words;
    }
    void upload_pairs() {
        upload(v_.arrays().indices, entries_.indices);
        upload(v_.arrays().values, entries_.values);
        upload(v_.arrays().count, std::vector<std::int32_t>{static_cast<std::int32_t>(size())});
    }
    void check_clean() {
        const auto a = v_.arrays();
        const std::vector<T> none(as_size(v_.size()), v_.absent());
        const std::vector<std::uint32_t> zeros(as_size(a.words()), 0);
        CHECK(testing::array_of(v_, a.dense, v_.size()) == none);
        CHECK(testing::array_of(v_, a.bits, a.words()) == zeros);
    }

    void drop_some() {
        if (v_.forms().has(vector_form::bits)) v_.drop(vector_form::bits);
        const bool both = v_.forms().has(vector_form::pairs) && v_.forms().has(vector_form::dense);
        if (both) v_.drop(random_.flip() ? vector_form::pairs : vector_form::dense);
    }
    void write_dense() {
        next();
        (void)v_.overwrite();
        upload(v_.arrays().dense, dense());
        upload(v_.arrays().bits, bits());
        v_.holds(vector_form::dense | vector_form::bits, true);
    }
    void write_everything() {
        (void)v_.overwrite(vector_form::dense | vector_form::bits);
        check_clean();
        next();
        upload_pairs();
        upload(v_.arrays().dense, dense());
        upload(v_.arrays().bits, bits());
        v_.holds(vector_form::pairs | vector_form::dense | vector_form::bits, true);
    }
    /// Writes pairs, and other values where pairs say that there are entries.
    void write_pairs_and_leave_marks() {
        (void)v_.overwrite(vector_form::dense | vector_form::bits);
        check_clean();
        next();
        upload_pairs();
        auto marks = dense();
        for (T& value : marks) value = value == v_.absent() ? value : T(7);
        upload(v_.arrays().dense, marks);
        auto words = bits();
        for (auto& word : words) word &= 0x55555555U;
        upload(v_.arrays().bits, words);
        v_.holds(vector_form::pairs, true, random_.flip() ? std::optional(size()) : std::nullopt);
    }
    void write_pairs() {
        next();
        (void)v_.overwrite_pairs();
        upload_pairs();
        v_.holds(vector_form::pairs, true);
    }

    sparse_vector<T> v_;
    entry_list<T> entries_;
    random_numbers random_;
};

} // namespace

KRYLITH_DEVICE_TEST("sparse vectors: all conversions") {
    const host::mocked_thread_worth worth(8);
    for (const std::int64_t n : {0, 1, 2, 31, 32, 33, 63, 64, 65, 1000})
        for (const int percent : {0, 2, 30, 100}) {
            check_conversions<double>(device, n, percent, 0);
            check_conversions<float>(device, n, percent, std::numeric_limits<float>::infinity());
            check_conversions<std::int32_t>(device, n, percent, 2147483647);
        }
}

KRYLITH_DEVICE_TEST("sparse vectors: conversions of many entries") {
    check_conversions<double>(device, 70'003, 60, 0);
    check_conversions<std::int32_t>(device, 40'003, 1, 2147483647);
}

KRYLITH_DEVICE_TEST("sparse vectors: whatever writers do, arrays hold what is said") {
    const host::mocked_thread_worth worth(8);
    for (const std::int64_t n : {1, 32, 45, 700}) {
        CAPTURE(n);
        random_writer<double> doubles(device, n, 0);
        random_writer<float> floats(device, n, 5);
        random_writer<std::int32_t> integers(device, n, -1);
        for (int step = 0; step < 400; ++step) {
            doubles.step();
            floats.step();
            integers.step();
        }
    }
}

KRYLITH_DEVICE_TEST("sparse vectors: without entries") {
    sparse_vector<double> v(device, 40, 0);
    CHECK(v.known_count() == 0);
    CHECK(v.download_dense() == std::vector<double>(40, 0));
    CHECK(v.download_pairs().indices.empty());
    v.assign(std::vector<std::int32_t>{39}, std::vector<double>{2});
    v.clear();
    v.require(vector_form::bits);
    CHECK(flaw_of_forms(v, {}) == "");
    CHECK(v.count() == 0);
}

KRYLITH_DEVICE_TEST("sparse vectors: what is absent") {
    sparse_vector<double> v(device, 3, 0);
    v.assign(std::vector<double>{0, -0.0, 4}); // both zeros
    CHECK(v.count() == 1);
    // A pair is an entry whatever its value, as long as there are pairs or bits.
    v.assign(std::vector<std::int32_t>{0, 2}, std::vector<double>{0, 5});
    v.require(vector_form::dense);
    v.require(vector_form::bits);
    CHECK(v.count() == 2);
    v.drop(vector_form::pairs);
    CHECK(v.download_pairs().indices == std::vector<std::int32_t>{0, 2});
}

KRYLITH_DEVICE_TEST("sparse vectors: what is refused, which changes nothing") {
    sparse_vector<float> v(device, 5, 0);
    const std::vector<std::int32_t> indices = {3, 1};
    const std::vector<float> values = {6, 7};
    v.assign(indices, values);
    const auto pairs = [&](const std::vector<std::int32_t>& list) {
        v.assign(list, std::vector<float>(list.size(), 1));
    };
    CHECK_THROWS_WITH_AS(pairs({0, 5}), "sparse vector: index number 1 is 5, allowed are 0 to 4",
                         input_error);
    CHECK_THROWS_WITH_AS(pairs({-1}), "sparse vector: index number 0 is -1, allowed are 0 to 4",
                         input_error);
    CHECK_THROWS_WITH_AS(pairs({4, 2, 4}),
                         "sparse vector: index 4 stands there more than once, allowed is once",
                         input_error);
    CHECK_THROWS_WITH_AS(pairs({2, 2}),
                         "sparse vector: index 2 stands there more than once, allowed is once",
                         input_error);
    CHECK_THROWS_WITH_AS(
        v.assign(indices, std::vector<float>(3)),
        "sparse vector: 2 indices and 3 values were given, must be as many of each", input_error);
    CHECK_THROWS_WITH_AS(v.assign(std::vector<float>(4)),
                         "sparse vector: 4 values were given for all entries, must be 5",
                         input_error);
    CHECK_THROWS_AS(v.drop(vector_form::pairs), usage_error);
    CHECK(v.known_count() == 2);
    CHECK(v.download_pairs().indices == std::vector<std::int32_t>{1, 3});
    CHECK(v.download_pairs().values == std::vector<float>{7, 6});

    (void)v.overwrite();
    CHECK_THROWS_AS(v.require(vector_form::bits), usage_error);
    CHECK_THROWS_AS((void)v.count(), usage_error);
    CHECK_THROWS_AS(v.holds(vector_form::bits, true), usage_error);
    v.clear();

    const mocked_index_limit limit(100);
    (void)sparse_vector<double>(device, 100, 0);
    CHECK_THROWS_WITH_AS((void)sparse_vector<double>(device, 101, 0),
                         "sparse vector: the size is 101, allowed are 0 to 100", input_error);
    CHECK_THROWS_AS((void)sparse_vector<double>(device, -1, 0), input_error);
}

TEST_CASE("sparse vectors: the host waits for a count once") {
    const auto layout = device_group::host(1).handle(0);
    auto& host = static_cast<host_device&>(*layout);
    sparse_vector<double> v(layout, 100, 0);
    v.assign(std::vector<std::int32_t>{4, 9}, std::vector<double>{1, 2});
    const auto before = host.waits();
    CHECK(v.count() == 2); // known from the start
    v.require(vector_form::dense);
    v.require(vector_form::bits);
    CHECK(host.waits() == before);
    v.assign(std::vector<double>(100, 3));
    CHECK(v.count() == 100);
    CHECK(v.count() == 100);
    v.require(vector_form::pairs);
    CHECK(v.count() == 100);
    CHECK(host.waits() == before + 1);
}

} // namespace krylith::spmspv
