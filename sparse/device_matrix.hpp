// A device matrix: the block of one rank, in a format with a kernel for y = alpha A x + beta y.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <krylith/device/device.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/device_matrix/compressed_rows.hpp>
#include <krylith/sparse/device_matrix/doubled_residual.hpp>
#include <krylith/sparse/device_matrix/early_rows.hpp>
#include <krylith/sparse/device_matrix/partial_sums.hpp>
#include <krylith/sparse/device_matrix/row_map.hpp>
#include <krylith/sparse/device_matrix/sell_view.hpp>
#include <krylith/sparse/pattern/device_pattern.hpp>
#include <krylith/vector/execution/kernel_context.hpp>

namespace krylith {

inline constexpr int max_spmv_dots = 2;
/// The receivers that a product may store its results to, besides its own device.
inline constexpr int most_copies = max_gpus;

/// The credit that a product gives when the rows that read ghosts are done: the senders may
/// overwrite the ghosts.
struct ghost_credit {
    std::uint64_t* const* peer_credits; ///< [senders] this rank's count at each of them
    const std::uint64_t* put_count;     ///< puts so far: the credit that is given
    std::uint64_t* credited;            ///< the last credit given
    std::int32_t senders;               ///< 0: no credit is given
};

/// The credit for the last put that has arrived.
[[nodiscard]] inline ghost_credit credit_of(const channel_view& channel) {
    return {channel.peer_credits, channel.put_count, channel.credited, channel.senders};
}

/// The put of results. Each entry is sent to the peers' copies of y (replicated vectors) as it is
/// computed; or, where there are `targets`, to a place of its own: alpha A x of rows that others
/// own, with beta 0, no dot products, and y not used.
template <class T>
struct result_put {
    T* copies[most_copies]; ///< [receivers] the same place as y in each copy
    T* const* targets;      ///< [rows of the block] or null
    /// Null peer_credits: the reader of the results gives credit (partial_sums). No receivers:
    /// there are no replicas.
    channel_view channel;
    bool ordered; ///< events already order this against the readers: no waiting
};

/// Operands of a product; plain data for kernels. beta = 0 never reads y. Pointers are to the first
/// row of the block (y, dot_with, put.copies) or, where there is a map, to row 0, and to local
/// column 0 (x).
template <class T>
struct spmv_operands {
    const T* x;
    T* y;
    T alpha;
    T beta;
    const T* dot_with[max_spmv_dots]; ///< reduce <- dot(y, dot_with[d]); null: dot(y, y)
    reduction reduce;                 ///< count 0..max_spmv_dots
    put_signal ghosts;                ///< awaited before rows that read ghosts
    ghost_credit credit;
    result_put<T> put;
    early_rows<T> early;      ///< multiplied and sent at the start; only on CUDA devices
    partial_sums<T> partials; ///< of peers, added at the end; not with a map
    row_map map;              ///< maps the block's rows to those of y
};

template <class T>
struct spmv_arguments : spmv_operands<T> {
    kernel_context common;
};

/// The input that every format is built from: CSR with local columns, borrowed. The pattern is in
/// memory of the host or, for CUDA devices, of the device; so are values.
template <class T>
struct local_csr {
    std::int64_t rows;
    std::int64_t columns;                   ///< local: owned and ghosts, or all n
    std::span<const std::int64_t> offsets;  ///< rows + 1, the first need not be 0
    std::span<const std::int32_t> indices;  ///< nonzeros of these rows, from offsets[0] on
    std::span<const T> values;              ///< of these nonzeros; empty if device_values has them
    std::span<const std::uint8_t> boundary; ///< rows that read ghosts, or empty: none does
    std::int64_t first_owned = 0; ///< local column of the first owned one; 0 where columns are all
    /// Rows from this one on are computed by every device and sent by none: formats may compute
    /// them in between, while results of the others are sent.
    std::int64_t alone = std::numeric_limits<std::int64_t>::max();
    bool sends = false; ///< results are stored into other devices' memory as they are computed

    const T* device_values = nullptr;             ///< the first entry of these rows
    const std::int32_t* device_indices = nullptr; ///< `indices` as they stay on the device, or null
    /// The values are in neither, and come by device_matrix::intake() once the block is made.
    bool values_follow = false;
    bool borrow = false; ///< a format in CSR order uses device arrays in place, and keeps no copy
    /// The pattern on the device; then `offsets`, `indices` and `boundary` may be empty. Null: it
    /// is on the host.
    const device_pattern* there = nullptr;

    [[nodiscard]] std::int64_t nonzeros() const {
        return there != nullptr ? there->lengths.nonzeros
                                : static_cast<std::int64_t>(indices.size());
    }
    /// Whether any of rows [first, last) is of the boundary.
    [[nodiscard]] bool on_boundary(std::int64_t first, std::int64_t last) const {
        return !boundary.empty() && std::any_of(boundary.begin() + first, boundary.begin() + last,
                                                [](std::uint8_t waits) { return waits != 0; });
    }
};

/// The number of times that a block which chooses among kernels has used one.
struct kernel_use {
    std::string kernel;
    std::int64_t products = 0;
};

/// The side of a block that takes new values from the host in pieces, so that those of several
/// devices travel side by side.
template <class T>
class value_intake {
public:
    struct piece {
        T* to;             ///< on the device
        std::int64_t size; ///< 0: all values are there
    };

    virtual ~value_intake() = default;
    /// Returns where the values from `first` on go, as many as one transfer may bring; `first`
    /// begins at 0 and goes on with what was brought. Throws usage_error where values are the
    /// caller's (operator_options::borrow).
    [[nodiscard]] virtual piece next_piece(std::int64_t first) = 0;
    /// Enqueues what follows the transfer of a piece.
    virtual void take_piece(std::int64_t first, const piece& brought) = 0;
    /// Ends an update, once all values are there.
    virtual void end_update() = 0;
};

template <class T>
class device_matrix {
public:
    virtual ~device_matrix() = default;
    /// Enqueues the product. Rows that read no ghost come first.
    virtual void apply(const spmv_arguments<T>& a) = 0;
    /// Enqueues what apply() will wait for on the host. Operators call it for adaptive blocks
    /// before apply(), with the same arguments, on all devices before apply() on any of them, so
    /// that the devices work side by side. Other blocks have nothing to enqueue.
    virtual void prepare(const spmv_arguments<T>&) {}
    /// Takes new values, in the order of the block that this was built from.
    virtual void update(std::span<const T> values) = 0;
    /// What takes new values in pieces; null where only update() does.
    [[nodiscard]] virtual value_intake<T>* intake() { return nullptr; }
    /// Does the same from memory of the device. Stream-ordered.
    virtual void update_on_device(const T* values) = 0;
    /// Enqueues d[r] = the sum of the entries of row i in local column first_owned + r, where r =
    /// rows.at(i), for all rows i but padding.
    virtual void diagonal(T* d, const row_map& rows, std::int64_t first_owned) const = 0;
    /// Enqueues r = b - s A x in doubled precision, entry by entry: it is slower than a product.
    /// Returns where the sums will be: those of one part of the rows after the other, each with
    /// as many as there are columns, for joined(); or nothing, with nothing enqueued, where the
    /// entries are not known.
    [[nodiscard]] virtual buffer<residual_sums> residual(const residual_operands<T>&) const {
        return {};
    }
    /// The name of the format: "csr", "sell", "merge", "csr5", "cusparse".
    [[nodiscard]] virtual std::string name() const = 0;
    /// False where the product can't be recorded, or not skipped after the loop has stopped (see
    /// matrix_free).
    [[nodiscard]] virtual bool recordable() const { return true; }
    /// Whether a recorded product may be repeated in later solves, also with new values.
    [[nodiscard]] virtual bool recorded_alike() const { return true; }
    /// The number of products so far by kernel; empty where there is no choice.
    [[nodiscard]] virtual std::vector<kernel_use> kernel_uses() const { return {}; }
    /// The bytes of the matrix that one product reads, padding included.
    [[nodiscard]] virtual std::int64_t matrix_bytes() const = 0;
    /// The fraction of the stored values that a product reads in fewer bytes than they have: one
    /// number for 32, places in a table, or fp32 (sell_view.hpp). New values change it.
    [[nodiscard]] virtual double narrow_fraction() const { return 0; }
    /// The block in SELL, valid as long as this lives, for kernels that do more than a product;
    /// null for other formats.
    [[nodiscard]] virtual const sell_view<T>* slices() const { return nullptr; }
    /// The block in CSR, valid until it takes other arrays of values in place, for the same use;
    /// nothing for other formats.
    [[nodiscard]] virtual std::optional<compressed_rows<T>> compressed() const {
        return std::nullopt;
    }
};

namespace host {

template <class T>
[[nodiscard]] std::unique_ptr<device_matrix<T>> make_csr(std::shared_ptr<device> device,
                                                         const local_csr<T>& block);

} // namespace host

namespace cuda {

template <class T>
[[nodiscard]] std::unique_ptr<device_matrix<T>> make_csr(std::shared_ptr<device> device,
                                                         const local_csr<T>& block);
template <class T>
[[nodiscard]] std::unique_ptr<device_matrix<T>> make_sell(std::shared_ptr<device> device,
                                                          const local_csr<T>& block);
template <class T>
[[nodiscard]] std::unique_ptr<device_matrix<T>> make_merge(std::shared_ptr<device> device,
                                                           const local_csr<T>& block);
template <class T>
[[nodiscard]] std::unique_ptr<device_matrix<T>> make_csr5(std::shared_ptr<device> device,
                                                          const local_csr<T>& block);
template <class T>
[[nodiscard]] std::unique_ptr<device_matrix<T>> make_cusparse(std::shared_ptr<device> device,
                                                              const local_csr<T>& block);

} // namespace cuda

} // namespace krylith
