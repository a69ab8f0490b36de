// A vector on one device that may have few entries: as pairs of index and value, as a dense array,
// as bits, or in several of these forms at once.
//
// A vector of size n takes 12 n + n / 8 bytes (fp32), 20 n + n / 8 (fp64), whatever it holds.
// Conversions are stream-ordered, enqueued when a form is asked for that is missing; none goes
// through the host. Bytes moved for k entries of n, values of s bytes:
//
//     pairs -> dense, bits    k (4 + 2 s), and what cleaning costs: as much, for the entries of
//                             before if they are listed, else n s
//     dense -> bits           n (s + 1/8)
//     bits -> pairs           n / 4 + k (4 + 2 s); in ascending order
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <krylith/device/device.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/device/memory/unmoved.hpp>

namespace krylith::spmspv {

enum class vector_form : std::uint8_t {
    pairs = 1, ///< indices, each once; values beside them; the count, on the device
    dense = 2, ///< all n values, `absent` where there is no entry
    bits = 4   ///< bit i % 32 of word i / 32: entry i is there; bits beyond n are 0
};

/// A set of forms.
class vector_forms {
public:
    constexpr vector_forms() = default;
    constexpr vector_forms(vector_form form) : set_(static_cast<std::uint8_t>(form)) {} // NOLINT
    [[nodiscard]] constexpr bool has(vector_form form) const {
        return (set_ & static_cast<std::uint8_t>(form)) != 0;
    }
    [[nodiscard]] constexpr bool empty() const { return set_ == 0; }
    friend constexpr vector_forms operator|(vector_forms a, vector_forms b) {
        vector_forms both;
        both.set_ = static_cast<std::uint8_t>(a.set_ | b.set_);
        return both;
    }
    friend constexpr bool operator==(vector_forms, vector_forms) = default;

private:
    std::uint8_t set_ = 0;
};

[[nodiscard]] constexpr vector_forms operator|(vector_form a, vector_form b) {
    return vector_forms(a) | vector_forms(b);
}

/// The arrays of the forms, in memory of the device. Plain data for kernels.
template <class T>
struct vector_arrays {
    std::int32_t* indices; ///< [size], the first *count in use
    T* values;             ///< [size], the first *count in use
    std::int32_t* count;   ///< [1]
    T* dense;              ///< [size]
    std::uint32_t* bits;   ///< [words()]
    std::int64_t size;
    T absent;

    [[nodiscard]] std::int64_t words() const { return (size + 31) / 32; }
};

/// A sparse vector; not copyable. Everything is enqueued on the stream of its device. T is double,
/// float or std::int32_t.
template <class T>
class sparse_vector {
public:
    /// Makes a vector without entries. `absent` is that of the semiring which it is used with.
    /// Throws input_error for a size that 32-bit indices don't reach, device_error where memory is
    /// short.
    sparse_vector(std::shared_ptr<krylith::device> device, std::int64_t size, T absent,
                  const std::string& item = "sparse vectors");

    [[nodiscard]] std::int64_t size() const noexcept { return size_; }
    [[nodiscard]] T absent() const noexcept { return absent_; }
    [[nodiscard]] krylith::device& device() const { return *device_; }

    // Copies from and to the host.

    /// Takes entries by indices in [0, size), each once; throws input_error otherwise, and then
    /// changes nothing.
    void assign(std::span<const std::int32_t> indices, std::span<const T> values);
    /// Takes all `size` values. Those that equal absent() are no entries.
    void assign(std::span<const T> dense);
    void clear();
    /// Converts from any form and waits for the device.
    [[nodiscard]] std::vector<T> download_dense();
    struct host_pairs {
        std::vector<std::int32_t> indices;
        std::vector<T> values;
    };
    /// Does the same; the pairs are in ascending order.
    [[nodiscard]] host_pairs download_pairs();

    /// The number of entries. Where the host doesn't know it, waits for the device, once for each
    /// content; from the dense form it counts what differs from absent().
    [[nodiscard]] std::int64_t count();
    [[nodiscard]] std::optional<std::int64_t> known_count() const noexcept { return count_; }

    // The functions that follow are for products and other code that computes vectors on the
    // device.

    [[nodiscard]] vector_forms forms() const noexcept { return forms_; }
    /// True if the pairs' indices ascend.
    [[nodiscard]] bool ascending() const noexcept { return ascending_; }
    /// Makes a form available: enqueues the conversion if it is missing.
    void require(vector_form form);
    /// Makes pairs in ascending order available.
    void require_ascending_pairs();
    /// The arrays, for reading the forms that are available.
    [[nodiscard]] vector_arrays<T> arrays() const noexcept;
    /// Drops the content and returns the arrays for writing a new one. `clean` names those of dense
    /// and bits that must be all absent() or 0: O(old entries) if these are listed, else O(n).
    [[nodiscard]] vector_arrays<T> overwrite(vector_forms clean = {});
    /// Does the same for a writer of pairs alone: dense and bits whose entries the old pairs list
    /// are cleaned while that is O(old entries), so that they needn't be cleaned in O(n) later.
    [[nodiscard]] vector_arrays<T> overwrite_pairs();
    /// Says what the arrays hold, or will hold when what is enqueued so far is done: pairs or dense
    /// at least. dense and bits that were asked to be clean and are not named here have entries
    /// only where pairs name them; those neither asked for nor named were not written.
    void holds(vector_forms forms, bool ascending, std::optional<std::int64_t> count = {});
    /// Forgets a form; pairs or dense must remain.
    void drop(vector_form form);

private:
    /// What dense and bits hold while they are not among the forms: nothing; entries only where
    /// indices_ name them; or anything.
    enum class residue : std::uint8_t { clean, listed, unknown };

    [[nodiscard]] residue residue_of(vector_form form) const noexcept;
    void make_clean(vector_forms forms);
    void drop_content(vector_forms clean);
    void list();
    void check_content() const;

    unmoved<std::shared_ptr<krylith::device>> device_;
    std::int64_t size_;
    T absent_;
    buffer<std::int32_t> indices_;
    buffer<T> values_;
    buffer<std::int32_t> device_count_;
    buffer<T> dense_;
    buffer<std::uint32_t> bits_;
    vector_forms forms_; ///< between overwrite() and holds() none, else pairs or dense at least
    vector_forms asked_; ///< forms that the last overwrite() was asked to clean
    bool ascending_ = true;
    bool indexed_ = false; ///< indices and count are valid, the pairs' values are not
    std::optional<std::int64_t> count_;
    residue dense_residue_ = residue::unknown; ///< of dense where it is not one of forms_
    residue bits_residue_ = residue::unknown;
    buffer<std::byte> scratch_; ///< scratch memory of conversions
};

} // namespace krylith::spmspv
