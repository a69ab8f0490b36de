// One-shot products on CUDA devices. A device has four queues: its stream for kernels, one for
// copies from the host, one to the host, one to peers. Events order them; the host waits at the end
// only.
#include <utility>

#include <krylith/device/cuda_device.cuh>
#include <krylith/spmv/one_shot_kernels.hpp>
#include <krylith/spmv/one_shot_memory.hpp>
#include <krylith/spmv/one_shot_terms.hpp>
#include <krylith/spmv/one_shot_transfer.hpp>

namespace krylith::cuda {

namespace {

/// Two marks in a stream, and the time between them.
class interval {
public:
    explicit interval(device& where) : device_(where) {
        const current_device current(where.ordinal());
        KRYLITH_CUDA_CHECK(cudaEventCreate(&begin_));
        const cudaError_t status = cudaEventCreate(&end_);
        if (status != cudaSuccess) cudaEventDestroy(begin_);
        KRYLITH_CUDA_CHECK(status);
    }
    interval(const interval&) = delete;
    interval& operator=(const interval&) = delete;
    ~interval() {
        const current_device current(device_.ordinal());
        cudaEventDestroy(begin_);
        cudaEventDestroy(end_);
    }
    void begin() { record(begin_); }
    void end() { record(end_); }
    /// Waits for the end. 0 where it was never reached.
    [[nodiscard]] double seconds() const {
        if (!used_) return 0;
        const current_device current(device_.ordinal());
        KRYLITH_CUDA_CHECK(cudaEventSynchronize(end_));
        float milliseconds = 0;
        KRYLITH_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin_, end_));
        return 1e-3 * static_cast<double>(milliseconds);
    }
    void forget() { used_ = false; }

private:
    void record(cudaEvent_t mark) {
        const launch_scope launch(device_);
        KRYLITH_CUDA_CHECK(cudaEventRecord(mark, launch.stream()));
        used_ = mark == end_;
    }

    device& device_;
    cudaEvent_t begin_ = nullptr;
    cudaEvent_t end_ = nullptr;
    bool used_ = false;
};

template <class T>
class lane final : public one_shot_lane<T> {
public:
    explicit lane(const one_shot_place& place)
        : place_(place),
          device_(place.group.share(place.rank)),
          conversion_(*device_),
          repeated_(*device_),
          in_(make_one_shot_transfer(place)),
          home_(make_one_shot_transfer(place)),
          peers_(device_->make_side_queue()) {}

    // ---- Every version

    void reserve(const one_shot_call<T>& call, int part) override {
        bool all_direct = true;
        for (int r = 0; r < place_.group.size(); ++r)
            all_direct = all_direct && place_.group.path(r, place_.rank) == transport::direct;
        memory_.reserve(device_, call, part, all_direct);
        whole_ = call.plan.share(part);
        form_ = call.a.form;
        rows_ = call.a.rows;
        conversion_.forget();
        this->done.clear();
        this->arrived.reset();
    }

    [[nodiscard]] const T* sums(int j) const override {
        return memory_.sums.data() + memory_.pieces[as_size(j)].first_row;
    }

    void repeat_kernels(int repetitions) override {
        repeated_.begin();
        for (int i = 0; i < repetitions; ++i) {
            if (!by_rows(form_)) multiply_entries(0, count());
            for (std::size_t j = 0; j < memory_.pieces.size(); ++j) multiply_piece(j);
        }
        repeated_.end();
        repetitions_ = repetitions;
    }
    [[nodiscard]] double repeated_seconds() override { return repeated_.seconds() / repetitions_; }
    [[nodiscard]] double conversion_seconds() override { return conversion_.seconds(); }

    void settle() noexcept override {
        in_->settle();
        home_->settle();
        try {
            peers_->record()->wait();
            device_->synchronize();
        } catch (...) { // NOLINT(bugprone-empty-catch): a failure is thrown already
        }
    }

    // ---- baseline, p

    void upload(const one_shot_call<T>& call, int part,
                std::span<const std::int32_t> pointers) override {
        (void)part;
        memory_.grow(device_, memory_.x, as_size(call.a.columns));
        const row_range range = operand(call);
        const auto first = as_size(whole_.start_idx);
        const auto send = [&](auto& to, auto from) {
            if (!from.empty()) device_->upload(to.data(), from.data(), from.size_bytes());
        };
        if (range.size() > 0)
            device_->upload(memory_.x.data() + range.begin, call.x.data() + range.begin,
                            as_size(range.size()) * sizeof(T));
        send(form_ == one_shot_form::csc ? memory_.column_pointers : memory_.pointers, pointers);
        if (form_ != one_shot_form::csr)
            send(memory_.rows, call.a.row_indices.subspan(first, entries()));
        if (form_ != one_shot_form::csc)
            send(memory_.columns, call.a.column_indices.subspan(first, entries()));
        send(memory_.values, call.a.values.subspan(first, entries()));
    }

    void multiply(const one_shot_call<T>&, int) override {
        if (form_ == one_shot_form::csc) expand_columns();
        if (!by_rows(form_)) {
            convert();
            multiply_entries(0, count());
        } else {
            if (form_ == one_shot_form::coo_by_rows) row_pointers();
            find_tiles();
        }
        multiply_piece(0);
    }

    [[nodiscard]] std::span<const T> download(const one_shot_call<T>&, int,
                                              std::vector<T>& into) override {
        into.resize(as_size(by_rows(form_) ? whole_.lines() : rows_));
        if (!into.empty()) device_->download(into.data(), sums(0), into.size() * sizeof(T));
        return into;
    }

    // ---- p_opt

    void send_x(std::span<const T> x, row_range range) override {
        memory_.grow(device_, memory_.x, x.size());
        const auto begin = as_size(range.begin);
        in_->send(memory_.x.data() + begin, x.data() + begin, as_size(range.size()) * sizeof(T));
        sent_ = range;
        x_there_.clear();
        x_there_.push_back(in_->record());
    }

    void spread_x(one_shot_lanes<T> lanes) override {
        if (!place_.spread || lanes.size() == 1 || sent_.size() == 0) return;
        peers_->wait(*x_there_.front()); // its own: others are added behind
        for (const auto& any : lanes) {
            auto& other = static_cast<lane&>(*any);
            if (&other == this) continue;
            peers_->copy(memory_.x.data() + sent_.begin, *other.device_,
                         other.memory_.x.data() + sent_.begin, as_size(sent_.size()) * sizeof(T));
        }
        const auto spread = peers_->record();
        for (const auto& any : lanes)
            if (any.get() != this) static_cast<lane&>(*any).x_there_.push_back(spread);
    }

    void send_matrix(const one_shot_call<T>& call, int part) override {
        if (by_columns(form_)) {
            memory_.grow(device_, memory_.x, as_size(call.a.columns));
            send_x(call.x, operand(call));
        }
        const auto lines = as_size(whole_.lines()) + 1;
        if (compressed(form_))
            in_->send(memory_.offsets.data(), call.a.offsets.data() + whole_.start_line,
                      lines * sizeof(std::int64_t));
        const auto first = as_size(whole_.start_idx);
        if (form_ != one_shot_form::csr)
            in_->send(memory_.rows.data(), call.a.row_indices.data() + first,
                      entries() * sizeof(std::int32_t));
        pattern_there_ = in_->record();
        const row_range results = call.plan.results_of(part);
        if (call.beta != T(0) && results.size() > 0)
            in_->send(memory_.y.data(), call.y.data() + results.begin,
                      as_size(results.size()) * sizeof(T));
        pieces_there_.clear();
        for (const auto& [begin, end] : ranges()) {
            const auto count = as_size(end - begin);
            if (form_ != one_shot_form::csc)
                in_->send(memory_.columns.data() + begin,
                          call.a.column_indices.data() + first + begin,
                          count * sizeof(std::int32_t));
            in_->send(memory_.values.data() + begin, call.a.values.data() + first + begin,
                      count * sizeof(T));
            pieces_there_.push_back(in_->record());
        }
        this->arrived = pieces_there_.back();
    }

    void compute(const one_shot_call<T>& call, int part) override {
        device_->wait(*pattern_there_);
        for (std::size_t j = 0; j < memory_.pieces.size() && form_ == one_shot_form::csr; ++j) {
            const auto& piece = memory_.pieces[j];
            part_pointers(*device_,
                          memory_.offsets.data() + (piece.share.start_line - whole_.start_line),
                          piece.share, memory_.pointers.data() + piece.first_pointer);
        }
        if (form_ == one_shot_form::csc) {
            part_pointers(*device_, memory_.offsets.data(), whole_, memory_.column_pointers.data());
            expand_columns();
        }
        if (form_ == one_shot_form::coo_by_rows) row_pointers();
        if (by_rows(form_))
            find_tiles();
        else
            convert();
        for (const auto& x : x_there_) device_->wait(*x);
        const row_range results = call.plan.results_of(part);
        home_->reserve_fetched(as_size(results.size()) * sizeof(T), y_is_pinned(call, results));
        stored_ = 0;
        const auto arriving = ranges();
        for (std::size_t j = 0; j < arriving.size(); ++j) {
            device_->wait(*pieces_there_[j]);
            if (!by_rows(form_)) {
                multiply_entries(arriving[j].first, arriving[j].second);
                continue;
            }
            multiply_piece(j);
            this->done.push_back(device_->record());
            // Where the rest of its last row is on this device too, a piece is ready.
            const int ready = part * call.plan.pieces + static_cast<int>(j);
            while (stored_ <= static_cast<int>(j) && last_of(call, part, stored_) <= ready)
                store(call, part, {});
        }
        if (by_rows(form_)) return;
        multiply_piece(0);
        this->done.push_back(device_->record());
    }

    void merge(const one_shot_call<T>& call, int part, one_shot_lanes<T> lanes) override {
        if (by_rows(form_)) {
            while (stored_ < call.plan.pieces) store(call, part, lanes);
            return;
        }
        const row_range rows = call.plan.results_of(part);
        if (rows.size() == 0) return;
        const auto terms = terms_of_range(call, place_, lanes, part, memory_.inbox.data());
        store_range(*device_, terms, rows.size(), call.alpha, call.beta, memory_.y.data());
        send_home(call, part, rows);
    }

    void finish(const one_shot_call<T>&, int) override {
        home_->collect();
        device_->synchronize();
    }

private:
    [[nodiscard]] std::size_t entries() const { return as_size(whole_.entries()); }
    [[nodiscard]] std::int32_t count() const { return static_cast<std::int32_t>(whole_.entries()); }

    /// Entries of x that the part needs.
    [[nodiscard]] row_range operand(const one_shot_call<T>& call) const {
        if (by_columns(form_)) return {whole_.start_line, whole_.end_line};
        return {0, call.a.columns};
    }

    /// Entries of the part that arrive together: those of a piece, or about 8 MB.
    [[nodiscard]] std::vector<std::pair<std::int32_t, std::int32_t>> ranges() const {
        std::vector<std::pair<std::int32_t, std::int32_t>> result;
        if (by_rows(form_)) {
            for (const auto& piece : memory_.pieces)
                result.emplace_back(
                    static_cast<std::int32_t>(piece.share.start_idx - whole_.start_idx),
                    static_cast<std::int32_t>(piece.share.end_idx - whole_.start_idx));
            return result;
        }
        constexpr std::int64_t usual = std::int64_t{1} << 20;
        const std::int64_t all = whole_.entries();
        const std::int64_t parts = std::clamp<std::int64_t>(all / usual, 1, most_one_shot_pieces);
        for (std::int64_t i = 0; i < parts; ++i)
            result.emplace_back(static_cast<std::int32_t>(all * i / parts),
                                static_cast<std::int32_t>(all * (i + 1) / parts));
        return result;
    }

    // ---- Kernels

    /// The column of each entry. (csc)
    void expand_columns() {
        lines_of_pointers(*device_, memory_.column_pointers.data(),
                          static_cast<std::int32_t>(whole_.lines()), count(),
                          static_cast<std::int32_t>(whole_.start_line), memory_.columns.data());
    }

    /// Of COO by rows.
    void row_pointers() {
        for (const auto& piece : memory_.pieces)
            pointers_of_sorted(*device_,
                               memory_.rows.data() + (piece.share.start_idx - whole_.start_idx),
                               static_cast<std::int32_t>(piece.share.entries()),
                               static_cast<std::int32_t>(piece.share.start_line),
                               static_cast<std::int32_t>(piece.share.lines()),
                               memory_.pointers.data() + piece.first_pointer);
    }

    /// Entries by rows, whose order within a row stays. Needs `rows` only, and so can run while
    /// values are on their way.
    void convert() {
        conversion_.begin();
        sort_by_row(*device_, memory_.rows.data(), memory_.sorted_rows.data(),
                    memory_.positions.data(), memory_.order.data(), count(), rows_,
                    memory_.sorting.data(), memory_.sorting.size());
        pointers_of_sorted(*device_, memory_.sorted_rows.data(), count(), 0,
                           static_cast<std::int32_t>(rows_), memory_.pointers.data());
        conversion_.end();
        find_tiles();
    }

    void find_tiles() {
        for (const auto& piece : memory_.pieces)
            if (rows_of(piece) > 0)
                find_merge_tiles<T>(
                    *device_,
                    static_cast<const std::int32_t*>(memory_.pointers.data()) + piece.first_pointer,
                    rows_of(piece), piece.share.entries(), memory_.tiles.data() + piece.first_tile);
    }

    [[nodiscard]] std::int64_t rows_of(const typename one_shot_memory<T>::piece& piece) const {
        return by_rows(form_) ? piece.share.lines() : rows_;
    }

    /// Of entries that don't lie by rows.
    void multiply_entries(std::int32_t begin, std::int32_t end) {
        entry_products(*device_, memory_.values.data(), memory_.columns.data(), memory_.x.data(),
                       memory_.products.data(), begin, end);
    }

    /// The sums of a piece. Entries that don't lie by rows are multiplied already: their products
    /// are gathered as 1 times an entry of a vector.
    void multiply_piece(std::size_t j) {
        const auto& piece = memory_.pieces[j];
        const std::int64_t rows = rows_of(piece);
        if (rows == 0) return;
        merge_product<T, std::int32_t> product{};
        product.offsets = memory_.pointers.data() + piece.first_pointer;
        product.rows = rows;
        product.nonzeros = piece.share.entries();
        product.y = memory_.sums.data() + piece.first_row;
        product.alpha = T(1);
        if (by_rows(form_)) {
            const std::int64_t first = piece.share.start_idx - whole_.start_idx;
            product.columns = memory_.columns.data() + first;
            product.values = memory_.values.data() + first;
            product.x = memory_.x.data();
        } else {
            product.columns = memory_.order.data();
            product.values = memory_.ones.data();
            product.x = memory_.products.data();
        }
        cuda::multiply(*device_, product, memory_.tiles.data() + piece.first_tile);
    }

    // ---- Results

    [[nodiscard]] static int last_of(const one_shot_call<T>& call, int part, int j) {
        return call.plan.last[as_size(part * call.plan.pieces + j)];
    }

    /// The rows that the next piece owns, in y and on their way home.
    void store(const one_shot_call<T>& call, int part, one_shot_lanes<T> lanes) {
        const int j = stored_++;
        const auto& piece = memory_.pieces[as_size(j)];
        const row_range rows = piece.share.owned();
        if (rows.size() == 0) return;
        const int q = part * call.plan.pieces + j;
        const auto terms = lanes.empty()
                               ? terms_here(call, part, q)
                               : terms_of_last_row(call, place_, lanes, q, memory_.inbox.data());
        const std::int64_t first = call.plan.results_of(part).begin;
        store_rows(*device_, sums(j) + (rows.begin - piece.share.start_line), terms, rows.size(),
                   call.alpha, call.beta, memory_.y.data() + (rows.begin - first));
        send_home(call, part, rows);
    }

    /// terms_of_last_row where all are this lane's.
    [[nodiscard]] one_shot_terms<T> terms_here(const one_shot_call<T>& call, int part,
                                               int q) const {
        one_shot_terms<T> terms{};
        for (int k = q + 1; k <= call.plan.last[as_size(q)]; ++k)
            if (call.plan.shares[as_size(k)].entries() > 0)
                terms.of[terms.count++] = sums(k - part * call.plan.pieces);
        return terms;
    }

    void send_home(const one_shot_call<T>& call, int part, row_range rows) {
        home_->wait(*device_->record());
        home_->fetch(call.y.data() + rows.begin,
                     memory_.y.data() + (rows.begin - call.plan.results_of(part).begin),
                     as_size(rows.size()) * sizeof(T));
    }

    [[nodiscard]] bool y_is_pinned(const one_shot_call<T>& call, row_range results) const {
        return results.size() == 0 ||
               (device_->lies_elsewhere(call.y.data() + results.begin).empty() &&
                device_->lies_elsewhere(call.y.data() + results.end - 1).empty());
    }

    one_shot_place place_;
    std::shared_ptr<device> device_;
    interval conversion_;
    interval repeated_;
    int repetitions_ = 1;
    one_shot_memory<T> memory_; // before the queues, which are emptied before it is freed
    std::unique_ptr<one_shot_transfer> in_;
    std::unique_ptr<one_shot_transfer> home_;
    std::unique_ptr<side_queue> peers_;
    std::shared_ptr<event> pattern_there_;
    std::vector<std::shared_ptr<event>> x_there_;
    std::vector<std::shared_ptr<event>> pieces_there_;
    row_range sent_;
    line_share whole_;
    one_shot_form form_ = one_shot_form::csr;
    std::int64_t rows_ = 0;
    int stored_ = 0; // pieces whose rows are in y
};

} // namespace

template <class T>
std::unique_ptr<one_shot_lane<T>> make_one_shot_lane(const one_shot_place& place) {
    return std::make_unique<lane<T>>(place);
}

template std::unique_ptr<one_shot_lane<double>> make_one_shot_lane(const one_shot_place&);
template std::unique_ptr<one_shot_lane<float>> make_one_shot_lane(const one_shot_place&);

} // namespace krylith::cuda
