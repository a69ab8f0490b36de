#include "errors.hpp"
#include "watch.hpp"

#include <krylith/device/error.hpp>
#include <krylith/device/threads/interruption.hpp>

namespace krylith::python {

namespace {

void raise(const char* name, const std::exception& e) {
    const nb::object type = nb::module_::import_("krylith._errors").attr(name);
    PyErr_SetString(type.ptr(), e.what());
}

} // namespace

void bind_errors() {
    nb::register_exception_translator([](const std::exception_ptr& p, void*) {
        try {
            std::rethrow_exception(p);
        } catch (const interrupted_error& e) {
            try {
                set_up_watch::rethrow();
                PyErr_SetString(PyExc_RuntimeError, e.what());
            } catch (nb::python_error& raised) {
                raised.restore();
            }
        } catch (const usage_error& e) {
            PyErr_SetString(PyExc_ValueError, e.what());
        } catch (const input_error& e) {
            raise("InputError", e);
        } catch (const memory_error& e) {
            raise("DeviceMemoryError", e);
        } catch (const device_error& e) {
            raise("DeviceError", e);
        } catch (const communication_error& e) {
            raise("CommunicationError", e);
        }
    });
}

} // namespace krylith::python
