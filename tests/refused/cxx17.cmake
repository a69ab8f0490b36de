# The test refused.cxx17: every public header, compiled as C++17, says in a few lines what it needs. Headers of
# adapters that include another library are left out: it may not be there.
cmake_policy(VERSION 3.25)

foreach(room IN LISTS ROOMS)
    file(GLOB found RELATIVE "${SOURCE_DIR}" "${SOURCE_DIR}/${room}/*.hpp")
    list(APPEND headers ${found})
endforeach()
list(FILTER headers EXCLUDE REGEX "adapters/(eigen|mfem|mpi)[.]hpp")
foreach(header IN ITEMS krylith.hpp LISTS headers)
    execute_process(COMMAND "${CXX_COMPILER}" -std=c++17 -fsyntax-only "-I${INCLUDE_DIR}" -include "krylith/${header}"
                            -x c++ /dev/null
                    RESULT_VARIABLE status ERROR_VARIABLE said)
    string(REGEX MATCHALL "\n" lines "${said}")
    list(LENGTH lines lines)
    if(status EQUAL 0 OR NOT said MATCHES "krylith needs C\\+\\+20" OR lines GREATER 30)
        message(SEND_ERROR "${header} as C++17: status ${status}, ${lines} lines\n${said}")
    endif()
endforeach()
