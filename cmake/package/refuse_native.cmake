# Read by cpack: code for the processor of the build machine fails on others ("illegal instruction").
if(CPACK_KRYLITH_NATIVE)
    message(FATAL_ERROR "this build is for this processor only (KRYLITH_NATIVE=ON). Build a package "
        "with scripts/package, or configure with -DKRYLITH_NATIVE=OFF; for machines that are all like "
        "this one, cpack -G DEB -D CPACK_KRYLITH_NATIVE=OFF packs it as it is.")
endif()
