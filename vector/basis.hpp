// Several vectors of one layout, and products with them.
#pragma once

#include <functional>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith {

template <class T>
class basis {
public:
    /// Makes `count` vectors by calls of `make`.
    basis(int count, const std::function<vector<T>()>& make);

    [[nodiscard]] vector<T>& operator[](int j) { return vectors_[static_cast<std::size_t>(j)]; }
    [[nodiscard]] const vector<T>& operator[](int j) const {
        return vectors_[static_cast<std::size_t>(j)];
    }
    [[nodiscard]] int count() const { return static_cast<int>(vectors_.size()); }
    [[nodiscard]] const layout_handle& layout() const {
        if (vectors_.empty()) refuse_moved_from();
        return vectors_.front().layout();
    }
    /// A table in device memory of `rank`: a pointer to each vector.
    [[nodiscard]] T* const* table(int rank) const {
        return tables_[static_cast<std::size_t>(rank)].data();
    }

private:
    std::vector<vector<T>> vectors_;
    std::vector<buffer<T*>> tables_;
};

/// array[first + j] = dot(v_j, w) for j < count, and array[first + count] = dot(w, w): one pass
/// over the basis, one batch of count + 1 values. Throws usage_error, like all passes, where count
/// is more than the basis has or w is of another layout.
template <class T>
void multi_dot(execution& run, const basis<T>& v, int count, const vector<T>& w, int first);

/// w -= sum of array[first + j] v_j for j < count: one pass over the basis. w must not be a domain
/// vector.
template <class T>
void multi_axpy(execution& run, const basis<T>& v, int count, int first, vector<T>& w);
/// Does the same, and norm = dot(w, w) of the result.
template <class T>
void multi_axpy(execution& run, const basis<T>& v, int count, int first, vector<T>& w,
                const scalar& norm);

} // namespace krylith
