# Install rules: library, headers with their folders, the package for find_package(krylith), and
# krylith.pc for pkg-config. Components, which are packages for CPack (KrylithPackage.cmake):
# development, runtime (what a shared library needs to run), command, licence.

include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/krylith")

# Installed programs find the library beside them, and CUDA's where it was found.
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_INSTALL_RPATH)
    set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
    set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
    set_target_properties(krylith PROPERTIES INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
endif()

install(TARGETS krylith EXPORT krylithTargets
    ARCHIVE COMPONENT development
    LIBRARY COMPONENT runtime NAMELINK_COMPONENT development)
install(CODE "
    set(sources \"${PROJECT_SOURCE_DIR}\")
    set(rooms \"${KRYLITH_ROOMS}\")
    set(left_out [[${KRYLITH_LEFT_OUT}]])
    set(destination \"${CMAKE_INSTALL_INCLUDEDIR}/krylith\")
    include(\"${PROJECT_SOURCE_DIR}/cmake/KrylithHeaders.cmake\")"
    COMPONENT development)
install(FILES "${KRYLITH_INCLUDE_DIR}/krylith/config.hpp" "${PROJECT_SOURCE_DIR}/krylith.hpp"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/krylith" COMPONENT development)

install(EXPORT krylithTargets NAMESPACE krylith:: DESTINATION "${package_dir}" COMPONENT development)
# The file of the CUDA runtime, which programs link, as it is named where no toolkit is: libcudart.so.13.
if(KRYLITH_HAVE_CUDA)
    get_target_property(file CUDA::cudart IMPORTED_LOCATION)
    file(REAL_PATH "${file}" file)
    string(REGEX MATCH "[^/]*[.]so([.][0-9]+)?" KRYLITH_CUDART "${file}")
endif()
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/krylithConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/krylithConfig.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/krylithConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/krylithConfig.cmake"
              "${PROJECT_BINARY_DIR}/krylithConfigVersion.cmake"
        DESTINATION "${package_dir}" COMPONENT development)
include(KrylithPkgConfig)

# The pages refer to each other: the same folders as here.
install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}"
        COMPONENT development)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" "${PROJECT_SOURCE_DIR}/examples"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT development
        FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.cpp" PATTERN "*.cu")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
        COMPONENT licence)
