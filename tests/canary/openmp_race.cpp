int main() {
    double sum = 0;
#pragma omp parallel for num_threads(4)
    for (int i = 0; i < 1000; ++i) {
        *const_cast<volatile double*>(&sum) += i;
    }
    return sum < 0;
}
