#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/host/host_device.hpp>
#include <krylith/device/host/host_team.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/csr/csr_rows_host.hpp>
#include <krylith/sparse/csr/giant_rows_host.hpp>
#include <krylith/sparse/csr/host_row_schedule.hpp>
#include <krylith/sparse/csr/row_runs.hpp>
#include <krylith/sparse/device_matrix.hpp>
#include <krylith/sparse/epilogue/row_epilogue_host.hpp>
#include <krylith/sparse/residual/block_rows.hpp>
#include <krylith/sparse/storage/block_array.hpp>
#include <krylith/vector/execution/host_context.hpp>

namespace krylith::host {

namespace {

/// The row schedule as plain pointers, for tasks.
struct schedule_arrays {
    const row_range* ranges;
    const std::int64_t* first_range;
    const std::int64_t* items_before;
    std::int64_t interior;
    std::int64_t chunks;
};

/// Multiplies the rows of one chunk, tile by tile, so that what becomes of them finds them in the
/// cache.
template <class T, class Offset>
void multiply_chunk(const csr_arrays<T, Offset>& matrix, const schedule_arrays& rows,
                    const std::vector<std::int64_t>& runs, const giant_row_arrays<T>& giants,
                    const T* x, std::int64_t chunk, row_part<T> results) {
    const auto multiply = [&](T* to, T alpha, T beta, std::int64_t first, std::int64_t last) {
        const auto usual = [&](T* y, std::int64_t begin, std::int64_t end) {
            if (runs.empty())
                multiply_rows(matrix, x, y, alpha, beta, begin, end);
            else
                multiply_in_runs(matrix, runs.data(), static_cast<std::int64_t>(runs.size()) - 1, x,
                                 y, alpha, beta, begin, end);
        };
        if (giants.count == 0) return usual(to, first, last);
        giants.multiply_between(to, alpha, beta, first, last, usual);
    };
    for (std::int64_t r = rows.first_range[chunk]; r < rows.first_range[chunk + 1]; ++r) {
        for (std::int64_t begin = rows.ranges[r].begin; begin < rows.ranges[r].end;) {
            const std::int64_t end = std::min(rows.ranges[r].end, begin + row_part<T>::tile);
            results.rows(begin, end, multiply);
            begin = end;
        }
    }
    results.leave();
}

/// Calls body(chunk) for the chunks of one thread of the team among chunks [first, last): equal
/// items for all.
template <class Body>
void for_chunks_of(const schedule_arrays& rows, std::int64_t first, std::int64_t last, int thread,
                   int team, const Body& body) {
    const std::int64_t* const items = rows.items_before;
    const auto border = [&](int number) {
        const std::int64_t before = items[first] + (items[last] - items[first]) / team * number;
        if (number == team) return last;
        return static_cast<std::int64_t>(std::lower_bound(items + first, items + last, before) -
                                         items);
    };
    const std::int64_t end = border(thread + 1);
    for (std::int64_t chunk = border(thread); chunk < end; ++chunk) body(chunk);
}

template <class T, class Offset>
void product(const csr_arrays<T, Offset>& matrix, const schedule_arrays& rows,
             const std::vector<std::int64_t>& runs, const giant_row_arrays<T>& giants,
             const spmv_arguments<T>& a, int threads) {
    registers reg;
    if (!kernel_prologue(a.common, reg)) return;
    const row_epilogue<T> results(a, rows.chunks);
    if (!results.before_writing()) return;
    const auto body = [&](std::int64_t chunk) {
        multiply_chunk(matrix, rows, runs, giants, a.x, chunk, results.part(chunk));
    };
    const int most = worthwhile_team(threads, rows.items_before[rows.chunks]);
    const auto interior = [&](int thread, int team) {
        for_chunks_of(rows, 0, rows.interior, thread, team, body);
    };
    const auto boundary = [&](int thread, int team) {
        if (!results.before_reading(true)) return;
        for_chunks_of(rows, rows.interior, rows.chunks, thread, team, body);
    };
    giants.multiply(matrix, a.x, false, threads);
    if (giants.any(true)) { // which all threads multiply once their ghosts are there
        in_team(most, interior);
        if (!results.before_reading(true)) return;
        giants.multiply(matrix, a.x, true, threads);
        in_team(most, boundary);
    } else {
        in_team(most, [&](int thread, int team) {
            interior(thread, team);
            boundary(thread, team);
        });
    }
    results.leave();
}

/// Tasks take plain pointers; the buffers that they point into outlive what is enqueued.
template <class T>
class csr final : public device_matrix<T> {
public:
    csr(std::shared_ptr<device> device, const local_csr<T>& block)
        : device_(std::move(device)),
          rows_(block.rows),
          nonzeros_(static_cast<std::int64_t>(block.indices.size())) {
        check(block);
        if (nonzeros_ <= std::numeric_limits<std::int32_t>::max())
            narrow_ = copy_offsets<std::int32_t>(block.offsets);
        else
            wide_ = copy_offsets<std::int64_t>(block.offsets);
        columns_ = columns_of(device_, block, item);
        values_ = values_of(device_, block, item);

        const giant_rows giants = find_giant_rows(block.offsets, block.boundary);
        giants_of_boundary_ = {device_, std::span(giants.boundary), item};
        giants_ = {device_, std::span(giants.rows), item};
        first_piece_ = {device_, std::span(giants.first_piece), item};
        pieces_ = {device_, static_cast<std::size_t>(giants.first_piece.back()), item};
        const row_schedule s = make_row_schedule(block.offsets, block.boundary, giants.rows);
        interior_ = s.interior;
        chunks_ = s.chunks();
        ranges_ = {device_, std::span(s.ranges), item};
        first_range_ = {device_, std::span(s.first_range), item};
        items_before_ = {device_, std::span(s.items_before), item};
        if (!block.values_follow) find_runs();
    }

    void apply(const spmv_arguments<T>& a) override {
        with_arrays([&](const auto& matrix) { enqueue(matrix, a); });
    }

    void update(std::span<const T> values) override {
        if (values.size() != values_.size())
            throw usage_error("update() was given " + std::to_string(values.size()) +
                              " values for " + std::to_string(nonzeros_) + " nonzeros");
        values_.upload(values);
        find_runs();
    }

    void update_on_device(const T* values) override {
        values_.take(*device_, values);
        find_runs();
    }

    void diagonal(T* d, const row_map& map, std::int64_t first_owned) const override {
        with_rows([&](const auto& all) {
            for_rows([=](std::int64_t begin, std::int64_t end, std::int64_t) {
                for (std::int64_t row = begin; row < end; ++row) {
                    const std::int64_t to = map.at(row);
                    if (to >= map.rows) continue;
                    d[to] = T{0};
                    all.visit(row, 0, 1, [&](std::int32_t column, T value) {
                        if (column == first_owned + to) d[to] += value;
                    });
                }
            });
        });
    }

    [[nodiscard]] buffer<residual_sums> residual(const residual_operands<T>& a) const override {
        const std::int64_t parts = std::max<std::int64_t>(1, (rows_ + part_rows - 1) / part_rows);
        buffer<residual_sums> sums(device_, static_cast<std::size_t>(parts * a.columns),
                                   "residual");
        sums.zero();
        with_rows([&](const auto& all) {
            for_rows(
                [=, to = sums.data()](std::int64_t begin, std::int64_t end, std::int64_t part) {
                    for (std::int64_t row = begin; row < end; ++row) {
                        if (a.map.at(row) >= a.map.rows) continue;
                        for (int column = 0; column < a.columns; ++column) {
                            row_terms terms;
                            all.visit(row, 0, 1, [&](std::int64_t j, T value) {
                                terms.add(value, a.x[j * a.columns + column]);
                            });
                            a.finish(row, column, terms, to[part * a.columns + column]);
                        }
                    }
                });
        });
        return sums;
    }

    [[nodiscard]] std::string name() const override { return "csr"; }

    [[nodiscard]] std::int64_t matrix_bytes() const override {
        const std::size_t offset =
            narrow_.size() != 0 ? sizeof(std::int32_t) : sizeof(std::int64_t);
        return nonzeros_ * static_cast<std::int64_t>(sizeof(T) + sizeof(std::int32_t)) +
               (rows_ + 1) * static_cast<std::int64_t>(offset);
    }

    [[nodiscard]] std::optional<compressed_rows<T>> compressed() const override {
        return compressed_rows<T>{narrow_.size() != 0 ? narrow_.data() : nullptr, wide_.data(),
                                  columns_.data(), values_.data()};
    }

private:
    static constexpr const char* item = "matrix";
    static constexpr std::int64_t part_rows = 1024; ///< of for_rows()

    static void check(const local_csr<T>& block) {
        const auto rows = static_cast<std::size_t>(block.rows);
        if (block.rows < 0 || block.offsets.size() != rows + 1 ||
            (block.device_values == nullptr && !block.values_follow &&
             block.values.size() != block.indices.size()) ||
            block.offsets.back() - block.offsets.front() !=
                static_cast<std::int64_t>(block.indices.size()) ||
            (!block.boundary.empty() && block.boundary.size() != rows))
            throw usage_error("a block of " + std::to_string(block.rows) + " rows has " +
                              std::to_string(block.offsets.size()) + " offsets, " +
                              std::to_string(block.indices.size()) + " indices, " +
                              std::to_string(block.values.size()) + " values and " +
                              std::to_string(block.boundary.size()) + " boundary marks");
    }

    template <class Offset>
    [[nodiscard]] buffer<Offset> copy_offsets(std::span<const std::int64_t> offsets) const {
        buffer<Offset> from_zero(device_, offsets.size(), item);
        auto& host = static_cast<host_device&>(*device_);
        host.submit([to = from_zero.data(), offsets, all = host.threads()] {
            const auto count = static_cast<std::int64_t>(offsets.size());
            in_team(worthwhile_team(all, count), [&](std::int64_t thread, std::int64_t team) {
                for (std::int64_t i = count * thread / team; i < count * (thread + 1) / team; ++i)
                    to[i] = static_cast<Offset>(offsets.data()[i] - offsets.front());
            });
        });
        host.synchronize(); // the offsets are the caller's
        return from_zero;
    }

    template <class Body>
    void with_arrays(const Body& body) const {
        if (narrow_.size() != 0)
            body(csr_arrays<T, std::int32_t>{narrow_.data(), columns_.data(), values_.data()});
        else
            body(csr_arrays<T, std::int64_t>{wide_.data(), columns_.data(), values_.data()});
    }

    template <class F>
    void with_rows(const F& f) const {
        if (narrow_.size() != 0)
            f(csr_rows<T, std::int32_t>{narrow_.data(), columns_.data(), values_.data(), rows_});
        else
            f(csr_rows<T, std::int64_t>{wide_.data(), columns_.data(), values_.data(), rows_});
    }

    /// Enqueues body(begin, end, part) for parts of the rows, the same for any number of threads.
    template <class Body>
    void for_rows(const Body& body) const {
        auto& host = static_cast<host_device&>(*device_);
        host.submit([=, rows = rows_,
                     threads = worthwhile_team(host.threads(), rows_ + nonzeros_)] {
            const std::int64_t parts = (rows + part_rows - 1) / part_rows;
            in_team(threads, [&](std::int64_t thread, std::int64_t team) {
                for (std::int64_t p = parts * thread / team; p < parts * (thread + 1) / team; ++p)
                    body(p * part_rows, std::min(rows, (p + 1) * part_rows), p);
            });
        });
    }

    /// Enqueues the search for runs of rows that are one stencil. The caller may write to borrowed
    /// values, and nobody would tell.
    void find_runs() {
        if (values_.borrowed() || values_.size() == 0) return;
        auto& host = static_cast<host_device&>(*device_);
        with_arrays([&](const auto& matrix) {
            host.submit([=, runs = runs_, rows = rows_, threads = host.threads()] {
                runs->clear(); // those of the values before, should the search fail
                *runs = find_row_runs(matrix, rows, threads);
            });
        });
    }

    template <class Offset>
    void enqueue(const csr_arrays<T, Offset>& matrix, const spmv_arguments<T>& a) {
        auto& host = static_cast<host_device&>(*device_);
        const schedule_arrays rows{ranges_.data(), first_range_.data(), items_before_.data(),
                                   interior_, chunks_};
        const giant_row_arrays<T> giants{giants_.data(), first_piece_.data(),
                                         giants_of_boundary_.data(),
                                         static_cast<std::int64_t>(giants_.size()), pieces_.data()};
        host.submit([=, runs = runs_, threads = host.threads()] {
            product(matrix, rows, *runs, giants, a, threads);
        });
    }

    std::shared_ptr<device> device_;
    std::int64_t rows_;
    std::int64_t nonzeros_;
    std::int64_t interior_ = 0;
    std::int64_t chunks_ = 0;
    buffer<std::int32_t> narrow_; // offsets, where they fit
    buffer<std::int64_t> wide_;   // offsets otherwise
    block_array<std::int32_t> columns_;
    block_array<T> values_;
    buffer<row_range> ranges_;
    buffer<std::int64_t> first_range_;
    buffer<std::int64_t> items_before_;
    buffer<std::int64_t> giants_;
    buffer<std::uint8_t> giants_of_boundary_;
    buffer<std::int64_t> first_piece_;
    buffer<T> pieces_;
    /// Of find_row_runs(), by tasks of the device.
    std::shared_ptr<std::vector<std::int64_t>> runs_ =
        std::make_shared<std::vector<std::int64_t>>();
};

} // namespace

template <class T>
std::unique_ptr<device_matrix<T>> make_csr(std::shared_ptr<device> device,
                                           const local_csr<T>& block) {
    return std::make_unique<csr<T>>(std::move(device), block);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::unique_ptr<device_matrix<T>> make_csr(std::shared_ptr<device>,                   \
                                                        const local_csr<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::host
