// Vectors are made by operators; one may still be named.
#include <complex>

#include <krylith/vector/vector.hpp>

int main() {
    return sizeof(krylith::vector<std::complex<float>>) == 1 ? 1 : 0;
}
