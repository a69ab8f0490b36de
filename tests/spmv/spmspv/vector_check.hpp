// What sparse vectors promise about their arrays, looked up in these arrays.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <krylith/matrix/index_width.hpp>
#include <krylith/spmv/spmspv/sparse_vector.hpp>

namespace krylith::testing {

/// Entries in the order of indices, which ascend.
template <class T>
using entry_list = typename spmspv::sparse_vector<T>::host_pairs;

template <class T>
[[nodiscard]] std::vector<T> array_of(spmspv::sparse_vector<T>& v, const T* array,
                                      std::int64_t length) {
    std::vector<T> values(as_size(length));
    if (length != 0) v.where().download(values.data(), array, values.size() * sizeof(T));
    return values;
}

/// What is wrong with a form of the vector that says that it is there, if the vector has these
/// entries; empty if nothing is.
template <class T>
[[nodiscard]] std::string flaw_of_forms(spmspv::sparse_vector<T>& v, const entry_list<T>& entries) {
    using spmspv::vector_form;
    const auto arrays = v.arrays();
    const auto count = static_cast<std::int64_t>(entries.indices.size());
    const auto download = [&](auto& to, const auto* from) {
        if (!to.empty()) v.where().download(to.data(), from, to.size() * sizeof(to.front()));
    };
    if (v.known_count() && *v.known_count() != count) return "wrong count known";
    if (v.forms().has(vector_form::pairs)) {
        std::vector<std::int32_t> found(1);
        download(found, arrays.count);
        if (found.front() != count)
            return "count of pairs is " + std::to_string(found.front()) + ", not " +
                   std::to_string(count);
        std::vector<std::int32_t> indices(as_size(count));
        std::vector<T> values(as_size(count));
        download(indices, arrays.indices);
        download(values, arrays.values);
        if (v.ascending() && indices != entries.indices) return "pairs are not in order";
        std::vector<bool> met(as_size(count));
        for (std::size_t k = 0; k < indices.size(); ++k) {
            const auto place =
                std::lower_bound(entries.indices.begin(), entries.indices.end(), indices[k]);
            if (place == entries.indices.end() || *place != indices[k]) return "a wrong index";
            const auto at = static_cast<std::size_t>(place - entries.indices.begin());
            if (met[at]) return "an index twice";
            met[at] = true;
            if (values[k] != entries.values[at]) return "a wrong value of pairs";
        }
    }
    std::vector<T> dense(as_size(v.size()), v.absent());
    std::vector<std::uint32_t> bits(as_size(arrays.words()), 0);
    for (std::size_t k = 0; k < entries.indices.size(); ++k) {
        const auto i = static_cast<std::size_t>(entries.indices[k]);
        dense[i] = entries.values[k];
        bits[i / 32] |= std::uint32_t{1} << (i % 32);
    }
    if (v.forms().has(vector_form::dense)) {
        auto found = dense;
        download(found, arrays.dense);
        if (found != dense) return "dense differs";
    }
    if (v.forms().has(vector_form::bits)) {
        auto found = bits;
        download(found, arrays.bits);
        if (found != bits) return "bits differ";
    }
    return {};
}

} // namespace krylith::testing
