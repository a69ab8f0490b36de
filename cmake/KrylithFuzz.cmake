# KRYLITH_FUZZ: libFuzzer programs fuzz_NAME (tests/fuzz/). The whole library is compiled for coverage and
# with AddressSanitizer and UndefinedBehaviorSanitizer. Include before the library's targets.

if(KRYLITH_FUZZ)
    if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        message(FATAL_ERROR "KRYLITH_FUZZ needs clang++ with libFuzzer (use the preset fuzz); "
                            "the compiler is ${CMAKE_CXX_COMPILER}")
    endif()
    if(KRYLITH_SANITIZE)
        message(FATAL_ERROR "KRYLITH_FUZZ brings its own sanitizers: leave KRYLITH_SANITIZE empty, "
                            "it is '${KRYLITH_SANITIZE}'")
    endif()
    if(KRYLITH_CUDA AND NOT KRYLITH_CUDA STREQUAL "AUTO")
        message(FATAL_ERROR "KRYLITH_FUZZ is for host builds: set KRYLITH_CUDA=OFF")
    endif()
    add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
                        -fno-omit-frame-pointer -Wno-pass-failed)
    add_compile_definitions(_GLIBCXX_ASSERTIONS)
    # The programs run on other machines too: beside libc they need libomp.so.5 alone.
    add_link_options(-fsanitize=address,undefined -static-libstdc++ -static-libgcc)
endif()
