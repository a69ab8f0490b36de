// Checks of what sparse vectors promise about their arrays, read from these arrays.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <krylith/matrix/types/index_width.hpp>
#include <krylith/spmspv/sparse_vector.hpp>

namespace krylith::testing {

/// The entries in the order of indices, which ascend.
template <class T>
using entry_list = typename spmspv::sparse_vector<T>::host_pairs;

/// Copies an array of the vector's device.
template <class Vector, class Item>
[[nodiscard]] std::vector<Item> array_of(Vector& v, const Item* array, std::int64_t length) {
    std::vector<Item> values(as_size(length));
    if (length != 0) v.device().download(values.data(), array, values.size() * sizeof(Item));
    return values;
}

/// Says what is wrong with a form that the vector says it has, if the vector has these entries;
/// empty if nothing is.
template <class T>
[[nodiscard]] std::string flaw_of_forms(spmspv::sparse_vector<T>& v, const entry_list<T>& entries) {
    using spmspv::vector_form;
    const auto arrays = v.arrays();
    const auto count = static_cast<std::int64_t>(entries.indices.size());
    if (v.known_count() && *v.known_count() != count) return "wrong count known";
    if (v.forms().has(vector_form::pairs)) {
        const std::int32_t found = array_of(v, arrays.count, 1).front();
        if (found != count)
            return "count of pairs is " + std::to_string(found) + ", not " + std::to_string(count);
        const auto indices = array_of(v, arrays.indices, count);
        const auto values = array_of(v, arrays.values, count);
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
    if (v.forms().has(vector_form::dense) && array_of(v, arrays.dense, v.size()) != dense)
        return "dense differs";
    if (v.forms().has(vector_form::bits) && array_of(v, arrays.bits, arrays.words()) != bits)
        return "bits differ";
    return {};
}

} // namespace krylith::testing
