#include <krylith/matrix/stored/stored_numbers.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <span>
#include <type_traits>

#include <krylith/device/error.hpp>
#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/matrix/files/first_failure.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith::files {
namespace {

constexpr std::uint64_t chunk_bytes = std::uint64_t{1} << 20; ///< read at a time

template <class Stored>
Stored number_at(const std::byte* place, bool swap) {
    std::array<std::byte, sizeof(Stored)> bytes{};
    std::memcpy(bytes.data(), place, sizeof(Stored));
    if (swap) {
        std::ranges::reverse(bytes);
    }
    return std::bit_cast<Stored>(bytes);
}

template <class Stored>
std::string in_words(Stored value) {
    if constexpr (std::is_integral_v<Stored>) {
        return std::to_string(value);
    } else {
        std::array<char, 32> text{};
        std::snprintf(text.data(), text.size(), "%.17g", static_cast<double>(value));
        return text.data();
    }
}

template <class To, class Stored>
[[nodiscard]] bool fits(Stored value, std::int64_t most) {
    if constexpr (std::is_integral_v<To>) {
        return std::is_integral_v<Stored> && most >= 0 && value >= Stored(0) &&
               static_cast<std::uint64_t>(value) <= static_cast<std::uint64_t>(most);
    } else {
        static_cast<void>(most);
        return !std::isfinite(static_cast<double>(value)) || std::isfinite(static_cast<To>(value));
    }
}

template <class To>
std::string allowed(std::int64_t most) {
    if (std::is_integral_v<To> && most < 0) {
        return "is none, as the matrix is empty";
    }
    return std::is_integral_v<To> ? "are whole numbers from 0 to " + std::to_string(most)
                                  : std::string("are magnitudes to 3.4e38 (fp32)");
}

template <class To>
struct task;
template <class To>
using converter = void (*)(const task<To>&, const std::byte*, std::uint64_t, std::span<To>);

/// One file, one array: what each chunk of the loop needs. Also the function: g++ 13 and 14 end in
/// an internal error where a lambda of a function template in an included file captures a pointer
/// to a function of types of an anonymous namespace by itself.
template <class To>
struct task {
    const binary::byte_source& file;
    const stored_array& from;
    std::int64_t most;
    converter<To> convert;
};

template <class Stored, class To>
void convert(const task<To>& work, const std::byte* bytes, std::uint64_t first, std::span<To> to) {
    const bool swap = work.from.type.big_endian != (std::endian::native == std::endian::big);
    bool good = true;
    for (std::size_t k = 0; k < to.size(); ++k) {
        const auto value = number_at<Stored>(bytes + k * sizeof(Stored), swap);
        const bool fit = fits<To>(value, work.most);
        to[k] = fit ? static_cast<To>(value) : To{};
        good = fit && good;
    }
    for (std::size_t k = 0; !good && k < to.size(); ++k) {
        const auto value = number_at<Stored>(bytes + k * sizeof(Stored), swap);
        if (!fits<To>(value, work.most)) {
            throw input_error(work.file.name + ": " + work.from.name + ", entry " +
                              std::to_string(work.from.first + first + k) + " (from 0) is " +
                              in_words(value) + ", allowed " + allowed<To>(work.most));
        }
    }
}

template <class To>
converter<To> converter_for(stored_type type) {
    const bool is_signed = type.what == stored_type::kind::signed_integer;
    if (type.what == stored_type::kind::real) {
        return type.bytes == 8 ? convert<double, To> : convert<float, To>;
    }
    switch (type.bytes) {
    case 1: return is_signed ? convert<std::int8_t, To> : convert<std::uint8_t, To>;
    case 2: return is_signed ? convert<std::int16_t, To> : convert<std::uint16_t, To>;
    case 4: return is_signed ? convert<std::int32_t, To> : convert<std::uint32_t, To>;
    default: return is_signed ? convert<std::int64_t, To> : convert<std::uint64_t, To>;
    }
}

} // namespace

template <class To>
void read_numbers(const binary::byte_source& file, const stored_array& from, std::vector<To>& to,
                  std::int64_t most) {
    const task<To> work{file, from, most, converter_for<To>(from.type)};
    const auto width = static_cast<std::uint64_t>(from.type.bytes);
    to.clear();
    resize_in_parallel(to, from.count);
    const auto chunks = static_cast<std::int64_t>((from.bytes() + chunk_bytes - 1) / chunk_bytes);
    first_failure failure;
#pragma omp parallel
    {
        std::vector<std::byte> buffer;
#pragma omp for schedule(static)
        for (std::int64_t k = 0; k < chunks; ++k) {
            failure.attempt(k, [&] {
                const std::uint64_t begin = static_cast<std::uint64_t>(k) * chunk_bytes;
                buffer.resize(std::min(chunk_bytes, from.bytes() - begin));
                file.read(from.begin + begin, buffer);
                work.convert(work, buffer.data(), begin / width,
                             std::span(to).subspan(begin / width, buffer.size() / width));
            });
        }
    }
    failure.rethrow();
}

template void read_numbers(const binary::byte_source&, const stored_array&,
                           std::vector<std::int64_t>&, std::int64_t);
template void read_numbers(const binary::byte_source&, const stored_array&,
                           std::vector<std::int32_t>&, std::int64_t);
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void read_numbers(const binary::byte_source&, const stored_array&, std::vector<T>&,   \
                               std::int64_t);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::files
