#include <krylith/vector/vector.hpp>

#include <functional>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/device/transport/transfers.hpp>
#include <krylith/vector/ghosts/ghost_exchange.hpp>

namespace krylith {

namespace {

/// The entries that a device holds begin at a multiple of so many: kernels read and write 16 bytes
/// at once, warps whole cache lines of 128.
template <class T>
constexpr std::int64_t owned_alignment = 128 / sizeof(T);

} // namespace

template <class T>
vector<T>::vector(layout_handle layout, const std::string& item,
                  std::shared_ptr<const put_schedule<T>> schedule)
    : layout_(std::move(layout)) {
    layout_->comm.together([&] {
        const auto p = static_cast<std::size_t>(layout_->comm.ranks());
        storage_.resize(p);
        arrays_.resize(p);
        for (const int rank : layout_->comm.local()) {
            const std::int64_t below = schedule ? schedule->below(rank) : 0;
            const std::int64_t ghosts = schedule ? schedule->local(rank).ghosts : 0;
            const std::int64_t padding = -below & (owned_alignment<T> - 1);
            buffer<T>& storage = storage_[static_cast<std::size_t>(rank)];
            storage = {layout_->comm.handle(rank),
                       static_cast<std::size_t>(padding + layout_->held(rank) + ghosts), item};
            storage.zero();
            arrays_[static_cast<std::size_t>(rank)] = storage.data() + padding + below;
        }
        if (schedule)
            exchange_ = std::make_shared<ghost_exchange<T>>(std::move(schedule),
                                                            std::span<T* const>(arrays_));
    });
}

template <class T>
vector<T> vector<T>::borrow(layout_handle layout, std::span<T* const> arrays) {
    if (arrays.size() != static_cast<std::size_t>(layout->comm.ranks()))
        throw usage_error("vector::borrow: " + std::to_string(arrays.size()) + " arrays for " +
                          std::to_string(layout->comm.ranks()) + " devices");
    vector v;
    v.layout_ = std::move(layout);
    v.arrays_.assign(arrays.begin(), arrays.end());
    for (const int rank : v.layout_->comm.local())
        if (v.data(rank) == nullptr && v.layout_->held(rank) != 0)
            throw usage_error("vector::borrow: the array of rank " + std::to_string(rank) +
                              " is null");
    return v;
}

template <class T>
bool vector<T>::overlaps(const vector& other) const {
    for (const int rank : layout_->comm.local()) {
        const auto count = static_cast<std::size_t>(layout_->held(rank));
        const auto others = static_cast<std::size_t>(other.layout_->held(rank));
        const std::less<const T*> before; // std::less also orders pointers into different arrays
        if (count != 0 && others != 0 && before(data(rank), other.data(rank) + others) &&
            before(other.data(rank), data(rank) + count))
            return true;
    }
    return false;
}

template <class T>
void vector<T>::zero() {
    for (const int rank : layout_->comm.local())
        if (storage_.empty())
            layout_->comm[rank].zero(data(rank),
                                     static_cast<std::size_t>(layout_->held(rank)) * sizeof(T));
        else
            storage_[static_cast<std::size_t>(rank)].zero();
}

namespace {

/// Writes entries source[i], i = 0, 1, ..., of `values` one after the other.
template <class T>
transfer_function<std::byte> gather(const T* values, const std::int32_t* source) {
    return [=](std::byte* piece, std::size_t first, std::size_t count) {
        const std::int32_t* const from = source + first / sizeof(T);
        T* const to = reinterpret_cast<T*>(piece);
        for (std::size_t i = 0; i < count / sizeof(T); ++i) to[i] = values[from[i]];
    };
}

/// Takes the entries that other drivers have downloaded, in the caller's order.
template <class T>
void gather_from_drivers(const layout& layout, std::span<T> values) {
    if (layout.comm.has_one_driver()) return;
    const auto place = [&](std::int64_t row) {
        return static_cast<std::size_t>(layout.row_of_caller(row));
    };
    auto rows = by_rank(layout.comm, [&](int rank) {
        std::vector<T> owned;
        for (std::int64_t row = layout.rows.owned(rank).begin; row < layout.rows.owned(rank).end;
             ++row)
            owned.push_back(values[place(row)]);
        return owned;
    });
    layout.comm.all_gather_lists(rows);
    std::int64_t row = 0;
    for (const std::vector<T>& of_rank : rows)
        for (const T& value : of_rank) values[place(row++)] = value;
}

/// Stores entry i into values[source[i]].
template <class T>
transfer_function<const std::byte> scatter(T* values, const std::int32_t* source) {
    return [=](const std::byte* piece, std::size_t first, std::size_t count) {
        const std::int32_t* const to = source + first / sizeof(T);
        const T* const from = reinterpret_cast<const T*>(piece);
        for (std::size_t i = 0; i < count / sizeof(T); ++i) values[to[i]] = from[i];
    };
}

} // namespace

template <class T>
row_range vector<T>::local_rows() const {
    const auto local = layout_->comm.local();
    if (local.empty()) return {};
    return {layout_->rows.owned(local.front()).begin, layout_->rows.owned(local.back()).end};
}

namespace {

void check_length(const char* function, std::size_t given, std::int64_t entries) {
    if (static_cast<std::int64_t>(given) != entries)
        throw usage_error(std::string("vector::") + function + ": " + std::to_string(given) +
                          " values, must be " + std::to_string(entries));
}

void check_owned(const char* function, const layout& layout) {
    if (layout.kind != coherence::owned)
        throw usage_error(std::string("vector::") + function +
                          ": every device has all entries of this vector; allowed are vectors of "
                          "which each has its own");
}

/// The transfers of the entries that local ranks own, of which values[0] is that of `first_row`.
template <class T>
std::vector<download_request> owned_parts(const vector<T>& from, T* values,
                                          std::int64_t first_row) {
    const layout& layout = *from.layout();
    std::vector<download_request> parts;
    for (const int rank : layout.comm.local()) {
        const row_range owned = layout.rows.owned(rank);
        if (owned.size() != 0)
            parts.push_back({&layout.comm[rank], values + (owned.begin - first_row),
                             from.data(rank) + layout.first_owned(rank),
                             static_cast<std::size_t>(owned.size()) * sizeof(T)});
    }
    return parts;
}

} // namespace

template <class T>
void vector<T>::upload(std::span<const T> values) {
    layout_->comm.together([&] {
        check_length("upload", values.size(), size());
        std::vector<upload_request> parts;
        for (const int rank : layout_->comm.local()) {
            const auto first = layout_->rows.owned(rank).begin - layout_->first_owned(rank);
            const auto count = static_cast<std::size_t>(layout_->held(rank));
            if (count == 0) continue;
            parts.push_back(
                {&layout_->comm[rank], data(rank), values.data() + first, count * sizeof(T)});
            if (layout_->order)
                parts.back().write = gather(values.data(), layout_->order->source.data() + first);
        }
        upload_together(parts);
    });
}

template <class T>
void vector<T>::upload_local(std::span<const T> values) {
    layout_->comm.together([&] {
        check_owned("upload_local", *layout_);
        check_length("upload_local", values.size(), local_rows().size());
        std::vector<upload_request> parts;
        for (const int rank : layout_->comm.local())
            if (const row_range own = layout_->rows.owned(rank); own.size() != 0)
                parts.push_back({&layout_->comm[rank], data(rank),
                                 values.data() + (own.begin - local_rows().begin),
                                 static_cast<std::size_t>(own.size()) * sizeof(T)});
        upload_together(parts);
    });
}

template <class T>
void vector<T>::download(std::span<T> values) const {
    layout_->comm.together([&] {
        check_length("download", values.size(), size());
        std::vector<download_request> parts = owned_parts(*this, values.data(), 0);
        if (layout_->order) {
            auto part = parts.begin();
            for (const int rank : layout_->comm.local())
                if (const row_range owned = layout_->rows.owned(rank); owned.size() != 0)
                    (part++)->take =
                        scatter(values.data(), layout_->order->source.data() + owned.begin);
        }
        download_together(parts);
        gather_from_drivers(*layout_, values);
    });
}

template <class T>
void vector<T>::download_local(std::span<T> values) const {
    layout_->comm.together([&] {
        check_owned("download_local", *layout_);
        check_length("download_local", values.size(), local_rows().size());
        download_together(owned_parts(*this, values.data(), local_rows().begin));
    });
}

template <class T>
linear_combination<T> sum(linear_combination<T> a, const linear_combination<T>& b, bool negate_b) {
    for (int i = 0; i < b.count; ++i) {
        if (a.count == max_terms)
            throw usage_error("a linear combination has at most " + std::to_string(max_terms) +
                              " terms");
        a.terms[a.count] = b.terms[i];
        if (negate_b) a.terms[a.count].negative = !a.terms[a.count].negative;
        ++a.count;
    }
    return a;
}

template <class T>
assignment<T> vector<T>::operator+=(const linear_combination<T>& v) {
    return {this, sum(linear_combination<T>(*this), v, false)};
}

template <class T>
assignment<T> vector<T>::operator-=(const linear_combination<T>& v) {
    return {this, sum(linear_combination<T>(*this), v, true)};
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template linear_combination<T> sum(linear_combination<T>, const linear_combination<T>&, bool); \
    template class vector<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
