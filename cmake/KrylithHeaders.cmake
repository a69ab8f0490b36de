# Installs the headers that users can include: those directly in a room (docs/api.md lists them), those that
# pages name besides, and what they include, and so on. Runs when it is installed, since what headers include changes with every edit.
# Given: sources (a folder), rooms (a list), left_out (patterns of files of parts that weren't built),
# destination (below the prefix).
cmake_policy(VERSION 3.25) # an install script begins without policies

if(CMAKE_INSTALL_PREFIX MATCHES "[][*?;]")
    message(FATAL_ERROR "krylith can't be installed in ${CMAKE_INSTALL_PREFIX}: the path has '${CMAKE_MATCH_0}', and "
                        "find_package() takes paths without [ ] * ? and ;")
endif()

set(waiting matrix/files/unfinished_files.hpp partition/nonzero/numa_partition.hpp sparse/merge/merge_product.hpp
    spmspv/semirings/own_semiring.hpp spmspv/semirings/own_semiring.cuh)
foreach(room IN LISTS rooms)
    file(GLOB faces RELATIVE "${sources}" "${sources}/${room}/*.hpp")
    list(APPEND waiting ${faces})
endforeach()
if(left_out)
    list(JOIN left_out "|" pattern)
    list(FILTER waiting EXCLUDE REGEX "^(${pattern})$")
endif()
set(found "")
while(waiting)
    list(POP_FRONT waiting header)
    if(header IN_LIST found OR header STREQUAL "config.hpp")
        continue()
    endif()
    list(APPEND found "${header}")
    file(STRINGS "${sources}/${header}" lines REGEX "^ *# *include <krylith/")
    foreach(line IN LISTS lines)
        string(REGEX REPLACE ".*<krylith/([^>]*)>.*" "\\1" included "${line}")
        list(APPEND waiting "${included}")
    endforeach()
endwhile()
foreach(header IN LISTS found)
    cmake_path(GET header PARENT_PATH folder)
    file(INSTALL "${sources}/${header}" DESTINATION "${CMAKE_INSTALL_PREFIX}/${destination}/${folder}")
endforeach()
