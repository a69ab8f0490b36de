# Parts of the library that a program may not need, and that take long to compile: KRYLITH_GRAPHS=OFF and
# so on. The command says in words what was left out of it, tests and examples of such a part aren't built,
# its headers aren't installed, and find_package(krylith COMPONENTS graphs) doesn't find it.
#
#   KRYLITH_GALLERY        matrices that are generated: gallery:NAME
#   KRYLITH_SPMSPV         products with sparse vectors, and the operator adaptive
#   KRYLITH_GRAPHS         breadth-first search, PageRank, shortest paths; needs KRYLITH_SPMSPV
#   KRYLITH_STREAMING      one product with a matrix that stays in host memory

set(KRYLITH_PARTS GALLERY SPMSPV GRAPHS STREAMING)
krylith_option(KRYLITH_GALLERY "Matrices that are generated" ON)
krylith_option(KRYLITH_SPMSPV "Products with sparse vectors" ON)
krylith_option(KRYLITH_GRAPHS "Graph algorithms" ${KRYLITH_SPMSPV})
krylith_option(KRYLITH_STREAMING "Products with matrices that stay in host memory" ON)
if(KRYLITH_GRAPHS AND NOT KRYLITH_SPMSPV)
    message(FATAL_ERROR "KRYLITH_GRAPHS=ON needs KRYLITH_SPMSPV=ON: graph algorithms multiply by sparse "
                        "vectors. Leave out both, or neither")
endif()

# The files of each part, as patterns of paths in the source tree, and in tests/ likewise.
# gallery/poisson.cpp stays: machine rates are measured with it.
set(files_of_GALLERY "matrix/gallery/[^p][^/]*[.]cpp" "matrix/gallery[.]hpp" "tools/gallery/gallery_command[.]cpp")
set(files_of_SPMSPV "spmspv/.*" "spmv/column_adaptive/.*" "tools/cli/kernel_choice[.].*"
    "tools/spmv/sparse_(product|test)[.].*")
set(files_of_GRAPHS "graph/.*" "tools/graph/.*")
set(files_of_STREAMING "spmv/streaming/.*" "spmv/streamed_product[.].*")

set(KRYLITH_LEFT_OUT "") # patterns
set(KRYLITH_WHOLE TRUE)
foreach(part IN LISTS KRYLITH_PARTS)
    if(KRYLITH_${part})
        set(KRYLITH_HAVE_${part} 1)
    else()
        set(KRYLITH_HAVE_${part} 0)
        set(KRYLITH_WHOLE FALSE)
        list(APPEND KRYLITH_LEFT_OUT ${files_of_${part}})
        message(STATUS "krylith: without KRYLITH_${part}")
    endif()
endforeach()

# krylith_without_parts(LIST): removes files of parts that are left out from a list of paths.
function(krylith_without_parts list)
    if(NOT KRYLITH_LEFT_OUT)
        return()
    endif()
    list(JOIN KRYLITH_LEFT_OUT "|" pattern)
    set(kept "")
    foreach(file IN LISTS ${list})
        cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE path)
        if(NOT path MATCHES "^(tests/)?(${pattern})$")
            list(APPEND kept "${file}")
        endif()
    endforeach()
    set(${list} "${kept}" PARENT_SCOPE)
endfunction()

# krylith_needs_missing_part(RESULT FILE): whether a source includes what was left out, or names a matrix of
# a gallery that isn't there.
function(krylith_needs_missing_part result file)
    set(${result} FALSE PARENT_SCOPE)
    if(NOT KRYLITH_LEFT_OUT)
        return()
    endif()
    list(JOIN KRYLITH_LEFT_OUT "|" pattern)
    file(STRINGS "${file}" lines REGEX "^ *# *include <krylith/|gallery:")
    foreach(line IN LISTS lines)
        string(REGEX REPLACE ".*<krylith/([^>]*)>.*" "\\1" included "${line}")
        if(included MATCHES "^(tests/)?(${pattern})$" OR (NOT KRYLITH_GALLERY AND line MATCHES "gallery:"))
            set(${result} TRUE PARENT_SCOPE)
        endif()
    endforeach()
endfunction()
