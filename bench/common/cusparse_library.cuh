// The functions of cuSPARSE that benchmarks call beside those of the library.
#pragma once

#include <krylith/sparse/cusparse/cusparse_library.cuh>

namespace krylith::bench {

KRYLITH_CUSPARSE(cusparseCsr2cscEx2);
KRYLITH_CUSPARSE(cusparseCsr2cscEx2_bufferSize);
KRYLITH_CUSPARSE(cusparseCsrSetPointers);
KRYLITH_CUSPARSE(cusparseSpGEMM_compute);
KRYLITH_CUSPARSE(cusparseSpGEMM_copy);
KRYLITH_CUSPARSE(cusparseSpGEMM_createDescr);
KRYLITH_CUSPARSE(cusparseSpGEMM_destroyDescr);
KRYLITH_CUSPARSE(cusparseSpGEMM_workEstimation);
KRYLITH_CUSPARSE(cusparseSpGEMMreuse_compute);
KRYLITH_CUSPARSE(cusparseSpGEMMreuse_copy);
KRYLITH_CUSPARSE(cusparseSpGEMMreuse_nnz);
KRYLITH_CUSPARSE(cusparseSpGEMMreuse_workEstimation);
KRYLITH_CUSPARSE(cusparseSpMatGetSize);
KRYLITH_CUSPARSE(cusparseSpMatSetAttribute);
KRYLITH_CUSPARSE(cusparseSpSV_analysis);
KRYLITH_CUSPARSE(cusparseSpSV_bufferSize);
KRYLITH_CUSPARSE(cusparseSpSV_createDescr);
KRYLITH_CUSPARSE(cusparseSpSV_destroyDescr);
KRYLITH_CUSPARSE(cusparseSpSV_solve);

} // namespace krylith::bench
