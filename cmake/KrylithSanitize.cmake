# Sanitizers, for the whole build; the presets asan and tsan set KRYLITH_SANITIZE.
# Gives KRYLITH_TEST_ENVIRONMENT and KRYLITH_TEST_TIMEOUT (seconds) for krylith_test_properties().

set(KRYLITH_SANITIZE "" CACHE STRING "Empty, address (with undefined) or thread; host only")
set_property(CACHE KRYLITH_SANITIZE PROPERTY STRINGS "" address thread)

# Tests run side by side and use many more threads than there are cores: waiting must not spin.
# What was measured on a busy machine is kept apart.
set(KRYLITH_TEST_ENVIRONMENT OMP_WAIT_POLICY=passive
    "KRYLITH_CACHE=${PROJECT_BINARY_DIR}/tuning")
set(KRYLITH_TEST_TIMEOUT 600)

if(KRYLITH_SANITIZE STREQUAL "address")
    set(KRYLITH_TEST_TIMEOUT 1200)
    # Four checks of undefined are left out: they double the time to compile, and what goes wrong with
    # such a pointer is an access that AddressSanitizer finds.
    add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all
                        -fno-sanitize=null,vptr,object-size,pointer-overflow
                        -fno-omit-frame-pointer)
    add_compile_definitions(_GLIBCXX_ASSERTIONS)
    add_link_options(-fsanitize=address,undefined)
    # Without detect_stack_use_after_return: its frames are aligned to 32 bytes, but gcc 12 moves 64
    # at once in them where the processor has AVX-512, and faults.
    list(APPEND KRYLITH_TEST_ENVIRONMENT
         ASAN_OPTIONS=detect_leaks=1:check_initialization_order=1
         UBSAN_OPTIONS=print_stacktrace=1)

elseif(KRYLITH_SANITIZE STREQUAL "thread")
    set(KRYLITH_TEST_TIMEOUT 1800)
    # gcc's OpenMP runtime hides its synchronisation from ThreadSanitizer, which then reports races
    # that aren't there. LLVM's tells it, through the tool library libarcher.
    if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        message(FATAL_ERROR "KRYLITH_SANITIZE=thread needs clang++ and libomp "
                            "(use the preset tsan); the compiler is ${CMAKE_CXX_COMPILER}")
    endif()
    execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-resource-dir
                    OUTPUT_VARIABLE resources OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REGEX MATCH "^[0-9]+" major "${CMAKE_CXX_COMPILER_VERSION}")
    find_library(KRYLITH_ARCHER NAMES libarcher.so
        HINTS "${resources}/../.." "/usr/lib/llvm-${major}/lib"
        DOC "LLVM's libarcher.so, which shows OpenMP's synchronisation to ThreadSanitizer")
    if(NOT KRYLITH_ARCHER)
        message(FATAL_ERROR "KRYLITH_SANITIZE=thread needs libarcher.so of LLVM ${major} "
                            "(Debian, Ubuntu: package libomp-dev); or set KRYLITH_ARCHER")
    endif()
    cmake_path(NORMAL_PATH KRYLITH_ARCHER OUTPUT_VARIABLE archer)
    add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
    add_link_options(-fsanitize=thread)
    list(APPEND KRYLITH_TEST_ENVIRONMENT
         "OMP_TOOL_LIBRARIES=${archer}"
         "TSAN_OPTIONS=ignore_noninstrumented_modules=1")

elseif(NOT KRYLITH_SANITIZE STREQUAL "")
    message(FATAL_ERROR "KRYLITH_SANITIZE is '${KRYLITH_SANITIZE}': allowed are address, thread "
                        "and nothing")
endif()

# Environment, time limit, and, under a sanitizer, the condition that it fires on planted bugs
# (tests/canary): where it doesn't, the tests that rely on it don't run, and the job fails.
function(krylith_test_properties)
    set_tests_properties(${ARGN} PROPERTIES
        ENVIRONMENT "${KRYLITH_TEST_ENVIRONMENT}"
        TIMEOUT ${KRYLITH_TEST_TIMEOUT})
    if(KRYLITH_SANITIZE AND KRYLITH_TESTS)
        set_tests_properties(${ARGN} PROPERTIES FIXTURES_REQUIRED sanitizer_fires)
    endif()
endfunction()
