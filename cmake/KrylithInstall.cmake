# Install rules: library, headers with their folders, and the package for find_package(krylith).

include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/krylith")

# Installed programs find the library beside them, and CUDA's where it was found.
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_INSTALL_RPATH)
    set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
    set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
    set_target_properties(krylith PROPERTIES INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
endif()

install(TARGETS krylith EXPORT krylithTargets)
foreach(room IN LISTS KRYLITH_ROOMS)
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/${room}"
            DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/krylith" FILES_MATCHING PATTERN "*.hpp")
endforeach()
install(FILES "${KRYLITH_INCLUDE_DIR}/krylith/config.hpp"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/krylith")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

install(EXPORT krylithTargets NAMESPACE krylith:: DESTINATION "${package_dir}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/krylithConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/krylithConfig.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/krylithConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/krylithConfig.cmake"
              "${PROJECT_BINARY_DIR}/krylithConfigVersion.cmake"
        DESTINATION "${package_dir}")
