// The times of all kernels for the product at hand: what an exhaustive choice would know. (The
// comparison of figure 11 of Li, Ao, Yang 2020.)
//
// x keeps its content, and gets back the forms that it had, so that each product pays for the
// conversions that it needs. Kernels take turns, in batches from an idle device to an idle device
// of about 150 us (processor time on a host device of one thread), and the least time of a product
// counts. A kernel that takes 6 times as long as the fastest is not timed again. Cost: 2 + rounds
// products by each kernel, or 150 us instead where they are shorter.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include <krylith/device/host/processor_seconds.hpp>
#include <krylith/spmspv/product.hpp>

namespace krylith::spmspv {

template <class S, class M>
class kernel_rehearsal {
public:
    using T = typename S::value_type;
    using times = std::array<double, kernel_count>;

    /// Throws device_error where memory is short.
    kernel_rehearsal(const std::shared_ptr<device>& device, std::int64_t rows, int rounds)
        : rounds_(rounds), y_(device, rows, S::absent()), scratch_(device) {}

    /// Returns the seconds of y = A x by kernel. Throws like multiply().
    [[nodiscard]] times operator()(const csr_csc_pair<M>& a, sparse_vector<T>& x,
                                   const product_options<T>& options,
                                   std::int64_t frontier_nonzeros) {
        const auto run = [&](std::size_t k, int products) {
            return batch(static_cast<kernel>(k), products, a, x, options, frontier_nonzeros);
        };
        times least = {};
        std::array<int, kernel_count> products = {};
        for (std::size_t k = 0; k < least.size(); ++k) {
            least[k] = run(k, 1); // it may find memory
            least[k] = std::min(least[k], run(k, 1));
            products[k] = static_cast<int>(std::clamp(150e-6 / least[k], 1.0, 16.0));
        }
        const double hopeless = 6 * *std::min_element(least.begin(), least.end());
        for (int round = 0; round < rounds_; ++round)
            for (std::size_t k = 0; k < least.size(); ++k)
                if (least[k] <= hopeless) least[k] = std::min(least[k], run(k, products[k]));
        return least;
    }

private:
    double batch(kernel k, int products, const csr_csc_pair<M>& a, sparse_vector<T>& x,
                 const product_options<T>& options, std::int64_t frontier_nonzeros) {
        const double begin = idle_seconds(a.device());
        for (int i = 0; i < products; ++i) {
            const vector_forms forms = x.forms();
            const bool ascending = x.ascending();
            const auto count = x.known_count();
            multiply<S>(k, a, x, y_, scratch_, options, frontier_nonzeros);
            for (const auto form : {vector_form::bits, vector_form::dense, vector_form::pairs})
                if (!forms.has(form)) x.drop(form);
            x.holds(forms, ascending, count); // forgets a list of entries, too
        }
        return std::max((idle_seconds(a.device()) - begin) / products, 1e-9); // above 0
    }

    int rounds_;
    sparse_vector<T> y_;
    product_scratch scratch_;
};

} // namespace krylith::spmspv
