// What scaling does with numbered entries, each on its own (device/loops/run_items.hpp).
#pragma once

#include <cstdint>

#include <krylith/device/loops/run_items.hpp>
#include <krylith/precond/coarsening/hashed_sign.hpp>

namespace krylith::detail {

/// x_i = +-1 by a hash of first + i.
template <class W>
struct sign_task {
    std::int64_t first;
    W* x;
    KRYLITH_HD void operator()(std::int64_t i) const { x[i] = hashed_sign<W>(first + i); }
};

/// x_i *= factor.
template <class W>
struct scale_task {
    double factor;
    W* x;
    KRYLITH_HD void operator()(std::int64_t i) const {
        x[i] = static_cast<W>(factor * static_cast<double>(x[i]));
    }
};

/// x_i -= y_i.
template <class W>
struct subtract_task {
    const W* y;
    W* x;
    KRYLITH_HD void operator()(std::int64_t i) const { x[i] -= y[i]; }
};

/// values[k] *= s_j for entries in column j; s is by local columns.
template <class W>
struct scale_column_task {
    const std::int32_t* indices;
    const double* s;
    W* values;
    KRYLITH_HD void operator()(std::int64_t k) const {
        values[k] = static_cast<W>(static_cast<double>(values[k]) * s[indices[k]]);
    }
};

/// to_i = from_i.
template <class To, class From>
struct convert_task {
    const From* from;
    To* to;
    KRYLITH_HD void operator()(std::int64_t i) const { to[i] = static_cast<To>(from[i]); }
};

/// to_i = factor v_i / s_i, where v = 1 if it is null. `to` may be v.
template <class W>
struct divide_task {
    double factor;
    const W* v;
    const double* s;
    W* to;
    KRYLITH_HD void operator()(std::int64_t i) const {
        to[i] = static_cast<W>(factor * (v == nullptr ? 1.0 : static_cast<double>(v[i])) / s[i]);
    }
};

/// to_i = factor s of row i / columns.
template <class W>
struct round_task {
    double factor;
    const double* s;
    W* to;
    int columns = 1;
    KRYLITH_HD void operator()(std::int64_t i) const {
        to[i] = static_cast<W>(factor * s[i / columns]);
    }
};

} // namespace krylith::detail
