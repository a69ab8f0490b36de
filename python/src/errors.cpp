#include "errors.hpp"

#include <string_view>

#include <krylith/device/error.hpp>

namespace krylith::python {

namespace {

// The library has one type for all failures of devices; these are its words for "no memory left".
bool is_about_memory(std::string_view text) {
    return text.find("no memory for") != std::string_view::npos ||
           text.find("can't give") != std::string_view::npos;
}

void raise(const char* name, const std::exception& e) {
    const nb::object type = nb::module_::import_("krylith._errors").attr(name);
    PyErr_SetString(type.ptr(), e.what());
}

} // namespace

void bind_errors() {
    nb::register_exception_translator([](const std::exception_ptr& p, void*) {
        try {
            std::rethrow_exception(p);
        } catch (const usage_error& e) {
            PyErr_SetString(PyExc_ValueError, e.what());
        } catch (const input_error& e) {
            raise("InputError", e);
        } catch (const device_error& e) {
            raise(is_about_memory(e.what()) ? "DeviceMemoryError" : "DeviceError", e);
        } catch (const communication_error& e) {
            raise("CommunicationError", e);
        }
    });
}

} // namespace krylith::python
