#include <krylith/precond/own_preconditioner.hpp>

#include <algorithm>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/source/value_gather.hpp>
#include <krylith/precond/matrix/memory_item.hpp>
#include <krylith/precond/matrix/same_entries.hpp>
#include <krylith/spmv/external/external_blocks.hpp>
#include <krylith/spmv/halo/halo_operator.hpp>
#include <krylith/spmv/replicated/replicated_operator.hpp>

namespace krylith {

namespace {

/// The entries of a rank by local numbers, brought together where vectors are replicated.
template <class T>
class gathered_entries {
public:
    gathered_entries(const std::shared_ptr<device>& device, const halo_plan& plan, int rank,
                     bool on_gpu)
        : device_(device) {
        const local_indices& indices = plan.columns.local(rank);
        first_owned_ = indices.first_owned();
        for (std::int64_t local = 0; local < indices.count(); ++local)
            rows_.push_back(static_cast<std::int32_t>(indices.global(local)));
        if (on_gpu) {
            device_rows_ = {device, std::span<const std::int32_t>(rows_), precond_item};
            device_entries_ = {device, rows_.size(), precond_item};
        } else {
            host_entries_.resize(rows_.size());
        }
    }

    /// Returns the first owned one of the entries of `from`, in the memory where it lies.
    [[nodiscard]] const T* take(const T* from) {
        if (device_entries_.size() != 0) {
            run_items(*device_,
                      gather_task<T>{device_rows_.data(), nullptr, from, device_entries_.data()},
                      static_cast<std::int64_t>(rows_.size()));
            return device_entries_.data() + first_owned_;
        }
        std::ranges::transform(rows_, host_entries_.begin(),
                               [&](std::int32_t row) { return from[row]; });
        return host_entries_.data() + first_owned_;
    }

    [[nodiscard]] std::int64_t bytes() const {
        return static_cast<std::int64_t>(device_entries_.size() *
                                         (sizeof(T) + sizeof(std::int32_t)));
    }

private:
    std::shared_ptr<device> device_;
    std::vector<std::int32_t> rows_;
    std::int64_t first_owned_ = 0; ///< place in rows_
    std::vector<T> host_entries_;
    buffer<std::int32_t> device_rows_;
    buffer<T> device_entries_;
};

/// Returns M^-1 as a product: a function of operators that calls that of the preconditioner with
/// the entries that it reads.
template <class T>
product_function<T> as_product(const layout& layout, preconditioner_function<T> function,
                               std::vector<std::shared_ptr<gathered_entries<T>>> gathered) {
    auto first_owned = by_rank(layout.comm, [&](int rank) { return layout.first_owned(rank); });
    return [function = std::move(function), gathered = std::move(gathered),
            first_owned = std::move(first_owned)](const product_call<T>& call) {
        if (call.rows.size() == 0) return;
        const auto rank = static_cast<std::size_t>(call.rank);
        const T* const r =
            gathered.empty() ? call.x + first_owned[rank] : gathered[rank]->take(call.x);
        function({call.rank, call.rows, r, call.y, call.stream});
    };
}

/// Returns the number that is largest among local ranks.
template <class Number>
std::int64_t most(const layout& layout, const Number& of) {
    std::int64_t result = 0;
    for (const int rank : layout.comm.local()) result = std::max(result, of(rank));
    return result;
}

} // namespace

template <class T>
own_preconditioner<T>::own_preconditioner(const matrix_operator<T>& a, const halo_plan* plan,
                                          preconditioner_function<T> function,
                                          own_preconditioner_options options)
    : layout_(a.layout()),
      name_(std::move(options.name)),
      bytes_(options.bytes),
      varies_(options.varies),
      symmetric_(options.symmetric) {
    layout_->comm.together([&] { make(a, plan, std::move(function), options.kind); });
}

template <class T>
void own_preconditioner<T>::make(const matrix_operator<T>& a, const halo_plan* plan,
                                 preconditioner_function<T> function, preconditioner_kind of) {
    const layout& layout = *layout_;
    if (!function)
        throw usage_error("make_preconditioner: the function of \"" + name_ + "\" is empty");
    if (plan != nullptr && (plan->rows != layout.rows || plan->columns.owners() != layout.rows))
        throw usage_error("make_preconditioner: the halo plan of \"" + name_ +
                          "\" has another partition of rows than the operator: make it with "
                          "a.layout()->rows");
    constexpr auto size = static_cast<std::int64_t>(sizeof(T));
    if (of == preconditioner_kind::whole_on_host || of == preconditioner_kind::local_on_host) {
        local_ = of == preconditioner_kind::local_on_host;
        if (local_ && (layout.kind != coherence::owned || layout.order))
            throw usage_error("make_preconditioner: \"" + name_ +
                              "\" computes the rows of local ranks, which must be owned vectors "
                              "in the caller's order of rows; allowed are the other kinds");
        if (plan != nullptr)
            throw usage_error("make_preconditioner: \"" + name_ +
                              "\" reads all of r, so a halo plan says nothing; allowed are "
                              "on_device and on_host");
        whole_ = std::move(function);
        copy_ = std::make_unique<vector<T>>(layout_, precond_item);
        host_r_.resize(
            static_cast<std::size_t>(local_ ? copy_->local_rows().size() : layout.size()));
        host_z_.resize(host_r_.size());
        bytes_ += size * most(layout, [&](int rank) { return layout.held(rank); });
        return;
    }
    const product_kind kind = of == preconditioner_kind::on_host ? product_kind::on_host
                              : of == preconditioner_kind::on_device
                                  ? product_kind::on_device
                                  : product_kind::on_device_alike;
    const bool on_gpu = layout.comm.kind() == backend::cuda && kind != product_kind::on_host;
    std::vector<std::shared_ptr<gathered_entries<T>>> gathered; // [ranks], or none
    bytes_ += size * most(layout, [&](int rank) { return layout.rows.owned(rank).size(); });
    if (layout.kind == coherence::replicated) {
        if (plan != nullptr) {
            gathered = by_rank(layout.comm, [&](int rank) {
                return std::make_shared<gathered_entries<T>>(layout.comm.handle(rank), *plan, rank,
                                                             on_gpu);
            });
            bytes_ += most(layout, [&](int rank) {
                return gathered[static_cast<std::size_t>(rank)]->bytes();
            });
        }
        inverse_ = std::make_unique<replicated_operator<T>>(
            a.layouts(),
            external_blocks<T>(as_product(layout, std::move(function), std::move(gathered)), kind));
        return;
    }
    inverse_ = std::make_unique<halo_operator<T>>(
        a.layouts(), plan != nullptr ? plan->columns : index_map(layout.rows),
        external_blocks<T>(as_product(layout, std::move(function), std::move(gathered)), kind));
    if (plan == nullptr) return;
    copy_ = std::make_unique<vector<T>>(inverse_->make_domain_vector(precond_item));
    copy_->promise_single_reader();
    bytes_ +=
        size * most(layout, [&](int rank) { return layout.held(rank) + plan->ghost_count(rank); });
}

template <class T>
void own_preconditioner<T>::apply(execution& run, const vector<T>& r, vector<T>& z,
                                  std::span<const reduction_into<T>> dots) const {
    if (r.layout() != layout_ || z.layout() != layout_)
        throw usage_error("preconditioner \"" + name_ +
                          "\" was made for vectors of another operator");
    if (whole_) return apply_whole(run, r, z, dots);
    const bool on_the_way = dots.size() <= max_spmv_dots;
    const auto now = on_the_way ? dots : std::span<const reduction_into<T>>{};
    if (copy_) {
        fused(run, *copy_ = r);
        inverse_->apply(run, T(1), *copy_, T(0), z, now);
    } else {
        inverse_->apply(run, T(1), detail::same_entries(layout_, r), T(0), z, now);
    }
    finish_apply(run, z, on_the_way ? std::span<const reduction_into<T>>{} : dots);
}

/// What is uploaded goes to a vector of its own: a loop that has stopped must not write z.
template <class T>
void own_preconditioner<T>::apply_whole(execution& run, const vector<T>& r, vector<T>& z,
                                        std::span<const reduction_into<T>> dots) const {
    if (!run.ordered())
        throw usage_error("preconditioner \"" + name_ +
                          "\" runs on the host and can't be part of a recorded loop: allowed is "
                          "execution_mode::eager");
    if (local_) {
        r.download_local(host_r_);
        whole_(
            {layout_->comm.first_local(), r.local_rows(), host_r_.data(), host_z_.data(), nullptr});
        copy_->upload_local(host_z_);
    } else {
        r.download(host_r_);
        whole_({0, {0, layout_->size()}, host_r_.data(), host_z_.data(), nullptr});
        copy_->upload(host_z_);
    }
    fused_update<T> update;
    update.add(z = *copy_);
    update.add(dots);
    enqueue(run, update);
}

#define KRYLITH_INSTANTIATE(T) template class own_preconditioner<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
