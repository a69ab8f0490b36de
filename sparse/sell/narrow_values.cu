#include <krylith/sparse/sell/narrow_values.hpp>

#include <utility>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/sparse/sell/narrow_worth.hpp>
#include <krylith/sparse/sell/stencil_units.cuh>
#include <krylith/sparse/sell/uniform_slices.cuh>
#include <krylith/sparse/sell/value_census.cuh>

namespace krylith::cuda {

template <class T>
narrow_values<T>::narrow_values(std::shared_ptr<device> device, std::int64_t slice_columns)
    : device_(std::move(device)),
      slice_columns_(slice_columns),
      uniform_(device_, static_cast<std::size_t>(slice_columns), "matrix"),
      tables_(device_, 1, "matrix") {}

template <class T>
bool narrow_values<T>::pays(std::int64_t coded) const {
    return 8 * coded > slice_columns_ && 2 * (counts_.uniform + coded) > slice_columns_;
}

template <class T>
void narrow_values<T>::find(sell_view<T>& view, slice_head* heads) {
    counts_ = {};
    form_ = value_code::full;
    coded_ = 0;
    view.uniform = uniform_.data();
    if (view.slices == 0) return;
    mark_uniform(view, heads);
    if (!narrow_pays(sizeof(T), view.slices, slice_columns_) ||
        !pays(slice_columns_ - counts_.uniform))
        return;
    if (make_table(view, heads)) return;
    if (pays(counts_.exact)) make_halved(view, heads);
}

template <class T>
void narrow_values<T>::mark_uniform(sell_view<T>& view, slice_head* heads) {
    tables_.zero();
    const launch_scope launch(*device_);
    const auto mark = mark_uniform_slices<T>;
    mark<<<launch.blocks(mark, block_threads, view.groups), block_threads, 0, launch.stream()>>>(
        view, heads, uniform_.data(), tables_.data());
    const auto share = share_uniform_slices<T>;
    share<<<launch.blocks(share, block_threads, view.groups), block_threads, 0, launch.stream()>>>(
        view, heads, tables_.data());
    launch.check_launch();
    if (view.rows == nullptr && stencil_pays(view.groups)) find_stencil(view);
    device_->download(&counts_, tables_.data(), sizeof counts_);
}

template <class T>
void narrow_values<T>::find_stencil(sell_view<T>& view) {
    constexpr int together = stencil_unit<T>::slices;
    const std::int32_t units = (view.slices + together - 1) / together;
    if (units_.size() == 0) {
        stencil_ = buffer<sell_stencil<T>>(device_, 1, "matrix");
        units_ = buffer<stencil_unit<T>>(device_, static_cast<std::size_t>(units), "matrix");
    }
    view.stencil = stencil_.data();
    view.units = units_.data();
    const launch_scope launch(*device_);
    describe_stencil<T><<<1, 1, 0, launch.stream()>>>(view, tables_.data(), stencil_.data());
    const auto find = find_units<T>;
    find<<<launch.blocks(find, block_threads, (units + block_threads - 1) / block_threads),
           block_threads, 0, launch.stream()>>>(view, units, stencil_.data(), units_.data(),
                                                tables_.data());
    launch.check_launch();
}

template <class T>
bool narrow_values<T>::make_table(sell_view<T>& view, slice_head* heads) {
    if (census_.size() == 0) census_ = buffer<value_census>(device_, 1, "matrix");
    if (table_.size() == 0) table_ = buffer<T>(device_, table_size, "matrix");
    census_.zero();
    const launch_scope launch(*device_);
    const auto take = take_census<T>;
    take<<<launch.blocks(take, block_threads, view.groups), block_threads, 0, launch.stream()>>>(
        view, census_.data());
    number_values<T><<<1, value_census::slots, 0, launch.stream()>>>(census_.data(), table_.data());
    launch.check_launch();
    std::int32_t different = 0;
    device_->download(&different, &census_.data()->different, sizeof different);
    if (different > value_census::most) return false;
    const std::size_t words = std::size_t{words_before(static_cast<std::uint32_t>(slice_columns_),
                                                       view.slices, codes_of_word)} +
                              1;
    if (codes_.size() == 0) codes_ = buffer<std::uint32_t>(device_, words * slice_rows, "matrix");
    view.table = table_.data();
    view.codes = codes_.data();
    const auto store = store_codes<T>;
    store<<<launch.blocks(store, block_threads, view.groups), block_threads, 0, launch.stream()>>>(
        view, heads, codes_.data(), census_.data());
    launch.check_launch();
    device_->download(&coded_, &census_.data()->table_columns, sizeof coded_);
    if (!pays(coded_)) return false;
    form_ = value_code::table;
    return true;
}

template <class T>
void narrow_values<T>::make_halved(sell_view<T>& view, slice_head* heads) {
    const std::size_t words =
        words_before(static_cast<std::uint32_t>(slice_columns_), view.slices, halved_of_word<T>);
    if (halved_.size() == 0) halved_ = buffer<std::uint32_t>(device_, words * slice_rows, "matrix");
    if (apart_of_row<T> != 0 && apart_.size() == 0)
        apart_ = buffer<T>(device_, static_cast<std::size_t>(view.slices) * slice_rows, "matrix");
    view.halved = halved_.data();
    view.apart = apart_.data();
    const launch_scope launch(*device_);
    const auto store = store_halved<T>;
    store<<<launch.blocks(store, block_threads, view.groups), block_threads, 0, launch.stream()>>>(
        view, heads, halved_.data(), apart_.data());
    launch.check_launch();
    form_ = value_code::halved;
    coded_ = counts_.exact;
}

template <class T>
std::int64_t narrow_values<T>::coded_bytes() const noexcept {
    constexpr auto half = static_cast<std::int64_t>(sizeof(T)) / 2;
    if (form_ == value_code::table) return coded_ * slice_rows;
    return coded_ * slice_rows * half + counts_.exact_slices * slice_rows * apart_of_row<T> *
                                            static_cast<std::int64_t>(sizeof(T));
}

#define KRYLITH_INSTANTIATE(T) template class narrow_values<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
