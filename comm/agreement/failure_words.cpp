#include <krylith/comm/agreement/failure_words.hpp>

#include <algorithm>
#include <new>
#include <string>
#include <string_view>

#include <krylith/device/error.hpp>
#include <krylith/device/threads/interruption.hpp>

namespace krylith {

namespace {

enum class failure_class : unsigned char {
    none,
    usage,
    input,
    memory,
    device,
    interrupted,
    other,
    communication, // behind the others: it follows from them
};

std::vector<std::byte> in_bytes(failure_class kind, std::string_view words) {
    std::vector<std::byte> bytes(1 + words.size());
    bytes.front() = static_cast<std::byte>(kind);
    std::ranges::copy(std::as_bytes(std::span(words)), bytes.begin() + 1);
    return bytes;
}

failure_class class_of(std::span<const std::byte> words) {
    return words.empty() ? failure_class::none : static_cast<failure_class>(words.front());
}

} // namespace

std::vector<std::byte> failure_words(const std::exception_ptr& failure) {
    if (!failure) return in_bytes(failure_class::none, "");
    try {
        std::rethrow_exception(failure);
    } catch (const usage_error& e) {
        return in_bytes(failure_class::usage, e.what());
    } catch (const input_error& e) {
        return in_bytes(failure_class::input, e.what());
    } catch (const memory_error& e) {
        return in_bytes(failure_class::memory, e.what());
    } catch (const std::bad_alloc&) {
        return in_bytes(failure_class::memory, "the host has too little memory");
    } catch (const device_error& e) {
        return in_bytes(failure_class::device, e.what());
    } catch (const interrupted_error& e) {
        return in_bytes(failure_class::interrupted, e.what());
    } catch (const communication_error& e) {
        return in_bytes(failure_class::communication, e.what());
    } catch (const std::exception& e) {
        return in_bytes(failure_class::other, e.what());
    } catch (...) {
        return in_bytes(failure_class::other, "an exception that is no std::exception");
    }
}

std::size_t first_failure(std::span<const std::vector<std::byte>> words) {
    const auto first_of = [&](auto counts) {
        std::size_t k = 0;
        while (k < words.size() && !counts(class_of(words[k]))) ++k;
        return k;
    };
    const std::size_t cause = first_of([](failure_class kind) {
        return kind != failure_class::none && kind != failure_class::communication;
    });
    return cause < words.size()
               ? cause
               : first_of([](failure_class kind) { return kind != failure_class::none; });
}

std::exception_ptr failure_of(std::span<const std::byte> words) {
    const std::string text(reinterpret_cast<const char*>(words.data()) + 1, words.size() - 1);
    switch (class_of(words)) {
    case failure_class::usage: return std::make_exception_ptr(usage_error(text));
    case failure_class::input: return std::make_exception_ptr(input_error(text));
    case failure_class::memory: return std::make_exception_ptr(memory_error(text));
    case failure_class::device: return std::make_exception_ptr(device_error(text));
    case failure_class::interrupted: return std::make_exception_ptr(interrupted_error(text));
    case failure_class::communication: return std::make_exception_ptr(communication_error(text));
    default: return std::make_exception_ptr(error(text));
    }
}

} // namespace krylith
