#include <thread>

int main() {
    int counter = 0;
    auto count = [&] {
        for (int i = 0; i < 1000; ++i) {
            *const_cast<volatile int*>(&counter) += 1;
        }
    };
    std::thread first(count);
    std::thread second(count);
    first.join();
    second.join();
}
