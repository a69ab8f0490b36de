// The functions of cuSPARSE that krylith calls, loaded at the first call.
#pragma once

#include <string>

#include <cusparse.h>

#include <krylith/device/error.hpp>
#include <krylith/device/libraries/shared_library.hpp>

namespace krylith {

inline const shared_library cusparse_library = {
    .name = "cuSPARSE",
    .file = KRYLITH_SONAME("libcusparse", CUSPARSE_VER_MAJOR),
    .other = "",
    .needs = "install CUDA's package libcusparse, whose folder the system's loader or "
             "LD_LIBRARY_PATH must know, or take another format: allowed are sell, csr, merge and "
             "csr5"};

#define KRYLITH_CUSPARSE(name) KRYLITH_LOADED(cusparse_library, name)
KRYLITH_CUSPARSE(cusparseCreate);
KRYLITH_CUSPARSE(cusparseDestroy);
KRYLITH_CUSPARSE(cusparseSetStream);
KRYLITH_CUSPARSE(cusparseGetErrorString);
KRYLITH_CUSPARSE(cusparseCreateCsr);
KRYLITH_CUSPARSE(cusparseDestroySpMat);
KRYLITH_CUSPARSE(cusparseCreateDnVec);
KRYLITH_CUSPARSE(cusparseDestroyDnVec);
KRYLITH_CUSPARSE(cusparseDnVecSetValues);
KRYLITH_CUSPARSE(cusparseSpMV_bufferSize);
KRYLITH_CUSPARSE(cusparseSpMV_preprocess);
KRYLITH_CUSPARSE(cusparseSpMV);

inline void check_cusparse(cusparseStatus_t status, const char* what) {
    if (status != CUSPARSE_STATUS_SUCCESS)
        throw device_error(std::string("cuSPARSE: ") + what + ": " +
                           cusparseGetErrorString(status));
}

} // namespace krylith
