# krylith.pc for pkg-config. Its prefix is relative to the file, so that an installation can be moved.
#
# Whoever links a static library must link what it needs; whoever links a shared one need not, and
# only `pkg-config --static` names it. OpenMP and threads are used by the headers, and always named.

set(folder "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
set(KRYLITH_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
if(NOT IS_ABSOLUTE "${folder}")
    file(RELATIVE_PATH up "/${folder}" "/")
    string(REGEX REPLACE "/$" "" up "${up}")
    set(KRYLITH_PC_PREFIX "\${pcfiledir}/${up}")
endif()
foreach(kind IN ITEMS INCLUDEDIR LIBDIR)
    set(KRYLITH_PC_${kind} "\${prefix}/${CMAKE_INSTALL_${kind}}")
    if(IS_ABSOLUTE "${CMAKE_INSTALL_${kind}}")
        set(KRYLITH_PC_${kind} "${CMAKE_INSTALL_${kind}}")
    endif()
endforeach()

list(JOIN OpenMP_CXX_FLAGS " " openmp)
set(KRYLITH_PC_CFLAGS "${openmp} -pthread")
set(KRYLITH_PC_LIBS "${openmp} -pthread")

list(TRANSFORM CMAKE_DL_LIBS PREPEND "-l" OUTPUT_VARIABLE needs)
if(KRYLITH_HAVE_CUDA)
    string(PREPEND needs "-lcudart ")
    if(NOT CUDAToolkit_LIBRARY_DIR IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
        set(needs "-L${CUDAToolkit_LIBRARY_DIR} -Wl,-rpath,${CUDAToolkit_LIBRARY_DIR} ${needs}")
    endif()
endif()
set(KRYLITH_PC_REQUIRES "")
set(KRYLITH_PC_REQUIRES_PRIVATE "")
set(KRYLITH_PC_LIBS_PRIVATE "")
if(BUILD_SHARED_LIBS)
    set(KRYLITH_PC_REQUIRES_PRIVATE zlib)
    set(KRYLITH_PC_LIBS_PRIVATE "${needs}")
else()
    set(KRYLITH_PC_REQUIRES zlib)
    string(APPEND KRYLITH_PC_LIBS " ${needs}")
endif()

configure_file("${PROJECT_SOURCE_DIR}/cmake/krylith.pc.in" "${PROJECT_BINARY_DIR}/krylith.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/krylith.pc" DESTINATION "${folder}" COMPONENT development)
