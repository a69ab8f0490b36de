#include <limits>

int main() {
    volatile int large = std::numeric_limits<int>::max();
    volatile int sum = large + 1;
    return sum & 0;
}
