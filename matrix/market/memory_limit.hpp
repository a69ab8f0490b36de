// The memory that a file may claim.
#pragma once

#include <cstdint>

#include <krylith/matrix/market/header.hpp>
#include <krylith/matrix/market/line_source.hpp>

namespace krylith::market {

/// A limit, since Linux promises more memory than there is, and kills processes that use it.
class memory_limit {
public:
    /// Limits the reader to `bytes`; 0 means what the machine has available, looked up whenever
    /// much is asked for.
    memory_limit(const line_source& source, const header& h, std::int64_t bytes)
        : source_(source), header_(h), bytes_(bytes) {}

    /// Throws input_error if the reader, which holds `held` bytes, can't have `more`.
    void check(double held, double more) const;

    /// Throws input_error for more rows than 2^24, than 64 an entry, and than an eighth of the
    /// memory holds. Rows take 8 bytes each even where they are empty, and no line of the file
    /// vouches for them.
    void check_rows() const;

private:
    const line_source& source_;
    const header& header_;
    std::int64_t bytes_;
};

} // namespace krylith::market
