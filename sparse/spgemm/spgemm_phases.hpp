// The two phases of C = A B on one kind of device.
#pragma once

#include <cstdint>
#include <memory>

#include <krylith/sparse/device_csr.hpp>
#include <krylith/sparse/spgemm.hpp>

namespace krylith::detail {

/// Made by the symbolic phase. Arguments are checked by whoever calls.
template <class T>
class spgemm_phases {
public:
    spgemm_phases() = default;
    spgemm_phases(const spgemm_phases&) = delete;
    spgemm_phases& operator=(const spgemm_phases&) = delete;
    virtual ~spgemm_phases() = default;

    [[nodiscard]] virtual device_csr<T> multiply(const device_csr<T>& a,
                                                 const device_csr<T>& b) = 0;
    /// The same, after which only refresh() is called: C may get arrays that are kept here.
    [[nodiscard]] virtual device_csr<T> take(const device_csr<T>& a, const device_csr<T>& b) {
        return multiply(a, b);
    }
    virtual void refresh(const device_csr<T>& a, const device_csr<T>& b, device_csr<T>& c) = 0;

    std::int64_t nonzeros = 0;
    std::int64_t products = 0;
    std::int64_t bytes = 0;
    std::int64_t peak_bytes = 0;
};

/// A row of B whose columns do not ascend.
[[noreturn]] void refuse_order(const std::string& who, const std::string& name, std::int64_t row,
                               std::int64_t before, std::int64_t column);

} // namespace krylith::detail

namespace krylith {

namespace host {

/// Where `c` is not null, makes C with the plan, as take() would.
template <class T>
[[nodiscard]] std::unique_ptr<detail::spgemm_phases<T>>
make_spgemm(const device_csr<T>& a, const device_csr<T>& b, device_csr<T>* c);
template <class T>
[[nodiscard]] spgemm_estimate estimate_spgemm(const device_csr<T>& a, const device_csr<T>& b);

} // namespace host

namespace cuda {

template <class T>
[[nodiscard]] std::unique_ptr<detail::spgemm_phases<T>> make_spgemm(const device_csr<T>& a,
                                                                    const device_csr<T>& b);
template <class T>
[[nodiscard]] spgemm_estimate estimate_spgemm(const device_csr<T>& a, const device_csr<T>& b);

} // namespace cuda

} // namespace krylith
