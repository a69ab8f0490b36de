#include <krylith/device/trace/trace_range.hpp>

#include <krylith/config.hpp>

#if KRYLITH_HAVE_CUDA && __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>

namespace krylith {

namespace {

nvtxDomainHandle_t domain() noexcept {
    static const nvtxDomainHandle_t handle = nvtxDomainCreateA("krylith");
    return handle;
}

} // namespace

trace_range::trace_range(const char* name) noexcept {
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = name;
    (void)nvtxDomainRangePushEx(domain(), &attributes);
}

trace_range::~trace_range() {
    (void)nvtxDomainRangePop(domain());
}

} // namespace krylith

#else

namespace krylith {

trace_range::trace_range(const char*) noexcept {}
trace_range::~trace_range() = default; // NOLINT(performance-trivially-destructible)

} // namespace krylith

#endif
