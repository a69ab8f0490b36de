# The test install.consumer: this build, installed below a folder that then moves.
include("${CMAKE_CURRENT_LIST_DIR}/stranger.cmake")

file(REMOVE_RECURSE "${WORK_DIR}")
set(prefix "${WORK_DIR}/moved")
run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --config "${CONFIG}" --prefix "${WORK_DIR}/prefix")
file(RENAME "${WORK_DIR}/prefix" "${prefix}")

use_find_package("${prefix}")
if(CUDA_ROOT) # a machine without the toolkit, but with the libraries that programs link
    use_find_package("${prefix}" -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON)
endif()
check_pkg_config("${prefix}" "${SHARED}")
use_pkg_config("${prefix}")
use_pkg_config("${prefix}" --static)
if(EXISTS "${prefix}/bin/krylith")
    run("${prefix}/bin/krylith" solve gallery:poisson3d:16)
endif()
