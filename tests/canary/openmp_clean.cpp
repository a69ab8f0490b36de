#include <vector>

// Correct: the barrier at the end of each loop orders its writes before the next loop's reads, by
// other threads. ThreadSanitizer knows of that barrier only through libarcher.
int main() {
    const int n = 10000;
    std::vector<double> x(n), y(n);
    double sum = 0;
    for (int repetition = 0; repetition < 20; ++repetition) {
#pragma omp parallel for num_threads(4)
        for (int i = 0; i < n; ++i) {
            x[i] = y[n - 1 - i] + i;
        }
#pragma omp parallel for num_threads(4) reduction(+ : sum)
        for (int i = 0; i < n; ++i) {
            y[i] = x[n - 1 - i] / 2;
            sum += y[i];
        }
    }
    return sum < 0;
}
