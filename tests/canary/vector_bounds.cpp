#include <vector>

// Inside the allocation, so that only the library's own assertion sees it.
int main() {
    std::vector<int> values(8);
    values.resize(4);
    volatile std::size_t position = 6;
    return values[position];
}
